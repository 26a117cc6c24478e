// What a fallible call returns: a value, or every problem found in what the user gave.
#pragma once

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

/// A value, or at least one problem.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}               // NOLINT: implicit by design
    Result(Problems problems) : state_(std::in_place_index<1>, std::move(problems)) {}  // NOLINT
    Result(Problem problem) : Result(Problems{std::move(problem)}) {}                   // NOLINT

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    const T& operator*() const& { return std::get<0>(state_); }
    T& operator*() & { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    const T* operator->() const { return &std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }

    const Problems& problems() const { return std::get<1>(state_); }

private:
    std::variant<T, Problems> state_;
};

}  // namespace tilewright
