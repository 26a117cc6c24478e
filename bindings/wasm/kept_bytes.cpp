#include "kept_bytes.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace tilewright::wasm {
namespace {

struct Writer {
    std::string bytes;

    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>, "a pointer means nothing in another module");
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class A, class B>
    void operator()(const std::pair<A, B>& both) {
        (*this)(both.first);
        (*this)(both.second);
    }
    template <class T>
    void operator()(const std::vector<T>& list) {
        (*this)(list.size());
        for (const T& each : list) (*this)(each);
    }
};

struct Reader {
    const char* at;

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>, "a pointer means nothing in another module");
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
    }
    template <class A, class B>
    void operator()(std::pair<A, B>& both) {
        (*this)(both.first);
        (*this)(both.second);
    }
    template <class T>
    void operator()(std::vector<T>& list) {
        std::size_t size = 0;
        (*this)(size);
        list.resize(size);
        for (T& each : list) (*this)(each);
    }
};

/// Every field, in one order for both.
template <class Visitor, class OneKept>
void visit(Visitor& visitor, OneKept& kept) {
    visitor(kept.in_space);
    visitor(kept.priced);
    visitor(kept.families);
    visitor(kept.by_knobs);
    visitor(kept.by_change);
    visitor(kept.by_cache);
    visitor(kept.safe_depth);
}

}  // namespace

std::string bytes_of(const Kept& kept) {
    Writer writer;
    visit(writer, kept);
    return std::move(writer.bytes);
}

Kept kept_of(const std::string& bytes) {
    Kept kept;
    Reader reader{bytes.data()};
    visit(reader, kept);
    return kept;
}

}  // namespace tilewright::wasm
