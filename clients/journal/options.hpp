// How much of the past a journal keeps.
#pragma once

#include <chrono>
#include <cstdint>

namespace reaper {

/// How long finished stories, messages and marks are kept.
inline constexpr std::chrono::days default_journal_retention{90};

struct JournalOptions {
    std::chrono::days retention = default_journal_retention;
    /// The newest requests stay whatever their age: a clock that jumps ahead makes all of them look
    /// old, and a request that is forgotten could be served twice.
    std::int64_t newest_kept = 1'000;
};

}  // namespace reaper
