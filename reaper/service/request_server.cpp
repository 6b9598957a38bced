#include "reaper/service/request_server.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/executor/culling_executor.hpp"

namespace reaper {
namespace {

std::unique_ptr<PlanExecutor> make_executor(const Workshop& workshop,
                                            const ServiceOptions& options) {
    if (options.dry_run) return std::make_unique<ReportingExecutor>();
    return std::make_unique<CullingExecutor>(workshop.cloud, workshop.journal, workshop.ledger,
                                             workshop.deletions, options.policy, options.cull);
}

std::string deaths(int count) {
    return count == 0 ? "nobody died" : std::to_string(count) + " servers were deleted";
}

/// What the journal tells about the victims of the last plan.
std::map<ServerId, Progress> progress_of(const Story& story) {
    std::map<ServerId, Progress> known;
    for (const auto& step : story.steps) {
        if (step.step == Step::gone || step.step == Step::vanished)
            known[step.server] = Progress::gone;
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

RequestServer::RequestServer(Workshop workshop, ServiceOptions options, Request request)
    : workshop_(workshop),
      options_(std::move(options)),
      request_(std::move(request)),
      executor_(make_executor(workshop_, options_)) {}

Task<std::optional<Outcome>> RequestServer::serve() {
    spdlog::info("{}: {}", request_.id.str(), to_string(request_));
    co_return co_await rounds();
}

Task<std::optional<Outcome>> RequestServer::resume(Story story) {
    round_ = static_cast<int>(story.plans.size());
    spdlog::info("{}: resuming {} after {} rounds", request_.id.str(), to_string(request_), round_);
    auto known = progress_of(story);
    deleted_ = static_cast<int>(known.size());
    const Plan* const last = last_plan(story);
    if (last != nullptr && deleted_ > 0) {
        // Only what was sent: whether the rest is still needed, a new plan must tell.
        Plan sent = what_was_sent(*last, known);
        const bool all = sent.victims().size() == last->victims().size();
        for (const auto& victim : last->victims())
            if (!known.contains(victim.server)) workshop_.ledger.drop_eviction(victim.server);
        auto ended = co_await carry_out(std::move(sent), std::move(known));
        const bool partly = ended && ended->kind == OutcomeKind::freed && !all;
        if (ended && !partly) co_return ended;
    } else {
        workshop_.ledger.release(request_.id);
    }
    if (out_of_time())
        co_return outcome(deleted_ > 0 ? OutcomeKind::incomplete : OutcomeKind::failed,
                          "interrupted, and too old now to go on; " + deaths(deleted_));
    if (deleted_ == 0) {
        const auto gone = co_await requester_gone();
        if (gone) co_return outcome(OutcomeKind::refused, *gone);
    }
    co_return co_await rounds();
}

/// Why nobody waits for the room any more; none if somebody may.
Task<std::optional<std::string>> RequestServer::requester_gone() {
    for (const auto& requester : request_.requesters) {
        auto found = co_await workshop_.cloud.compute.server(requester);
        if (!found || found->has_value()) co_return std::nullopt;
    }
    if (request_.requesters.empty()) co_return std::nullopt;
    co_return "server " + request_.requesters.front().str() + " is gone";
}

Task<std::optional<Outcome>> RequestServer::rounds() {
    while (round_ < options_.cull.max_rounds) {
        auto decided = co_await decide();
        if (!decided)
            co_return outcome(deleted_ > 0 ? OutcomeKind::incomplete : OutcomeKind::failed,
                              deaths(deleted_) + ": " + decided.error().what);
        if (!*decided) co_return std::nullopt;
        Decision& decision = **decided;
        if (const auto* nothing = std::get_if<NothingToDo>(&decision)) co_return conclude(*nothing);
        if (const auto* less = std::get_if<NotEnough>(&decision)) co_return conclude(*less);
        std::map<ServerId, Progress> unknown;
        auto ended = co_await carry_out(std::get<Plan>(std::move(decision)), std::move(unknown));
        if (ended) co_return ended;
    }
    co_return outcome(deleted_ > 0 ? OutcomeKind::incomplete : OutcomeKind::failed,
                      "gave up after " + std::to_string(round_) + " rounds; " + deaths(deleted_));
}

ResultTask<std::optional<Decision>> RequestServer::decide() {
    Backoff backoff{workshop_.cloud.clock};
    while (true) {
        if (workshop_.stopping && deleted_ == 0) co_return std::optional<Decision>{};
        auto decision = co_await decide_now();
        if (decision) co_return std::optional<Decision>{std::move(*decision)};
        if (out_of_time()) co_return decision.error();
        spdlog::warn("{}: no decision yet, trying again: {}", request_.id.str(),
                     decision.error().what);
        co_await backoff.pause(workshop_.stopping);
    }
}

ResultTask<Decision> RequestServer::decide_now() {
    const auto turn = co_await workshop_.planning.acquire();
    auto spared = spared_;
    auto decided = co_await workshop_.keeper.decide(options_.policy, request_, workshop_.ledger,
                                                    std::move(spared));
    if (!decided) co_return decided.error();
    const TimePoint now = workshop_.cloud.clock.now();

    PlanEntry entry;
    entry.round = round_ + 1;
    entry.at = now;
    entry.decision = std::move(*decided);
    // In the ledger before anything else can run, so that no other plan counts the same room; and
    // in the journal before the first deletion (rule 5).
    const auto* plan = std::get_if<Plan>(&entry.decision);
    if (plan != nullptr && !options_.dry_run) workshop_.ledger.enter(request_, *plan, now);
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
    spared_.insert(execution.spared.begin(), execution.spared.end());
    switch (execution.end) {
        case Execution::End::freed: co_return outcome(OutcomeKind::freed, execution.reason);
        case Execution::End::reported: co_return outcome(OutcomeKind::dry_run, execution.reason);
        case Execution::End::incomplete:
            co_return outcome(OutcomeKind::incomplete, execution.reason);
        case Execution::End::replan: break;
        case Execution::End::failed: {
            if (out_of_time())
                co_return outcome(deleted_ > 0 ? OutcomeKind::incomplete : OutcomeKind::failed,
                                  deaths(deleted_) + ": " + execution.reason);
            Backoff backoff{workshop_.cloud.clock};
            co_await backoff.pause(workshop_.stopping);
            break;
        }
    }
    spdlog::info("{}: planning again: {}", request_.id.str(), execution.reason);
    if (deleted_ == 0) workshop_.ledger.release(request_.id);
    co_return std::nullopt;
}

std::optional<Outcome> RequestServer::conclude(const NothingToDo& nothing) const {
    const bool refused = nothing.hosts.empty();
    const OutcomeKind kind = deleted_ > 0 ? OutcomeKind::freed
                             : refused    ? OutcomeKind::refused
                                          : OutcomeKind::already_there;
    return outcome(kind, nothing.reason);
}

std::optional<Outcome> RequestServer::conclude(const NotEnough& not_enough) const {
    if (deleted_ == 0) return outcome(OutcomeKind::not_enough, not_enough.reason);
    return outcome(OutcomeKind::incomplete, deaths(deleted_) + ", then: " + not_enough.reason);
}

Outcome RequestServer::outcome(OutcomeKind kind, std::string reason) const {
    return Outcome{kind, std::move(reason), workshop_.cloud.clock.now()};
}

bool RequestServer::out_of_time() const {
    return workshop_.cloud.clock.now() >
           request_.sent_at + std::chrono::duration_cast<Duration>(options_.trigger.max_age);
}

}  // namespace reaper
