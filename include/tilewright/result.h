// What a fallible call returns: a value, or every problem found in what the user gave.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright {

/// One fault in what the user gave: where it is, what is wrong, what to do about it.
struct Problem {
    std::string where;  ///< a file, a flag or a catalogue name
    int line = 0;       ///< 1-based; 0 when the place has no lines
    std::string what;
    std::string fix;  ///< what to do; may be empty when `what` already says it

    friend bool operator==(const Problem&, const Problem&) = default;
};

using Problems = std::vector<Problem>;

/// A value, or why there is none: at least one problem, or another kind of error where callers must tell faults apart.
template <class T, class E = Problems>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
    Result(Problem problem)                                                // NOLINT
        requires std::same_as<E, Problems> : Result(Problems{std::move(problem)}) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    const T& operator*() const& { return std::get<0>(state_); }
    T& operator*() & { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    const T* operator->() const { return &std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }

    const Problems& problems() const requires std::same_as<E, Problems> { return std::get<1>(state_); }
    const E& fault() const requires(!std::same_as<E, Problems>) { return std::get<1>(state_); }

private:
    std::variant<T, E> state_;
};

/// Where a file states a field of a shape or a workload, so that whatever is said of the field can point there.
struct KeyPlace {
    std::string field;  ///< in the vocabulary of Shape and Workload: "vocab", "experts.ffn", "batch"
    std::string key;    ///< as the file spells it: "vocab_size"
    int line = 0;       ///< 1-based

    friend bool operator==(const KeyPlace&, const KeyPlace&) = default;
};

}  // namespace tilewright
