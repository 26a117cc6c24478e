// The module tilewright._tilewright: the program itself, asked in process, its table of flags, and products priced by
// the array. Python runs on while it works.
#include <pybind11/stl.h>

#include "cli/verb.h"
#include "gemm.h"
#include "turn.h"

namespace py = pybind11;

namespace tilewright::python {
namespace {

/// The exit code of what was typed after the program's name; what it said is heard.
int run(const std::vector<std::string>& typed) {
    if (!typed.empty() && (typed[0] == "measure" || typed[0] == "mcp")) {  // it would become another program
        heard().problems = {{typed[0], 0, "is not for Python", "run the program: tilewright " + typed[0]}};
        return cli::exit_device;
    }
    return attended([&] {
        cli::Session session = cli::open_session();
        session.both = true;
        return cli::dispatch(typed, session);
    });
}

py::list problems_of(const Problems& problems) {
    py::list all;
    for (const Problem& problem : problems) {
        all.append(py::make_tuple(problem.where, problem.line, problem.what, problem.fix));
    }
    return all;
}

py::tuple ask(const std::vector<std::string>& typed) {
    int code = 0;
    Heard said;
    {
        const py::gil_scoped_release released;
        const auto turn = wait_for_turn();
        code = run(typed);
        said = std::move(heard());
    }
    return py::make_tuple(code, said.out, said.other, problems_of(said.problems), said.warnings);
}

py::dict flags() {
    constexpr const char* kinds[] = {"switch", "count", "length", "real", "choice", "text"};
    py::dict by_verb;
    for (const cli::Verb& verb : cli::verbs()) {
        py::list all;
        for (const cli::FlagGroup& group : verb.flags()) {
            for (const cli::Flag& flag : group.flags) {
                all.append(
                    py::make_tuple(group.title, flag.name, flag.value, kinds[static_cast<int>(flag.kind)], flag.help));
            }
        }
        by_verb[py::str(std::string(verb.name))] = all;
    }
    return by_verb;
}

/// The numbers of a buffer, which must be contiguous and of type T.
template <class T>
std::span<T> numbers(const py::buffer& buffer, bool writable) {
    const py::buffer_info info = buffer.request(writable);
    const bool whole = PyBuffer_IsContiguous(info.view(), 'C') == 1;
    if (!whole || info.itemsize != sizeof(T)) throw py::type_error("a contiguous buffer of 64-bit numbers is needed");
    return {static_cast<T*>(info.ptr), static_cast<std::size_t>(info.size)};
}

py::list gemm(const std::vector<std::string>& typed, const std::string& layout, const std::vector<py::buffer>& sizes,
              const py::buffer& out) {
    Products products;
    for (std::size_t i = 0; i < products.sizes.size(); ++i)
        products.sizes[i] = numbers<std::int64_t>(sizes.at(i), false);
    products.out = numbers<double>(out, true);
    Problems problems;
    {
        const py::gil_scoped_release released;
        const auto turn = wait_for_turn();
        problems = attended([&] { return price(products, typed, layout); });
    }
    return problems_of(problems);
}

}  // namespace
}  // namespace tilewright::python

PYBIND11_MODULE(_tilewright, module) {
    using namespace tilewright;
    module.attr("version") = std::string(cli::version);
    module.attr("gemm_columns") =
        std::vector<std::string>(std::begin(python::gemm_columns), std::end(python::gemm_columns));
    module.def("ask", &python::ask,
               "Runs the words after the program's name: exit code, answer, its other form, problems, warnings.");
    module.def("flags", &python::flags, "Every verb's flags: group, name, value, kind, help.");
    module.def("gemm", &python::gemm, "Prices products into a buffer; the problems.");
}
