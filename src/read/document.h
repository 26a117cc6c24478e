// One tree of values for everything that is read, whatever it was written in. Each value keeps the line it stood on, so
// that whoever reads it can say where a fault is. Any bytes give a tree or a problem: size, depth and count are
// limited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/result.h"

namespace tilewright::read {

struct Value;
struct Member;
using Null = std::monostate;
using Array = std::vector<Value>;
using Object = std::vector<Member>;  ///< in the order of the file, keys distinct

/// One value. A number is an integer only when it was written without fraction or exponent and fits 64 bits.
struct Value {
    int line = 0;  ///< 1-based
    std::variant<Null, bool, std::int64_t, double, std::string, Array, Object> data;

    template <class T>
    const T* as() const {
        return std::get_if<T>(&data);
    }

    /// The value of a key; null when this is no object or has no such key.
    const Value* find(std::string_view key) const;
};

struct Member {
    std::string key;
    Value value;
};

inline constexpr std::size_t max_document_bytes = 8u << 20;
inline constexpr std::size_t max_document_values = 200'000;
inline constexpr int max_document_depth = 64;

/// Strict JSON (RFC 8259). A key given twice is a problem.
Result<Value> read_json(std::string_view bytes, const std::string& where);

/// TOML 1.0.
Result<Value> read_toml(std::string_view bytes, const std::string& where);

/// The value as a message shows it: short, on one line, printable.
std::string describe(const Value& value);

/// Bytes that no reader takes: none at all, or more than `limit`. Empty when they are fine.
Problems refuse_size(std::string_view bytes, std::size_t limit, const std::string& where);

/// `bytes` without a leading UTF-8 byte order mark.
std::string_view without_mark(std::string_view bytes);

/// A problem naming the line of the first byte that is not UTF-8 or is a NUL; empty when all is text.
Problems refuse_not_utf8(std::string_view bytes, const std::string& where);

/// A name for what was read from `where`: the file's name without folder and ending.
std::string name_from(const std::string& where);

}  // namespace tilewright::read
