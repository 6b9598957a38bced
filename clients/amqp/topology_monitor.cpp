#include "clients/amqp/topology_monitor.hpp"

namespace reaper::amqp {

TopologyMonitor::TopologyMonitor(const Connection& connection, const config::Broker& broker,
                                 const ConnectionTuning& tuning, const ProgressCallback& tell)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      tell_(tell),
      missing_backoff_(broker.reconnect_backoff, tuning.recheck_missing_max),
      refused_backoff_(broker.reconnect_backoff, broker.reconnect_backoff_max) {}

Outcome TopologyMonitor::checked(Outcome outcome, bool consuming, const std::string& queue) {
    if (!outcome) {
        missing_backoff_.reset();
        refused_backoff_.reset();
        due_ = Steady::now() + tuning_.recheck;
        tell_(true, connection_.name() + ": consuming queue '" + queue + "'", std::nullopt);
        return {};
    }
    if (outcome->fatal) return outcome;
    if (consuming && outcome->code == 404) {
        again_after(missing_backoff_.next(),
                    connection_.name() + ": waiting for exchange '" + broker_.exchange +
                        "': Nova declares it with its first notification (in nova.conf: "
                        "[oslo_messaging_notifications] driver = messagingv2)");
    } else {
        again_after(refused_backoff_.next(), outcome->error.what);
    }
    return {};
}

void TopologyMonitor::queue_vanished(const std::string& queue) {
    again_after(missing_backoff_.next(),
                connection_.name() + ": queue '" + queue + "' was deleted; making it again");
}

void TopologyMonitor::channel_closed(const std::string& why) {
    again_after(refused_backoff_.next(), why);
}

void TopologyMonitor::again_after(std::chrono::milliseconds pause, const std::string& why) {
    due_ = Steady::now() + pause;
    tell_(false, why, pause);
}

}  // namespace reaper::amqp
