#include "faults/schedules/judge_reservations.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "faults/schedules/checker.hpp"
#include "reaper/model/text.hpp"

namespace reaper::faults {

using cloudsim::Server;

namespace {

using nlohmann::json;
using std::chrono::seconds;

/// A write may rest on data of this age: a reading, calls and their repetitions.
constexpr Duration reading_to_write = seconds{90};
/// The register is read by then.
constexpr Duration reservations_warm_after = seconds{20};
/// What is released for a requester waits for it.
constexpr Duration waits_for_requester = seconds{75};
/// What the reaper does not know of a host by then, it can know.
constexpr Duration seen_after = seconds{20};

bool is_of_reservation(const json& change) {
    return change.is_object() &&
           Reservations::role_of_record(change.value("project_id", std::string{}));
}

}  // namespace

// ---- the arithmetic ----

Reservations::Reservations(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site,
                           const Truth& truth)
    : plan_(plan), timeline_(timeline), site_(site), truth_(truth) {
    configure(plan.reservations);
}

void Reservations::configure(const config::Reservations& settings) {
    configured_.emplace_back(timeline_.true_now(), settings);
}

std::vector<Reserved> Reservations::reserved_on(const config::Reservations& settings,
                                                const std::string& host) const {
    std::map<Role, Reserved> found;
    for (const config::StaticReservation& each : settings.static_ones)
        for (const std::string& pattern : each.hosts)
            if (settings.enabled && matches_glob(pattern, host))
                found[each.role] = {each.role, each.resources, each.lending.lend,
                                    each.lending.floor};
    std::vector<Reserved> all;
    for (auto& each : found) all.push_back(std::move(each.second));
    return all;
}

std::vector<Reserved> Reservations::on(const std::string& host) const {
    return reserved_on(configured_.back().second, host);
}

std::vector<std::vector<Reserved>> Reservations::on_since(const std::string& host,
                                                          TimePoint since) const {
    std::vector<std::vector<Reserved>> all;
    for (std::size_t i = 0; i < configured_.size(); ++i)
        if (i + 1 == configured_.size() || configured_[i + 1].first >= since)
            all.push_back(reserved_on(configured_[i].second, host));
    return all;
}

std::optional<Role> Reservations::role_of(const std::string& project) const {
    for (const config::RoleProjects& each : plan_.reservations.roles)
        for (const std::string& name : each.projects)
            if (const auto* const known = site_.world().identity.project_named(name);
                known != nullptr && known->id == project)
                return each.role;
    return std::nullopt;
}

bool Reservations::is_open_to(const Reserved& reserved, const std::string& project) const {
    const auto role = role_of(project);
    return role && reserved.role.is_open_to(*role);
}

std::optional<Role> Reservations::role_of_record(const std::string& project) {
    constexpr std::string_view prefix = "reservation:";
    if (!project.starts_with(prefix)) return std::nullopt;
    auto role = Role::parse(std::string_view{project}.substr(prefix.size()));
    return role ? std::optional{std::move(*role)} : std::nullopt;
}

bool Reservations::is_revocable(const Holder& holder) const {
    const auto& world = site_.world();
    const bool holds = holder.held.get(ResourceClass{world.settings.revocable_class}) > 0;
    return world.is_revocable(truth_.revocable_since(holder.project).has_value(), holds);
}

Resources Reservations::used(const Reserved& reserved, const HostState& state,
                             Movers movers) const {
    Resources sum;
    for (const Holder& holder : state.holders)
        if (!is_record(holder) && is_open_to(reserved, holder.project) && !is_revocable(holder) &&
            (movers == Movers::use || holder.placed_at))
            sum += holder.held;
    return common(reserved.asked, sum);
}

Resources Reservations::held(const Reserved& reserved, const HostState& state) {
    Resources sum;
    for (const Holder& holder : state.holders)
        if (role_of_record(holder.project) == reserved.role) sum += holder.held;
    return sum;
}

Resources Reservations::revocable(const HostState& state, const std::set<Uuid>& without) const {
    Resources sum;
    for (const Holder& holder : state.holders)
        if (!is_record(holder) && is_revocable(holder) && !without.contains(holder.consumer))
            sum += holder.held;
    return sum;
}

Resources Reservations::lacked_by_others(const std::string& host, const std::string& project,
                                         const HostState& state, Movers movers) const {
    Resources lacked;
    for (const Reserved& reserved : on(host))
        if (!is_open_to(reserved, project))
            lacked +=
                above_none(reserved.asked - used(reserved, state, movers) - held(reserved, state));
    return lacked;
}

bool Reservations::unclear() const {
    return plan_.lies() || plan_.has(Kind::retag) || plan_.has(Kind::class_lost) ||
           plan_.has(Kind::allocation_missing);
}

// ---- reserved-room ----

std::set<Uuid> Checker::reservations_in(const cloudsim::Request& request) {
    std::set<Uuid> found;
    if (request.method != "POST") return found;
    const json body = json::parse(request.body, nullptr, false);
    if (!body.is_object()) return found;
    for (const auto& [id, change] : body.items())
        if (const auto consumer = Uuid::parse(id); consumer && is_of_reservation(change))
            found.insert(*consumer);
    return found;
}

/// What waits for room, and may be given what is reserved: of the role, or to borrow.
Resources Checker::waits_for_reserved(const Reserved& reserved, bool borrowers) const {
    const TimePoint since = timeline_.true_now() - reading_to_write;
    Resources sum;
    for (const auto& [id, demand] : truth_.demands()) {
        if (demand.over_since && *demand.over_since < since) continue;
        const bool revocable = site_.world().is_revocable(
            truth_.revocable_since(demand.project).has_value(), demand.asks_class);
        const bool its = borrowers
                             ? revocable
                             : !revocable && reservations_.is_open_to(reserved, demand.project);
        if (its) sum += demand.slot * demand.slots;
    }
    return sum;
}

/// The cloud has worked on a change of reservations.
void Checker::judge_reservation_write(const Exchange& call) {
    if (call.response.status >= 300) return;
    ++tally_.reservation_writes;
    const TimePoint now = timeline_.true_now();
    for (const Uuid& consumer : reservations_in(call.request)) {
        const json body = json::parse(call.request.body, nullptr, false);
        const auto role =
            Reservations::role_of_record(body[consumer.text()].value("project_id", std::string{}));
        if (!role) {
            blame("reserved-room", consumer.text() + " is no reservation: " + call.request.body);
            continue;
        }
        const auto before = reservations_before_.find(consumer);
        for (const auto& host : site_.world().nova.hosts) {
            const HostState* const state = truth_.state_at(host->name, now);
            Resources was, is;
            if (before != reservations_before_.end())
                if (const auto at = before->second.find(host->name); at != before->second.end())
                    was = at->second;
            if (const Holder* const holder = state->holder(consumer)) is = holder->held;
            if (was == is) continue;
            trace_.line("reservation of " + role->str() + " on " + host->name + ": " +
                        to_string(was) + " -> " + to_string(is));
            if (was.fits_in(is)) continue;
            ++tally_.reservations_shrunk;
            released_[host->name].emplace_back(now, above_none(was - is));
            if (!reservations_.unclear()) judge_reserved_release(*role, host->name, was, is);
        }
    }
}

/// Room is released as far as its role's servers use it, for a request of the role, for a
/// borrower, or when the configuration asks for less.
void Checker::judge_reserved_release(const Role& role, const std::string& host,
                                     const Resources& was, const Resources& is) {
    const TimePoint now = timeline_.true_now();
    const TimePoint since = now - reading_to_write;
    for (const auto& configured : reservations_.on_since(host, since)) {
        const auto at = std::find_if(configured.begin(), configured.end(),
                                     [&](const Reserved& each) { return each.role == role; });
        if (at == configured.end()) return;  // configured away
        Resources used;
        for (const HostState* const state : truth_.states(host, since, now))
            for (const auto& [name, amount] :
                 reservations_.used(*at, *state, Reservations::Movers::use))
                used.set(name, std::max(used.get(name), amount));
        Resources keeps = common(was, above_none(at->asked - used));
        keeps = above_none(keeps - waits_for_reserved(*at, false));
        if (at->lends)
            keeps = above_none(
                keeps - common(waits_for_reserved(*at, true), above_none(keeps - at->floor)));
        if (keeps.fits_in(is)) return;
    }
    blame("reserved-room", "of " + to_string(was) + " on " + host + " that is reserved for " +
                               role.str() + " " + to_string(is) +
                               " is left, and no waiting request may have the rest");
}

// ---- tenant-for-stranger ----

/// Tenants go for their lender alone: what others have reserved is there without this plan's
/// victims, be it held, used, free, or lent.
void Checker::judge_tenants(const PlanRecord& plan, const Demand& demand,
                            const cloudsim::Server& victim) {
    if (!plan_.with_reservations() || plan_.dry_run || reservations_.unclear()) return;
    if (victim.host == nullptr || plan.process_began + reservations_warm_after > plan.at) return;
    if (plan_.has(Kind::reservation_changed)) return;
    const std::string& host = victim.host->name;
    std::set<Uuid> victims;
    for (const HostPlan& part : plan.plan->hosts)
        if (part.host_name == host)
            for (const Victim& each : part.victims) victims.insert(*Uuid::parse(each.server.str()));
    std::string why;
    bool any = false;
    for (const TimePoint at : change_times(plan, timeline_.true_now())) {
        const HostState* const state = truth_.state_at(host, at);
        const Holder* const holder = state == nullptr ? nullptr : state->holder(victim.id);
        if (holder == nullptr) continue;
        // A tenant of several lenders goes for any of them.
        for (const Reserved& own : reservations_.on(host))
            if (reservations_.is_open_to(own, demand.project) &&
                !(own.asked - reservations_.used(own, *state, Reservations::Movers::use) -
                  Reservations::held(own, *state))
                     .empty()) {
                note_lender_races(own, demand, *state, victim);
                return;
            }
        const Resources lacked =
            reservations_.lacked_by_others(host, demand.project, *state, Reservations::Movers::use);
        if (!lacked.empty() && !std::exchange(any, true)) ++tally_.tenants_judged;
        Resources room = above_none(state->free) + reservations_.revocable(*state, victims);
        for (const auto& [since, amounts] : released_[host])
            if (since + waits_for_requester > at && since <= at) room += amounts;
        bool bad = false;
        for (const auto& [name, amount] : lacked)
            bad = bad || (holder->held.get(name) > 0 && amount > 0 && amount > room.get(name));
        if (!bad) return;
        why = to_string(lacked) + " are lacking, " + to_string(room) + " is left";
    }
    if (!why.empty())
        blame("tenant-for-stranger", victim.id.text() + " on " + host + " is deleted for " +
                                         demand.id + ", and borrows of others: " + why);
}

/// Over-evicting is judged by rule 3, and needless refusals by the first try.
void Checker::note_lender_races(const Reserved& own, const Demand& demand, const HostState& state,
                                const cloudsim::Server& victim) {
    bool by_itself = false, for_another = false, borrower = false;
    for (const Holder& holder : state.holders) {
        if (!holder.leaving_since || holder.consumer == victim.id) continue;
        const auto* const server = site_.world().nova.find_server(holder.consumer);
        by_itself = by_itself || (server != nullptr && !deleted_by_a_reaper(*server));
    }
    for (const auto& [id, other] : truth_.demands()) {
        if (other.over_since || id == demand.id) continue;
        const bool revocable = site_.world().is_revocable(
            truth_.revocable_since(other.project).has_value(), other.asks_class);
        borrower = borrower || revocable;
        for_another = for_another || (!revocable && reservations_.is_open_to(own, other.project));
    }
    if (by_itself) ++tally_.lender_races["one goes by itself (over-evicting 1)"];
    if (for_another) ++tally_.lender_races[another_lender_waits];
    if (borrower) ++tally_.lender_races[a_borrower_waits];
}

// ---- room that is owed ----

/// On a host, all that reservations lack which are not for the request, whichever server has it.
Resources Checker::lacked_by_others(const std::string& host, const std::string& request,
                                    const HostState& state) const {
    const Demand* const demand = truth_.demand(request);
    if (!plan_.with_reservations() || demand == nullptr) return {};
    return reservations_.lacked_by_others(host, demand->project, state,
                                          Reservations::Movers::do_not_use);
}

/// ... and what surely belongs to others, as the reaper must know.
Resources Checker::surely_owed_to_others(const std::string& host, const std::string& request,
                                         TimePoint at) const {
    const Demand* const demand = truth_.demand(request);
    if (!plan_.with_reservations() || demand == nullptr || reservations_.unclear()) return {};
    if (started_at_ + reservations_warm_after + seen_after > at ||
        plan_.has(Kind::reservation_changed))
        return {};
    // It may borrow.
    if (site_.world().is_revocable(truth_.revocable_since(demand->project).has_value(),
                                   demand->asks_class))
        return {};
    // What is released for itself is free, and its own.
    for (const Reserved& own : reservations_.on(host))
        if (reservations_.is_open_to(own, demand->project)) return {};
    std::optional<Resources> least;
    for (const HostState* const state : truth_.states(host, at - seen_after, at)) {
        Resources owed = reservations_.lacked_by_others(host, demand->project, *state,
                                                        Reservations::Movers::use) -
                         reservations_.revocable(*state, {});
        for (const Promise& promise : promises_)
            if (promise.host == host && promise.span.from <= at)
                if (!promise.span.until || *promise.span.until >= at - seen_after)
                    owed -= promise.slot * promise.slots;
        owed = above_none(owed);
        least = least ? common(*least, owed) : owed;
    }
    return least.value_or(Resources{});
}

bool Checker::has_reserved(const std::string& request) const {
    const Demand* const demand = truth_.demand(request);
    if (!plan_.with_reservations() || demand == nullptr) return false;
    const auto& hosts = site_.world().nova.hosts;
    return std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) {
        const auto all = reservations_.on(host->name);
        return std::any_of(all.begin(), all.end(), [&](const Reserved& each) {
            return reservations_.is_open_to(each, demand->project);
        });
    });
}

// ---- reservation-lost ----

/// What is not as it should be once all is quiet.
std::vector<std::string> Checker::wrong_reservations() const {
    std::vector<std::string> wrong;
    // That a project became regular again is seen when the next request is decided.
    if (!plan_.with_reservations() || plan_.has(Kind::retag)) return wrong;
    const TimePoint now = timeline_.true_now();
    for (const auto& host : site_.world().nova.hosts) {
        const HostState* const state = truth_.state_at(host->name, now);
        // A server that runs there and has lost its allocation counts as using room.
        const bool some_hold_nothing =
            std::any_of(host->servers.begin(), host->servers.end(),
                        [&](const Server* server) { return state->holder(server->id) == nullptr; });
        const auto all = reservations_.on(host->name);
        Resources free = above_none(state->free - promised_on(host->name, ""));
        for (const Reserved& reserved : all) {
            const Resources held = Reservations::held(reserved, *state);
            const auto should = [&](Reservations::Movers movers) {
                return reserved.asked - reservations_.used(reserved, *state, movers);
            };
            const Resources most = should(Reservations::Movers::do_not_use);
            const Resources least = should(Reservations::Movers::use);
            for (const auto& [name, amount] : held)
                if (amount > most.get(name))
                    wrong.push_back(reserved.role.str() + " on " + host->name + " holds " +
                                    to_string(held) + " of " + to_string(most));
            for (const auto& [name, amount] : above_none(least - held))
                if (amount > 0 && free.get(name) > 0 && !some_hold_nothing)
                    wrong.push_back(reserved.role.str() + " on " + host->name + " lacks " +
                                    std::to_string(amount) + " " + name.str() + ", and " +
                                    std::to_string(free.get(name)) + " are free");
        }
        for (const Holder& holder : state->holders) {
            const auto role = Reservations::role_of_record(holder.project);
            if (role && std::none_of(all.begin(), all.end(),
                                     [&](const Reserved& each) { return each.role == *role; }))
                wrong.push_back("on " + host->name + " " + to_string(holder.held) +
                                " is held for " + role->str() + ", which has nothing reserved");
        }
    }
    return wrong;
}

/// Where a clock was set back, promises last for longer than we look.
bool Checker::awaits_reservations() const {
    return plan_.with_reservations() && !plan_.has(Kind::clock_step) &&
           !wrong_reservations().empty();
}

void Checker::judge_reservations_left() {
    if (plan_.has(Kind::clock_step)) return;
    for (const std::string& wrong : wrong_reservations()) blame("reservation-lost", wrong);
}

}  // namespace reaper::faults
