#include "reaper/eviction/cull_wait.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "reaper/cloud/reader/unfinished_deletions.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper {
namespace {

using Kind = FreshVerdict::Kind;

/// Room that a server still holds this long after Nova forgot it was left behind.
constexpr Duration left_behind_after{60'000};

/// Between two checks whether Nova sent an event.
constexpr Duration poll_interval{20};
/// Nova's event may come shortly before the room is free.
constexpr Duration after_event{50};

}  // namespace

/// Pauses for `interval`, or until an event says that the server is gone, if it is still `untold`.
/// Returns how long the next pause is to be.
Task<Duration> CullWait::pause_for(ServerId server, Duration interval, bool& untold) {
    const Duration until = services_.cloud.clock.steady() + interval;
    while (services_.cloud.clock.steady() < until) {
        if (untold && services_.refresher.cache().reported_gone(server)) {
            untold = false;
            co_return after_event;
        }
        const Duration left = until - services_.cloud.clock.steady();
        co_await services_.cloud.clock.sleep(std::min(left, poll_interval));
    }
    co_return std::min(interval * 3 / 2, services_.settings.cull.poll_interval * 10);
}

Task<void> CullWait::for_leaving(Cull& cull) {
    std::vector<Task<void>> waits;
    for (const auto& victim : cull.victims) {
        const bool leaves = cull.leaving.contains(victim.server);
        if (!leaves && cull.state(victim) != Cull::State::unfinished) continue;
        cull.state(victim) = Cull::State::sent;
        waits.push_back(until_gone(cull, victim));
    }
    if (waits.empty()) co_return;
    co_await run_all(std::move(waits));
    for (const auto& victim : cull.victims) {
        const bool first =
            cull.unfinished.contains(victim.server) || cull.leaving.contains(victim.server);
        if (first && cull.state(victim) != Cull::State::gone) cull.stopped = true;
    }
    cull.deadline = services_.cloud.clock.steady() + services_.settings.cull.deadline;
}

Task<void> CullWait::for_all(Cull& cull) {
    std::vector<Task<void>> waits;
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::sent) waits.push_back(until_gone(cull, victim));
    co_await run_all(std::move(waits));
}

Task<void> CullWait::for_others(Cull& cull) {
    if (cull.pending_releases.empty()) co_return;
    std::vector<Task<void>> waits;
    for (const auto& server : cull.pending_releases) waits.push_back(for_other(cull, server));
    co_await run_all(std::move(waits));
    if (cull.overdue > 0) cull.stopped = true;
    cull.deadline = services_.cloud.clock.steady() + services_.settings.cull.deadline;
}

/// By the notice that it has. False: the reaper stops, which is not to wait for that.
bool CullWait::put_off(Cull& cull, const ServerId& server) {
    const Notice* const notice = services_.safeguards.safeguards().notices().find(server);
    if (notice == nullptr) return true;
    if (!gate_.may_wait(cull)) {
        ++cull.overdue;
        return false;
    }
    const Duration left = notice->until - services_.cloud.clock.now();
    cull.deadline = std::max(
        cull.deadline, services_.cloud.clock.steady() + left + services_.settings.cull.deadline);
    return true;
}

/// Another client deletes it: only wait until it is gone.
Task<void> CullWait::for_other(Cull& cull, ServerId server) {
    Duration interval = services_.settings.cull.poll_interval;
    bool untold = !services_.refresher.cache().reported_gone(server);
    Duration ask_at = services_.cloud.clock.steady() + left_behind_after;
    // Another request's victim, which that one may come to leave alone.
    bool planned = services_.rooms.ledger().evicting(server);
    while (true) {
        auto held = co_await services_.cloud.placement.allocations(server);
        if (held && held->empty()) co_return;
        if (!put_off(cull, server)) co_return;
        if (services_.cloud.clock.steady() >= cull.deadline) break;
        if (planned && !services_.rooms.ledger().evicting(server)) {
            const auto record = co_await services_.cloud.compute.server(server);
            if (record && *record && !is_being_deleted((*record)->server) &&
                !(*record)->server.soft_deleted()) {
                log_about(about(cull.request), spdlog::level::info,
                          "{}: server {} stays: the request that was to delete it leaves it alone",
                          cull.request.id.str(), printable(server.str(), 64));
                ++cull.overdue;
                co_return;
            }
            planned = !record;
        }
        if (services_.cloud.clock.steady() >= ask_at) {
            const auto record = co_await services_.cloud.compute.server(server);
            if (record && (!*record || (*record)->server.status == "DELETED")) break;
            ask_at = services_.cloud.clock.steady() + left_behind_after;
        }
        interval = co_await pause_for(server, interval, untold);
    }
    log_about(about(cull.request), spdlog::level::warn,
              "{}: server {} was being deleted, but still holds its room", cull.request.id.str(),
              printable(server.str(), 64));
    services_.rooms.given_up(cull.hosts[server], server, services_.cloud.clock.now());
    ++cull.overdue;
}

Task<void> CullWait::until_gone(Cull& cull, const Victim& victim) {
    Duration interval = services_.settings.cull.poll_interval;
    bool untold = !services_.refresher.cache().reported_gone(victim.server);
    // What was just sent, and heard, has not had its time yet, if there will be some.
    bool pushes = !cull.sent.contains(victim.server) || cull.unheard.contains(victim.server);
    while (true) {
        const Duration began = services_.cloud.clock.steady();
        pushes = pushes || began + interval >= cull.deadline;
        auto held = co_await services_.cloud.placement.consumer(victim.holder());
        if (held && held->holds.empty()) {
            co_await recorder_.gone(cull, victim);
            co_return;
        }
        if (services_.cloud.clock.steady() >= cull.deadline) {
            const bool goes_on = co_await shelving_.end(cull, victim);
            if (!goes_on) {
                co_await give_up(cull, victim, held);
                co_return;
            }
        }
        if (held && pushes) co_await push(cull, victim, std::move(*held), began);
        pushes = true;
        // Nothing may be written: the next plan may finish it.
        if (cull.unfinished.contains(victim.server) && cull.withheld.contains(victim.server))
            cull.state(victim) = Cull::State::unfinished;
        co_await gate_.ask_whether_answered(cull);
        const auto state = cull.state(victim);
        if (state == Cull::State::skipped || state == Cull::State::planned ||
            state == Cull::State::unfinished)
            co_return;
        interval = co_await pause_for(victim.server, interval, untold);
    }
}

Task<void> CullWait::give_up(Cull& cull, const Victim& victim, const Result<Consumer>& held) {
    if (cull.not_out.contains(victim.server)) {
        co_await recorder_.abandon(cull, victim);
        co_return;
    }
    if (held && cull.ours.contains(victim.server)) {
        const bool restored = co_await leave_restored(cull, victim);
        if (restored) co_return;
    }
    co_await recorder_.stuck(cull, victim, held);
}

Task<void> CullWait::push(Cull& cull, const Victim& victim, Consumer held, Duration began) {
    if (cull.state(victim) == Cull::State::forced) co_return;
    auto look = co_await cull.look.at(victim, std::move(held), began);
    if (look && !cull.look.is_fresh(*look)) look = co_await cull.look.fresh_at(victim);
    if (!look) co_return;
    cull.saw(victim, *look);
    const FreshVerdict& verdict = look->verdict;
    const bool unheard = cull.unheard.contains(victim.server);
    // Whatever other rules say of it by now.
    if (look->being_shelved && cull.ours.contains(victim.server) &&
        !cull.undeleted.contains(victim.server))
        co_return;
    if (verdict.kind == Kind::soft_deleted) {
        co_await finish(cull, victim, *look);
    } else if (verdict.kind == Kind::fit && cull.unfinished.contains(victim.server)) {
        co_await recorder_.leave(cull, victim, "it was given back since a reaper deleted it");
    } else if (verdict.kind == Kind::unfit &&
               (unheard || cull.unfinished.contains(victim.server))) {
        co_await recorder_.leave(cull, victim, verdict.reason);
    } else if (verdict.kind == Kind::fit && !unheard && cull.shelving.contains(victim.server)) {
        co_await shelving_.go_on(cull, victim, std::move(*look));
    } else if (verdict.kind == Kind::fit && unheard) {
        cull.unheard.erase(victim.server);
        // Of a previous process: much may have changed since its plan, so that a new one decides.
        const bool of_this_process = cull.sent.contains(victim.server);
        co_await gate_.ask_whether_needed(cull);
        if (cull.stopped || !of_this_process || !gate_.may_delete(cull))
            co_await recorder_.abandon(cull, victim);
        else
            co_await shelving_.evict(cull, victim, *look);
    } else if (verdict.kind == Kind::fit && cull.accepted.contains(victim.server)) {
        // Nova marks it as being deleted before it answers. So its owner restored it, or its host
        // could not delete it; one whose resize is confirmed on the way is only slow. What a
        // previous process sent is only waited for.
        if (!cull.sent.contains(victim.server) ||
            cull.tries[victim.server] >= EvictionSender::tries_at_most)
            co_return;
        const bool goes_on = co_await shelving_.evict_again(cull, victim, Departure::deleted);
        if (!goes_on) co_await leave_restored(cull, victim);
    }
}

Task<bool> CullWait::leave_restored(Cull& cull, const Victim& victim) {
    const auto restored =
        co_await restored_since_a_reaper_deleted_it(services_.cloud, victim.server);
    if (!restored || !*restored) co_return false;
    recorder_.not_done(cull, victim);
    co_await recorder_.skip(cull, victim, "its owner restored it");
    co_return true;
}

/// A soft-deleted one is forced if a reaper deleted it, this one or another. What its user deleted,
/// the user may want back.
Task<void> CullWait::finish(Cull& cull, const Victim& victim, RecheckResult look) {
    const auto by_a_reaper = co_await deleted_by_a_reaper(services_.cloud, victim.server);
    if (!by_a_reaper) {
        log_about(cull, victim, spdlog::level::warn,
                  "{}: who deleted {} is not known, will ask again: {}", by_a_reaper.error().what);
        co_return;
    }
    const bool surely_ours =
        cull.ours.contains(victim.server) && !cull.unheard.contains(victim.server);
    bool finishes = by_a_reaper->value_or(surely_ours);
    if (!finishes && surely_ours) {
        // Its owner restored it and deleted it, which would keep its room.
        const auto restored =
            co_await restored_since_a_reaper_deleted_it(services_.cloud, victim.server);
        finishes = restored && *restored;
    }
    if (finishes)
        co_await sender_.force(cull, victim, std::move(look));
    else
        co_await recorder_.leave(cull, victim, look.verdict.reason);
}

}  // namespace reaper
