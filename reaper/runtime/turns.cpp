#include "reaper/runtime/turns.hpp"

#include <optional>

namespace reaper {

Task<AsyncSemaphore::Permit> Turns::take(bool in_a_hurry) {
    // Copies, which share the places: a waiting caller may outlive the turns.
    AsyncSemaphore turn = turn_;
    AsyncSemaphore others = others_;
    std::optional<AsyncSemaphore::Permit> next;
    if (!in_a_hurry) next.emplace(co_await others.acquire());
    co_return co_await turn.acquire();
}

}  // namespace reaper
