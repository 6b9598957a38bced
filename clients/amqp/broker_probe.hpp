// Looks at the broker without changing anything that is there; for `reaper check` and status.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"

namespace reaper {

struct QueueReport {
    std::uint64_t messages = 0;  ///< ready to be delivered
    std::uint64_t consumers = 0;
};

/// A queue that Nova makes for each of its topics and priorities, whether it is read or not.
struct NovasQueue {
    std::string name;  ///< `versioned_notifications.info`
    QueueReport report;
};

struct BrokerReport {
    std::string broker;   ///< the one that answered, without user and password
    std::string product;  ///< `RabbitMQ 3.10.8`
    bool exchange_exists = false;
    std::optional<QueueReport> queue;        ///< none: it does not exist yet
    std::optional<QueueReport> dead_letter;  ///< none: it does not exist yet
    /// Of the serving tokens: has a consumer while a reaper runs (a classic one has all of them, of
    /// a quorum queue's the active one counts). None: it does not exist yet.
    std::optional<QueueReport> serving;
    std::vector<NovasQueue> novas_queues;  ///< those that exist
    std::vector<std::string> remarks;      ///< brokers of the list that did not answer, and why
    std::vector<std::string> missing_rights{};  ///< what our user may not do, and what to do
    /// Configured topics without a message so far, as the queues that oslo.messaging
    /// makes with the first message indicate; and of these, whether Nova's usual topic has been
    /// used.
    std::vector<std::string> unheard_topics{};
    bool usual_topic_heard = false;
};

/// Connects to the first broker of the list that answers, authenticates, and looks. Blocks, for
/// about `connect_timeout` per broker at worst (name resolution aside). Errors: `unreachable`,
/// `timeout`, `tls`, `unauthorized`, `not_found` (virtual host), `forbidden`, `bad_input`; with
/// several brokers, that of the first.
Result<BrokerReport> probe_broker(const config::Broker& broker);

/// Messages in the dead-letter queue; 0 if it does not exist yet. Blocks and fails as above.
Result<std::uint64_t> count_dead_letters(const config::Broker& broker);

// Which of several reapers serves the queue? The broker does not say, but it gives what is put
// into the queue to that one alone: a question is put there, and its receiver answers to a
// mailbox that the broker keeps for the connection that asks (direct reply-to).

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
