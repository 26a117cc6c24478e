// Whose turn it is to ask, and Ctrl-C while an answer is worked out. Called without Python's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <mutex>

#include "platform.h"

namespace tilewright::python {

inline constexpr std::chrono::milliseconds between_looks{50};

/// Throws KeyboardInterrupt where the user asked for it.
inline void look_for_signals() {
    const pybind11::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

/// One question at a time: runtimes that are read from files go into a table, and what is said is heard in one place.
inline std::unique_lock<std::timed_mutex> wait_for_turn() {
    static std::timed_mutex asking;
    std::unique_lock turn(asking, std::defer_lock);
    while (!turn.try_lock_for(between_looks)) look_for_signals();
    heard() = {};
    stop(false);
    return turn;
}

/// Does the work in a thread of its own and looks for Ctrl-C meanwhile; if there is, the work is asked to stop and
/// waited for.
template <class Work>
auto attended(Work work) {
    auto done = std::async(std::launch::async, work);
    try {
        while (done.wait_for(between_looks) != std::future_status::ready) look_for_signals();
    } catch (...) {
        stop(true);
        done.wait();
        throw;
    }
    return done.get();
}

}  // namespace tilewright::python
