// What the daemon knows now, as values for Prometheus.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/controllers/oversubscription/metrics_reader.hpp"
#include "reaper/controllers/oversubscription/qos_loop.hpp"
#include "reaper/controllers/oversubscription/room_publisher.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/decision/decision_observer.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/gateway/placement_gateway.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/monitoring/exposition.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/requests/coordinator.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

// Read-only access to the parts of the daemon, for metrics and health.

/// After a start it takes some seconds until it is proven that the queue is ours.
inline constexpr const char* not_serving =
    "this reaper does not serve the queue: another one does, or its turn comes in some seconds";

/// It changes with everything that happens: look at it without waiting in between.
struct DaemonState {
    const LiveSettings& settings;
    const Clock& clock;
    const BrokerState& broker;
    const MessageSource& messages;
    const EventSource* events;  ///< null: Nova's events are not listened to
    const Switch& pause;
    const Switch& breaker;
    const CacheRefresher& refresher;
    const Ledger& ledger;
    const SafeguardController& safeguards;
    const RequestCoordinator& coordinator;
    const InventoryReserver& reserver;
    const Escrow& escrow;
    const ReservationController& reservations;
    const PlacementGateway& gateway;
    const RoomPublisher& publisher;
    const QosLoop& qos;
    const MetricsReader* measured;                 ///< null: nothing is
    const DecisionObserver* recorder;              ///< null: nothing is recorded
    bool listening = false;                        ///< the journal is read, requests are taken
    bool cloud_answered = false;                   ///< since the start
    std::optional<std::string> cloud_refused{};    ///< our credentials, at the start
    std::optional<std::string> cloud_silent{};     ///< a service of it, now, and why
    std::optional<std::string> clock_trouble{};    ///< how it differs from the cloud's
    std::optional<std::string> journal_trouble{};  ///< why it does not take what is to be written
    Duration journal_answered{};  ///< steady: when it was asked the last question that it answered
    /// Of Keystone's password or application credential; none: never, or it does not say.
    std::optional<TimePoint> credential_expires{};
    bool stopping = false;
    Duration stepped_at{};  ///< steady: when what is done every second was done last
};

/// None before the service runs.
using ObserveDaemon = std::function<std::optional<DaemonState>()>;

}  // namespace reaper

namespace reaper::monitoring {

/// All but the room of the cloud, which takes longer (`room_values`).
void add_daemon(const DaemonState& state, Values& values);

// The room of the cloud as values for Prometheus: summed over the hosts of each label, and, if it
// is wanted, of each host. Amounts are in Placement's units (VCPU: pieces, MEMORY_MB: MiB, ...).

class RoomValues {
public:
    explicit RoomValues(bool per_host) : per_host_(per_host) {}

    /// Some microseconds; each host once.
    void add(const Host& host, const ResourceClasses& revocable_classes, const Ledger& ledger);
    /// All of it; nothing is left here.
    void give(Values& values);

private:
    /// Of one class.
    struct Room {
        Amount capacity = 0;
        Amount free = 0;
        Amount regular = 0;
        Amount revocable = 0;
        Amount evicting = 0;
        Amount promised = 0;
    };
    using Rooms = std::map<ResourceClass, Room>;
    struct Servers {
        std::size_t regular = 0;
        std::size_t revocable = 0;
    };

    static Rooms rooms_of(const Host& host, const Ledger& ledger);

    bool per_host_;
    std::map<HostLabel, Rooms> sums_;
    std::map<HostLabel, Servers> servers_;
    std::map<std::pair<HostLabel, std::string>, std::size_t> hosts_;  ///< by label and status
    Values of_hosts_;
};

}  // namespace reaper::monitoring
