// Life on one connection to the broker: declares, binds, consumes and acknowledges while this
// reaper serves (serving_token.hpp), until the connection is lost or a stop is asked for. It
// publishes nothing: the outbox wakes the publisher for that. Internal to clients/amqp; runs in the
// connection's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/dispatcher.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/outbox.hpp"
#include "clients/amqp/rabbitmq_c.hpp"
#include "clients/amqp/serving_token.hpp"
#include "config/settings.hpp"

namespace reaper::amqp {

class Session {
public:
    /// All references must outlive the session.
    Session(Connection& connection, const config::Broker& broker, const AmqpTuning& tuning,
            CommandQueue& commands, Outbox& outbox, Dispatcher& dispatcher,
            const ProgressCallback& tell);

    /// Why the connection was lost; none after a stop.
    std::optional<Error> run();

private:
    Outcome set_up();
    Outcome set_up_temporary();
    Outcome set_up_queues();
    Outcome start_consuming();
    Outcome follow_token();
    Outcome stop_serving();
    void stop_trusting_deliveries();

    Outcome serve_commands();
    Outcome acknowledge(std::uint64_t tag);
    void set_aside(Command command);

    /// Handles what has arrived, at most some; `more` if there may be more.
    Outcome serve_frames(bool& more);
    Outcome serve(const amqp_frame_t& frame);
    Outcome serve_connection_method(const amqp_method_t& method);
    Outcome serve_consume_method(const amqp_method_t& method);
    Outcome deliver(Message message);

    /// When the topology is to be checked next.
    Steady::time_point check_due() const;
    void wait() const;
    Outcome round(bool& more);
    void wind_down(Steady::time_point deadline);

    Connection& connection_;
    const config::Broker& broker_;
    const AmqpTuning& tuning_;
    CommandQueue& commands_;
    Outbox& outbox_;
    Dispatcher& dispatcher_;

    struct Unacknowledged {
        ContentProperties properties;
        Headers headers;
        std::uint64_t full_size = 0;
        std::size_t handed_out = 0;  ///< bytes of the body
        std::string packed{};        ///< the body as it came, where it was unpacked
    };

    std::string queue_;
    std::uint64_t epoch_ = 0;  // 0: we do not serve
    bool serves_ = false;      // since the token was ours; epochs end sooner
    bool consuming_ = false;
    bool stopping_ = false;
    int not_consumed_ = 0;                                    // looks in a row
    std::map<std::uint64_t, Unacknowledged> unacknowledged_;  // at most `prefetch`
    FrameAssembler assembler_;
    ServingToken token_;
    TopologyMonitor topology_monitor_;
};

}  // namespace reaper::amqp
