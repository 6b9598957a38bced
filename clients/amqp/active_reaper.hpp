// Which of several reapers serves the queue? The broker does not say, but it gives what is put
// into the queue to that one alone: a question is put there, and its receiver answers to a
// mailbox that the broker keeps for the connection that asks (direct reply-to).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"

namespace reaper {

struct ActiveReaper {
    std::string machine;  ///< host name
    std::string journal;  ///< path: which of several on one machine
    friend bool operator==(const ActiveReaper&, const ActiveReaper&) = default;
};

/// Asks the first broker of the list that answers. None: no answer within `patience`: the
/// reaper that serves the queue is frozen, has all the messages that it takes at a time, or is too
/// old to know the question. `not_found`: no reaper is at the queue. Blocks for about `patience`
/// and `broker.connect_timeout` for each broker at worst. Other errors as of `probe_broker`.
Result<std::optional<ActiveReaper>> ask_for_active_reaper(const config::Broker& broker,
                                                          std::chrono::milliseconds patience);

/// The same, for a read-only caller that does not wait long: 3 s for the answer, 2 s at most for a
/// connection. A missing answer is an error, `unreachable`.
Result<ActiveReaper> look_for_active_reaper(config::Broker broker);

}  // namespace reaper
