// Nova's versioned notifications as they are on the wire, from what happens in the simulated cloud.
// Their form is that of recorded ones (tests/data/openstack-zed/notifications), tracebacks
// included.
#pragma once

#include <functional>
#include <string>

#include "tests/cloudsim/core/listener.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

struct Message {
    std::string routing_key;  ///< `versioned_notifications.error`
    std::string body;         ///< with oslo.messaging's envelope
};

/// Writes a message for each thing that Nova would tell, and hands it on.
class Notifications final : public Listener {
public:
    using Send = std::function<void(Message)>;
    /// `world` is asked for each message; state changes as `instance.update` only if the cloud is
    /// set so.
    Notifications(std::function<World&()> world, Send send)
        : world_(std::move(world)), send_(std::move(send)) {}

    void on_server(const ServerEvent& event) override;
    void on_schedule(const ScheduleEvent& event) override;
    void on_refusal(const RefusalEvent& event) override;
    void on_service(const ServiceEvent& event) override;
    void on_aggregate(const AggregateEvent& event) override;

private:
    void send(std::string_view event_type, bool is_error, std::string_view publisher,
              const ContextPtr& by, std::string_view payload);

    std::function<World&()> world_;
    Send send_;
};

}  // namespace reaper::cloudsim
