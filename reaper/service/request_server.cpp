#include "reaper/service/request_server.hpp"

#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/executor/culling_executor.hpp"
#include "reaper/model/text.hpp"
#include "reaper/trigger/waiting.hpp"

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
constexpr int most_rounds = 100;

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
    while (in_vain_ < options_.cull.max_rounds && round_ < most_rounds) {
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

ResultTask<std::optional<Decision>> RequestServer::decide() {
    Backoff backoff{workshop_.cloud.clock};
    while (true) {
        if (workshop_.stopping && deleted_ == 0) co_return std::optional<Decision>{};
        auto decision = co_await decide_now();
        if (decision) co_return std::optional<Decision>{std::move(*decision)};
        if (out_of_time()) co_return decision.error();
        // The journal has what was begun: the next start goes on with it.
        if (workshop_.stopping) co_return std::optional<Decision>{};
        spdlog::warn("{}: no decision yet, trying again: {}", request_.id.str(),
                     decision.error().what);
        co_await backoff.pause(workshop_.stopping);
    }
}

/// Who else is in its server group, as Nova has it now: its servers come and go while a request
/// waits.
ResultTask<void> RequestServer::refresh_group() {
    constexpr Duration fresh{5'000};
    const Duration now = workshop_.cloud.clock.steady();
    std::string id = request_.landing.group.id;
    const bool known = round_ == 0 && group_read_at_ && now - *group_read_at_ < fresh;
    if (id.empty() || known) co_return Result<void>{};
    auto group = co_await workshop_.cloud.compute.server_group(std::move(id));
    if (!group) co_return group.error();
    request_.landing.group = group->value_or(ServerGroup{});
    group_read_at_ = now;
    co_return Result<void>{};
}

/// From the picture; or, if a like request was refused a moment ago, the same answer.
ResultTask<Decision> RequestServer::consult() {
    const bool first = round_ == 0 && spared_.empty();
    if (first) {
        auto known = workshop_.refusals.find(request_, workshop_.cloud.clock.steady());
        if (known) co_return Decision{std::move(*known)};
    }
    auto grouped = co_await refresh_group();
    if (!grouped) co_return grouped.error();
    // One that a newer request has overtaken meanwhile takes nobody's room.
    const bool overtaken = workshop_.newest.superseding(request_).has_value();
    if (!options_.dry_run && !overtaken)
        co_await workshop_.aftermaths.make_way_for(request_, !arrival_.had_hosts);
    auto spared = spared_;
    auto decided = co_await workshop_.keeper.decide(options_.policy, request_, workshop_.ledger,
                                                    workshop_.braking.brakes(), std::move(spared));
    if (!decided) co_return decided.error();
    const bool would_kill = std::holds_alternative<Plan>(*decided);
    auto served = would_kill ? served_by_another() : std::optional<std::string>{};
    if (served) co_return Decision{NothingToDo{std::move(*served), {}}};
    const auto* less = std::get_if<NotEnough>(&*decided);
    if (first && less != nullptr)
        workshop_.refusals.note(request_, *less, workshop_.cloud.clock.steady());
    co_return std::move(*decided);
}

std::optional<std::string> RequestServer::served_by_another() {
    if (!arrival_.maybe_served || deleted_ > 0) return std::nullopt;
    // Not in the second of the refusal: that may be who took the last room before it.
    const TimePoint after = request_.sent_at + std::chrono::seconds{1};
    const auto came = workshop_.aftermaths.second_tries(request_, after);
    if (static_cast<int>(came.size()) < slots_asked_) return std::nullopt;
    return "its message was delivered before, and a like server, " +
           printable(came.begin()->str(), 64) + ", came since: another reaper served it";
}

ResultTask<Decision> RequestServer::decide_now() {
    const auto turn = co_await workshop_.planning.acquire();
    auto decided = co_await consult();
    if (!decided) co_return decided.error();
    const TimePoint now = workshop_.cloud.clock.now();

    PlanEntry entry;
    entry.round = round_ + 1;
    entry.at = now;
    entry.decision = std::move(*decided);
    // In the ledger before anything else can run, so that no other plan counts the same room; and
    // in the journal before the first deletion (rule 5).
    const auto* plan = std::get_if<Plan>(&entry.decision);
    const auto* nothing = std::get_if<NothingToDo>(&entry.decision);
    const bool to_be_held = nothing != nullptr && holds_room(*nothing, deleted_ > 0);
    if (plan != nullptr && !options_.dry_run) workshop_.ledger.enter(request_, *plan, now);
    ready_on_.clear();
    if (nothing != nullptr && nothing->room == ResType::regular)
        for (const auto& host : nothing->hosts) ready_on_.push_back(host.host);
    if (to_be_held && !options_.dry_run) workshop_.ledger.enter(request_, nothing->hosts, now);
    if ((plan != nullptr || to_be_held) && !options_.dry_run)
        workshop_.ledger.note_there_before(
            request_.id, [this](const HostId& id) { return workshop_.keeper.picture().find(id); });
    Decision decision = entry.decision;
    auto written = co_await workshop_.journal.add_plan(request_.id, std::move(entry));
    if (!written) {
        if (const auto* unwritten = std::get_if<Plan>(&decision)) {
            for (const auto& victim : unwritten->victims())
                workshop_.ledger.drop_eviction(victim.server);
            if (deleted_ == 0) workshop_.ledger.release(request_.id);
        }
        co_return written.error();
    }
    ++round_;
    spdlog::info("{}: {}", request_.id.str(), summary(decision));
    co_return decision;
}

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
