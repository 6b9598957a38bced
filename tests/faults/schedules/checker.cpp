#include "faults/schedules/checker.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reaper/rooms/ledger.hpp"

namespace reaper::faults {

using cloudsim::ServerEvent;
using cloudsim::Site;
using cloudsim::TaskState;
using nlohmann::json;

Checker::Checker(const SchedulePlan& plan, const Timeline& timeline, Site& site, Truth& truth,
                 Journals journals, const Switch& pause, Trace& trace, Tally& tally)
    : plan_(plan),
      timeline_(timeline),
      site_(site),
      truth_(truth),
      journals_(journals),
      configured_{configured_by(plan)},
      reservations_(plan, timeline, site, truth),
      pause_(pause),
      trace_(trace),
      tally_(tally) {}

void Checker::blame(const std::string& rule, const std::string& what) {
    trace_.line("!!! " + rule + ": " + what);
    ++tally_.violations[rule];
    violations_.push_back(rule + ": " + what);
}

// ---- the journal ----

void Checker::on_write(const std::string& what) {
    sync_plans();
    trace_.line("journal: " + what);
    const auto space = what.find(' ');
    const std::string verb = what.substr(0, space);
    const std::string object = space == std::string::npos ? "" : what.substr(space + 1);
    if (verb == "plan") {
        PlanRecord record;
        record.machine = machine_;
        record.process_began = started_at_;
        record.request = object;
        record.at = timeline_.true_now();
        record.read_at = room_read_;
        record.listed_at = listed_;
        record.index = journal().records.at(RequestId{object}).plans.size();
        plans_.push_back(std::move(record));
    } else if (verb == "delete-sent" || verb == "force-delete-sent") {
        failures_told_.erase(object);
        // A deletion of its own: what the one before lacked is not counted with it.
        if (unauthorized_ && unauthorized_->text() == object) unauthorized_.reset();
    } else if (verb == "skipped" || verb == "failed" || verb == "unseen" || verb == "gone" ||
               verb == "left-shelved" || verb == "vanished") {
        count_failure(verb, object);
        end_evictions(object, "");
    } else if (verb == "freed-room") {
        // `freed-room KIND request`: what is known of the room by now, nothing
        // holds it now.
        const auto gap = object.find(' ');
        on_freed_room(object.substr(0, gap), object.substr(gap + 1));
        end_promises(object.substr(gap + 1));
    } else if (verb == "finish") {
        on_finish(object);
    } else if (verb == "admit-again") {
        finished_[machine_].erase(object);  // it ended before there was a plan
    }
}

/// Of its own, or handed over by an earlier request, which another machine may have served.
bool Checker::may_have_culled_room(std::size_t machine, const std::string& request) {
    if (culled_[machine].contains(request)) return true;
    const Demand* const demand = truth_.demand(request);
    if (demand == nullptr) return false;
    for (const auto& culled : culled_)
        for (const auto& [id, at] : culled)
            if (const Demand* const earlier = truth_.demand(id);
                earlier != nullptr && earlier->refused_at < demand->refused_at &&
                earlier->room_may_go_to(*demand))
                return true;
    return false;
}

/// Plans that were about to be written are there now.
void Checker::sync_plans() {
    sync_outcomes();
    for (PlanRecord& record : plans_) {
        if (record.plan) continue;
        const auto& records = journals_[record.machine]->records;
        const auto known = records.find(RequestId{record.request});
        if (known == records.end() || known->second.plans.size() <= record.index) continue;
        const Decision& decision = known->second.plans[record.index].decision;
        record.plan = Plan{};
        if (const auto* plan = std::get_if<Plan>(&decision)) record.plan = *plan;
        // Room that is on its way is promised, too.
        if (const auto* nothing = std::get_if<NothingToDo>(&decision)) {
            const RequestSource source = known->second.request.source;
            if (promises_room(source, *nothing,
                              may_have_culled_room(record.machine, record.request)))
                record.plan->hosts = nothing->hosts;
            const auto& steps = known->second.steps;
            const bool any_gone =
                std::any_of(steps.begin(), steps.end(),
                            [](const StepEntry& step) { return step.step == Step::gone; });
            record.holds_perhaps = !promises_room(source, *nothing, any_gone);
        }
        enter(record);
    }
}

void Checker::enter(PlanRecord& record) {
    for (PlanRecord& other : plans_)
        if (&other != &record && other.request == record.request &&
            other.machine == record.machine && !other.replaced_at)
            other.replaced_at = record.at;
    if (plan_.dry_run) return;
    for (Promise& promise : promises_)
        if (promise.request == record.request && promise.machine == record.machine &&
            (!promise.span.until || *promise.span.until > record.at))  // also if served again
            promise.span.until = record.at;
    const Demand* demand = truth_.demand(record.request);
    for (const HostPlan& host : record.plan->hosts) {
        for (const Victim& victim : host.victims)
            evictions_.push_back({record.machine,
                                  record.request,
                                  victim.server.str(),
                                  host.host_name,
                                  {record.at, {}}});
        if (demand && host.slots > 0)
            promises_.push_back({record.machine,
                                 record.request,
                                 host.host_name,
                                 demand->project,
                                 demand->slot,
                                 host.slots,
                                 demand->servers,
                                 {record.at, {}},
                                 record.holds_perhaps});
    }
}

void Checker::end_evictions(const std::string& server, const std::string& request) {
    for (Eviction& eviction : evictions_)
        if (eviction.machine == machine_ && (server.empty() || eviction.server == server) &&
            (request.empty() || eviction.request == request) && !eviction.span.until)
            eviction.span.until = timeline_.true_now();
}

void Checker::end_promises(const std::string& request) {
    const TimePoint now = timeline_.true_now();
    for (Promise& promise : promises_)
        if (promise.machine == machine_ && promise.request == request &&
            (!promise.span.until || *promise.span.until > now))
            promise.span.until = now;
}

void Checker::on_finish(const std::string& request) {
    finished_[machine_][request] = timeline_.true_now();
    ending_.insert(request);
    end_evictions("", request);
    end_trials(request);
}

/// Room that was made stays promised for a while; of others nothing is held.
void Checker::sync_outcomes() {
    for (const std::string& request : ending_) {
        const auto& outcome = journal().records.at(RequestId{request}).outcome;
        const bool holds = outcome && (outcome->kind == OutcomeKind::freed ||
                                       outcome->kind == OutcomeKind::incomplete ||
                                       outcome->kind == OutcomeKind::already_there);
        for (Promise& promise : promises_)
            if (promise.machine == machine_ && promise.request == request && !promise.span.until)
                promise.span.until =
                    finished_[machine_][request] + (holds ? plan_.cull.promise : Duration::zero());
    }
    ending_.clear();
}

// ---- messages ----

Checker::Named Checker::names_in(const std::string& body) {
    const json envelope = json::parse(body, nullptr, false);
    if (!envelope.is_object() || !envelope.contains("oslo.message")) return {};
    const json inner = json::parse(envelope["oslo.message"].get<std::string>(), nullptr, false);
    if (!inner.is_object()) return {};
    Named named{inner.value("message_id", ""), inner.value("_context_request_id", "")};
    // Exhausted retries of a boot are a request of each server.
    if (inner.value("event_type", "") != "compute_task.build_instances.error") return named;
    if (!inner.contains("payload") || !inner["payload"].is_object()) return named;
    const json payload = inner["payload"].value("nova_object.data", json::object());
    const std::string why =
        payload.value(json::json_pointer{"/reason/nova_object.data/exception"}, std::string{});
    if (why.starts_with("MaxRetriesExceeded"))
        named.request += "/" + payload.value("instance_uuid", "");
    return named;
}

void Checker::on_delivery(const Broker::Stored& message) {
    delivered_.try_emplace(names_in(message.body).request, timeline_.true_now());
}

void Checker::on_kill() {
    looks_.clear();
    held_looks_.clear();
    tags_.reset();
    delivered_.clear();
    sold_flaps_.clear();
    sold_writes_.clear();
    // What Nova refused is not in the journal as a failure.
    circuits().failed = circuits().refused = 0;
    circuits().hung.clear();
    was_down_ = true;
}

void Checker::on_takeover(std::size_t machine) {
    sync_plans();
    machine_ = machine;
}

void Checker::on_acknowledge(const Broker::Stored& message, bool set_aside) {
    const Named named = names_in(message.body);
    const auto noted = [&](const MessageEntry& note) {
        return set_aside ? note.verdict == "malformed"
                         : note.message_id == named.message && note.verdict != "joined";
    };
    if (std::any_of(journal().notes.begin(), journal().notes.end(), noted)) return;
    const auto record = journal().records.find(RequestId{named.request});
    if (!set_aside && record != journal().records.end() && record->second.outcome) return;
    blame("rule-6", "message " + named.message + " of " + named.request +
                        " is acknowledged, and the journal has no outcome of it");
}

// ---- what the reaper sees ----

bool Checker::shelves(const cloudsim::Request& request) {
    return request.method == "POST" && request.target.ends_with("/action") &&
           request.body.find("\"shelve") != std::string::npos;
}

/// Or shelved.
std::optional<Uuid> Checker::deleted_server(const cloudsim::Request& request, bool& forced) const {
    auto path = request.path;
    if (!path.empty() && path.front() == "soft") path.erase(path.begin());
    if (path.size() < 4 || path[0] != "compute" || path[2] != "servers") return std::nullopt;
    forced = path.size() == 5 && path[4] == "action" && request.method == "POST" &&
             request.body.find("forceDelete") != std::string::npos;
    const bool deletes = path.size() == 4 && request.method == "DELETE";
    if (!forced && !deletes && !shelves(request)) return std::nullopt;
    return Uuid::parse(path[3]);
}

/// When all servers that wait for the victim's room had been looked at; none if the reaper was not
/// told of all of them (each has a message of its own).
std::optional<TimePoint> Checker::requesters_seen(const std::string& victim) {
    const PlanRecord* plan = plan_for(victim, machine_);
    const Demand* demand = plan ? truth_.demand(plan->request) : nullptr;
    if (demand == nullptr) return std::nullopt;
    std::optional<TimePoint> seen;
    for (const Uuid& requester : demand->servers) {
        const auto look = looks_.find(requester);
        if (look == looks_.end()) return std::nullopt;
        seen = std::min(seen.value_or(look->second.executed_at), look->second.executed_at);
    }
    return seen;
}

void Checker::on_sent(Exchange& call) {
    ++tally_.calls;
    bool forced = false;
    const auto server = deleted_server(call.request, forced);
    if (!server) return;
    // What else it does, as claims that it passes on, is guarded by Placement's generations.
    if (is_late(call))
        blame("fence",
              call.request.method + ' ' + call.request.target + " of a reaper that lost its lease");
    sync_plans();
    if (pause_.paused())
        blame("kill-switch", server->text() + " is to be deleted while the reaper is paused");
    auto basis = std::make_shared<Basis>();
    basis->machine = machine_;
    basis->server = *server;
    basis->forced = forced;
    basis->shelved = shelves(call.request);
    if (const auto at = looks_.find(*server); at != looks_.end()) basis->look = at->second;
    basis->tags = tags_;
    if (const auto at = held_looks_.find(*server); at != held_looks_.end())
        basis->held = at->second;
    basis->requester_seen = requesters_seen(server->text());
    basis->configured = configured_;
    judge_policy(*basis);
    judge_held(*basis);
    judge_breaker(*basis);
    call.note = basis;
}

void Checker::on_arrival(Exchange& call) {
    truth_.record();
    bool forced = false;
    if (sets_holdings(call.request)) note_holdings(call);
    if (sets_inventories(call.request)) note_sold_room(call);
    if (!deleted_server(call.request, forced)) return;
    auto& basis = *std::static_pointer_cast<Basis>(call.note);
    const cloudsim::Server* server = site_.world().nova.find_server(basis.server);
    basis.counts = server != nullptr && server->task != TaskState::deleting &&
                   server->task != TaskState::soft_deleting &&
                   server->task != TaskState::shelving &&
                   server->state != cloudsim::VmState::shelved_offloaded;
    if (basis.counts) judge_notice(basis, *server);
    if (basis.counts) judge(call, basis);
}

void Checker::on_executed(Exchange& call) {
    truth_.record();
    const bool asks_token = call.request.target.find("/auth/tokens") != std::string::npos;
    if (call.request.method != "GET" && !asks_token) {
        // A claim of nova-scheduler's only passes through, and so does one that it gives back.
        if (plan_.dry_run && !(sets_holdings(call.request) && call.request.method != "POST" &&
                               is_requester_in(call.request)))
            blame("rule-8", "a dry run sent " + call.request.method + ' ' + call.request.target);
        bool forced = false;
        const bool events =
            call.request.method == "POST" && call.request.target.ends_with("/metadata");
        if (events) return;  // its `res-type`, or when it ends
        if (gives_notice(call.request)) return;
        if (call.request.body.find("\"unshelve") != std::string::npos &&
            (plan_.with_shelving() || plan_.trigger.unshelve_again)) {
            if (!plan_.with_shelving()) ++tally_.asked_again;
            return;
        }
        if (makes_provider(call.request) && plan_.sold) return;
        if (sets_inventories(call.request)) {
            judge_sold_room(call);
            return;
        }
        if (sets_reserved(call.request)) {
            judge_hold(call);
            return;
        }
        if (sets_holdings(call.request)) {
            judge_holdings(call);
            return;
        }
        if (!deleted_server(call.request, forced))
            blame("rule-1", "an unknown write: " + call.request.method + ' ' + call.request.target);
        else if (!asks_token && call.response.status < 300) {
            judge_limits(call, *std::static_pointer_cast<Basis>(call.note));
            if (accepted_deletion_) accepted_deletion_();
        }
        return;
    }
    if (is_late(call)) return;
    // What the answer will show is what is true now.
    auto reading = std::make_shared<Reading>();
    auto path = call.request.path;
    if (!path.empty() && path.front() == "soft") path.erase(path.begin());
    if (path.size() == 4 && path[0] == "compute" && path[2] == "servers" && path[3] != "detail") {
        if (const auto id = Uuid::parse(path[3])) {
            RecheckResult look;
            look.executed_at = timeline_.true_now();
            if (const cloudsim::Server* server = site_.world().nova.find_server(*id)) {
                look.project = site_.world().names.text(server->project);
                look.host = server->host ? server->host->name : "";
                look.why = why_spared(*server);
                look.fit = look.why.empty();
                look.ran = server->state == cloudsim::VmState::active;
                look.shelvable = look.ran && server->task == TaskState::none;
                look.started = TimePoint{
                    std::chrono::floor<std::chrono::seconds>(server->created.time_since_epoch())};
            } else {
                look.fit = false;
                look.why = "gone";
            }
            reading->look = {*id, look};
        }
    } else if (path.size() == 3 && path[0] == "identity" && path[2] == "projects" &&
               call.request.parameter("tags")) {
        Tags tags;
        tags.executed_at = timeline_.true_now();
        for (const auto& project : site_.world().identity.projects)
            if (truth_.revocable_since(project->id)) tags.revocable.insert(project->id);
        reading->tags = tags;
    } else if (path.size() == 3 && path[0] == "placement" && path[1] == "allocations") {
        // Of one whose room is kept, its own tells nothing.
        if (const auto id = Uuid::parse(path[2]);
            id && (!held_by(*id).empty() || held_by(escrow_consumer_of(*id)).empty()))
            reading->held = {kept_of(*id).value_or(*id),
                             {{}, site_.world().holds_revocable(*id), false}};
    } else if (path.size() == 4 && path[0] == "placement" && path[1] == "resource_providers" &&
               path[3] == "allocations") {
        if (const auto id = Uuid::parse(path[2])) reading->room_of = truth_.host_of_provider(*id);
    }
    const auto host = call.request.parameter("host");
    if (host && call.request.target.find("/servers/detail") != std::string::npos &&
        !call.request.parameter("marker"))
        reading->servers_of = *host;
    call.note = reading;
}

void Checker::on_answer(const Exchange& call) {
    if (is_late(call)) return;
    bool forced = false;
    note_authorization(call);
    if (call.response.status >= 300 && call.response.status != 404) return;
    if (sets_inventories(call.request)) on_sold_room_answer(call);
    if (deleted_server(call.request, forced) || !call.note || call.request.method != "GET") return;
    const auto& reading = *std::static_pointer_cast<Reading>(call.note);
    if (reading.look) {
        RecheckResult look = reading.look->second;
        look.answered_at = timeline_.true_now();
        look.untrue = call.untrue;
        looks_[reading.look->first] = look;
    }
    if (reading.held) {
        HeldLook held = reading.held->second;
        held.answered_at = timeline_.true_now();
        held.untrue = call.untrue;
        held_looks_[reading.held->first] = held;
    }
    if (reading.tags) {
        if (tags_) earlier_tags_.push_back(*tags_);
        if (earlier_tags_.size() > 8) earlier_tags_.pop_front();
        tags_ = reading.tags;
        tags_->answered_at = timeline_.true_now();
        tags_->untrue = call.untrue;
        if (call.untrue) untrue_tags_at_ = timeline_.true_now();
    }
    if (!reading.room_of.empty()) room_read_[reading.room_of] = call.executed_at;
    if (!reading.servers_of.empty()) listed_[reading.servers_of] = call.executed_at;
}

void Checker::on_server(const ServerEvent& event) {
    if (event.name == "unshelve.end" && event.by->user_name == "reaper") ++tally_.returned;
    if (event.name != "delete.end" && event.name != "soft_delete.end") return;
    if (event.by->user_name != "reaper" || accepted_.contains(event.server.id)) return;
    blame("rule-1",
          "the reaper's user deleted " + event.server.id.text() + " by a way that was not judged");
}

// ---- the end ----

void Checker::at_the_end(const Broker& broker) {
    sync_plans();
    for (const Broker::Stored& left : broker.queue())
        blame("liveness", "message " + std::to_string(left.number) + " of " +
                              names_in(left.body).request + " is still not acknowledged");
    for (const auto& [id, record] : journal().records) {
        if (record.outcome)
            ++tally_.outcomes[std::string{to_string(record.outcome->kind)}];
        else
            blame("liveness", id.str() + " has no outcome");
        if (record.outcome && !record.outcome->safeguard.empty())
            ++tally_.safeguards[record.outcome->safeguard];
        if (record.freed_room)
            ++tally_.freed_rooms[std::string{to_string(record.freed_room->kind)}];
    }
    judge_holds_left();
    judge_keeps_left();
    judge_notices_left();
    judge_shelved_left();
    judge_reservations_left();
    for (const std::string& wrong : wrong_sold_room()) blame("sold-room", wrong);
    if (awaits_freed_room()) blame("freed-room", "the use of a cull's room is not in the journal");
    tally_.requests += truth_.demands().size();
    // Rule 9: of schedules in which the reaper could work all the time.
    const Duration most = plan_.trigger.max_age + plan_.cull.deadline * plan_.cull.max_rounds +
                          std::chrono::minutes{3} +
                          (plan_.with_notice() ? 2 * longest_notice : Duration{});
    const bool hindered = was_down_ || plan_.has(Kind::disk_full) || plan_.has(Kind::delayed) ||
                          plan_.has(Kind::late_repeat) || plan_.has(Kind::clock_step) ||
                          plan_.has(Kind::connection_lost);
    for (const auto& [id, at] : finished_[machine_]) {
        const Demand* demand = truth_.demand(id);
        if (demand && !hindered && at - demand->refused_at > most)
            blame("rule-9",
                  id + " took " + std::to_string((at - demand->refused_at).count() / 1000) + " s");
    }
    for (const auto& entry : truth_.demands()) {
        const std::string& id = entry.first;
        if (!entry.second.refused) continue;
        const auto noted = [&](const MessageEntry& note) { return note.request.str() == id; };
        const bool known = std::any_of(journals_.begin(), journals_.end(), [&](const auto* one) {
            return one->records.contains(RequestId{id}) ||
                   std::any_of(one->notes.begin(), one->notes.end(), noted);
        });
        if (known) continue;
        if (!broker.queue().empty()) continue;  // told already
        blame("lost", "the journal knows nothing of " + id);
    }
}

}  // namespace reaper::faults
