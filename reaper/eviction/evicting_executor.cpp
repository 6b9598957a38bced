#include "reaper/eviction/evicting_executor.hpp"

#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {

using Kind = FreshVerdict::Kind;

namespace {

/// For how long a requester that waited is taken to wait.
constexpr Duration need_valid_for{2000};

std::string label(const Victim& victim) {
    return victim.server.str() + " (" + printable(victim.name, 64) + ") on " +
           printable(victim.host, 64);
}

}  // namespace

EvictingExecutor::EvictingExecutor(CloudPorts cloud, Journal& journal, RoomKeeper& rooms,
                                   AsyncSemaphore& deletions, EvictionGuard& guard,
                                   std::shared_ptr<const CompiledPolicy> policy,
                                   config::Cull settings)
    : cloud_(cloud),
      journal_(journal),
      rooms_(rooms),
      deletions_(deletions),
      guard_(guard),
      policy_(std::move(policy)),
      settings_(settings) {}

Task<Execution> EvictingExecutor::carry_out(Request request, Plan plan,
                                            std::map<ServerId, Progress> known) {
    Cull cull{std::move(request), plan, known, Recheck{cloud_, policy_}};
    cull.deadline = cloud_.clock.steady() + settings_.deadline;
    co_await wait_for_others(cull);
    if (!cull.stopped) co_await verify_all(cull);
    if (!cull.stopped) co_await hold_room(cull);
    if (!cull.stopped) co_await ask_whether_needed(cull);
    if (!cull.stopped) co_await remove_all(cull);
    co_await wait_for_all(cull);
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) rooms_.stays(victim.server);
    co_return cull.conclude();
}

Task<void> EvictingExecutor::verify(Cull& cull, const Victim& victim) {
    auto look = co_await cull.look.at(victim);
    if (!look) {
        cull.fail(look.error());
    } else if (look->verdict.kind == Kind::unfit) {
        co_await skip(cull, victim, look->verdict.reason);
    } else if (look->verdict.kind == Kind::vanished) {
        co_await record(cull, victim, Step::vanished, look->verdict.reason);
        cull.state(victim) = Cull::State::gone;
    }
}

Task<void> EvictingExecutor::verify_all(Cull& cull) {
    std::vector<Task<void>> looks;
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) looks.push_back(verify(cull, victim));
    co_await run_all(std::move(looks));
}

Task<void> EvictingExecutor::hold_room(Cull& cull) {
    auto hosts = cull.hosts_of_planned();
    if (!hosts.empty()) co_await guard_.hold_room(std::move(hosts));
}

/// No servers are deleted for a requester that is gone.
Task<void> EvictingExecutor::ask_whether_needed(Cull& cull) {
    if (cull.count(Cull::State::planned) == 0) co_return;
    cull.asked_at = cloud_.clock.steady();
    auto no_longer_needed = co_await guard_.still_needed();
    if (!no_longer_needed) {
        cull.fail(no_longer_needed.error());
    } else if (*no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    }
}

void EvictingExecutor::not_done(Cull& cull, const Victim& victim) {
    cull.sent.erase(victim.server);
    cull.ours.erase(victim.server);
    guard_.on_not_done(victim);
}

/// The last question before anything is written to the cloud.
bool EvictingExecutor::may_write(Cull& cull) {
    auto why_not = guard_.blocked_reason();
    if (!why_not) return true;
    cull.stopped = true;
    if (!cull.blocked) cull.blocked = std::move(why_not);
    return false;
}

Task<void> EvictingExecutor::remove_all(Cull& cull) {
    std::vector<Task<void>> removals;
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) removals.push_back(remove(cull, victim));
    co_await run_all(std::move(removals));
}

Task<void> EvictingExecutor::remove(Cull& cull, const Victim& victim) {
    const auto permit = co_await deletions_.acquire();
    // It may have waited long for its turn.
    const bool asked_lately = cloud_.clock.steady() - cull.asked_at <= need_valid_for;
    if (!cull.stopped && cull.sent.empty() && !asked_lately) co_await ask_whether_needed(cull);
    if (cull.stopped) co_return;
    auto look = co_await cull.look.fresh_at(victim);
    if (!look) {
        cull.fail(look.error());
        co_return;
    }
    const FreshVerdict& verdict = look->verdict;
    switch (verdict.kind) {
        case Kind::unfit: co_await skip(cull, victim, verdict.reason); break;
        case Kind::vanished:
            co_await record(cull, victim, Step::vanished, verdict.reason);
            cull.state(victim) = Cull::State::gone;
            break;
        case Kind::soft_deleted:  // by its user, who may want it back
            co_await skip(cull, victim, verdict.reason);
            break;
        case Kind::going:
            spdlog::info("{}: victim {}: {}", cull.request.id.str(), label(victim), verdict.reason);
            cull.state(victim) = Cull::State::sent;
            break;
        case Kind::fit:
            // Another deletion may have found a reason to stop while this one was reading.
            if (!cull.stopped) co_await send_delete(cull, victim, *look);
            break;
    }
}

Task<void> EvictingExecutor::send_delete(Cull& cull, const Victim& victim, RecheckResult look) {
    if (!may_write(cull)) co_return;
    // Rule 5: what can't be written is not done.
    std::string reason = victim.reason;
    const bool written = co_await record(cull, victim, Step::delete_sent, std::move(reason));
    if (!written) {
        // If it was sent before, whether Nova heard it is as open as it was.
        if (cull.state(victim) == Cull::State::sent) cull.unheard.insert(victim.server);
        co_return;
    }
    cull.state(victim) = Cull::State::sent;
    cull.ours.insert(victim.server);
    cull.sent.insert(victim.server);
    guard_.on_sent(victim);
    spdlog::info("{}: deleting {}: {}", cull.request.id.str(), label(victim), victim.reason);
    // Its turn may have come late.
    cull.deadline = std::max(cull.deadline, cloud_.clock.steady() + settings_.deadline);
    // A repetition long after the look (the service was busy) needs another look first.
    Compute::StillWanted wanted = [this, &cull, look] {
        return cull.look.is_fresh(look) && may_write(cull);
    };
    auto answer = co_await cloud_.compute.delete_server(victim.server, std::move(wanted));
    if (!answer) {
        const bool surely_not_done = answer.error().code == Errc::forbidden ||
                                     answer.error().code == Errc::rejected ||
                                     answer.error().code == Errc::unauthorized;
        const std::string what = answer.error().what;
        if (surely_not_done) {
            not_done(cull, victim);
            guard_.on_deletion(false);
            co_await skip(cull, victim, "Nova refused its deletion: " + what);
            cull.fail(answer.error());
        } else {
            // It may have been heard: look again while waiting, and send no other meanwhile.
            cull.unheard.insert(victim.server);
            if (answer.error().code != Errc::cancelled) {
                cull.erred.insert(victim.server);
                cull.fail(answer.error());
            }
            spdlog::warn("{}: the answer to the deletion of {} was lost: {}", cull.request.id.str(),
                         label(victim), what);
        }
    } else if (*answer == DeleteAnswer::conflict) {
        not_done(cull, victim);
        guard_.on_deletion(false);
        co_await skip(cull, victim, "Nova refused its deletion: not in this state (409)");
    } else {
        co_await record(cull, victim, Step::delete_accepted,
                        *answer == DeleteAnswer::gone ? "it was gone already" : "");
    }
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
    cull.deadline = cloud_.clock.steady() + settings_.deadline;
}

/// Somebody else deletes it: nothing to do but to see it go.
Task<void> EvictingExecutor::wait_for_other(Cull& cull, ServerId server) {
    Duration interval = settings_.poll_interval;
    const Duration longest = settings_.poll_interval * 10;
    while (true) {
        auto held = co_await cloud_.placement.allocations(server);
        if (held && held->empty()) co_return;
        if (cloud_.clock.steady() >= cull.deadline) break;
        co_await cloud_.clock.sleep(interval);
        interval = std::min(interval * 3 / 2, longest);
    }
    spdlog::warn("{}: server {} was being deleted, but still holds its room", cull.request.id.str(),
                 printable(server.str(), 64));
    rooms_.given_up(cull.hosts[server], server, cloud_.clock.now());
    ++cull.overdue;
}

Task<void> EvictingExecutor::wait_until_gone(Cull& cull, const Victim& victim) {
    Duration interval = settings_.poll_interval;
    const Duration longest = settings_.poll_interval * 10;
    std::string last = "Placement was not asked yet";
    bool seen = false;  // Placement told, at last, that it still holds room
    while (true) {
        auto held = co_await cloud_.placement.allocations(victim.server);
        if (held && held->empty()) {
            cull.state(victim) = Cull::State::gone;
            if (cull.ours.contains(victim.server)) guard_.on_deletion(true);
            co_await record(cull, victim, Step::gone, "");
            co_return;
        }
        seen = held.has_value();
        last = seen ? "it still holds room in Placement" : held.error().what;
        if (cloud_.clock.steady() >= cull.deadline) break;
        if (held) co_await recheck_victim(cull, victim);
        const auto state = cull.state(victim);
        if (state == Cull::State::skipped || state == Cull::State::planned) co_return;
        co_await cloud_.clock.sleep(interval);
        interval = std::min(interval * 3 / 2, longest);
    }
    cull.state(victim) = Cull::State::stuck;
    if (seen && cull.ours.contains(victim.server)) guard_.on_deletion(false);
    rooms_.stays(victim.server);
    rooms_.given_up(cull.hosts[victim.server], victim.server, cloud_.clock.now());
    const Step step = seen ? Step::failed : Step::unseen;
    co_await record(cull, victim, step, "the deadline passed: " + last);
}

/// Looks at a victim that still holds its room: does its deletion need another push?
Task<void> EvictingExecutor::recheck_victim(Cull& cull, const Victim& victim) {
    if (cull.state(victim) == Cull::State::forced) co_return;
    auto look = co_await cull.look.fresh_at(victim);
    if (!look) co_return;
    const FreshVerdict& verdict = look->verdict;
    const bool ours = cull.ours.contains(victim.server);
    const bool unheard = cull.unheard.contains(victim.server);
    if (verdict.kind == Kind::soft_deleted && ours) {
        co_await force_delete(cull, victim, *look);
    } else if (verdict.kind == Kind::soft_deleted || (verdict.kind == Kind::unfit && unheard)) {
        if (unheard) not_done(cull, victim);
        co_await skip(cull, victim, verdict.reason);
    } else if (verdict.kind == Kind::fit && unheard) {
        cull.unheard.erase(victim.server);
        // Of a former process: much may have changed since its plan, so that a new one decides.
        const bool of_this_process = cull.sent.contains(victim.server);
        if (cull.stopped || !of_this_process || !may_write(cull))
            co_await abandon(cull, victim);
        else
            co_await send_delete(cull, victim, *look);
    }
}

/// Nova never heard of its deletion, and its plan is no more: the next plan decides.
Task<void> EvictingExecutor::abandon(Cull& cull, const Victim& victim) {
    not_done(cull, victim);
    if (cull.erred.erase(victim.server) > 0) guard_.on_deletion(false);
    cull.state(victim) = Cull::State::planned;
    co_await record(cull, victim, Step::skipped, "its plan was stopped before Nova heard of it");
}

Task<void> EvictingExecutor::force_delete(Cull& cull, const Victim& victim, RecheckResult look) {
    if (!may_write(cull)) co_return;
    const std::string reason = look.verdict.reason;
    std::string detail = reason;
    const bool written = co_await record(cull, victim, Step::force_delete_sent, std::move(detail));
    if (!written) co_return;
    spdlog::info("{}: force-deleting {}: {}", cull.request.id.str(), label(victim), reason);
    Compute::StillWanted wanted = [this, &cull, look] {
        return cull.look.is_fresh(look) && may_write(cull);
    };
    auto answer = co_await cloud_.compute.force_delete_server(victim.server, std::move(wanted));
    if (!answer) {
        spdlog::warn("{}: force-deleting {} failed, will try again: {}", cull.request.id.str(),
                     label(victim), answer.error().what);
    } else if (*answer != DeleteAnswer::conflict) {
        cull.state(victim) = Cull::State::forced;
    }
}

Task<bool> EvictingExecutor::record(Cull& cull, const Victim& victim, Step step,
                                    std::string detail) {
    StepEntry entry;
    entry.server = victim.server;
    entry.step = step;
    entry.detail = std::move(detail);
    entry.at = cloud_.clock.now();
    auto written = co_await journal_.add_step(cull.request.id, std::move(entry));
    if (written) co_return true;
    spdlog::error("{}: step '{}' of {} could not be journalled: {}", cull.request.id.str(),
                  to_string(step), label(victim), written.error().what);
    cull.fail(written.error());
    co_return false;
}

Task<void> EvictingExecutor::skip(Cull& cull, const Victim& victim, std::string reason) {
    spdlog::info("{}: skipping {}: {}", cull.request.id.str(), label(victim), reason);
    cull.stopped = true;
    cull.state(victim) = Cull::State::skipped;
    cull.skipped[victim.server] = reason;
    rooms_.stays(victim.server);
    co_await record(cull, victim, Step::skipped, std::move(reason));
}

}  // namespace reaper
