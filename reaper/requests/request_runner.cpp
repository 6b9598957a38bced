#include "reaper/requests/request_runner.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reaper/cloud_reader/requesters.hpp"
#include "reaper/eviction/evicting_executor.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

std::unique_ptr<PlanExecutor> make_executor(const RequestServices& services, EvictionGuard& guard) {
    if (services.settings.dry_run) return std::make_unique<DryRunExecutor>();
    return std::make_unique<EvictingExecutor>(services.cloud, services.journal, services.rooms,
                                              services.deletions, guard, services.settings);
}

/// Between two looks whether a wait is over.
constexpr Duration poll_interval{250};
/// Between two questions to Nova whether a requester waits.
constexpr Duration between_questions{2'000};

/// Whatever the reason: a request that is decided so often will not end well.
constexpr int max_plan_rounds = 100;

std::string deletions_text(int count) {
    return count == 0 ? "no servers deleted" : counted(count, "server") + " deleted";
}

/// What the journal shows about the victims of the last plan.
std::map<ServerId, Progress> progress_of(const RequestRecord& record) {
    std::map<ServerId, Progress> known;
    for (const auto& step : record.steps) {
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

/// The last plan that the journal has; none if no deletion was ever planned.
const Plan* last_plan(const RequestRecord& record) {
    const Plan* last = nullptr;
    for (const auto& entry : record.plans)
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

RequestRunner::RequestRunner(RunnerDependencies dependencies, Request request, Arrival arrival)
    : services_(dependencies.services),
      active_(dependencies.active),
      newest_(dependencies.newest),
      refusals_(dependencies.refusals),
      journal_trouble_(dependencies.journal_trouble),
      settings_(services_.settings),
      request_(std::move(request)),
      executor_(make_executor(services_, *this)),
      slots_asked_(request_.slots),
      arrival_(arrival),
      time_left_(request_, services_.cloud.clock),
      backoff_(services_.cloud.clock),
      round_(arrival.rounds) {}

Task<std::optional<Outcome>> RequestRunner::serve() {
    log_about(about(request_), spdlog::level::info, "{}: {}", request_.id.str(),
              to_string(request_));
    group_read_at_ = services_.cloud.clock.steady();
    co_return co_await rounds();
}

Task<std::optional<Outcome>> RequestRunner::resume(RequestRecord record) {
    round_ = static_cast<int>(record.plans.size());
    planned_under_ = settings_.policy;  // nothing of the former plan is sent that was not sent yet
    log_about(about(request_), spdlog::level::info, "{}: resuming {} after {} rounds",
              request_.id.str(), to_string(request_), round_);
    auto known = progress_of(record);
    const Plan* const last = last_plan(record);
    if (last != nullptr && !known.empty()) {
        // Only what was sent: a new plan must show whether the rest is still needed.
        Plan sent = what_was_sent(*last, known);
        const bool all = sent.victims().size() == last->victims().size();
        for (const auto& victim : last->victims())
            if (!known.contains(victim.server)) services_.rooms.stays(victim.server);
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
        services_.rooms.plans_again(request_.id, false);
    }
    if (out_of_time())
        co_return cut_short(OutcomeKind::failed, "interrupted, and too old now to go on");
    co_return co_await rounds();
}

// ---- the eviction guard ----

std::optional<std::string> RequestRunner::blocked_reason() const {
    if (auto paused = services_.safeguards.paused_reason()) return "the reaper is " + *paused;
    if (auto unknown = services_.safeguards.not_known_yet()) return unknown;
    return active_.why_not_leased(request_.id);
}

std::optional<std::string> RequestRunner::outdated_reason() const {
    if (planned_under_ != settings_.policy)
        return "another configuration is in force than it was planned under";
    const auto& changed = services_.kept_rooms.changed();
    for (const HostId& host : planned_on_)
        if (changed.contains(host)) return "room came free that was kept on a host of the plan";
    return std::nullopt;
}

bool RequestRunner::may_have_left() const {
    return !request_.correction && services_.tracker.may_have_left(request_.requesters, asked_at_);
}

ResultTask<std::optional<std::string>> RequestRunner::still_needed() {
    // What is not begun in time never is.
    if (deleted_ == 0 && out_of_time()) {
        std::string late = "its time is over";
        if (!last_reason_.empty()) late = last_reason_;
        co_return late;
    }
    if (request_.correction) co_return std::nullopt;  // no requester waits for it
    // Whether a newer request is one is known shortly.
    while (newest_.may_be_superseded(request_) && !newest_.superseding(request_) &&
           !services_.stopping && !out_of_time())
        co_await services_.cloud.clock.sleep(poll_interval);
    if (const auto newer = newest_.superseding(request_))
        co_return "request " + newer->str() + " of the same server is newer";
    co_return co_await who_left();
}

ResultTask<std::optional<std::string>> RequestRunner::who_left() {
    asked_at_ = services_.cloud.clock.steady();
    const Duration asked_at = asked_at_;
    std::vector<ServerId> asked = request_.requesters;
    auto records = co_await read_requesters(services_.cloud.compute, std::move(asked));
    if (!records) co_return records.error();
    int gone = 0;
    std::string why;
    for (const auto& requester : request_.requesters) {
        auto not_waiting = why_not_waiting(request_, requester, (*records)[requester]);
        if (!not_waiting) continue;
        ++gone;
        why = std::move(*not_waiting);
    }
    const int waiting = std::max(slots_asked_ - gone, 0);
    if (gone == 0) services_.tracker.saw_waiting(request_.id, asked_at);
    if (waiting >= request_.slots) co_return std::nullopt;
    request_.slots = waiting;
    if (waiting > 0)
        why +=
            "; " + std::to_string(waiting) + " of " + std::to_string(slots_asked_) + " still wait";
    co_return why;
}

// ---- rounds ----

Task<std::optional<Outcome>> RequestRunner::rounds() {
    while (failed_plans_ < settings_.cull.max_rounds && round_ < max_plan_rounds) {
        std::optional<Outcome> ended;
        const bool allowed = co_await until_allowed(ended);
        if (!allowed) co_return ended;
        auto decided = co_await decide();
        if (!decided) co_return cut_short(OutcomeKind::failed, decided.error().what);
        if (!*decided) co_return std::nullopt;
        ended = co_await act_on(std::move(**decided));
        if (ended) co_return ended;
        if (services_.stopping && failing_) co_return std::nullopt;
    }
    co_return cut_short(OutcomeKind::failed, "gave up after " + std::to_string(round_) +
                                                 " rounds; the last: " + last_reason_);
}

Task<bool> RequestRunner::until_allowed(std::optional<Outcome>& ended) {
    bool told = false;
    bool looked_again = false;
    while (true) {
        ended.reset();
        services_.safeguards.check();  // what an operator has ended counts at once
        if (const auto newer = newest_.superseding(request_)) {
            ended = cut_short(OutcomeKind::superseded,
                              "request " + newer->str() + " of the same server is newer");
            co_return false;
        }
        if (services_.preconditions.unmet() && !std::exchange(looked_again, true)) {
            auto looked = co_await services_.preconditions.look_again();
            if (!looked)
                log_about(about(request_), spdlog::level::warn, "{}: {}", request_.id.str(),
                          looked.error().what);
        }
        if (const auto paused = services_.safeguards.paused_reason()) {
            ended = cut_short(OutcomeKind::refused, "the reaper is " + *paused, "paused");
            co_return false;
        }
        const auto unknown = services_.safeguards.not_known_yet();
        const auto not_ours = active_.why_not_leased(request_.id);
        if (!unknown && (!not_ours || settings_.dry_run)) co_return true;
        if (services_.stopping) co_return false;
        if (unknown && out_of_time()) {
            ended = cut_short(OutcomeKind::failed, *unknown);
            co_return false;
        }
        if (unknown) {
            co_await services_.cloud.clock.sleep(poll_interval);
            continue;
        }
        if (active_.is_given_up(request_.id)) {
            ended = cut_short(OutcomeKind::failed, not_ours.value_or("it was given back"));
            co_return false;
        }
        if (out_of_time()) {
            ended = cut_short(OutcomeKind::handed_over,
                              not_ours.value_or("it was given back") +
                                  "; the request did not come again: another reaper has it, or "
                                  "the queue dropped its message");
            co_return false;
        }
        // A request whose user gave up is not sent again.
        if (is_answered() && services_.cloud.clock.steady() - asked_at_ >= between_questions) {
            auto left = co_await who_left();
            if (left && *left && request_.slots == 0) {
                ended = cut_short(OutcomeKind::refused, **left);
                co_return false;
            }
        }
        if (!told)
            log_about(about(request_), spdlog::level::info,
                      "{}: waiting until it is delivered again: {}", request_.id.str(),
                      not_ours.value_or("not ours"));
        // If another finishes it, the room is promised no longer than that one promises it.
        const TimePoint now = services_.cloud.clock.now();
        if (!told && deleted_ > 0)
            services_.rooms.waits(request_.id, now, now + settings_.cull.promise);
        told = true;
        co_await services_.cloud.clock.sleep(poll_interval);
    }
}

Task<std::optional<Outcome>> RequestRunner::act_on(Decision decision) {
    if (auto* nothing = std::get_if<NothingToDo>(&decision)) {
        if (nothing->pending_releases().empty()) co_return co_await take_room(std::move(*nothing));
        co_return co_await wait_for_room(std::move(*nothing));
    }
    if (auto* refused = std::get_if<Refused>(&decision)) {
        // What earlier rounds freed is not all of it, and free for others.
        services_.rooms.not_enough(request_.id);
        if (deleted_ > 0)
            co_return cut_short(OutcomeKind::refused, refused->reason, refused->safeguard);
        co_return outcome(OutcomeKind::refused, std::move(refused->reason),
                          std::move(refused->safeguard));
    }
    if (const auto* less = std::get_if<NotEnough>(&decision)) {
        const bool proven = co_await until_proven(*less);
        if (proven) co_return std::nullopt;
        // What earlier rounds freed is not enough for it, and free for others.
        services_.rooms.not_enough(request_.id);
        co_return conclude(*less);
    }
    std::map<ServerId, Progress> unknown;
    co_return co_await carry_out(std::get<Plan>(std::move(decision)), std::move(unknown));
}

/// A search waits for what becomes of the room that was freed for others of its project: then it
/// may be served. (No client waits for the answer to a message.)
Task<bool> RequestRunner::until_proven(const NotEnough& less) {
    const auto waits = [this] {
        return services_.safeguards.safeguards().waits_for_proof(request_,
                                                                 services_.cloud.clock.now());
    };
    if (less.safeguard != safeguard::unproven || !is_answered() || !waits()) co_return false;
    last_reason_ = less.reason;
    while (waits()) {
        if (out_of_time() || services_.stopping || active_.is_given_up(request_.id))
            co_return false;
        co_await services_.cloud.clock.sleep(poll_interval);
    }
    co_return true;
}

/// The room is on its way, because others delete what holds it.
Task<std::optional<Outcome>> RequestRunner::wait_for_room(NothingToDo nothing) {
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

Task<std::optional<Outcome>> RequestRunner::carry_out(Plan plan,
                                                      std::map<ServerId, Progress> known) {
    const std::string others_stay =
        request_.correction && !plan.note.empty() ? "; " + plan.note : std::string{};
    auto execution = co_await executor_->carry_out(request_, std::move(plan), std::move(known));
    deleted_ += execution.deleted;
    // What was deleted was deleted for regular room: only that can still end the request well.
    if (deleted_ > 0) request_.phases = Phases{};
    skipped_.insert(execution.skipped.begin(), execution.skipped.end());
    switch (execution.end) {
        case Execution::End::freed:
            co_return outcome(OutcomeKind::freed, execution.reason + others_stay);
        case Execution::End::reported: co_return outcome(OutcomeKind::dry_run, execution.reason);
        case Execution::End::incomplete:
            co_return outcome(OutcomeKind::incomplete, execution.reason);
        case Execution::End::no_longer_needed:
            if (request_.slots == 0) co_return cut_short(OutcomeKind::refused, execution.reason);
            break;
        case Execution::End::blocked: break;
        case Execution::End::replan: ++failed_plans_; break;
        case Execution::End::failed:
            // Not the plan's fault: tried again as long as the request is worth it.
            if (out_of_time()) co_return cut_short(OutcomeKind::failed, execution.reason);
            co_await backoff_.pause(services_.stopping);
            break;
    }
    failing_ = execution.end == Execution::End::failed;
    last_reason_ = execution.reason;
    log_about(about(request_), spdlog::level::info, "{}: planning again: {}", request_.id.str(),
              execution.reason);
    services_.rooms.plans_again(request_.id, deleted_ > 0);
    co_return std::nullopt;
}

std::optional<Outcome> RequestRunner::conclude(const NothingToDo& nothing) const {
    if (nothing.room == ResType::revocable)
        return cut_short(OutcomeKind::revocable_room, nothing.reason);
    return outcome(deleted_ > 0 ? OutcomeKind::freed : OutcomeKind::already_there, nothing.reason);
}

std::optional<Outcome> RequestRunner::conclude(const NotEnough& not_enough) const {
    if (!request_.phases.admits(ResType::regular))
        return cut_short(OutcomeKind::revocable_only, not_enough.reason);
    if (deleted_ == 0)
        return outcome(OutcomeKind::not_enough, not_enough.reason, not_enough.safeguard);
    // Each server of a correction goes for itself.
    if (request_.correction)
        return outcome(OutcomeKind::freed, deletions_text(deleted_) + "; " + not_enough.reason,
                       not_enough.safeguard);
    return cut_short(OutcomeKind::not_enough, not_enough.reason, not_enough.safeguard);
}

Outcome RequestRunner::outcome(OutcomeKind kind, std::string reason, std::string safeguard) const {
    Outcome ended;
    ended.kind = kind;
    ended.reason = std::move(reason);
    ended.safeguard = std::move(safeguard);
    ended.at = services_.cloud.clock.now();
    return ended;
}

Outcome RequestRunner::cut_short(OutcomeKind none_deleted, const std::string& reason,
                                 std::string safeguard) const {
    if (deleted_ == 0)
        return outcome(none_deleted, "no servers deleted: " + reason, std::move(safeguard));
    return outcome(OutcomeKind::incomplete, deletions_text(deleted_) + ", then: " + reason,
                   std::move(safeguard));
}

}  // namespace reaper
