#include "reaper/monitoring/daemon_values.hpp"

#include <algorithm>
#include <chrono>

#include "reaper/decision/budget_usage.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper::monitoring {

namespace {

double in_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

double age_in_seconds(TimePoint at, TimePoint now) {
    return std::max(in_seconds(now - at), 0.0);
}

template <class Number>
double number(Number count) {
    return static_cast<double>(count);
}

void add_switches(const DaemonState& state, Values& values) {
    const bool paused = state.pause.paused().has_value();
    const bool open = state.breaker.paused().has_value();
    values.gauge("reaper_dry_run", "1: plans are reported only, nothing is deleted.",
                 number(state.settings.dry_run));
    values.gauge("reaper_paused", "1: an operator paused this reaper.", number(paused));
    const bool held_back = !paused && !open && state.safeguards.paused_reason().has_value();
    values.gauge("reaper_held_back",
                 "1: facts that a deletion depends on are unknown (a protected project, the rights "
                 "of the user).",
                 number(held_back));
    const TimePoint now = state.clock.now();
    const Safeguards& safeguards = state.safeguards.safeguards();
    const CircuitState circuit = open ? CircuitState::open : safeguards.breaker().state(now);
    const auto add_breaker = [&](const char* word, CircuitState is) {
        values.gauge("reaper_breaker_state", "1 for the state in which the circuit breaker is.",
                     number(circuit == is), {{"state", word}});
    };
    add_breaker("closed", CircuitState::closed);
    add_breaker("half-open", CircuitState::half_open);
    add_breaker("open", CircuitState::open);
    const auto left = safeguards.left_alone(now);
    for (const std::string_view word :
         {safeguard::project_breaker, safeguard::short_lived, safeguard::shape_cooldown})
        values.gauge("reaper_left_alone",
                     "Projects and shapes of requests that are left alone for a while: culls for "
                     "them went unused, or their room was given back within minutes.",
                     number(std::ranges::count_if(
                         left, [&](const auto& each) { return each.safeguard == word; })),
                     {{"safeguard", std::string{word}}});
    values.gauge("reaper_hosts_in_cooldown",
                 "Hosts that rank lower, as freed room there was not taken or a deletion hangs.",
                 number(safeguards.passed_over(now).size()));
}

void add_broker(const DaemonState& state, Values& values) {
    values.gauge("reaper_broker_connected", "1: RabbitMQ delivers Nova's messages.",
                 number(state.broker.consuming));
    values.gauge("reaper_serving",
                 "1: this reaper holds the serving token; of several reapers on one queue one "
                 "does. A dry run serves no requests: 0.",
                 number(!state.settings.dry_run && state.messages.serving() != 0));
    if (state.events == nullptr) return;
    values.gauge("reaper_notifications_flowing", "1: Nova's INFO notifications come in.",
                 number(state.refresher.flowing()));
    const EventCounts counts = state.events->counts();
    const char* const help = "Nova's INFO notifications, by result.";
    const auto add = [&](const char* result, std::uint64_t count) {
        values.counter("reaper_notifications_total", help, number(count), {{"result", result}});
    };
    add("used", counts.received - std::min(counts.received, counts.ignored + counts.malformed));
    add("ignored", counts.ignored);
    add("malformed", counts.malformed);
}

void add_cache(const DaemonState& state, Values& values) {
    const bool built = state.refresher.built();
    values.gauge("reaper_cloud_cache_built", "1: the cloud was read since the start.",
                 number(built));
    if (!built) return;
    const TimePoint now = state.clock.now();
    const CacheAges ages = state.refresher.cache().ages();
    values.gauge("reaper_cloud_cache_age_seconds", "Since the whole cloud was read in bulk.",
                 age_in_seconds(ages.built_at, now));
    if (ages.hosts > 0)
        values.gauge("reaper_cloud_cache_oldest_host_age_seconds",
                     "Age of the oldest reading of a host.",
                     age_in_seconds(ages.oldest_read_at, now));
    values.gauge("reaper_cloud_cache_hosts", "Hosts in the cloud cache.", number(ages.hosts));
    values.gauge("reaper_cloud_cache_servers", "Servers in the cloud cache.", number(ages.servers));
}

void add_ledger(const DaemonState& state, Values& values) {
    std::size_t evicting = 0;
    std::int64_t promised = 0;
    state.ledger.each_under_way([&](const Ledger::Eviction&) { ++evicting; });
    state.ledger.each_promise([&](const Ledger::Promise& promise) { promised += promise.kept(); });
    values.gauge("reaper_ledger_evictions", "Servers that are being deleted for requests.",
                 number(evicting));
    values.gauge("reaper_ledger_promised_slots", "Slots that are promised to requests.",
                 number(promised));
    values.gauge("reaper_ledger_given_up_servers",
                 "Servers whose deletion did not complete: their room counts as occupied.",
                 number(state.ledger.all_given_up().size()));
    values.gauge("reaper_inventory_holds",
                 "Inventories whose reserved amount is raised, so that freed room stays free.",
                 number(state.reserver.size()));
    values.gauge("reaper_escrowed_rooms",
                 "Servers whose room is kept in Placement until its requester claims it.",
                 number(state.escrow.size()));
}

void add_requests(const DaemonState& state, Values& values) {
    values.gauge("reaper_requests_in_flight", "Requests that are being served.",
                 number(state.coordinator.in_flight()));
    values.gauge("reaper_journal_blocked",
                 "1: something waits because the journal can't be written.",
                 number(state.coordinator.journal_trouble().has_value()));
    if (!state.listening) return;
    values.gauge("reaper_journal_silence_seconds",
                 "Since the journal was asked a question that it answered. The lease of one that "
                 "several reapers share ends after 15 s of silence.",
                 std::max(in_seconds(state.clock.steady() - state.journal_answered), 0.0));
}

void add_notices(const DaemonState& state, Values& values) {
    values.gauge("reaper_notices", "Servers that have notice of their end.",
                 number(state.safeguards.safeguards().notices().told().size()));
}

/// What limits leave to the next request, of any project.
void add_budgets(const DaemonState& state, Values& values) {
    if (!state.refresher.built()) return;
    const Safeguards& safeguards = state.safeguards.safeguards();
    const Budgets left = BudgetUsage{safeguards.settings().limits,
                                     &state.settings.policy->scheduler,
                                     safeguards.history(),
                                     Request{},
                                     state.refresher.cache().index(),
                                     state.ledger,
                                     state.clock.now()}
                             .left();
    for (const Budget& budget : left.all)
        values.gauge("reaper_budget_victims_left",
                     "Victims that a limit still allows; of limits that are set.",
                     number(std::max<Amount>(budget.left, 0)), {{"limit", budget.safeguard}});
    const auto add_used_up = [&](const auto& budgets, std::string_view limit) {
        const auto used_up =
            std::ranges::count_if(budgets, [](const auto& each) { return each.second.left <= 0; });
        values.gauge("reaper_budgets_used_up",
                     "Projects or aggregates of which no more victims are allowed for now.",
                     number(used_up), {{"limit", std::string{limit}}});
    };
    if (left.each_project) add_used_up(left.projects, safeguard::limit_project);
    if (left.each_aggregate) add_used_up(left.aggregates, safeguard::limit_aggregate);
}

void add_gateway(const DaemonState& state, Values& values) {
    if (state.settings.gateway.listen.empty()) return;
    const GatewayCounts& counts = state.gateway.counts();
    values.counter("reaper_gateway_searches_total",
                   "Searches of nova-scheduler that came through the gateway.",
                   number(counts.searches));
    const char* const help = "Searches that found no host, by result.";
    const auto add = [&](const char* result, std::uint64_t count) {
        values.counter("reaper_gateway_results_total", help, number(count), {{"result", result}});
    };
    add("served", counts.served);
    add("without-room", counts.without_room);
    add("offered", counts.offered);
    add("revocable", counts.revocable);
    add("passed", counts.passed);
    values.gauge("reaper_gateway_waiting_calls", "Calls of nova-scheduler that wait for room.",
                 number(counts.held));
    values.gauge("reaper_gateway_passing_through",
                 "1: the gateway helps no request now, and passes everything on to Placement.",
                 number(state.gateway.passes_through().has_value()));
}

void add_reservations(const DaemonState& state, Values& values) {
    const auto all = state.reservations.list();
    values.gauge("reaper_reservations", "Reservations of room for roles.", number(all.size()));
    Resources asked;
    const auto add = [&](const char* name, const char* help, const Resources& amounts) {
        for (const auto& [resource_class, amount] : asked)
            values.gauge(name, help, number(amounts.get(resource_class)),
                         {{"resourcetype", resource_class.str()}});
    };
    ReservationBalance sum;
    for (const ReservationView& each : all) {
        asked += each.reservation.asked;
        sum.used += each.balance.used;
        sum.held += each.balance.held;
        sum.lent += each.balance.lent;
        sum.owed += each.balance.owed;
    }
    add("reaper_reserved", "Room that is reserved for roles, in Placement's units.", asked);
    add("reaper_reserved_used", "Of reserved room, what servers of the roles use.", sum.used);
    add("reaper_reserved_held", "Of reserved room, what is held idle in Placement.", sum.held);
    add("reaper_reserved_lent", "Of reserved room, what revocable servers borrow.", sum.lent);
    add("reaper_reserved_owed", "Of reserved room, what others have.", sum.owed);
}

void add_recording(const DaemonState& state, Values& values) {
    if (state.recorder == nullptr) return;
    values.gauge("reaper_recording",
                 "1: decisions are recorded; 0: nothing is, as the disk or the bound is full.",
                 number(state.recorder->keeps()));
    values.counter("reaper_recording_losses_total",
                   "Times that a part of the recording was lost, and the recording began again.",
                   number(state.recorder->losses()));
}

void add_credential(const DaemonState& state, Values& values) {
    if (!state.credential_expires) return;
    values.gauge(
        "reaper_credential_expiry_timestamp_seconds",
        "When the reaper's password or application credential expires, according to Keystone.",
        in_seconds(state.credential_expires->time_since_epoch()));
}

void add_oversubscription(const DaemonState& state, Values& values) {
    if (!state.publisher.sells()) return;
    const OversubscribedSums sums = state.publisher.sums();
    values.gauge("reaper_oversubscribed_published",
                 "vCPUs that are sold beyond what is allocated; 0 of a host that is too busy.",
                 number(sums.published));
    values.gauge("reaper_oversubscribed_used", "Of these, what is held.", number(sums.used));
    values.gauge("reaper_oversubscribed_wanted",
                 "vCPUs that the estimator allows, where the use of the host is known.",
                 number(sums.wanted));
    values.gauge("reaper_oversubscribed_excess",
                 "vCPUs that are held beyond the estimate: evicted, or drained.",
                 number(sums.excess));
    values.gauge("reaper_oversubscribed_hosts", "Hosts whose unused vCPUs are sold.",
                 number(sums.hosts));
    values.gauge("reaper_oversubscribed_hosts_unknown",
                 "Of these, those whose use is not known: nothing new is sold there.",
                 number(sums.unknown));
    values.gauge("reaper_oversubscribed_hosts_left_alone",
                 "Of these, those that went up and down: nothing rises there for a while.",
                 number(sums.left_alone));
    values.gauge("reaper_oversubscribed_hosts_too_busy",
                 "Of these, those that the QoS controller finds too busy.",
                 number(state.qos.busy_hosts()));
    if (state.measured == nullptr) return;
    values.counter("reaper_oversubscription_query_failures_total",
                   "Queries to Prometheus without a valid answer.",
                   number(state.measured->failures()));
    // A standby asks for nothing.
    const bool asks = state.settings.dry_run || state.messages.serving() != 0;
    if (const auto at = state.measured->answered_at(); asks && at)
        values.gauge("reaper_oversubscription_figures_age_seconds",
                     "Since Prometheus answered all queries at a time.",
                     std::max(in_seconds(state.clock.steady() - *at), 0.0));
}

}  // namespace

void add_daemon(const DaemonState& state, Values& values) {
    values.gauge("reaper_last_step_age_seconds", "Since the loop did its work of each second.",
                 std::max(in_seconds(state.clock.steady() - state.stepped_at), 0.0));
    add_switches(state, values);
    add_broker(state, values);
    add_cache(state, values);
    add_ledger(state, values);
    add_requests(state, values);
    add_budgets(state, values);
    add_notices(state, values);
    add_gateway(state, values);
    add_reservations(state, values);
    add_oversubscription(state, values);
    add_recording(state, values);
    add_credential(state, values);
}

namespace {

constexpr HostLabel host_labels[] = {HostLabel::regular, HostLabel::revocable, HostLabel::any};
constexpr const char* host_statuses[] = {"up", "disabled", "down"};

std::string text_of(HostLabel label) {
    return std::string{to_string(label)};
}

const char* status_of(const Host& host) {
    if (!host.up) return "down";
    return host.enabled ? "up" : "disabled";
}

void grow(Amount& sum, Amount by) {
    sum = saturating_add(sum, by);
}

double as_number(Amount amount) {
    return static_cast<double>(amount);
}

}  // namespace

RoomValues::Rooms RoomValues::rooms_of(const Host& host, const Ledger& ledger) {
    Rooms rooms;
    for (const Provider& provider : host.providers) {
        for (const auto& [resource_class, inventory] : provider.inventories) {
            Room& room = rooms[resource_class];
            const Amount capacity = provider.capacity(resource_class, inventory);
            const Amount used = provider.used.get(resource_class);
            grow(room.capacity, capacity);
            grow(room.free, std::max<Amount>(saturating_subtract(capacity, used), 0));
            grow(room.regular, used);
        }
    }
    for (const Server& server : host.servers) {
        const bool leaves = ledger.evicting(server.id) || is_being_deleted(server);
        if (!server.revocable() && !leaves) continue;
        for (const auto& [resource_class, amount] : server.resources()) {
            Room& room = rooms[resource_class];
            if (leaves) grow(room.evicting, amount);
            if (!server.revocable()) continue;
            grow(room.revocable, amount);
            room.regular = std::max<Amount>(saturating_subtract(room.regular, amount), 0);
        }
    }
    if (ledger.promises_anything_on(host.id))
        for (const auto& [resource_class, amount] : ledger.promised_to_requests(host.id))
            grow(rooms[resource_class].promised, amount);
    return rooms;
}

void RoomValues::add(const Host& host, const ResourceClasses& revocable_classes,
                     const Ledger& ledger) {
    const HostLabel label = label_of(host, revocable_classes);
    ++hosts_[{label, status_of(host)}];
    Servers& servers = servers_[label];
    for (const Server& server : host.servers)
        if (server.status != "DELETED")
            ++(server.revocable() ? servers.revocable : servers.regular);
    for (const auto& [resource_class, room] : rooms_of(host, ledger)) {
        Room& sum = sums_[label][resource_class];
        grow(sum.capacity, room.capacity);
        grow(sum.free, room.free);
        grow(sum.regular, room.regular);
        grow(sum.revocable, room.revocable);
        grow(sum.evicting, room.evicting);
        grow(sum.promised, room.promised);
        if (!per_host_) continue;
        const Labels of{{"hostname", label_value(host.name)},
                        {"resourcetype", resource_class.str()}};
        of_hosts_.gauge("reaper_host_capacity", "What the host offers.", as_number(room.capacity),
                        of);
        of_hosts_.gauge("reaper_host_free", "Unallocated resources on the host.",
                        as_number(room.free), of);
        of_hosts_.gauge("reaper_host_revocable", "What revocable servers hold on the host.",
                        as_number(room.revocable), of);
        of_hosts_.gauge("reaper_host_evicting", "Of the host, what servers hold that are deleted.",
                        as_number(room.evicting), of);
        of_hosts_.gauge("reaper_host_promised", "Of the host, what is promised to requests.",
                        as_number(room.promised), of);
    }
}

void RoomValues::give(Values& values) {
    for (const HostLabel label : host_labels) {
        const std::string text = text_of(label);
        for (const char* const status : host_statuses)
            values.gauge("reaper_hosts", "Hosts by their label and the status of nova-compute.",
                         static_cast<double>(hosts_[{label, status}]),
                         {{"host_label", text}, {"status", status}});
        const char* const help = "Servers on hosts of a label, by their kind.";
        values.gauge("reaper_servers", help, static_cast<double>(servers_[label].regular),
                     {{"host_label", text}, {"kind", "regular"}});
        values.gauge("reaper_servers", help, static_cast<double>(servers_[label].revocable),
                     {{"host_label", text}, {"kind", "revocable"}});
        for (const auto& [resource_class, room] : sums_[label]) {
            const Labels of{{"host_label", text}, {"resourcetype", resource_class.str()}};
            values.gauge("reaper_room_capacity",
                         "What hosts offer: (total - reserved) * allocation ratio, in Placement's "
                         "units.",
                         as_number(room.capacity), of);
            values.gauge("reaper_room_free", "Unallocated resources.", as_number(room.free), of);
            values.gauge("reaper_room_regular", "What regular servers and others hold.",
                         as_number(room.regular), of);
            values.gauge("reaper_room_revocable", "What revocable servers hold.",
                         as_number(room.revocable), of);
            values.gauge("reaper_room_evicting",
                         "What servers hold that are being deleted: part of what regular and "
                         "revocable ones hold.",
                         as_number(room.evicting), of);
            values.gauge("reaper_room_promised",
                         "What is promised to requests: part of what is free or comes free.",
                         as_number(room.promised), of);
        }
    }
    values.join(std::move(of_hosts_));
    *this = RoomValues{per_host_};
}

}  // namespace reaper::monitoring
