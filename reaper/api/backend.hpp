// What the admin API shows of the daemon, and asks it for.
#pragma once

#include <functional>
#include <string>

#include "reaper/api/daemon_view.hpp"
#include "reaper/requests/record_feed.hpp"
#include "reaper/triggers/operator.hpp"

namespace reaper {
class ReservationController;
class RoomPublisher;
}  // namespace reaper

namespace reaper::api {

struct Health;  // health.hpp

/// All of it must outlive the answers.
struct Backend {
    ViewDaemon view;
    RecordFeed& feed;
    /// Null while the daemon does not run.
    std::function<OperatorTrigger*()> operators;
    std::function<ReservationController*()> reservations;    ///< likewise
    std::function<const RoomPublisher*()> room_publisher{};  ///< likewise
    std::function<Health()> health{};                        ///< empty: nobody can tell
    std::function<Task<std::string>()> metrics{};            ///< likewise; the page for Prometheus
};

}  // namespace reaper::api
