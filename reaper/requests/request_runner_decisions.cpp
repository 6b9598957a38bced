// How a request is decided: from the cache, in its turn, entered in ledger and journal before
// anything else can run.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/cloud_reader/requesters.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/waiting.hpp"
#include "reaper/requests/approved_plan.hpp"
#include "reaper/requests/request_runner.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
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

/// The cache may have been read while it was not known to be free.
ResultTask<void> RequestRunner::read_where_kept_room_ended() {
    const auto& changed = services_.kept_rooms.changed();
    if (changed.empty() || !services_.refresher.built()) co_return Result<void>{};
    const std::vector<HostId> hosts(changed.begin(), changed.end());
    std::vector<HostId> to_read = hosts;
    auto read = co_await services_.refresher.read_hosts(std::move(to_read), HostDepth::state);
    if (read) services_.kept_rooms.changes_known(hosts);
    co_return read;
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
    const auto turn = co_await services_.planning.take(request_.source == RequestSource::gateway);
    // The turn may have come late. A correction that is not begun is no failure.
    if (deleted_ == 0 && out_of_time()) {
        std::string why = "its time was over before there was a plan";
        if (!last_reason_.empty()) why = "its time is over; the last: " + last_reason_;
        if (request_.correction) co_return Decision{Refused{std::move(why)}};
        co_return Error{Errc::timeout, std::move(why)};
    }
    if (services_.cloud.clock.steady() - asked_at >= long_wait && deleted_ == 0) {
        auto why = co_await all_have_left();
        if (!why) co_return why.error();
        if (*why) co_return Decision{Refused{std::move(**why)}};
    }
    if (!settings_.gateway.listen.empty() && !settings_.dry_run) {
        auto settled = co_await services_.kept_rooms.settle_others();
        if (!settled) co_return settled.error();
        auto read = co_await read_where_kept_room_ended();
        if (!read) co_return read.error();
    }
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
    planned_on_.clear();
    for (const HostPlan& host : host_plans(entry.decision)) planned_on_.insert(host.host);
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

}  // namespace reaper
