// What we declare on the broker and look at. Every call blocks for one answer. Each uses the
// scratch channel, for a refusal closes the channel that it was asked on.
// Internal to clients/amqp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "config/settings.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

constexpr amqp_channel_t consume_channel = 1;
constexpr amqp_channel_t publish_channel = 2;
constexpr amqp_channel_t scratch_channel = 3;
constexpr amqp_channel_t serving_channel = 4;
constexpr amqp_channel_t token_channel = 5;
constexpr amqp_channel_t answer_channel = 6;

constexpr int access_refused = 403;  ///< of AMQP: the user lacks a right

/// A durable queue of ours, as it is to be.
struct QueueShape {
    std::string name;
    std::string type;  ///< quorum or classic
    std::int64_t max_length = 0;
    std::string length_key;      ///< of the configuration, for people
    bool single_active = false;  ///< one active consumer at a time
    bool keeps_oldest = false;   ///< when it is full; else the oldest messages go
};

/// Nova's failure messages.
QueueShape message_queue(const config::Broker& broker);
QueueShape dead_letter_queue(const config::Broker& broker);
/// The queue of serving tokens (serving_token.hpp).
QueueShape serving_queue(const config::Broker& broker);

/// A queue of that name with another type or other arguments is a failure that says what to do.
Outcome declare_queue(Connection& connection, const QueueShape& queue);
/// With `temporary_queue`: an exclusive one that goes with the connection.
Outcome declare_temporary_queue(Connection& connection, const config::Broker& broker,
                                const std::string& name);
/// The queue for INFO messages: exclusive, bounded (the oldest messages go first), gone with us.
/// What the broker drops from it goes to the queue of its losses.
Outcome declare_events_queue(Connection& connection, const config::Broker& broker,
                             const std::string& name);
/// The queue for what is lost from that one, of one message; gone with us, too.
std::string losses_of(const std::string& events_queue);
/// Was anything `lost` since the last call? At first, it declares the queue of the losses; must
/// come before the events queue.
Outcome take_losses(Connection& connection, const std::string& events_queue, bool& lost);

/// A failure of code 404 if it is not there. Declares nothing. 403: RabbitMQ 4.2.6 and 4.3.0 want
/// the right `configure` for it, later ones any right, earlier ones none.
Outcome look_for_exchange(Connection& connection, const config::Broker& broker);

/// `queue.purpose.<something unique>`: for a queue that no other client may meet, not even our own
/// of an earlier connection that the broker has not missed yet.
std::string unique_name(const std::string& queue, const std::string& purpose);

/// `<topic>.<priority>` of every topic.
std::vector<std::string> binding_keys(const config::Broker& broker, const std::string& priority);
/// Binds the queue to Nova's exchange by each key; no effect when it is bound already. A failure of
/// code 404 if there is no exchange.
Outcome bind_queue(Connection& connection, const config::Broker& broker, const std::string& name,
                   const std::vector<std::string>& keys);

/// Messages and consumers; a failure of code 404 if it is not there, and of 403 as for the
/// exchange. Declares nothing.
Outcome look_at_queue(Connection& connection, const std::string& name, QueueCounts& counts);

// When queue, consumer and binding are to be set up or checked, and what is reported about it. They
// are checked while connected too, for Nova's exchange goes with a broker restart, and the binding
// with it. Internal to clients/amqp; used by the connection's thread only.

/// Reports a state: is all well, what, and (if not) the pause before the next try.
using ProgressCallback = std::function<void(bool consuming, const std::string& what,
                                            std::optional<std::chrono::milliseconds> pause)>;

class TopologyMonitor {
public:
    /// All references must outlive it.
    TopologyMonitor(const Connection& connection, const config::Broker& broker,
                    const ConnectionTuning& tuning, const ProgressCallback& tell);

    /// When to check next; at first, at once.
    Steady::time_point due() const { return due_; }
    void check_at_once() { due_ = Steady::time_point{}; }

    /// After a check of `queue`: schedules the next one and reports. `outcome` comes back if the
    /// connection is lost. `consuming`: the queue and its consumer were set up.
    Outcome checked(Outcome outcome, bool consuming, const std::string& queue);
    /// The broker took the queue from us: it was deleted, its node is lost, or (RabbitMQ 4.3) we
    /// kept a message for too long, for which earlier ones close the channel.
    void consumer_cancelled(const std::string& queue);
    /// The broker closed our channel.
    void channel_closed(const std::string& why);

private:
    void again_after(std::chrono::milliseconds pause, const std::string& why);

    const Connection& connection_;
    const config::Broker& broker_;
    const ConnectionTuning& tuning_;
    const ProgressCallback& tell_;
    Steady::time_point due_ = Steady::time_point{};
    GrowingPause missing_backoff_;
    GrowingPause refused_backoff_;
};

}  // namespace reaper::amqp
