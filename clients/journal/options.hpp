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
    /// Of requests that nobody died for, of messages and of marks at most so many stay (and what
    /// came since the last tidying), so that a flood does not fill the disk.
    std::int64_t most_rows = 100'000;
};

}  // namespace reaper
