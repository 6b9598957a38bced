// The judgement on breakers: when all must stop, when a project or a shape of its requests is left
// alone, and that one cull at a time is tried afterwards.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

namespace {

/// Until the reaper has heard of an operator's word.
constexpr Duration heard_after = std::chrono::seconds{3};

/// Of a cull whose room went unused, so many slots did at least: less than half were taken. If it
/// was cut short, not all of its slots came free.
int unused_slots(const RequestRecord& record) {
    if (record.plans.empty()) return 1;
    const auto* const plan = std::get_if<Plan>(&record.plans.back().decision);
    const auto was_sent = [&](const Victim& victim) {
        return std::any_of(record.steps.begin(), record.steps.end(), [&](const StepEntry& step) {
            return step.step == Step::delete_sent && step.server == victim.server;
        });
    };
    if (plan == nullptr) return 1;
    const auto victims = plan->victims();
    return std::all_of(victims.begin(), victims.end(), was_sent) ? plan->slots_requested / 2 + 1
                                                                 : 1;
}

Duration pause_of(const RetrySettings& settings, int times) {
    Duration pause = settings.retry_after;
    for (int i = 1; i < times && pause < settings.max_retry_after; ++i) pause *= 2;
    return std::min<Duration>(pause, settings.max_retry_after);
}

}  // namespace

void Checker::Trip::open(TimePoint now, const RetrySettings& settings, std::string reason) {
    since = now;
    until = now + pause_of(settings, ++times);
    tried.reset();
    why = std::move(reason);
}

void Checker::on_replaced(const Exchange& call, int status) {
    bool forced = false;
    const auto server = deleted_server(call.request, forced);
    if (server && !forced && status == 403) count_failure("refused", server->text());
}

/// A new token is asked for once; if that is no good either, the deletion is refused.
void Checker::note_authorization(const Exchange& call) {
    bool forced = false;
    const auto server = deleted_server(call.request, forced);
    if (!server || forced) return;
    const bool refused = call.response.status == 401;
    if (refused && unauthorized_ == server) count_failure("refused", server->text());
    const bool first = refused && unauthorized_ != server;
    unauthorized_ = first ? server : std::nullopt;
}

/// `failed`: the deadline passed, although Nova had accepted the deletion.
void Checker::count_failure(const std::string& step, const std::string& server) {
    if (step == "gone") {
        circuits().failed = circuits().refused = 0;
        circuits().hung.clear();
    }
    // What another machine's reaper deleted is no failure of this one's.
    const bool own = journal().has_step(server, Step::delete_sent) ||
                     journal().has_step(server, Step::force_delete_sent);
    if (step != "refused" && !(step == "failed" && own && died_.contains(server))) return;
    // Another request that waits for it also reports the failure.
    if (step == "failed" && !failures_told_.insert(server).second) return;
    const TimePoint now = timeline_.true_now();
    const BreakerSettings& settings = plan_.policy.safeguards.breaker;
    ++circuits().failed;
    if (step == "refused")
        ++circuits().refused;
    else if (const PlanRecord* const plan = plan_for(server, machine_))
        for (const Victim& victim : plan->plan->victims())
            if (victim.server == ServerId{server}) circuits().hung.insert(victim.project);
    if (settings.failed == 0 || circuits().cloud.is_open(now)) return;
    if (circuits().failed < settings.failed && !circuits().cloud.is_half_open(now)) return;
    // Where one project has all revocable servers, it may open earlier.
    const int needed = circuits().cloud.is_half_open(now) ? 1 : settings.failed;
    if (circuits().refused < needed && static_cast<int>(circuits().hung.size()) < settings.projects)
        return;
    circuits().cloud.by_deletions = true;
    circuits().cloud.open(now, settings.retry,
                          std::to_string(circuits().failed) + " deletions in a row failed");
}

/// The journal is about to record the use of a cull's room.
void Checker::on_freed_room(const std::string& kind, const std::string& request) {
    const auto record = journal().records.find(RequestId{request});
    if (record == journal().records.end() || record->second.freed_room) return;
    // Where the clock was set, the order of what Nova dates is not known.
    const bool can_tell = !plan_.lies() && !plan_.has(Kind::clock_step);
    if (kind == "taken" && can_tell && !was_taken(request))
        blame("freed-room",
              "no server took the room of " + request + ", and the journal says one did");
    const reaper::Request& asked = record->second.request;
    const SafeguardSettings& settings = plan_.policy.safeguards;
    const int slots = unused_slots(record->second);
    const bool one_is_enough = circuits().cloud.is_half_open(timeline_.true_now());
    note_end(circuits().shapes[shape_of(asked)], request, kind == "taken-by-revocable" ? "" : kind,
             slots, settings.shape_cooldown.wasted, settings.shape_cooldown.retry, "its shape");
    const int of_project = settings.project_breaker.wasted;
    note_end(circuits().projects[asked.project.str()], request, kind,
             kind == "taken-by-revocable" ? 1 : slots,
             one_is_enough ? std::min(of_project, 1) : of_project, settings.project_breaker.retry,
             "its project");
    note_end_for_cloud(asked, kind, slots);
}

/// Without a victim there is no room whose use could be judged: another one is tried.
void Checker::end_trials(const std::string& request) {
    if (culled_[machine_].contains(request)) return;
    const auto end = [&](Trip& trip) {
        if (trip.tried == request) trip.tried.reset();
    };
    end(circuits().cloud);
    for (auto& [project, trip] : circuits().projects) end(trip);
    for (auto& [shape, trip] : circuits().shapes) end(trip);
}

/// `enough` in a row leave it alone; 0: never.
void Checker::note_end(Trip& trip, const std::string& request, const std::string& kind, int slots,
                       int enough, const RetrySettings& settings, const std::string& whose) {
    const TimePoint now = timeline_.true_now();
    if (trip.tried == request) trip.tried.reset();
    if (kind == "taken") trip = Trip{};
    if (kind != "wasted" && kind != "taken-by-revocable") return;
    if (now < circuits().deaf_until) {
        trip.unsure_until = now + pause_of(settings, 1);
        return;
    }
    trip.row += slots;
    if (enough == 0 || trip.is_open(now) || now < trip.unsure_until) return;
    if (trip.row < enough && !trip.is_half_open(now)) return;
    trip.open(now, settings, std::to_string(trip.row) + " slots of " + whose + " went unused");
}

void Checker::note_end_for_cloud(const reaper::Request& asked, const std::string& kind, int slots) {
    const TimePoint now = timeline_.true_now();
    const BreakerSettings& settings = plan_.policy.safeguards.breaker;
    if (circuits().cloud.tried == asked.id.str()) circuits().cloud.tried.reset();
    if (kind == "taken") {
        const bool stays = circuits().cloud.is_open(now) && circuits().cloud.by_deletions;
        circuits().cloud.row = 0;
        circuits().cloud.projects.clear();
        if (!stays && circuits().cloud.since) {
            circuits().cloud = Trip{};
            circuits().failed = circuits().refused = 0;
            circuits().hung.clear();
        }
        return;
    }
    if (kind != "wasted" && kind != "taken-by-revocable") return;
    if (now < circuits().deaf_until) {
        circuits().cloud.unsure_until = now + pause_of(settings.retry, 1);
        return;
    }
    if (circuits().cloud.is_open(now) || now < circuits().cloud.unsure_until) return;
    circuits().cloud.row += slots;
    circuits().cloud.projects.insert(asked.project.str());
    const bool enough =
        circuits().cloud.row >= settings.wasted || circuits().cloud.is_half_open(now);
    if (settings.wasted == 0 || !enough ||
        static_cast<int>(circuits().cloud.projects.size()) < settings.projects)
        return;
    circuits().cloud.by_deletions = false;
    circuits().cloud.open(now, settings.retry,
                          std::to_string(circuits().cloud.row) + " slots in a row went unused");
    circuits().cloud.projects.clear();
}

/// What the reaper may call a shape in these clouds: one image.
std::string Checker::shape_of(const reaper::Request& request) {
    std::string shape = request.project.str() + ' ' + to_string(request.resources);
    shape += ' ' + request.availability_zone.value_or("") + ' ' + request.placement.group.id;
    for (const auto& [key, value] : request.flavor_extra_specs) shape += ' ' + key + '=' + value;
    for (const auto& server : request.placement.with) shape += " with " + server.str();
    for (const auto& server : request.placement.apart_from) shape += " apart " + server.str();
    return shape;
}

void Checker::on_resume() {
    for (Circuits& machine : circuits_) {
        machine = Circuits{};
        machine.deaf_until = timeline_.true_now() + heard_after;
    }
}

/// Nothing is sent while the breaker is open; what is decided must not be for what is left alone,
/// and afterwards for one request at a time.
void Checker::judge_breaker(const Basis& basis) {
    const TimePoint now = timeline_.true_now();
    const bool clock_was_set = plan_.has(Kind::clock_step);
    if (circuits().cloud.since && *circuits().cloud.since < now &&
        (clock_was_set ? false : now < circuits().cloud.until))
        blame("breaker", basis.server.text() + " is deleted, although " + circuits().cloud.why);
    const PlanRecord* plan = plan_for(basis.server.text(), basis.machine);
    if (plan == nullptr || clock_was_set) return;
    if (plan->plan->victims().empty()) return;  // it finishes what another one began
    const auto record = journal().records.find(RequestId{plan->request});
    if (record == journal().records.end()) return;
    const TimePoint begun = begun_at(plan->request);
    judge_trip(circuits().cloud, "breaker", *plan, begun);
    if (const auto at = circuits().projects.find(record->second.request.project.str());
        at != circuits().projects.end())
        judge_trip(at->second, "project-breaker", *plan, begun);
    if (const auto at = circuits().shapes.find(shape_of(record->second.request));
        at != circuits().shapes.end())
        judge_trip(at->second, "shape-cooldown", *plan, begun);
}

/// What was begun before is brought to its end.
void Checker::judge_trip(Trip& trip, const std::string& rule, const PlanRecord& plan,
                         TimePoint begun) {
    if (!trip.since || begun <= *trip.since) return;
    if (begun < trip.until) {
        blame(rule, "a plan for " + plan.request + " is begun, although " + trip.why);
        return;
    }
    if (trip.tried && *trip.tried != plan.request)
        blame(rule, "a plan for " + plan.request + " is begun, although " + trip.why +
                        ", and what "
                        "becomes of " +
                        *trip.tried + " is not known yet");
    trip.tried = plan.request;
}

/// When the first plan of a request with a victim was written.
TimePoint Checker::begun_at(const std::string& request) const {
    const auto first = std::find_if(plans_.begin(), plans_.end(), [&](const PlanRecord& record) {
        return record.request == request && record.plan && !record.plan->victims().empty();
    });
    return first == plans_.end() ? timeline_.true_now() : first->at;
}

}  // namespace reaper::faults
