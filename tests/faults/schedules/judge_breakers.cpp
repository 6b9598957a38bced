// The judgement on breakers: when all must stop, when a project or a shape of its requests is left
// alone, and that one cull at a time is tried afterwards.
#include <algorithm>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

namespace {

/// Until the reaper has heard of an operator's word.
constexpr Duration heard_after = std::chrono::seconds{3};

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

/// `failed`: the deadline passed, although Nova had accepted the deletion.
void Checker::count_failure(const std::string& step, const std::string& server) {
    if (step == "gone") failed_ = 0;
    if (step != "refused" && !(step == "failed" && died_.contains(server))) return;
    const TimePoint now = timeline_.true_now();
    const BreakerSettings& settings = plan_.policy.safeguards.breaker;
    ++failed_;
    if (settings.failed == 0 || cloud_.is_open(now)) return;
    if (failed_ < settings.failed && !cloud_.is_half_open(now)) return;
    cloud_.by_deletions = true;
    cloud_.open(now, settings.retry, std::to_string(failed_) + " deletions in a row failed");
}

/// The journal is about to tell what became of a cull's room.
void Checker::on_freed_room(const std::string& kind, const std::string& request) {
    const auto record = journal_.records.find(RequestId{request});
    if (record == journal_.records.end() || record->second.freed_room) return;
    // Where the clock was set, what Nova dates can't be told before from after.
    const bool can_tell = !plan_.lies() && !plan_.has(Kind::clock_step);
    if (kind == "taken" && can_tell && !was_taken(request))
        blame("freed-room", "nobody took the room of " + request + ", and the journal says so");
    const Request& asked = record->second.request;
    const SafeguardSettings& settings = plan_.policy.safeguards;
    const bool one_is_enough = cloud_.is_half_open(timeline_.true_now());
    note_end(shapes_[shape_of(asked)], request, kind == "taken-by-revocable" ? "" : kind,
             settings.shape_cooldown.wasted, settings.shape_cooldown.retry, "its shape");
    const int of_project = settings.project_breaker.wasted;
    note_end(projects_[asked.project.str()], request, kind,
             one_is_enough ? std::min(of_project, 1) : of_project, settings.project_breaker.retry,
             "its project");
    note_end_for_cloud(asked, kind);
}

/// `enough` in a row leave it alone; 0: never.
void Checker::note_end(Trip& trip, const std::string& request, const std::string& kind, int enough,
                       const RetrySettings& settings, const std::string& whose) {
    const TimePoint now = timeline_.true_now();
    if (trip.tried == request) trip.tried.reset();
    if (kind == "taken") trip = Trip{};
    if ((kind != "wasted" && kind != "taken-by-revocable") || now < deaf_until_) return;
    ++trip.row;
    if (enough == 0 || trip.is_open(now)) return;
    if (trip.row < enough && !trip.is_half_open(now)) return;
    trip.open(now, settings, std::to_string(trip.row) + " culls of " + whose + " went unused");
}

void Checker::note_end_for_cloud(const Request& asked, const std::string& kind) {
    const TimePoint now = timeline_.true_now();
    const BreakerSettings& settings = plan_.policy.safeguards.breaker;
    if (cloud_.tried == asked.id.str()) cloud_.tried.reset();
    if (kind == "taken") {
        const bool stays = cloud_.is_open(now) && cloud_.by_deletions;
        cloud_.row = 0;
        cloud_.projects.clear();
        if (!stays && cloud_.since) {
            cloud_ = Trip{};
            failed_ = 0;
        }
        return;
    }
    if ((kind != "wasted" && kind != "taken-by-revocable") || now < deaf_until_) return;
    if (cloud_.is_open(now)) return;
    ++cloud_.row;
    cloud_.projects.insert(asked.project.str());
    const bool enough = cloud_.row >= settings.wasted || cloud_.is_half_open(now);
    if (settings.wasted == 0 || !enough ||
        static_cast<int>(cloud_.projects.size()) < settings.projects)
        return;
    cloud_.by_deletions = false;
    cloud_.open(now, settings.retry, std::to_string(cloud_.row) + " culls in a row went unused");
    cloud_.projects.clear();
}

/// What the reaper may call a shape in these clouds: one image, no hints.
std::string Checker::shape_of(const Request& request) {
    std::string shape = request.project.str() + ' ' + to_string(request.resources);
    return shape + ' ' + request.availability_zone.value_or("");
}

void Checker::on_resume() {
    failed_ = 0;
    cloud_ = Trip{};
    projects_.clear();
    shapes_.clear();
    deaf_until_ = timeline_.true_now() + heard_after;
}

/// Nothing is sent while the breaker is open; what is decided must not be for what is left alone,
/// and afterwards for one request at a time.
void Checker::judge_breaker(const Basis& basis) {
    const TimePoint now = timeline_.true_now();
    const bool clock_was_set = plan_.has(Kind::clock_step);
    if (cloud_.since && *cloud_.since < now && (clock_was_set ? false : now < cloud_.until))
        blame("breaker", basis.server.text() + " is deleted, although " + cloud_.why);
    const PlanRecord* plan = plan_for(basis.server.text());
    if (plan == nullptr || clock_was_set) return;
    const auto record = journal_.records.find(RequestId{plan->request});
    if (record == journal_.records.end()) return;
    const TimePoint begun = begun_at(plan->request);
    judge_trip(cloud_, "breaker", *plan, begun);
    if (const auto at = projects_.find(record->second.request.project.str()); at != projects_.end())
        judge_trip(at->second, "project-breaker", *plan, begun);
    if (const auto at = shapes_.find(shape_of(record->second.request)); at != shapes_.end())
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

/// When the first plan of a request that deletes somebody was written.
TimePoint Checker::begun_at(const std::string& request) const {
    const auto first = std::find_if(plans_.begin(), plans_.end(), [&](const PlanRecord& record) {
        return record.request == request && record.plan && !record.plan->victims().empty();
    });
    return first == plans_.end() ? timeline_.true_now() : first->at;
}

}  // namespace reaper::faults
