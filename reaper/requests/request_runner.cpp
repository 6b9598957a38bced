#include "reaper/requests/request_runner.hpp"

#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/eviction/evicting_executor.hpp"
#include "reaper/request_spec/waiting.hpp"

namespace reaper {
namespace {

std::unique_ptr<PlanExecutor> make_executor(const Workshop& workshop, const ServiceOptions& options,
                                            Warrant& warrant) {
    if (options.dry_run) return std::make_unique<ReportingExecutor>();
    return std::make_unique<CullingExecutor>(workshop.cloud, workshop.journal, workshop.ledger,
                                             workshop.deletions, warrant, options.policy,
                                             options.cull);
}

/// Whatever the reason: a request that is decided so often will not end well.
constexpr int max_plan_rounds = 100;

std::string deaths(int count) {
    return count == 0 ? "nobody died" : std::to_string(count) + " servers were deleted";
}

/// What the journal tells about the victims of the last plan.
std::map<ServerId, Progress> progress_of(const Story& story) {
    std::map<ServerId, Progress> known;
    for (const auto& step : story.steps) {
        if (step.step == Step::gone)
            known[step.server] = known.contains(step.server) ? Progress::gone : Progress::vanished;
        else if (step.step == Step::vanished)
            known[step.server] = Progress::vanished;
        else if (step.step == Step::delete_sent || step.step == Step::delete_accepted ||
                 step.step == Step::force_delete_sent)
            known.emplace(step.server, Progress::sent);
        else
            known.erase(step.server);
    }
    return known;
}

/// The last plan that the journal has; none if nothing was ever planned to die.
const Plan* last_plan(const Story& story) {
    const Plan* last = nullptr;
    for (const auto& entry : story.plans)
        if (const auto* plan = std::get_if<Plan>(&entry.decision)) last = plan;
    return last;
}

/// The plan with the victims alone whose deletion went out.
Plan what_was_sent(Plan plan, const std::map<ServerId, Progress>& known) {
    for (auto& host : plan.hosts)
        std::erase_if(host.victims,
                      [&](const Victim& victim) { return !known.contains(victim.server); });
    return plan;
}

}  // namespace

RequestServer::RequestServer(Workshop workshop, ServiceOptions options, Request request,
                             Arrival arrival)
    : workshop_(workshop),
      options_(std::move(options)),
      request_(std::move(request)),
      executor_(make_executor(workshop_, options_, *this)),
      slots_asked_(request_.slots),
      arrival_(arrival),
      backoff_(workshop_.cloud.clock) {}

Task<std::optional<Outcome>> RequestServer::serve() {
    spdlog::info("{}: {}", request_.id.str(), to_string(request_));
    group_read_at_ = workshop_.cloud.clock.steady();
    co_return co_await rounds();
}

Task<std::optional<Outcome>> RequestServer::resume(Story story) {
    round_ = static_cast<int>(story.plans.size());
    spdlog::info("{}: resuming {} after {} rounds", request_.id.str(), to_string(request_), round_);
    auto known = progress_of(story);
    const Plan* const last = last_plan(story);
    if (last != nullptr && !known.empty()) {
        // Only what was sent: whether the rest is still needed, a new plan must tell.
        Plan sent = what_was_sent(*last, known);
        const bool all = sent.victims().size() == last->victims().size();
        for (const auto& victim : last->victims())
            if (!known.contains(victim.server)) workshop_.ledger.drop_eviction(victim.server);
        // Of earlier plans: the last one's are counted with it.
        const auto of_last = sent.victims();
        for (const auto& each : known)
            deleted_ += each.second == Progress::gone &&
                        std::none_of(of_last.begin(), of_last.end(), [&](const Victim& victim) {
                            return victim.server == each.first;
                        });
        if (deleted_ > 0) request_.phases = Phases{};
        auto ended = co_await carry_out(std::move(sent), std::move(known));
        const bool partly = ended && ended->kind == OutcomeKind::freed && !all;
        if (ended && !partly) co_return ended;
    } else {
        workshop_.ledger.release(request_.id);
    }
    if (out_of_time())
        co_return cut_short(OutcomeKind::failed, "interrupted, and too old now to go on");
    co_return co_await rounds();
}

// ---- the warrant ----

std::optional<std::string> RequestServer::forbidden() const {
    if (auto paused = workshop_.braking.thrown()) return "the reaper is " + *paused;
    if (!workshop_.intake.holds(request_.id))
        return "the connection to the broker was lost or can't be proven alive: another reaper may "
               "serve the request by now";
    return std::nullopt;
}

ResultTask<std::optional<std::string>> RequestServer::unneeded() {
    if (const auto newer = workshop_.newest.superseding(request_))
        co_return "request " + newer->str() + " of the same server is newer";
    std::set<ServerId> requesters(request_.requesters.begin(), request_.requesters.end());
    const auto joined = workshop_.intake.joined(request_.id);
    requesters.insert(joined.begin(), joined.end());
    int gone = 0;
    std::string why;
    for (const auto& requester : requesters) {
        auto record = co_await workshop_.cloud.compute.server(requester);
        if (!record) co_return record.error();
        auto not_waiting = why_not_waiting(request_, requester, *record);
        if (!not_waiting) continue;
        ++gone;
        why = std::move(*not_waiting);
    }
    const int waiting = std::max(slots_asked_ - gone, 0);
    if (waiting >= request_.slots) co_return std::nullopt;
    request_.slots = waiting;
    if (waiting > 0)
        why +=
            "; " + std::to_string(waiting) + " of " + std::to_string(slots_asked_) + " still wait";
    co_return why;
}

Task<void> RequestServer::hold_room(std::vector<HostId> hosts) {
    const auto classes = options_.policy->held_classes();
    if (classes.empty() || forbidden()) co_return;
    std::vector<RoomHolds::Place> places;
    for (const auto& id : hosts) {
        const Host* const host = workshop_.keeper.picture().find(id);
        if (host == nullptr) continue;
        for (const auto& provider : host->providers)
            for (const auto& held : classes)
                if (provider.inventories.contains(held))
                    places.push_back({id, host->name, provider.id, held});
    }
    RequestId request = request_.id;
    co_await workshop_.holds.take(std::move(request), std::move(places));
}

// ---- rounds ----

Task<std::optional<Outcome>> RequestServer::rounds() {
    while (in_vain_ < options_.cull.max_rounds && round_ < max_plan_rounds) {
        std::optional<Outcome> ended;
        const bool allowed = co_await until_allowed(ended);
        if (!allowed) co_return ended;
        auto decided = co_await decide();
        if (!decided) co_return cut_short(OutcomeKind::failed, decided.error().what);
        if (!*decided) co_return std::nullopt;
        ended = co_await act_on(std::move(**decided));
        if (ended) co_return ended;
        if (workshop_.stopping && failing_) co_return std::nullopt;
    }
    co_return cut_short(OutcomeKind::failed, "gave up after " + std::to_string(round_) +
                                                 " rounds; the last: " + last_reason_);
}

Task<bool> RequestServer::until_allowed(std::optional<Outcome>& ended) {
    constexpr Duration moment{250};
    bool told = false;
    while (true) {
        ended.reset();
        if (const auto newer = workshop_.newest.superseding(request_)) {
            ended = cut_short(OutcomeKind::superseded,
                              "request " + newer->str() + " of the same server is newer");
            co_return false;
        }
        if (options_.dry_run) co_return true;
        if (const auto paused = workshop_.braking.thrown()) {
            ended = cut_short(OutcomeKind::refused, "the reaper is " + *paused, "paused");
            co_return false;
        }
        if (workshop_.intake.holds(request_.id)) co_return true;
        if (workshop_.stopping) co_return false;
        if (out_of_time()) {
            ended = cut_short(OutcomeKind::handed_over,
                              "the connection to the broker was lost, and the message did not come "
                              "again: another reaper has it, or the queue dropped it");
            co_return false;
        }
        if (!told)
            spdlog::info("{}: waiting until the broker delivers its message again",
                         request_.id.str());
        // If another finishes it, the room is promised no longer than that one promises it.
        const TimePoint now = workshop_.cloud.clock.now();
        if (!told && deleted_ > 0)
            workshop_.ledger.settle(request_.id, now, now + options_.cull.promise);
        told = true;
        co_await workshop_.cloud.clock.sleep(moment);
    }
}

Task<std::optional<Outcome>> RequestServer::act_on(Decision decision) {
    if (auto* nothing = std::get_if<NothingToDo>(&decision)) {
        if (nothing->awaited().empty()) co_return conclude(*nothing);
        co_return co_await wait_for_room(std::move(*nothing));
    }
    if (const auto* less = std::get_if<NotEnough>(&decision)) {
        // What earlier rounds freed is not enough for it, and free for others.
        workshop_.ledger.release_promises(request_.id);
        co_return conclude(*less);
    }
    std::map<ServerId, Progress> unknown;
    co_return co_await carry_out(std::get<Plan>(std::move(decision)), std::move(unknown));
}

/// The room is on its way, because others delete what holds it.
Task<std::optional<Outcome>> RequestServer::wait_for_room(NothingToDo nothing) {
    Plan plan;
    plan.request = request_.id;
    plan.slots_requested = plan.slots_wanted = plan.slots_freed = request_.slots;
    plan.hosts = nothing.hosts;
    std::map<ServerId, Progress> unknown;
    auto ended = co_await carry_out(std::move(plan), std::move(unknown));
    if (!ended || ended->kind != OutcomeKind::freed) co_return ended;
    co_return conclude(nothing);
}

// ---- ends ----

Task<std::optional<Outcome>> RequestServer::carry_out(Plan plan,
                                                      std::map<ServerId, Progress> known) {
    auto execution = co_await executor_->carry_out(request_, std::move(plan), std::move(known));
    deleted_ += execution.deleted;
    // Who died, died for regular room: nothing else ends the request well any more.
    if (deleted_ > 0) request_.phases = Phases{};
    spared_.insert(execution.spared.begin(), execution.spared.end());
    switch (execution.end) {
        case Execution::End::freed: co_return outcome(OutcomeKind::freed, execution.reason);
        case Execution::End::reported: co_return outcome(OutcomeKind::dry_run, execution.reason);
        case Execution::End::incomplete:
            co_return outcome(OutcomeKind::incomplete, execution.reason);
        case Execution::End::unneeded:
            if (request_.slots == 0) co_return cut_short(OutcomeKind::refused, execution.reason);
            break;
        case Execution::End::forbidden: break;
        case Execution::End::replan: ++in_vain_; break;
        case Execution::End::failed:
            // Not the plan's fault: tried again as long as the request is worth it.
            if (out_of_time()) co_return cut_short(OutcomeKind::failed, execution.reason);
            co_await backoff_.pause(workshop_.stopping);
            break;
    }
    failing_ = execution.end == Execution::End::failed;
    last_reason_ = execution.reason;
    spdlog::info("{}: planning again: {}", request_.id.str(), execution.reason);
    if (deleted_ == 0) workshop_.ledger.release(request_.id);
    co_return std::nullopt;
}

std::optional<Outcome> RequestServer::conclude(const NothingToDo& nothing) const {
    if (nothing.room == ResType::revocable)
        return cut_short(OutcomeKind::revocable_room, nothing.reason);
    const bool refused = nothing.hosts.empty();
    const OutcomeKind kind = deleted_ > 0 ? OutcomeKind::freed
                             : refused    ? OutcomeKind::refused
                                          : OutcomeKind::already_there;
    return outcome(kind, nothing.reason);
}

std::optional<Outcome> RequestServer::conclude(const NotEnough& not_enough) const {
    if (!request_.phases.admits(ResType::regular))
        return cut_short(OutcomeKind::revocable_only, not_enough.reason);
    if (deleted_ == 0) return outcome(OutcomeKind::not_enough, not_enough.reason, not_enough.brake);
    return cut_short(OutcomeKind::not_enough, not_enough.reason, not_enough.brake);
}

Outcome RequestServer::outcome(OutcomeKind kind, std::string reason, std::string brake) const {
    Outcome ended;
    ended.kind = kind;
    ended.reason = std::move(reason);
    ended.brake = std::move(brake);
    ended.at = workshop_.cloud.clock.now();
    return ended;
}

Outcome RequestServer::cut_short(OutcomeKind nobody, const std::string& reason,
                                 std::string brake) const {
    if (deleted_ == 0) return outcome(nobody, "nobody died: " + reason, std::move(brake));
    return outcome(OutcomeKind::incomplete, deaths(deleted_) + ", then: " + reason,
                   std::move(brake));
}

bool RequestServer::out_of_time() const {
    return workshop_.cloud.clock.now() >
           request_.sent_at + std::chrono::duration_cast<Duration>(options_.trigger.max_age);
}

}  // namespace reaper
