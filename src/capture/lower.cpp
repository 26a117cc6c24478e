// One captured op: what the host does for it, and which kernels it launches.
#include <algorithm>
#include <iterator>

#include "capture/tensors.h"

namespace tilewright {
namespace {

using namespace capture;

constexpr std::string_view recording_only[] = {"alias", "detach", "lift_fresh"};
constexpr std::string_view views[] = {
    "_reshape_alias",   "_unsafe_view",  "as_strided", "diagonal",        "empty",
    "empty_like",       "empty_strided", "expand",     "narrow",          "new_empty",
    "permute",          "real",          "select",     "slice",           "split",
    "split_with_sizes", "squeeze",       "t",          "transpose",       "unbind",
    "unfold",           "unsqueeze",     "view",       "view_as_complex", "view_as_real"};

template <std::size_t Count>
bool contains(const std::string_view (&names)[Count], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

HostWork host_work(const Operands& operands) {
    const std::string_view name = operands.name();
    if (contains(recording_only, name)) return HostWork::Nothing;
    if (name == "_local_scalar_dense" || name == "item" || operands.waits()) return HostWork::Wait;
    if (contains(views, name) || operands.only_on_host()) return HostWork::View;
    const bool optimizer = name.starts_with("_fused_") && name.find("norm") == std::string_view::npos;
    return optimizer ? HostWork::Optimizer : HostWork::Launch;
}

}  // namespace

std::string_view short_name(std::string_view dispatcher_name) {
    const std::size_t first = dispatcher_name.find('.');
    if (first == std::string_view::npos) return dispatcher_name;
    const std::size_t last = dispatcher_name.rfind('.');
    return last > first ? dispatcher_name.substr(first + 1, last - first - 1) : dispatcher_name.substr(first + 1);
}

CapturedWork lower(const CapturedOp& op, const Capture& capture) {
    const Operands operands(op, capture);
    CapturedWork work;
    work.host = host_work(operands);
    const bool launches = work.host == HostWork::Launch || work.host == HostWork::Optimizer;
    if (!launches) return work;
    if (lower_product(operands, work.kernels) || lower_attention(operands, work.kernels) ||
        lower_stream(operands, work.kernels)) {
        return work;
    }
    work.by_bytes = true;
    const auto& shaped = operands.outputs().empty() ? operands.inputs() : operands.outputs();
    const std::int64_t width = last_size(*shaped.front());
    const std::int64_t rows = std::max<std::int64_t>(1, elements(*shaped.front()) / width);
    append_stream(operands, {StreamKind::Strided, rows, width, operands.read(), operands.written(), StreamForm::Eager},
                  work.kernels);
    return work;
}

}  // namespace tilewright
