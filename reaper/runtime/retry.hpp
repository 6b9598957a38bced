// Writing to the journal until it works: what is not journalled must not be acknowledged.
#pragma once

#include <spdlog/spdlog.h>
#include <string>

#include "reaper/runtime/backoff.hpp"

namespace reaper {

/// Calls `write` (a callable that returns ResultTask<void>) until it succeeds. False: `stopping`
/// became true, and it still fails. `clock` and `stopping` must outlive the call.
template <class Write>
Task<bool> retry_until_journaled(Clock& clock, const bool& stopping, std::string what,
                                 Write write) {
    Backoff backoff{clock, std::chrono::seconds{30}};
    while (true) {
        auto written = co_await write();
        if (written) co_return true;
        spdlog::error("{}: not journalled, so not acknowledged; trying again: {}", what,
                      written.error().what);
        if (stopping) co_return false;
        co_await backoff.pause(stopping);
    }
}

}  // namespace reaper
