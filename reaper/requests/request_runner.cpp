#include "reaper/requests/request_runner.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "reaper/cloud/reader/requesters.hpp"
#include "reaper/eviction/evicting_executor.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/requests/approved_plan.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Sends nothing.
class DryRunExecutor final : public PlanExecutor {
public:
    Task<Execution> carry_out(Request, Plan plan, std::map<ServerId, Progress>,
                              std::shared_ptr<const CompiledPolicy>) override {
        Execution execution;
        execution.end = Execution::End::reported;
        execution.reason = "dry run: " + summary(Decision{plan});
        co_return execution;
    }
};

std::unique_ptr<PlanExecutor> make_executor(const RequestServices& services, CullRoom& room,
                                            EvictionGuard& guard) {
    if (services.settings.dry_run) return std::make_unique<DryRunExecutor>();
    return std::make_unique<EvictingExecutor>(CullServices{
        services.cloud, services.journal, services.rooms, services.refresher, services.safeguards,
        services.tracker, services.deletions, services.settings, room, guard});
}

/// Between two looks whether a wait is over.
constexpr Duration poll_interval{250};
/// Between two questions to Nova whether a requester waits.
constexpr Duration between_questions{2'000};

/// Where room in escrow ended.
constexpr std::size_t hosts_at_a_time = 8;

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
        else if (step.step == Step::delete_accepted)
            known[step.server] = Progress::accepted;
        else if (sends_eviction(step.step))
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
      leases_(dependencies.leases),
      newest_(dependencies.newest),
      refusals_(dependencies.refusals),
      journal_trouble_(dependencies.journal_trouble),
      settings_(services_.settings),
      request_(std::move(request)),
      room_(services_.rooms, services_.refresher, services_.reserver, services_.escrow, settings_,
            request_),
      executor_(make_executor(services_, room_, *this)),
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
    slots_freed_ = as_freed(record).slots;
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
                        std::ranges::none_of(of_last, [&](const Victim& victim) {
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
    return leases_.why_not_held();
}

ResultTask<std::optional<std::string>> RequestRunner::still_needed() {
    // What is not begun in time never is.
    if (deleted_ == 0 && out_of_time()) {
        std::string late = "its time is over";
        if (!last_reason_.empty()) late = last_reason_;
        co_return late;
    }
    if (request_.correction) {  // no requester waits for it
        const auto need = services_.decisions.needed(request_);
        if (!need) co_return need.error();
        std::optional<std::string> over;
        if (*need && (*need)->empty()) over = "what it was to correct is over by now";
        co_return over;
    }
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

bool RequestRunner::out_of_time() const {
    if (!time_left_.over()) return false;
    const auto last = services_.safeguards.safeguards().notices().last_of(request_.id);
    return !last || services_.cloud.clock.now() > *last + settings_.cull.deadline ||
           time_left_.over(2 * longest_notice);
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
        // Messages that would end it may wait in the queue: the next reaper reads them first.
        const bool would_begin = std::holds_alternative<Plan>(**decided) && deleted_ == 0;
        if (services_.stopping && would_begin) co_return std::nullopt;
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
        const auto unknown = services_.safeguards.not_known_yet();
        if (const auto paused = services_.safeguards.paused_reason(); paused && !unknown) {
            ended = cut_short(OutcomeKind::refused, "the reaper is " + *paused, "paused");
            co_return false;
        }
        const auto not_ours = leases_.why_not_held();
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
        if (leases_.given_up()) {
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
        if (out_of_time() || services_.stopping || leases_.given_up()) co_return false;
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
    const int victims = static_cast<int>(plan.victims().size());
    const int slots = plan.slots_requested;
    auto policy = planned_under_;
    auto execution = co_await executor_->carry_out(request_, std::move(plan), std::move(known),
                                                   std::move(policy));
    deleted_ += execution.deleted;
    if (execution.deleted > 0) slots_freed_ = slots_freed_by(slots, execution.deleted, victims);
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
        case Execution::End::blocked: co_await pause_if_unread(); break;
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

// How a request is decided: from the cache, in its turn, entered in ledger and journal before
// anything else can run.

namespace {

/// The hosts that servers are to go from.
std::vector<std::string> culled_hosts(const Decision& decision) {
    std::vector<std::string> names;
    for (const HostPlan& host : host_plans(decision))
        if (!host.victims.empty()) names.push_back(printable(host.host_name, 64));
    return names;
}

/// `for project web (8d3f...), flavor m1.small: `; nothing if its owner is unknown.
std::string for_whom(const Request& request) {
    if (request.project.empty()) return "";
    const std::string flavor =
        request.flavor.empty() ? "" : ", flavor " + printable(request.flavor, 64);
    const std::string waits = request.requesters.empty() || request.requester_names.empty()
                                  ? ""
                                  : ", server " +
                                        requester_text(request, request.requesters.front()) +
                                        (request.requesters.size() > 1 ? " and others" : "");
    return "for project " + project_text(request.project, request.project_name) + flavor + waits +
           ": ";
}

/// `; on compute-1, compute-2 and 3 more`; nothing if no servers go.
std::string hosts_text(const std::vector<std::string>& names) {
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        text += (text.empty() ? "; on " : ", ") + names[i];
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
}

void log_decision(const Request& request, const Decision& decision) {
    const auto hosts = culled_hosts(decision);
    LogFields fields = about(request);
    if (hosts.size() == 1) fields.host = hosts.front();
    log_about(fields, spdlog::level::info, "{}: {}{}{}", request.id.str(), for_whom(request),
              summary(decision), hosts_text(hosts));
}

}  // namespace

ResultTask<std::optional<Decision>> RequestRunner::decide() {
    Backoff backoff{services_.cloud.clock};
    std::optional<JournalTrouble::Wait> wait;
    std::optional<Error> before;
    while (true) {
        if (services_.stopping && deleted_ == 0) co_return std::optional<Decision>{};
        auto decision = co_await decide_now();
        if (decision) co_return std::optional<Decision>{std::move(*decision)};
        if (out_of_time()) co_return before.value_or(decision.error());
        // The journal has what was begun: the next start goes on with it.
        if (services_.stopping) co_return std::optional<Decision>{};
        log_about(about(request_), spdlog::level::warn, "{}: no decision yet, trying again: {}",
                  request_.id.str(), decision.error().what);
        before = decision.error();
        wait.reset();
        if (decision.error().code == Errc::storage)
            wait.emplace(journal_trouble_, decision.error().what);
        co_await backoff.pause(services_.stopping);
    }
}

/// Who else is in its server group, as Nova has it now: its servers come and go while a request
/// waits. Where they all have to be together, where they are decides it: a few are looked for.
ResultTask<void> RequestRunner::refresh_group() {
    constexpr Duration fresh{5'000};
    constexpr std::size_t max_looked_for = 10;
    const Duration now = services_.cloud.clock.steady();
    std::string id = request_.placement.group.id;
    const bool known = round_ == 0 && group_read_at_ && now - *group_read_at_ < fresh;
    if (id.empty()) co_return Result<void>{};
    if (!known) {
        auto group = co_await services_.cloud.compute.server_group(std::move(id));
        if (!group) co_return group.error();
        request_.placement.group = group->value_or(ServerGroup{});
        group_read_at_ = now;
    }
    if (!request_.placement.group.together()) co_return Result<void>{};
    std::set<ServerId> mates = request_.placement.group.members;
    for (const auto& requester : request_.requesters) mates.erase(requester);
    while (mates.size() > max_looked_for) mates.erase(std::prev(mates.end()));
    co_return co_await services_.refresher.locate(std::move(mates));
}

/// What else a search for room rests on.
ResultTask<void> RequestRunner::prepare_search() {
    auto grouped = co_await refresh_group();
    if (!grouped) co_return grouped.error();
    // One that a newer request has overtaken meanwhile takes no room.
    const bool overtaken = newest_.superseding(request_).has_value();
    if (!overtaken) co_await services_.tracker.make_way_for(request_, !arrival_.had_hosts);
    services_.warmer.expect(request_);
    co_return Result<void>{};
}

/// From the cache; or, if a like request was refused just now, the same answer.
ResultTask<Decision> RequestRunner::consult() {
    const bool searches = !request_.correction;
    const bool first = round_ == 0 && skipped_.empty() && searches;
    planned_under_ = settings_.policy;
    if (first) {
        auto known = refusals_.find(request_, planned_under_, services_.cloud.clock.steady());
        if (known) co_return Decision{std::move(*known)};
    }
    if (searches) {
        auto prepared = co_await prepare_search();
        if (!prepared) co_return prepared.error();
    }
    // The journal does not say whose loan it was, nor who holds it.
    if (request_.source == RequestSource::reservation && request_.victims_among.empty())
        co_return Decision{Refused{"interrupted: the reservation checks its loans again"}};
    auto skipped = skipped_;
    planned_under_ = settings_.policy;  // refreshing may have taken a while
    auto decided =
        co_await services_.decisions.decide(planned_under_, request_, std::move(skipped));
    if (!decided) co_return decided.error();
    // A reload may have come in between: as it is written, the policy protects all servers.
    if (const auto unknown = services_.preconditions.not_known_yet())
        co_return Error{Errc::unreachable, *unknown};
    const bool would_delete = std::holds_alternative<Plan>(*decided);
    if (would_delete) {
        auto looked = co_await services_.preconditions.ensure_sight();
        if (!looked) co_return looked.error();
        if (auto unmet = services_.preconditions.unmet())
            co_return Decision{Refused{"the reaper is held back: " + *unmet}};
    }
    auto served = would_delete ? served_by_another() : std::optional<std::string>{};
    if (served) co_return Decision{Refused{std::move(*served)}};
    const auto* less = std::get_if<NotEnough>(&*decided);
    if (first && less != nullptr)
        refusals_.note(request_, *less, planned_under_, services_.cloud.clock.steady());
    co_return std::move(*decided);
}

std::optional<std::string> RequestRunner::served_by_another() {
    if (!arrival_.maybe_served || deleted_ > 0) return std::nullopt;
    // Not in the second of the refusal: that may be who took the last room before it.
    const TimePoint after = request_.sent_at + std::chrono::seconds{1};
    const auto came = services_.tracker.second_tries(request_, after);
    if (static_cast<int>(came.size()) < slots_asked_) return std::nullopt;
    return "its message was delivered before, and a like server, " +
           printable(came.begin()->str(), 64) + ", came since: another reaper served it";
}

/// Why its requesters no longer wait; none if one may.
ResultTask<std::optional<std::string>> RequestRunner::all_have_left() {
    std::vector<ServerId> asked = request_.requesters;
    auto records = co_await read_requesters(services_.cloud.compute, std::move(asked));
    if (!records) co_return records.error();
    std::optional<std::string> why;
    for (const auto& requester : request_.requesters) {
        why = why_not_waiting(request_, requester, (*records)[requester]);
        if (!why) break;
    }
    co_return why;
}

/// The cache may have been read while it was not known to be free. While one can't be read, no
/// server is deleted there.
Task<void> RequestRunner::read_where_escrow_ended() {
    unread_ = false;
    if (!services_.refresher.built()) co_return;
    std::vector<Task<void>> reads;
    for (const HostId& host : services_.escrow.changed())
        reads.push_back(read_where_escrow_ended(host));
    co_await run_all(std::move(reads), hosts_at_a_time);
}

/// What could not be read blocks the next plan too.
Task<void> RequestRunner::pause_if_unread() {
    if (unread_) co_await backoff_.pause(services_.stopping);
}

Task<void> RequestRunner::read_where_escrow_ended(HostId host) {
    std::vector<HostId> hosts{host};
    const auto read = co_await services_.refresher.read_hosts(std::move(hosts), HostDepth::state);
    if (read) {
        services_.escrow.change_known(host);
        co_return;
    }
    unread_ = true;
    log_about(about(request_), spdlog::level::debug, "{}: {}", request_.id.str(),
              read.error().what);
}

/// As it was decided, unless a person approved another plan.
Result<Decision> RequestRunner::as_approved(Result<Decision> decided) const {
    if (!decided || !request_.approved) return decided;
    const auto name_of = [this](const ServerId& server) {
        if (!services_.refresher.built()) return std::string{};
        for (const Host* const host : services_.refresher.cache().hosts())
            for (const Server& each : host->servers)
                if (each.id == server) return each.name;
        return std::string{};
    };
    auto why = why_stale(*request_.approved, *decided, deleted_ > 0, services_.cloud.clock.now(),
                         settings_.cull.approved_max_age, name_of);
    if (!why) return decided;
    return Decision{Refused{std::move(*why), std::string{safeguard::stale_plan}}};
}

ResultTask<Decision> RequestRunner::decide_now() {
    constexpr Duration long_wait{1'000};
    const Duration asked_at = services_.cloud.clock.steady();
    // nova-scheduler waits; the others' users have been refused already.
    std::optional<AsyncSemaphore::Permit> turn;
    auto first = co_await services_.planning.take(is_answered());
    turn.emplace(std::move(first));
    // Others go on while Nova is asked. The client of a search is known to wait.
    const bool asks = !is_answered() && !request_.requesters.empty();
    if (asks && services_.cloud.clock.steady() - asked_at >= long_wait && deleted_ == 0 &&
        !out_of_time()) {
        turn.reset();
        auto why = co_await all_have_left();
        if (!why) co_return why.error();
        if (*why) co_return Decision{Refused{std::move(**why)}};
        auto next = co_await services_.planning.take(false);
        turn.emplace(std::move(next));
    }
    // The turn may have come late. A correction that is not begun is no failure.
    if (deleted_ == 0 && out_of_time()) {
        std::string why = "its time was over before there was a plan";
        if (!last_reason_.empty()) why = "its time is over; the last: " + last_reason_;
        if (request_.correction) co_return Decision{Refused{std::move(why)}};
        co_return Error{Errc::timeout, std::move(why)};
    }
    if (!settings_.gateway.listen.empty() && !settings_.dry_run) {
        auto settled = co_await services_.escrow.settle_others();
        if (!settled) co_return settled.error();
    }
    co_await read_where_escrow_ended();
    auto decided = co_await consult();
    // Decided under a policy that is in force no more.
    while (decided && planned_under_ != settings_.policy) decided = co_await consult();
    decided = as_approved(std::move(decided));
    if (!decided) co_return decided.error();
    const TimePoint now = services_.cloud.clock.now();

    PlanEntry entry;
    entry.round = round_ + 1;
    entry.at = now;
    entry.decision = std::move(*decided);
    ready_on_.clear();
    const auto* const nothing = std::get_if<NothingToDo>(&entry.decision);
    if (nothing != nullptr && nothing->room == ResType::regular)
        for (const auto& host : nothing->hosts) ready_on_.push_back(host.host);
    // In the ledger before anything else can run, so that no other plan counts the same room; and
    // in the journal before the first deletion (rule 5).
    const CloudCache& cache = services_.refresher.cache();
    if (const auto* const plan = std::get_if<Plan>(&entry.decision);
        plan != nullptr && !plan->victims().empty())
        services_.safeguards.on_cull(request_);
    services_.decisions.decided(request_, entry.decision);
    const bool died = deleted_ > 0 || services_.tracker.is_heir(request_.id);
    services_.rooms.decided(request_, entry.decision, died, now,
                            [&cache](const HostId& id) { return cache.find(id); });
    Decision decision = entry.decision;
    auto written = co_await services_.journal.add_plan(request_.id, std::move(entry));
    if (!written) {
        services_.rooms.not_journaled(request_.id, decision, deleted_ > 0);
        co_return written.error();
    }
    ++round_;
    log_decision(request_, decision);
    co_return decision;
}

/// The room is there.
Task<std::optional<Outcome>> RequestRunner::take_room(NothingToDo nothing) {
    if (nothing.room == ResType::regular) {
        std::vector<HostPlan> hosts = nothing.hosts;
        auto taken = co_await room_.take_free(std::move(hosts));
        if (taken) {
            ++failed_plans_;
            last_reason_ = std::move(*taken);
            log_about(about(request_), spdlog::level::info, "{}: planning again: {}",
                      request_.id.str(), last_reason_);
            services_.rooms.plans_again(request_.id, deleted_ > 0);
            co_return std::nullopt;
        }
    }
    co_return conclude(nothing);
}

}  // namespace reaper
