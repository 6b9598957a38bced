// The dead-letter queue, for people: what is in it, and back with it to the reaper's own queue.
// Each call makes a connection of its own, and blocks for as long as the broker takes to answer.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {

struct DeadLetter {
    std::string id;  ///< of its content: the same each time that it is looked at
    TimePoint set_aside{};
    std::string reason;
    std::string routing_key;
    std::string content_type;
    std::string compression;      ///< of the body; empty: none
    std::uint64_t size = 0;       ///< bytes of the body
    std::uint64_t full_size = 0;  ///< greater where it was too long to be kept whole
    /// Of one that was asked for: the body, unpacked if that is possible, and else why it is not.
    std::string body;
    std::string unreadable;

    bool whole() const { return full_size <= size; }
};

/// At most so many of the oldest are looked at.
inline constexpr std::uint64_t max_dead_letters = 10'000;

/// Those that are there, the oldest first; they stay. Bodies of `bodies_of` alone. Empty if the
/// queue does not exist. Errors as of probe_broker, and `timeout`.
Result<std::vector<DeadLetter>> dead_letters(const config::Broker& broker,
                                             const std::set<std::string>& bodies_of = {});

struct RetriedLetters {
    std::vector<std::string> sent;  ///< ids
    std::vector<std::string> cut;   ///< not whole: unreadable
    std::vector<std::string> left;  ///< too many bytes for one call: they are still there
};

/// Sends those letters (none named: all) to `broker.queue` again, as Nova sent them. Each leaves
/// the dead-letter queue when the broker has stored it there. What is not understood again comes
/// back as a new letter. Errors as above; `not_found`: there is no `broker.queue`.
Result<RetriedLetters> retry_dead_letters(const config::Broker& broker,
                                          const std::set<std::string>& ids);

}  // namespace reaper
