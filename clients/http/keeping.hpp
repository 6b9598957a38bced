// Coroutines of objects that may be destroyed before they end, or even before they start.
#pragma once

#include <memory>
#include <utility>

#include "reaper/runtime/task.hpp"

namespace reaper::http {

/// Does the task, which works on `owner`'s object, and keeps that alive from now until then. A
/// coroutine that takes hold of its own object in its first line would do so too late: it runs
/// only when somebody waits for it.
template <class Owner, class T>
Task<T> keeping([[maybe_unused]] std::shared_ptr<Owner> owner, Task<T> task) {
    co_return co_await std::move(task);
}

}  // namespace reaper::http
