// How a cull waits: for what it deleted, for what others delete, and for what another reaper began
// to delete and did not finish; and the push that a deletion may need meanwhile.
#include <algorithm>
#include <utility>

#include "reaper/cloud_reader/unfinished_deletions.hpp"
#include "reaper/eviction/evicting_executor.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/eligibility.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

using Kind = FreshVerdict::Kind;

/// Room that a server holds so long after Nova forgot it was left behind.
static constexpr Duration left_behind_after{60'000};

/// Between two looks whether Nova told something.
static constexpr Duration poll_interval{20};
/// Nova's word may come a moment before the room is free.
static constexpr Duration after_word{50};

/// So long, or until Nova tells that the server is gone, if that is `untold` yet. How long the next
/// pause is to be.
Task<Duration> EvictingExecutor::pause_for(ServerId server, Duration interval, bool& untold) {
    const Duration until = cloud_.clock.steady() + interval;
    while (cloud_.clock.steady() < until) {
        if (untold && guard_.told_gone(server)) {
            untold = false;
            co_return after_word;
        }
        const Duration left = until - cloud_.clock.steady();
        co_await cloud_.clock.sleep(std::min(left, poll_interval));
    }
    co_return std::min(interval * 3 / 2, settings_.cull.poll_interval * 10);
}

/// What a reaper deleted softly and left. All or nothing: it is gone before anybody else is
/// deleted.
Task<void> EvictingExecutor::finish_all(Cull& cull) {
    std::vector<Task<void>> waits;
    for (const auto& victim : cull.victims) {
        if (cull.state(victim) != Cull::State::unfinished) continue;
        cull.state(victim) = Cull::State::sent;
        waits.push_back(wait_until_gone(cull, victim));
    }
    if (waits.empty()) co_return;
    co_await run_all(std::move(waits));
    for (const auto& victim : cull.victims)
        if (cull.unfinished.contains(victim.server) && cull.state(victim) != Cull::State::gone)
            cull.stopped = true;
    cull.deadline = cloud_.clock.steady() + settings_.cull.deadline;
}

Task<void> EvictingExecutor::wait_for_all(Cull& cull) {
    std::vector<Task<void>> waits;
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::sent) waits.push_back(wait_until_gone(cull, victim));
    co_await run_all(std::move(waits));
}

/// All or nothing: what others delete must be gone before the rest is deleted.
Task<void> EvictingExecutor::wait_for_others(Cull& cull) {
    if (cull.pending_releases.empty()) co_return;
    std::vector<Task<void>> waits;
    for (const auto& server : cull.pending_releases) waits.push_back(wait_for_other(cull, server));
    co_await run_all(std::move(waits));
    if (cull.overdue > 0) cull.stopped = true;
    cull.deadline = cloud_.clock.steady() + settings_.cull.deadline;
}

/// Somebody else deletes it: nothing to do but to see it go.
Task<void> EvictingExecutor::wait_for_other(Cull& cull, ServerId server) {
    Duration interval = settings_.cull.poll_interval;
    bool untold = !guard_.told_gone(server);
    Duration ask_at = cloud_.clock.steady() + left_behind_after;
    // Another request's victim, which that one may come to leave alone.
    bool planned = rooms_.ledger().evicting(server);
    while (true) {
        auto held = co_await cloud_.placement.allocations(server);
        if (held && held->empty()) co_return;
        if (cloud_.clock.steady() >= cull.deadline) break;
        if (planned && !rooms_.ledger().evicting(server)) {
            const auto record = co_await cloud_.compute.server(server);
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
        if (cloud_.clock.steady() >= ask_at) {
            const auto record = co_await cloud_.compute.server(server);
            if (record && (!*record || (*record)->server.status == "DELETED")) break;
            ask_at = cloud_.clock.steady() + left_behind_after;
        }
        interval = co_await pause_for(server, interval, untold);
    }
    log_about(about(cull.request), spdlog::level::warn,
              "{}: server {} was being deleted, but still holds its room", cull.request.id.str(),
              printable(server.str(), 64));
    rooms_.given_up(cull.hosts[server], server, cloud_.clock.now());
    ++cull.overdue;
}

Task<void> EvictingExecutor::wait_until_gone(Cull& cull, const Victim& victim) {
    Duration interval = settings_.cull.poll_interval;
    bool untold = !guard_.told_gone(victim.server);
    std::string last = "Placement was not asked yet";
    bool seen = false;  // Placement told, at last, that it still holds room
    // What was just sent, and heard, has not had its time yet, if there will be some.
    bool push = !cull.sent.contains(victim.server) || cull.unheard.contains(victim.server);
    while (true) {
        const Duration began = cloud_.clock.steady();
        push = push || began + interval >= cull.deadline;
        auto held = co_await cloud_.placement.allocations(victim.holder());
        if (held && held->empty()) {
            if (cull.not_out.contains(victim.server)) not_done(cull, victim);
            cull.state(victim) = Cull::State::gone;
            if (cull.ours.contains(victim.server)) guard_.on_deletion(victim, true);
            co_await record(cull, victim, Step::gone, "");
            co_return;
        }
        seen = held.has_value();
        last = seen ? "it still holds room in Placement" : held.error().what;
        if (cloud_.clock.steady() >= cull.deadline) break;
        if (held && push) co_await recheck_victim(cull, victim, std::move(*held), began);
        push = true;
        // Nothing may be written: whoever plans next may finish it.
        if (cull.unfinished.contains(victim.server) && cull.withheld.contains(victim.server))
            cull.state(victim) = Cull::State::unfinished;
        co_await ask_whether_answered(cull);
        const auto state = cull.state(victim);
        if (state == Cull::State::skipped || state == Cull::State::planned ||
            state == Cull::State::unfinished)
            co_return;
        interval = co_await pause_for(victim.server, interval, untold);
    }
    if (cull.not_out.contains(victim.server)) {
        co_await abandon(cull, victim);
        co_return;
    }
    cull.state(victim) = Cull::State::stuck;
    if (seen && cull.ours.contains(victim.server)) guard_.on_deletion(victim, false);
    rooms_.stays(victim.server);
    // What was only not forced can still be, by the next plan.
    if (!cull.withheld.contains(victim.server))
        rooms_.given_up(cull.hosts[victim.server], victim.server, cloud_.clock.now());
    const Step step = seen ? Step::failed : Step::unseen;
    co_await record(cull, victim, step, "the deadline passed: " + last);
}

/// While the room comes free: who was to be answered may have left. What was sent goes all the
/// same.
Task<void> EvictingExecutor::ask_whether_answered(Cull& cull) {
    if (!guard_.is_answered() || cull.no_longer_needed || !guard_.may_have_left()) co_return;
    auto no_longer_needed = co_await guard_.who_left();
    if (no_longer_needed && *no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    }
}

/// Looks at a victim that still holds its room: does its deletion need another push?
Task<void> EvictingExecutor::recheck_victim(Cull& cull, const Victim& victim, Allocations held,
                                            Duration began) {
    if (cull.state(victim) == Cull::State::forced) co_return;
    auto look = co_await cull.look.at(victim, std::move(held), began);
    if (look && !cull.look.is_fresh(*look)) look = co_await cull.look.fresh_at(victim);
    if (!look) co_return;
    const FreshVerdict& verdict = look->verdict;
    const bool unheard = cull.unheard.contains(victim.server);
    if (verdict.kind == Kind::soft_deleted) {
        co_await finish(cull, victim, *look);
    } else if (verdict.kind == Kind::fit && cull.unfinished.contains(victim.server)) {
        co_await leave(cull, victim, "it was given back since a reaper deleted it");
    } else if (verdict.kind == Kind::unfit &&
               (unheard || cull.unfinished.contains(victim.server))) {
        co_await leave(cull, victim, verdict.reason);
    } else if (verdict.kind == Kind::fit && unheard) {
        cull.unheard.erase(victim.server);
        // Of a former process: much may have changed since its plan, so that a new one decides.
        const bool of_this_process = cull.sent.contains(victim.server);
        co_await ask_whether_needed(cull);
        if (cull.stopped || !of_this_process || !may_delete(cull))
            co_await abandon(cull, victim);
        else
            co_await send_delete(cull, victim, *look);
    }
}

/// A soft-deleted one is forced if a reaper deleted it, this one or another. What its user deleted,
/// the user may want back.
Task<void> EvictingExecutor::finish(Cull& cull, const Victim& victim, RecheckResult look) {
    const auto by_a_reaper = co_await deleted_by_a_reaper(cloud_, victim.server);
    if (!by_a_reaper) {
        log_about(about(cull, victim), spdlog::level::warn,
                  "{}: who deleted {} is not known, will ask again: {}", cull.request.id.str(),
                  label(victim), by_a_reaper.error().what);
        co_return;
    }
    const bool surely_ours =
        cull.ours.contains(victim.server) && !cull.unheard.contains(victim.server);
    if (by_a_reaper->value_or(surely_ours)) {
        co_await force_delete(cull, victim, std::move(look));
    } else {
        co_await leave(cull, victim, look.verdict.reason);
    }
}

/// Its deletion is not ours to finish.
Task<void> EvictingExecutor::leave(Cull& cull, const Victim& victim, std::string reason) {
    if (cull.unheard.contains(victim.server)) not_done(cull, victim);
    if (cull.unfinished.contains(victim.server))
        rooms_.given_up(cull.hosts[victim.server], victim.server, cloud_.clock.now());
    co_await skip(cull, victim, std::move(reason));
}

/// Nova never heard of its deletion, and its plan is no more: the next plan decides.
Task<void> EvictingExecutor::abandon(Cull& cull, const Victim& victim) {
    not_done(cull, victim);
    if (cull.erred.erase(victim.server) > 0) guard_.on_deletion(victim, false);
    cull.state(victim) = Cull::State::planned;
    co_await record(cull, victim, Step::skipped, "its plan was stopped before Nova heard of it");
}

/// What we deleted is finished whatever the plan is worth by now; what another reaper did, only for
/// a plan that holds.
bool EvictingExecutor::may_force(Cull& cull, const Victim& victim) {
    return cull.unfinished.contains(victim.server) ? may_delete(cull) : may_write(cull);
}

Task<void> EvictingExecutor::force_delete(Cull& cull, const Victim& victim, RecheckResult look) {
    if (!may_force(cull, victim)) {
        cull.withheld.insert(victim.server);
        co_return;
    }
    cull.withheld.erase(victim.server);
    const std::string reason = look.verdict.reason;
    std::string detail = reason;
    const bool written = co_await record(cull, victim, Step::force_delete_sent, std::move(detail));
    if (!written) co_return;
    log_about(about(cull, victim), spdlog::level::info, "{}: force-deleting {}: {}",
              cull.request.id.str(), label(victim), reason);
    if (cull.unfinished.contains(victim.server)) {
        cull.ours.insert(victim.server);
        guard_.on_sent(victim, cull.hosts[victim.server]);
        cull.deadline = std::max(cull.deadline, cloud_.clock.steady() + settings_.cull.deadline);
    }
    // Heard once for each look.
    Compute::StillWanted wanted = [this, &cull, &victim, look](bool may_be_heard) {
        return !may_be_heard && cull.look.is_fresh(look) && may_force(cull, victim);
    };
    auto answer = co_await cloud_.compute.force_delete_server(victim.server, std::move(wanted));
    if (!answer) {
        const Errc code = answer.error().code;
        const bool refused = code == Errc::forbidden || code == Errc::rejected;
        if (code == Errc::cancelled && cull.unfinished.contains(victim.server))
            not_done(cull, victim);
        if (refused && cull.unfinished.contains(victim.server)) {
            not_done(cull, victim);
            co_await leave(cull, victim, "Nova refused to force it: " + answer.error().what);
            co_return;
        }
        log_about(about(cull, victim), spdlog::level::warn,
                  "{}: force-deleting {} failed, will try again: {}", cull.request.id.str(),
                  label(victim), answer.error().what);
    } else if (*answer != DeleteAnswer::conflict) {
        cull.state(victim) = Cull::State::forced;
    }
}

}  // namespace reaper
