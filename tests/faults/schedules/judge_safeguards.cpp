// The judgement on safeguards: whom they protect and how many may die; and on what the journal says
// of a cull's worth. When all, a project or a shape must stop is judge_breakers.cpp's.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

using std::chrono::seconds;

namespace {

/// Between the note of a deletion and its arrival at the cloud.
constexpr Duration on_its_way = seconds{5};

bool means_no(const std::string& value) {
    return value == "false" || value == "no" || value == "0";
}

}  // namespace

/// Why a revocable server may not be deleted now, as the cloud knows it; empty if it may.
std::string Checker::why_spared(const cloudsim::Server& server) const {
    if (server.locked_by_admin) return "locked by an administrator";
    // What its owner did to it, a lock, a tag or metadata, counts only if it may.
    const bool owners = configured_.safeguards.protect.owners;
    if (owners && server.locked) return "locked";
    if (const auto* extra = server.extra(); owners && extra != nullptr) {
        if (extra->tags.contains("reaper-protected")) return "protected";
        const auto key = extra->metadata.find("reaper:protected");
        if (key != extra->metadata.end() && !means_no(key->second)) return "protected";
    }
    if (configured_.protected_project.empty()) return "";
    const auto* project = site_.world().identity.project_named(configured_.protected_project);
    return site_.world().names.text(server.project) == project->id ? "protected" : "";
}

void Checker::judge_age(const Exchange& call, const Basis& basis) {
    const Duration least = basis.configured.safeguards.protect.min_run_time;
    // What is deleted softly runs no more.
    if (least <= Duration::zero() || basis.forced || basis.look->untrue) return;
    if (plan_.has(Kind::clock_step)) return;
    const Duration age = call.sent_at - basis.look->started;
    if (age < least)
        blame("rule-1", basis.server.text() + " is deleted after " + std::to_string(age.count()) +
                            " ms, and may run for " + std::to_string(least.count()));
}

/// Who has no message of the request may not kill for it: another reaper may have it.
void Checker::judge_held(const Basis& basis) {
    const PlanRecord* plan = plan_for(basis.server.text(), basis.machine);
    if (plan == nullptr || broker_ == nullptr) return;
    const auto& queue = broker_->queue();
    const auto is_held = [&](const std::string& request) {
        if (gateway_ != nullptr && gateway_->waits_for(request)) return true;
        return std::any_of(queue.begin(), queue.end(), [&](const Broker::Stored& message) {
            return broker_->is_out(message) && names_in(message.body).request == request;
        });
    };
    const Demand* const demand = truth_.demand(plan->request);
    const auto& records = journals_[basis.machine]->records;
    const auto record = records.find(RequestId{plan->request});
    if (record != records.end() && record->second.request.correction) return;  // no requester asked
    if (demand != nullptr && demand->unshelves)
        return;  // the reaper that serves the queue looks for it
    // Its room may have been handed to a like request.
    const auto& all = truth_.demands();
    const bool heir = demand != nullptr && std::any_of(all.begin(), all.end(), [&](auto& entry) {
                          return demand->room_may_go_to(entry.second) && is_held(entry.first);
                      });
    if (!is_held(plan->request) && !heir)
        blame("rule-4", basis.server.text() + " is deleted for " + plan->request +
                            ", of which the reaper holds no message");
}

/// Whom the configuration protects now is not deleted, whatever it said when the plan was made.
void Checker::judge_policy(const Basis& basis) {
    const cloudsim::Server* server = site_.world().nova.find_server(basis.server);
    if (server == nullptr || basis.configured.protected_project.empty()) return;
    const auto* project = site_.world().identity.project_named(basis.configured.protected_project);
    if (site_.world().names.text(server->project) == project->id)
        blame("reload", basis.server.text() + " is to be deleted, whose project is protected");
}

// ---- limits ----

void Checker::on_effect(const cloudsim::Effect& effect) {
    if (effect.what == "deletion lost") deaths_.erase(effect.server.text());
}

/// The cloud has just accepted a deletion.
void Checker::judge_limits(const Exchange& call, const Basis& basis) {
    const PlanRecord* plan = plan_for(basis.server.text(), basis.machine);
    // One that arrives late may be one that the reaper has given up: it looked, and saw no
    // deletion.
    const bool late = call.executed_at - call.sent_at > seconds{1};
    const cloudsim::Server* server = site_.world().nova.find_server(basis.server);
    if (plan == nullptr || basis.forced || !basis.counts || late || server == nullptr) return;
    if (server->task != cloudsim::TaskState::deleting &&
        server->task != cloudsim::TaskState::soft_deleting)
        return;
    const std::string project = site_.world().names.text(server->project);
    deaths_.try_emplace(basis.server.text(),
                        Death{basis.machine, call.sent_at, plan->request, project});
    if (plan_.lies()) return;
    const LimitSettings& limits = basis.configured.safeguards.limits;
    const TimePoint since = call.sent_at - limits.window + on_its_way;
    int of_request = 0;
    int of_project = 0;
    int in_window = 0;
    for (const auto& [id, death] : deaths_) {
        if (death.machine != basis.machine) continue;  // limits are each machine's own
        of_request += death.request == plan->request;
        of_project += death.project == project && death.sent > since;
        in_window += death.sent > since;
    }
    const auto check = [&](const std::string& what, int dead, int most) {
        if (most > 0 && dead > most)
            blame("limits", std::to_string(dead) + " servers of at most " + std::to_string(most) +
                                ' ' + what + " died, " + basis.server.text() + " the last");
    };
    check("for " + plan->request, of_request, limits.victims_per_request);
    // How long ago something was is not known where the reaper's clock was set.
    if (plan_.has(Kind::clock_step)) return;
    check("of project " + project, of_project, limits.victims_per_project);
    check("in the window", in_window, limits.victims_per_window);
}

/// Was a server that may take a slot of the request ever on its hosts? Or was none left to take
/// it, and a like request had it?
bool Checker::was_taken(const std::string& request) const {
    const Demand* demand = truth_.demand(request);
    if (demand == nullptr || demand->over_since) return true;
    for (const auto& [id, other] : truth_.demands())
        if (other.refused_at > demand->refused_at && demand->room_may_go_to(other)) return true;
    for (const Promise& promise : promises_) {
        if (promise.request != request) continue;
        for (const HostState* state :
             truth_.states(promise.host, promise.span.from, timeline_.true_now()))
            for (const Holder& holder : state->holders)
                // By the gateway it is known from its claim on.
                if (takes(holder, promise) ||
                    (plan_.with_gateway() && promise.requesters.contains(holder.consumer)))
                    return true;
    }
    return false;
}

// ---- the freed-room result ----

bool Checker::awaits_freed_room() const {
    if (plan_.dry_run || (was_down_ && plan_.has(Kind::clock_step))) return false;
    const auto& records = journal().records;
    return std::any_of(records.begin(), records.end(), [&](const auto& entry) {
        const RequestRecord& record = entry.second;
        if (record.freed_room || !record.outcome || record.request.correction ||
            (record.outcome->kind != OutcomeKind::freed &&
             record.outcome->kind != OutcomeKind::incomplete))
            return false;
        // A reaper that starts after that time has nothing to watch.
        const auto at = finished_[machine_].find(entry.first.str());
        return at != finished_[machine_].end() && started_at_ < at->second + plan_.cull.watch;
    });
}

}  // namespace reaper::faults
