// Life on one connection: declares, binds, consumes and parses events, until the connection is lost
// or a stop is asked for. Internal to clients/amqp; runs in the connection's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_events.hpp"
#include "clients/amqp/event_dispatcher.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/topology_monitor.hpp"
#include "reaper/notifications/cloud_event_parser.hpp"

namespace reaper::amqp {

/// Written by the thread, read by any thread; over all connections.
struct EventCounters {
    std::atomic<std::uint64_t> received{0}, ignored{0}, malformed{0};
};

class EventSession {
public:
    /// All references must outlive the session.
    EventSession(Connection& connection, const config::Broker& broker, const EventTuning& tuning,
                 const Wakeup& wakeup, EventDispatcher& dispatcher, EventCounters& counters,
                 const ProgressCallback& tell);

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run();

private:
    /// Reads what has arrived, at most one batch, and sends it on; `more` if there may be more.
    Outcome round(bool& more);
    Outcome set_up();
    Outcome start_consuming();
    /// Whether we are behind: messages were lost, and not yet is most of the rest read.
    Outcome look_for_losses();

    Outcome serve(const amqp_frame_t& frame);
    Outcome serve_consume_method(const amqp_method_t& method);
    void take(const Message& message);
    void count_malformed(const std::string& reason);
    void send_batch();
    /// Waits for the executor.
    void pause() const;
    /// The library tells the broker that we live only while it reads from the socket: neither in a
    /// pause, nor while we work through what came along with an answer.
    Outcome stay_heard();

    Connection& connection_;
    const config::Broker& broker_;
    const EventTuning& tuning_;
    const Wakeup& wakeup_;
    EventDispatcher& dispatcher_;
    EventCounters& counters_;

    std::string queue_;
    bool consuming_ = false;
    bool behind_ = false;
    FrameAssembler assembler_;
    CloudEventParser parser_;
    std::vector<CloudEvent> batch_;
    TopologyMonitor topology_monitor_;
    Steady::time_point last_heartbeat_{};
};

}  // namespace reaper::amqp
