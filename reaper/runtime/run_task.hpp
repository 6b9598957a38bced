// Runs one coroutine to its end on an io_context, for commands that do one thing.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "reaper/runtime/task.hpp"

namespace reaper {

/// Returns what the task returns; throws what it throws. Blocks. What the task left running in the
/// background (kept connections) stays with the io_context.
template <class T>
T run_task(boost::asio::io_context& io, Task<T> task) {
    std::optional<T> result;
    std::exception_ptr failure;
    auto on_end = [&](std::exception_ptr thrown, T value) {
        failure = thrown;
        if (!thrown) result.emplace(std::move(value));
        io.stop();
    };
    boost::asio::co_spawn(io, std::move(task), on_end);
    io.restart();
    io.run();
    if (failure) std::rethrow_exception(failure);
    if (!result) throw std::logic_error("a task ended without a result");
    return std::move(*result);
}

}  // namespace reaper
