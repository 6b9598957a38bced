// Proves to the lease, over and over, that the broker still serves us: looks at our queue, without
// waiting for the answer. The queue itself answers, so in a cluster its node must be reachable from
// the one that we are connected to. Internal to clients/amqp; used by the connection's thread only.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/consumer_lease.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/wakeup.hpp"

namespace reaper::amqp {

class LeaseProof {
public:
    /// All references must outlive it.
    LeaseProof(Connection& connection, Dispatcher& dispatcher, const std::string& queue);

    /// Deliveries come; a proof of theirs lasts for `lease`.
    void start(std::chrono::milliseconds lease);
    /// None come any more.
    void stop();

    /// Asks, if it is time to. `may_wait`: the broker answers questions at present.
    Outcome work(bool may_wait);
    /// When `work` is next needed.
    Steady::time_point due() const;

    void answered();
    /// The broker closed the channel: there is no such queue now, or its node is down.
    void channel_closed();

private:
    Connection& connection_;
    Dispatcher& dispatcher_;
    const std::string& queue_;
    std::chrono::milliseconds pause_{0};  // 0: stopped
    bool open_ = false;
    std::optional<ConsumerLease::Time> asked_;  // not answered yet
    Steady::time_point due_{};
};

}  // namespace reaper::amqp
