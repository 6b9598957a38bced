// How a request is decided: from the picture, in its turn, entered in ledger and journal before
// anything else can run.
#include <iterator>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/requests/request_runner.hpp"

namespace reaper {

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
/// waits. Where they all have to be together, where they are decides it: a few are looked for.
ResultTask<void> RequestServer::refresh_group() {
    constexpr Duration fresh{5'000};
    constexpr std::size_t most_looked_for = 10;
    const Duration now = workshop_.cloud.clock.steady();
    std::string id = request_.landing.group.id;
    const bool known = round_ == 0 && group_read_at_ && now - *group_read_at_ < fresh;
    if (id.empty()) co_return Result<void>{};
    if (!known) {
        auto group = co_await workshop_.cloud.compute.server_group(std::move(id));
        if (!group) co_return group.error();
        request_.landing.group = group->value_or(ServerGroup{});
        group_read_at_ = now;
    }
    if (!request_.landing.group.together()) co_return Result<void>{};
    std::set<ServerId> mates = request_.landing.group.members;
    for (const auto& requester : request_.requesters) mates.erase(requester);
    while (mates.size() > most_looked_for) mates.erase(std::prev(mates.end()));
    co_return co_await workshop_.keeper.locate(std::move(mates));
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

}  // namespace reaper
