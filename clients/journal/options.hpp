// How much of the past a journal keeps.
#pragma once

#include <chrono>
#include <cstdint>

namespace reaper {

/// How long finished records, messages and events are kept.
inline constexpr std::chrono::days default_journal_retention{90};

struct JournalOptions {
    std::chrono::days retention = default_journal_retention;
    /// The newest requests stay whatever their age: a clock that jumps ahead makes all of them look
    /// old, and a request that is forgotten could be served twice.
    std::int64_t newest_kept = 1'000;
    /// The limit of requests without deletions, of messages and of events (beside those since the
    /// last cleanup), so that a flood does not fill the disk.
    std::int64_t max_rows = 100'000;
    /// Above this size of the file, requests without deletions go, the oldest first: what a user
    /// writes into a request (hints, traits of an image) may be long.
    std::int64_t max_bytes = std::int64_t{1} << 30;
};

}  // namespace reaper
