// When queue, consumer and binding are to be set up or checked, and what is reported about it. They
// are checked while connected too, for Nova's exchange goes with a broker restart, and the binding
// with it. Internal to clients/amqp; used by the connection's thread only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/tuning.hpp"
#include "clients/amqp/wakeup.hpp"
#include "config/settings.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper::amqp {

/// Tells a state: is all well, what, and (if not) the pause before the next try.
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
    /// The broker deleted our queue.
    void queue_vanished(const std::string& queue);
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
