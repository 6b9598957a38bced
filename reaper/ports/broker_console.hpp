// Port: the broker, for commands.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

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
    bool exchange_hidden = false;            ///< the broker does not let our user look at it
    std::optional<QueueReport> queue;        ///< none: it does not exist yet
    std::optional<QueueReport> dead_letter;  ///< none: it does not exist yet
    /// Of the serving tokens: has a consumer while a reaper runs (a classic one has all of them, of
    /// a quorum queue's the active one counts). None: it does not exist yet.
    std::optional<QueueReport> serving;
    std::vector<NovasQueue> novas_queues;  ///< those that exist and that our user may look at
    /// Names, also of queues that do not exist: RabbitMQ since 4.2.6 shows a queue only to a user
    /// with some right to it.
    std::vector<std::string> hidden_queues{};
    std::vector<std::string> remarks;  ///< brokers of the list that did not answer, and why
    std::vector<std::string> missing_rights{};  ///< what our user may not do, and what to do
    /// Configured topics without a message so far, as the queues that oslo.messaging
    /// makes with the first message indicate; and of these, whether Nova's usual topic has been
    /// used.
    std::vector<std::string> unheard_topics{};
    bool usual_topic_heard = false;
};

struct ActiveReaper {
    std::string machine;  ///< host name
    std::string journal;  ///< path: which of several on one machine
    friend bool operator==(const ActiveReaper&, const ActiveReaper&) = default;
};

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

struct RetriedLetters {
    std::vector<std::string> sent;  ///< ids
    std::vector<std::string> cut;   ///< not whole: unreadable
    std::vector<std::string> left;  ///< too many bytes for one call: they are still there
};

/// Each call makes a connection of its own, and blocks. Errors: `unreachable`, `timeout`, `tls`,
/// `unauthorized`, `not_found` (virtual host), `forbidden`, `bad_input`; with several brokers, that
/// of the first.
class BrokerConsole {
public:
    virtual ~BrokerConsole() = default;
    /// Changes nothing.
    virtual Result<BrokerReport> look() = 0;
    /// The one that serves the queue; some seconds at most. Without an answer `unreachable`,
    /// without a reaper at the queue `not_found`.
    virtual Result<ActiveReaper> active_reaper() = 0;
    /// Those that are there, the oldest first; they stay. Bodies of `bodies_of` alone. Empty if the
    /// queue does not exist.
    virtual Result<std::vector<DeadLetter>> dead_letters(
        const std::set<std::string>& bodies_of) = 0;
    /// Sends those letters (none named: all) to `broker.queue` again, as Nova sent them. Each
    /// leaves the dead-letter queue when the broker has stored it there. What is not understood
    /// again comes back as a new letter. `not_found`: there is no `broker.queue`.
    virtual Result<RetriedLetters> retry(const std::set<std::string>& ids) = 0;
};

}  // namespace reaper
