// The keeper's decisions: on hosts read for them, and what became of what they promised.
#include <algorithm>
#include <utility>

#include "reaper/planner/host_label.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"

namespace reaper {
namespace {

/// Readings of different hosts for one decision, one after the other, before it is given up.
constexpr int max_read_rounds = 24;
/// Hosts that are read again before a request is refused for want of room.
constexpr std::size_t second_looks = 16;
/// Hosts that offer revocable room, read before somebody dies for a request that prefers it.
constexpr std::size_t most_offering = 64;

/// Do aggregates decide where the request may land, or who may die?
bool by_aggregates(const Request& request, const CompiledPolicy& policy) {
    return request.availability_zone || !request.landing.aggregates.empty() ||
           !policy.landing.nothing() || policy.brakes.limits.victims_per_aggregate > 0;
}

/// What decides about the place of this request, and may have changed, is read with each host.
HostDepth depth_for(const Request& request, const LandingRules& rules) {
    const bool bound = request.availability_zone || !request.landing.aggregates.empty() ||
                       rules.own_aggregates != LandingRules::OwnAggregates::off;
    const bool traits = !request.required_traits.empty() || !request.forbidden_traits.empty();
    return bound || traits ? HostDepth::landing : HostDepth::state;
}

}  // namespace

/// Hosts that the decision rests on and that were not read for it yet. Of a refusal: those that
/// came nearest, once.
std::vector<HostId> PictureKeeper::unread_hosts(const Decision& decision,
                                                const std::set<HostId>& fresh,
                                                bool second_look) const {
    std::vector<HostId> ids;
    const auto look = [&](const HostId& id) {
        if (!fresh.contains(id)) ids.push_back(id);
    };
    if (const auto* plan = std::get_if<Plan>(&decision))
        for (const auto& host : plan->hosts) look(host.host);
    if (const auto* nothing = std::get_if<NothingToDo>(&decision))
        for (const auto& host : nothing->hosts) look(host.host);
    if (const auto* not_enough = std::get_if<NotEnough>(&decision); not_enough && second_look)
        for (const auto& rejection : not_enough->rejected) {
            const bool near = rejection.code == RejectionCode::not_enough_revocable ||
                              rejection.code == RejectionCode::not_in_placement;
            if (near && ids.size() < second_looks) look(rejection.host);
        }
    return ids;
}

/// Hosts that offer revocable room, not read for the decision yet: nobody dies for a request that
/// would rather have that.
void PictureKeeper::add_offering(const CompiledPolicy& policy, const std::set<HostId>& fresh,
                                 std::vector<HostId>& ids) const {
    std::size_t added = 0;
    for (const Host* const host : picture_.hosts()) {
        if (added == second_looks || fresh.size() >= most_offering) return;
        const bool known =
            fresh.contains(host->id) || std::find(ids.begin(), ids.end(), host->id) != ids.end();
        if (known || !offers_revocable(*host, policy.revocable_classes)) continue;
        ids.push_back(host->id);
        ++added;
    }
}

ResultTask<Decision> PictureKeeper::decide(std::shared_ptr<const CompiledPolicy> policy,
                                           const Request& request, Ledger& ledger, Brakes& brakes,
                                           std::map<ServerId, std::string> spared) {
    const std::uint64_t builds_before = builds_begun_;
    auto usable_now = co_await ensure_usable(builds_before);
    if (!usable_now) co_return usable_now.error();
    auto facts = co_await refresh_facts(policy);
    if (!facts) co_return facts.error();

    expect(request);
    const HostDepth depth = depth_for(request, policy->landing);
    const bool bound = by_aggregates(request, *policy);
    bool second_look = true;
    bool third_look = true;
    std::set<HostId> fresh;
    std::uint64_t build = build_;
    std::uint64_t aggregates_known = build_ > builds_before ? build_ : 0;  // by which bulk reading
    for (int round = 0; round < max_read_rounds; ++round) {
        if (build != build_) {
            // A bulk reading in the background took the place of what was read for this decision.
            fresh.clear();
            build = build_;
            facts = co_await refresh_facts(policy);
            if (!facts) co_return facts.error();
        }
        if (bound && (aggregates_known != build_ || picture_.aggregates_doubtful())) {
            auto aggregates = co_await refresh_aggregates();
            if (!aggregates) co_return aggregates.error();
            aggregates_known = build_;
        }
        expire(ledger);
        Decision decision = reaper::decide(*policy, request, picture_.index(), picture_.facts(),
                                           ledger, ports_.clock.now(), brakes, spared);
        auto unread = unread_hosts(decision, fresh, second_look);
        const bool second_choice = std::holds_alternative<Plan>(decision) && request.phases.both &&
                                   request.phases.first == ResType::revocable;
        if (second_choice) add_offering(*policy, fresh, unread);
        const bool refused = std::holds_alternative<NotEnough>(decision);
        const bool read_for_it = build_ > builds_before;
        if (unread.empty() && !(refused && !read_for_it && (second_look || third_look)))
            co_return decision;
        if (refused && second_look) {
            // A host that was down or disabled may be back.
            second_look = false;
            auto services = co_await refresh_aggregates();
            if (!services) co_return services.error();
        } else if (refused) {
            // Nobody is refused for a picture that missed something; but not for every one a
            // reading of the whole cloud.
            third_look = false;
            if (ports_.clock.now() - tried_build_at_ >= between_builds) {
                const auto permit = co_await building_.acquire();
                auto again = co_await rebuild();
                if (!again) co_return again.error();
            }
        }
        fresh.insert(unread.begin(), unread.end());
        auto read = co_await read_hosts(std::move(unread), depth);
        if (!read) co_return read.error();
    }
    co_return Error{Errc::conflict, "the cloud changes faster than it can be read: after " +
                                        std::to_string(max_read_rounds) +
                                        " readings the decision still rests on other hosts"};
}

void PictureKeeper::expire(Ledger& ledger) {
    const auto lookup = [this](const HostId& id) { return picture_.find(id); };
    auto settled = ledger.expire(lookup, ports_.clock.now());
    settled_.insert(settled_.end(), std::make_move_iterator(settled.begin()),
                    std::make_move_iterator(settled.end()));
}

std::vector<Ledger::Settled> PictureKeeper::settled(Ledger& ledger) {
    if (built()) expire(ledger);
    return std::exchange(settled_, {});
}

ResultTask<void> PictureKeeper::look_at(std::vector<HostId> hosts) {
    if (!built()) co_return Error{Errc::unreachable, "there is no picture of the cloud yet"};
    co_return co_await read_hosts(std::move(hosts), HostDepth::all);
}

ResultTask<void> PictureKeeper::locate(std::set<ServerId> servers) {
    if (!built()) co_return Result<void>{};  // a decision reads all of it first
    std::set<HostId> doubtful;
    for (const auto& id : servers) {
        auto record = co_await ports_.compute.server(id);
        if (!record) co_return record.error();
        const std::string host = *record ? (*record)->server.host.str() : std::string{};
        const auto hosts = picture_.in_doubt_about(id, host);
        doubtful.insert(hosts.begin(), hosts.end());
    }
    std::vector<HostId> to_read(doubtful.begin(), doubtful.end());
    co_return co_await read_hosts(std::move(to_read), HostDepth::state);
}

void PictureKeeper::on_clock_step(Duration by) {
    // What was read stays as old as it is; what the hosts' own times mean now, a new reading tells.
    for (TimePoint* time : {&built_at_, &tried_build_at_, &started_at_, &services_at_})
        if (*time != TimePoint{}) *time += by;
    picture_.shift(by);
    quiet_until_ = {};
    builds_before_flow_ = builds_begun_;
}

}  // namespace reaper
