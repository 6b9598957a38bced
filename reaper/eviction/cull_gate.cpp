#include "reaper/eviction/cull_gate.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

/// For how long a requester that waited is taken to wait. Where Nova is slow, for as long as a
/// question, a look and a call take: else each victim needs a question of its own.
static constexpr Duration need_valid_for{2000};
static constexpr Duration need_valid_at_most{10'000};

/// Why the plan must not be carried on; none if it may.
std::optional<std::string> CullGate::outdated_reason(const Cull& cull) const {
    if (cull.planned_under != services_.settings.policy)
        return "another configuration is in force than it was planned under";
    if (services_.room.came_free_on(cull.planned_on))
        return "room came free that was kept on a host of the plan";
    return std::nullopt;
}

/// Also where the wall clock was set forward since it was given.
bool CullGate::has_time_left(const Notice& notice) const {
    return services_.cloud.clock.now() < notice.until ||
           services_.cloud.clock.steady() < notice.until_steady;
}

bool still_stands(const Notice* given, const FreshVerdict& verdict) {
    if (given == nullptr || !given->told) return false;
    return given->until_steady > Duration::zero() || verdict.evict_at.empty() ||
           verdict.evict_at == iso_time(given->until);
}

std::optional<std::string> CullGate::why_not_yet(const Victim& victim,
                                                 const RecheckResult& look) const {
    const Notice* const given = services_.safeguards.safeguards().notices().find(victim.server);
    if (given != nullptr && given->told && has_time_left(*given))
        return label(victim) + " has notice until " + iso_time(given->until);
    if (!still_stands(given, look.verdict) && look.verdict.notice > Duration::zero())
        return label(victim) + " is to have notice first";
    return std::nullopt;
}

bool CullGate::may_wait(Cull& cull) const {
    if (!services_.guard.stopping()) return true;
    cull.fail(Error{Errc::cancelled, "the reaper is stopping"});
    return false;
}

bool CullGate::may_have_left(const Cull& cull) const {
    return !cull.request.correction &&
           services_.tracker.may_have_left(cull.request.requesters, cull.asked_at);
}

bool CullGate::need_is_open(const Cull& cull) const {
    const bool none_left =
        cull.count_untouched() == 0 && cull.not_out.empty() && cull.undeleted.empty();
    if (cull.stopped || none_left) return false;
    const Duration valid_for =
        std::clamp(3 * cull.question_took, need_valid_for, need_valid_at_most);
    return may_have_left(cull) || !cull.needed_at ||
           services_.cloud.clock.steady() - *cull.needed_at > valid_for;
}

Task<void> CullGate::ask_whether_needed(Cull& cull) {
    const auto turn = co_await cull.asking.acquire();
    if (!need_is_open(cull)) co_return;
    const Duration now = services_.cloud.clock.steady();
    cull.asked_at = now;
    Result<std::optional<std::string>> no_longer_needed;
    if (cull.begun())
        no_longer_needed = co_await services_.guard.who_left();
    else
        no_longer_needed = co_await services_.guard.still_needed();
    cull.question_took = services_.cloud.clock.steady() - now;
    if (!no_longer_needed) {
        cull.fail(no_longer_needed.error());
    } else if (*no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    } else {
        cull.needed_at = now;
    }
}

Task<void> CullGate::ask_whether_answered(Cull& cull) {
    const bool is_answered = cull.request.source == RequestSource::gateway;
    if (!is_answered || cull.no_longer_needed || !may_have_left(cull)) co_return;
    cull.asked_at = services_.cloud.clock.steady();
    auto no_longer_needed = co_await services_.guard.who_left();
    if (no_longer_needed && *no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    }
}

}  // namespace reaper
