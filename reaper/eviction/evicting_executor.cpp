#include "reaper/eviction/evicting_executor.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "reaper/cloud/reader/unfinished_deletions.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

namespace {

using Kind = FreshVerdict::Kind;

/// For how long a requester that waited is taken to wait.
constexpr Duration need_valid_for{2000};
/// So often a deletion is sent whose answers are lost.
constexpr int tries_at_most = 5;
/// So often a server is shelved that is back before its room is free.
constexpr int shelvings_at_most = 2;

}  // namespace

EvictingExecutor::EvictingExecutor(const Dependencies& dependencies, CullRoom& room,
                                   EvictionGuard& guard)
    : cloud_(dependencies.cloud),
      journal_(dependencies.journal),
      rooms_(dependencies.rooms),
      refresher_(dependencies.refresher),
      safeguards_(dependencies.safeguards),
      tracker_(dependencies.tracker),
      deletions_(dependencies.deletions),
      settings_(dependencies.settings),
      room_(room),
      guard_(guard),
      notices_(safeguards_.safeguards().notices()),
      giver_(cloud_, journal_, notices_) {}

Task<Execution> EvictingExecutor::carry_out(Request request, Plan plan,
                                            std::map<ServerId, Progress> known,
                                            std::shared_ptr<const CompiledPolicy> policy) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const RequestSource source = request.source;
    Cull cull{std::move(request), plan, known, Recheck{executor, cloud_, settings_, source},
              AsyncSemaphore{executor, 1}};
    cull.deadline = cloud_.clock.steady() + settings_.cull.deadline;
    cull.planned_under = std::move(policy);
    // Of a former process, nothing new is sent.
    if (known.empty())
        for (const HostPlan& host : plan.hosts) cull.planned_on.insert(host.host);
    co_await wait_for_others(cull);
    if (!cull.stopped) co_await verify_all(cull);
    if (!cull.stopped) co_await hold_room(cull);
    if (!cull.stopped) co_await take_free_room(cull, std::move(plan.hosts));
    if (!cull.stopped) co_await give_notice(cull);
    if (!cull.stopped) co_await finish_all(cull);
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
        co_return;
    }
    const std::string reason = look->verdict.reason;
    switch (look->verdict.kind) {
        case Kind::fit: cull.looks.insert_or_assign(victim.server, std::move(*look)); break;
        case Kind::unfit:
        case Kind::soft_deleted: co_await skip(cull, victim, reason); break;
        case Kind::going:
            log_about(about(cull, victim), spdlog::level::info, "{}: victim {}: {}",
                      cull.request.id.str(), label(victim), reason);
            cull.leaving.insert(victim.server);
            break;
        case Kind::vanished:
            co_await record(cull, victim, Step::vanished, reason);
            cull.state(victim) = Cull::State::gone;
            break;
    }
}

/// At the same time: does any requester still wait?
Task<void> EvictingExecutor::verify_all(Cull& cull) {
    std::vector<Task<void>> looks;
    looks.push_back(ask_whether_needed(cull));
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) looks.push_back(verify(cull, victim));
    co_await run_all(std::move(looks));
}

Task<void> EvictingExecutor::hold_room(Cull& cull) {
    auto hosts = cull.hosts_of_untouched();
    if (hosts.empty() || guard_.blocked_reason()) co_return;
    const bool took_time = co_await room_.hold(std::move(hosts));
    if (!took_time) co_return;
    cull.needed_at.reset();
    co_await ask_whether_needed(cull);
}

/// Of a plan of which nothing was done.
Task<void> EvictingExecutor::take_free_room(Cull& cull, std::vector<HostPlan> hosts) {
    if (cull.count_untouched() < cull.victims.size() || !may_delete(cull)) co_return;
    auto taken = co_await room_.take_free(std::move(hosts));
    if (!taken) co_return;
    cull.stopped = true;
    cull.taken = std::move(taken);
}

/// Since the last question an event said that a requester may have left.
bool EvictingExecutor::may_have_left(const Cull& cull) const {
    return !cull.request.correction &&
           tracker_.may_have_left(cull.request.requesters, cull.asked_at);
}

/// Is there a server left to delete, and is the last answer that a requester waits too old?
/// Deletions that were begun are no reason to go on if no requester waits.
bool EvictingExecutor::need_is_open(const Cull& cull) const {
    const bool none_left =
        cull.count_untouched() == 0 && cull.not_out.empty() && cull.undeleted.empty();
    if (cull.stopped || none_left) return false;
    return may_have_left(cull) || !cull.needed_at ||
           cloud_.clock.steady() - *cull.needed_at > need_valid_for;
}

/// No servers are deleted for a requester that is gone. A caller that comes during the question
/// waits for its answer.
Task<void> EvictingExecutor::ask_whether_needed(Cull& cull) {
    const auto turn = co_await cull.asking.acquire();
    if (!need_is_open(cull)) co_return;
    const Duration now = cloud_.clock.steady();
    cull.asked_at = now;
    Result<std::optional<std::string>> no_longer_needed;
    if (cull.begun())
        no_longer_needed = co_await guard_.who_left();
    else
        no_longer_needed = co_await guard_.still_needed();
    if (!no_longer_needed) {
        cull.fail(no_longer_needed.error());
    } else if (*no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    } else {
        cull.needed_at = now;
    }
}

void EvictingExecutor::not_done(Cull& cull, const Victim& victim) {
    cull.sent.erase(victim.server);
    cull.not_out.erase(victim.server);
    cull.ours.erase(victim.server);
    if (cull.shelved.contains(victim.server))
        safeguards_.on_left_shelved(victim);
    else
        safeguards_.on_not_done(cull.request.id, victim);
}

/// The last question before anything is written to the cloud.
bool EvictingExecutor::may_write(Cull& cull) {
    auto why_not = guard_.blocked_reason();
    if (!why_not) return true;
    cull.stopped = true;
    if (!cull.blocked) cull.blocked = std::move(why_not);
    return false;
}

/// Why the plan must not be carried on; none if it may.
std::optional<std::string> EvictingExecutor::outdated_reason(const Cull& cull) const {
    if (cull.planned_under != settings_.policy)
        return "another configuration is in force than it was planned under";
    if (room_.came_free_on(cull.planned_on))
        return "room came free that was kept on a host of the plan";
    return std::nullopt;
}

/// The same before a victim of the plan is deleted.
bool EvictingExecutor::may_delete(Cull& cull) {
    if (!may_write(cull)) return false;
    auto why_not = outdated_reason(cull);
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
    std::optional<AsyncSemaphore::Permit> permit;
    auto turn = co_await deletions_.acquire();
    permit.emplace(std::move(turn));
    // It may have waited long for its turn. The question may wait too, so the turn is given up
    // first.
    if (need_is_open(cull)) {
        permit.reset();
        co_await ask_whether_needed(cull);
        auto next = co_await deletions_.acquire();
        permit.emplace(std::move(next));
        co_await ask_whether_needed(cull);
    }
    if (cull.stopped || !may_delete(cull)) co_return;
    // The first ones go together, right after all were looked at.
    std::optional<RecheckResult> earlier;
    auto made = cull.looks.extract(victim.server);
    if (made && cull.sent.empty()) earlier = std::move(made.mapped());
    auto look = co_await cull.look.fresh_at(victim, std::move(earlier));
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
            log_about(about(cull, victim), spdlog::level::info, "{}: victim {}: {}",
                      cull.request.id.str(), label(victim), verdict.reason);
            cull.state(victim) = Cull::State::sent;
            break;
        case Kind::fit:
            // Another deletion may have found a reason to stop while this one was reading, or the
            // requester may have left.
            co_await ask_whether_needed(cull);
            if (!cull.stopped) co_await send_delete(cull, victim, *look);
            co_await repeat(cull, victim);
            break;
    }
}

/// Of those whose turn has not come. One that is gone is no obstacle.
Task<bool> EvictingExecutor::rest_may_go(Cull& cull, const Victim& but) {
    for (const auto& victim : cull.victims) {
        if (victim.server == but.server || cull.state(victim) != Cull::State::planned) continue;
        const auto look = co_await cull.look.at(victim);
        if (!look) co_return false;
        const Kind kind = look->verdict.kind;
        if (kind == Kind::unfit || kind == Kind::soft_deleted) co_return false;
    }
    co_return true;
}

/// As long as it is not known whether Nova heard of it. The result of the earlier look may be out
/// of date, for it or for the victims without which none should go.
Task<void> EvictingExecutor::repeat(Cull& cull, const Victim& victim) {
    while (!cull.stopped && cull.to_repeat.erase(victim.server) > 0) {
        const bool rest = co_await rest_may_go(cull, victim);
        if (!rest) co_return;
        const Duration began = cloud_.clock.steady();
        auto held = co_await cloud_.placement.consumer(victim.holder());
        if (held && !held->holds.empty())
            co_await recheck_victim(cull, victim, std::move(*held), began);
    }
}

Task<void> EvictingExecutor::send_delete(Cull& cull, const Victim& victim, RecheckResult look) {
    if (!may_delete(cull)) co_return;
    const bool is_back = cull.accepted.contains(victim.server);
    if (auto why_not = is_back ? std::nullopt : notice_trouble(victim, look)) {
        cull.stopped = true;
        cull.blocked = std::move(why_not);
        co_return;
    }
    const Departure how = look.verdict.departure;
    const bool deletes = how == Departure::deleted;
    const bool forces = deletes && is_back;  // leaves nothing to restore
    ServerId server = victim.server;
    HostId host = cull.hosts[server];
    Consumer held = look.held;
    // What its resize left behind, Nova itself gives back on the way.
    bool same = true;
    if (victim.held_by.empty())
        same = co_await room_.put_in_escrow(std::move(server), std::move(host), std::move(held));
    if (!same) {
        co_await skip(cull, victim, "what it holds changed since it was looked at");
        co_return;
    }
    const bool sent_before = cull.state(victim) == Cull::State::sent;
    const bool heard_before = sent_before && !cull.not_out.contains(victim.server);
    // Meanwhile another one may have found a reason to stop.
    bool goes_on = (sent_before || !cull.stopped) && may_delete(cull);
    if (goes_on) {
        // Rule 5: what can't be written is not done.
        std::string reason = victim.reason;
        const Step step = forces    ? Step::force_delete_sent
                          : deletes ? Step::delete_sent
                                    : Step::shelve_sent;
        goes_on = co_await record(cull, victim, step, std::move(reason));
    }
    if (!goes_on) {
        // If it was sent before, whether Nova heard it is as open as it was.
        if (sent_before) cull.unheard.insert(victim.server);
        co_return;
    }
    cull.state(victim) = Cull::State::sent;
    cull.ours.insert(victim.server);
    cull.sent.insert(victim.server);
    if (!deletes && !look.verdict.evict_at.empty()) {
        // Nova changes no metadata of one that is shelved.
        std::string key = evict_at_key;
        const auto removed = co_await cloud_.compute.remove_metadata(victim.server, std::move(key));
        if (!removed) spdlog::debug("{}", removed.error().what);
    }
    safeguards_.on_sent(cull.request, victim, cull.hosts[victim.server]);
    log_about(about(cull, victim), spdlog::level::info, "{}: {} {}: {}", cull.request.id.str(),
              deletes ? "deleting" : "shelving", label(victim), victim.reason);
    // Heard once for each look. It may go out late (the service was busy).
    bool went_out = false;
    bool repeats = false;
    const bool may_repeat = ++cull.tries[victim.server] < tries_at_most;
    Compute::StillWanted wanted = [this, &cull, &went_out, &repeats, may_repeat,
                                   look](bool may_be_heard) {
        if (!cull.look.is_fresh(look) || !may_delete(cull)) return false;
        repeats = may_be_heard && may_repeat;
        went_out = went_out || !may_be_heard;
        return !may_be_heard;
    };
    Result<DeleteAnswer> answer;
    if (forces)
        answer = co_await cloud_.compute.force_delete_server(victim.server, std::move(wanted));
    else if (deletes)
        answer = co_await cloud_.compute.delete_server(victim.server, std::move(wanted));
    else
        answer = co_await cloud_.compute.shelve_server(victim.server, how, std::move(wanted));
    Sent sent{how, std::move(answer), went_out || heard_before, repeats, forces};
    co_await take_answer(cull, victim, std::move(sent));
}

Task<void> EvictingExecutor::take_answer(Cull& cull, const Victim& victim, Sent sent) {
    const bool deletes = sent.how == Departure::deleted;
    const auto& answer = sent.answer;
    const bool cancelled = !answer && answer.error().code == Errc::cancelled;
    if (cancelled && !sent.went_out) {
        cull.not_out.insert(victim.server);
    } else {
        cull.not_out.erase(victim.server);
        // Its turn may have come late.
        if (deletes || cull.tries[victim.server] == 1)
            cull.deadline =
                std::max(cull.deadline, cloud_.clock.steady() + settings_.cull.deadline);
    }
    const bool as_it_was =
        answer ? *answer == DeleteAnswer::conflict : surely_not_done(answer.error().code);
    if (sent.forced && as_it_was) {
        log_about(about(cull, victim), spdlog::level::warn,
                  "{}: Nova refused to force {}, so it is to be deleted once more: {}",
                  cull.request.id.str(), label(victim),
                  answer ? "not in this state (409)" : answer.error().what);
        cull.accepted.erase(victim.server);
        cull.unheard.insert(victim.server);
    } else if (!answer && sent.repeats) {
        cull.unheard.insert(victim.server);
        cull.to_repeat.insert(victim.server);
    } else if (!answer) {
        const std::string what = answer.error().what;
        if (as_it_was && !deletes) {
            Error refusal = answer.error();
            co_await shelving_refused(cull, victim, std::move(refusal));
        } else if (as_it_was) {
            not_done(cull, victim);
            safeguards_.on_deletion(cull.request.id, victim.server, false);
            co_await skip(cull, victim, "Nova refused its deletion: " + what);
            cull.fail(answer.error());
        } else {
            // It may have been heard: look again while waiting, and send no other meanwhile.
            cull.unheard.insert(victim.server);
            if (!cancelled) {
                cull.erred.insert(victim.server);
                cull.fail(answer.error());
            }
            const bool unsent = cull.not_out.contains(victim.server);
            log_about(about(cull, victim), spdlog::level::warn, "{}: the call to {} {}{}: {}",
                      cull.request.id.str(), deletes ? "delete" : "shelve", label(victim),
                      unsent ? " came too late to be sent, looking again" : ": its answer was lost",
                      what);
        }
    } else if (*answer == DeleteAnswer::conflict && !deletes) {
        Error conflict{Errc::conflict, "not in this state (409)"};
        co_await shelving_refused(cull, victim, std::move(conflict));
    } else if (*answer == DeleteAnswer::conflict) {
        not_done(cull, victim);
        safeguards_.on_deletion(cull.request.id, victim.server, false);
        co_await skip(cull, victim, "Nova refused its deletion: not in this state (409)");
    } else if (!deletes && *answer == DeleteAnswer::accepted) {
        cull.shelving.insert(victim.server);
    } else {
        cull.shelving.erase(victim.server);
        cull.undeleted.erase(victim.server);
        cull.accepted.insert(victim.server);
        co_await record(cull, victim, Step::delete_accepted,
                        *answer == DeleteAnswer::gone ? "it was gone already" : "");
    }
}

Task<bool> EvictingExecutor::record(Cull& cull, const Victim& victim, Step step,
                                    std::string detail) {
    StepEntry entry;
    entry.server = victim.server;
    entry.step = step;
    entry.detail = std::move(detail);
    entry.at = cloud_.clock.now();
    if (step == Step::delete_accepted || step == Step::gone || step == Step::vanished)
        notices_.end(victim.server);
    auto written = co_await journal_.add_step(cull.request.id, std::move(entry));
    if (written) co_return true;
    if (written.error().code == Errc::rejected) {
        // Others used it up: with what they did, planning again refuses as for any limit.
        auto counted = co_await safeguards_.read_victims();
        cull.stopped = true;
        if (counted && !cull.blocked) cull.blocked = written.error().what;
        if (!counted) cull.fail(counted.error());
        co_return false;
    }
    log_about(about(cull, victim), spdlog::level::err,
              "{}: step '{}' of {} could not be journalled: {}", cull.request.id.str(),
              to_string(step), label(victim), written.error().what);
    cull.fail(written.error());
    co_return false;
}

Task<void> EvictingExecutor::skip(Cull& cull, const Victim& victim, std::string reason) {
    log_about(about(cull, victim), spdlog::level::info, "{}: skipping {}: {}",
              cull.request.id.str(), label(victim), reason);
    if (cull.not_out.contains(victim.server)) not_done(cull, victim);
    cull.stopped = true;
    cull.state(victim) = Cull::State::skipped;
    cull.skipped[victim.server] = reason;
    rooms_.stays(victim.server);
    co_await record_end(cull, victim, std::move(reason));
}

/// Its plan leaves it. That takes back what was sent, unless it is off: then it may come back.
Task<void> EvictingExecutor::record_end(Cull& cull, const Victim& victim, std::string reason) {
    const Step how = cull.shelved.contains(victim.server) ? Step::left_shelved : Step::skipped;
    co_await record(cull, victim, how, std::move(reason));
}

// Notice before the end (notice_giver.hpp).

/// Between two questions whether a requester waits for servers that have notice.
static constexpr Duration notice_question{5'000};
/// Between two looks whether anything ended the wait.
static constexpr Duration notice_poll{250};

/// Also where the wall clock was set forward since it was given.
bool EvictingExecutor::has_time_left(const Notice& notice) const {
    return cloud_.clock.now() < notice.until || cloud_.clock.steady() < notice.until_steady;
}

/// What an earlier process gave counts only while the metadata say the same: another reaper, with a
/// journal of its own, may have given more time since.
static bool still_stands(const Notice* given, const FreshVerdict& verdict) {
    if (given == nullptr || !given->told) return false;
    return given->until_steady > Duration::zero() || verdict.evict_at.empty() ||
           verdict.evict_at == iso_time(given->until);
}

/// Why the victim may not be deleted yet; none if it had its notice.
std::optional<std::string> EvictingExecutor::notice_trouble(const Victim& victim,
                                                            const RecheckResult& look) const {
    const Notice* const given = notices_.find(victim.server);
    if (given != nullptr && given->told && has_time_left(*given))
        return label(victim) + " has notice until " + iso_time(given->until);
    if (!still_stands(given, look.verdict) && look.verdict.notice > Duration::zero())
        return label(victim) + " is to have notice first";
    return std::nullopt;
}

Task<void> EvictingExecutor::tell(Cull& cull, const Victim& victim, TimePoint until) {
    const auto told = co_await giver_.give(cull.request, victim, until);
    if (!told) cull.fail(told.error());
}

/// All victims wait for the last: none goes for a request that comes to nothing. What was asked
/// before the wait is out of date after it, so a new plan is made then.
Task<void> EvictingExecutor::give_notice(Cull& cull) {
    std::set<ServerId> planned;
    for (const auto& victim : cull.victims) planned.insert(victim.server);
    std::string why = "other servers go instead";
    co_await giver_.withdraw(cull.request.id, std::move(planned), std::move(why));
    const TimePoint now = cloud_.clock.now();
    TimePoint until = now;
    bool waits = false;
    std::vector<const Victim*> to_tell;
    for (const auto& victim : cull.victims) {
        const auto look = cull.looks.find(victim.server);
        if (cull.state(victim) != Cull::State::planned || look == cull.looks.end()) continue;
        const Notice* const given = notices_.find(victim.server);
        if (still_stands(given, look->second.verdict)) {
            waits = waits || has_time_left(*given);
            until = std::max(until, given->until);
        } else if (look->second.verdict.notice > Duration::zero()) {
            to_tell.push_back(&victim);
            until = std::max(until, now + look->second.verdict.notice);
        }
    }
    if (to_tell.empty() && !waits) co_return;
    if (!may_delete(cull)) co_return;
    std::vector<Task<void>> all;
    for (const Victim* const victim : to_tell) all.push_back(tell(cull, *victim, until));
    co_await run_all(std::move(all));
    co_await wait_for_notice(cull);
}

Task<void> EvictingExecutor::wait_for_notice(Cull& cull) {
    while (!cull.stopped) {
        const auto given = notices_.of(cull.request.id);
        const bool all_gone = std::all_of(given.begin(), given.end(), [&](const Notice& notice) {
            return reported_gone(notice.server);
        });
        const bool over = std::none_of(given.begin(), given.end(),
                                       [&](const Notice& each) { return has_time_left(each); });
        if (over || all_gone) {
            cull.stopped = true;
            cull.blocked = "the notice of its victims is over";
            co_return;
        }
        if (guard_.stopping()) {
            cull.fail(Error{Errc::cancelled, "the reaper is stopping"});
            co_return;
        }
        if (!may_delete(cull)) co_return;
        if (may_have_left(cull) || cloud_.clock.steady() - cull.asked_at >= notice_question) {
            cull.needed_at.reset();
            co_await ask_whether_needed(cull);
        }
        if (!cull.stopped) co_await stop_some(cull);
        co_await cloud_.clock.sleep(notice_poll);
    }
}

/// Those whose guests are to shut down by now.
Task<void> EvictingExecutor::stop_some(Cull& cull) {
    const Duration before = settings_.policy->configured.notice.stop_before;
    if (before <= Duration::zero()) co_return;
    const TimePoint now = cloud_.clock.now();
    std::vector<Task<void>> stops;
    for (const Notice& notice : notices_.of(cull.request.id))
        if (!notice.stopped && notice.told && now >= notice.until - before && may_delete(cull))
            stops.push_back(giver_.stop(notice));
    co_await run_all(std::move(stops));
}

// How a cull waits: for what it deleted, for what others delete, and for what another reaper began
// to delete and did not finish; and the push that a deletion may need meanwhile.

/// Room that a server still holds this long after Nova forgot it was left behind.
static constexpr Duration left_behind_after{60'000};

/// Between two checks whether Nova sent an event.
static constexpr Duration poll_interval{20};
/// Nova's event may come shortly before the room is free.
static constexpr Duration after_event{50};

/// An event of Nova said that the server is gone. That proves nothing: it is time to ask.
bool EvictingExecutor::reported_gone(const ServerId& server) const {
    return refresher_.cache().reported_gone(server);
}

/// Pauses for `interval`, or until an event says that the server is gone, if it is still `untold`.
/// Returns how long the next pause is to be.
Task<Duration> EvictingExecutor::pause_for(ServerId server, Duration interval, bool& untold) {
    const Duration until = cloud_.clock.steady() + interval;
    while (cloud_.clock.steady() < until) {
        if (untold && reported_gone(server)) {
            untold = false;
            co_return after_event;
        }
        const Duration left = until - cloud_.clock.steady();
        co_await cloud_.clock.sleep(std::min(left, poll_interval));
    }
    co_return std::min(interval * 3 / 2, settings_.cull.poll_interval * 10);
}

/// What a reaper deleted softly and left, and what others delete since the plan was made. All or
/// nothing: it is gone before any other server is deleted.
Task<void> EvictingExecutor::finish_all(Cull& cull) {
    std::vector<Task<void>> waits;
    for (const auto& victim : cull.victims) {
        const bool leaves = cull.leaving.contains(victim.server);
        if (!leaves && cull.state(victim) != Cull::State::unfinished) continue;
        cull.state(victim) = Cull::State::sent;
        waits.push_back(wait_until_gone(cull, victim));
    }
    if (waits.empty()) co_return;
    co_await run_all(std::move(waits));
    for (const auto& victim : cull.victims) {
        const bool first =
            cull.unfinished.contains(victim.server) || cull.leaving.contains(victim.server);
        if (first && cull.state(victim) != Cull::State::gone) cull.stopped = true;
    }
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

/// By the notice that it has. False: the reaper stops, which is not to wait for that.
bool EvictingExecutor::put_off(Cull& cull, const ServerId& server) {
    const Notice* const notice = notices_.find(server);
    if (notice == nullptr) return true;
    if (guard_.stopping()) {
        cull.fail(Error{Errc::cancelled, "the reaper is stopping"});
        ++cull.overdue;
        return false;
    }
    const Duration left = notice->until - cloud_.clock.now();
    cull.deadline = std::max(cull.deadline, cloud_.clock.steady() + left + settings_.cull.deadline);
    return true;
}

/// Another client deletes it: only wait until it is gone.
Task<void> EvictingExecutor::wait_for_other(Cull& cull, ServerId server) {
    Duration interval = settings_.cull.poll_interval;
    bool untold = !reported_gone(server);
    Duration ask_at = cloud_.clock.steady() + left_behind_after;
    // Another request's victim, which that one may come to leave alone.
    bool planned = rooms_.ledger().evicting(server);
    while (true) {
        auto held = co_await cloud_.placement.allocations(server);
        if (held && held->empty()) co_return;
        if (!put_off(cull, server)) co_return;
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
    bool untold = !reported_gone(victim.server);
    std::string last = "Placement was not asked yet";
    bool seen = false;  // Placement's last answer was that it still holds room
    // What was just sent, and heard, has not had its time yet, if there will be some.
    bool push = !cull.sent.contains(victim.server) || cull.unheard.contains(victim.server);
    while (true) {
        const Duration began = cloud_.clock.steady();
        push = push || began + interval >= cull.deadline;
        auto held = co_await cloud_.placement.consumer(victim.holder());
        if (held && held->holds.empty()) {
            if (cull.not_out.contains(victim.server)) not_done(cull, victim);
            cull.state(victim) = Cull::State::gone;
            if (cull.ours.contains(victim.server))
                safeguards_.on_deletion(cull.request.id, victim.server, true);
            const bool by_others = cull.leaving.contains(victim.server);
            const Step how = by_others ? Step::vanished : Step::gone;
            co_await record(cull, victim, how, by_others ? "another client deleted it" : "");
            co_return;
        }
        seen = held.has_value();
        last = seen ? "it still holds room in Placement" : held.error().what;
        if (cloud_.clock.steady() >= cull.deadline) {
            const bool goes_on = co_await too_slow_to_shelve(cull, victim);
            if (!goes_on) break;
        }
        if (held && push) co_await recheck_victim(cull, victim, std::move(*held), began);
        push = true;
        // Nothing may be written: the next plan may finish it.
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
    if (seen && cull.ours.contains(victim.server)) {
        const bool restored = co_await leave_restored(cull, victim);
        if (restored) co_return;
        safeguards_.on_deletion(cull.request.id, victim.server, false);
    }
    cull.state(victim) = Cull::State::stuck;
    rooms_.goes_late(victim.server);
    // What was only not forced can still be, by the next plan.
    if (!cull.withheld.contains(victim.server))
        rooms_.given_up(cull.hosts[victim.server], victim.server, cloud_.clock.now());
    const Step step = seen ? Step::failed : Step::unseen;
    co_await record(cull, victim, step, "the deadline passed: " + last);
}

/// While the room comes free: the requester that waits for the answer may have left. Deletions that
/// were sent still go on.
Task<void> EvictingExecutor::ask_whether_answered(Cull& cull) {
    const bool is_answered = cull.request.source == RequestSource::gateway;
    if (!is_answered || cull.no_longer_needed || !may_have_left(cull)) co_return;
    cull.asked_at = cloud_.clock.steady();
    auto no_longer_needed = co_await guard_.who_left();
    if (no_longer_needed && *no_longer_needed) {
        cull.stopped = true;
        cull.no_longer_needed = std::move(**no_longer_needed);
    }
}

/// Looks at a victim that still holds its room: does its deletion need another push?
Task<void> EvictingExecutor::recheck_victim(Cull& cull, const Victim& victim, Consumer held,
                                            Duration began) {
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
        co_await leave(cull, victim, "it was given back since a reaper deleted it");
    } else if (verdict.kind == Kind::unfit &&
               (unheard || cull.unfinished.contains(victim.server))) {
        co_await leave(cull, victim, verdict.reason);
    } else if (verdict.kind == Kind::fit && !unheard && cull.shelving.contains(victim.server)) {
        co_await go_on_shelving(cull, victim, std::move(*look));
    } else if (verdict.kind == Kind::fit && unheard) {
        cull.unheard.erase(victim.server);
        // Of a previous process: much may have changed since its plan, so that a new one decides.
        const bool of_this_process = cull.sent.contains(victim.server);
        co_await ask_whether_needed(cull);
        if (cull.stopped || !of_this_process || !may_delete(cull))
            co_await abandon(cull, victim);
        else
            co_await send_delete(cull, victim, *look);
    } else if (verdict.kind == Kind::fit && cull.accepted.contains(victim.server)) {
        // Nova marks it as being deleted before it answers. So its owner restored it, or its host
        // could not delete it; one whose resize is confirmed on the way is only slow. What a
        // previous process sent is only waited for.
        if (cull.sent.contains(victim.server) && cull.tries[victim.server] < tries_at_most)
            co_await send_again(cull, victim, Departure::deleted);
    }
}

/// Has its owner restored it since? Then it stays, which is no sign that deletions fail.
Task<bool> EvictingExecutor::leave_restored(Cull& cull, const Victim& victim) {
    const auto restored = co_await restored_since_a_reaper_deleted_it(cloud_, victim.server);
    if (!restored || !*restored) co_return false;
    not_done(cull, victim);
    co_await skip(cull, victim, "its owner restored it");
    co_return true;
}

/// It is shelved, and Nova leaves it on its host; or it is what it was: Nova could not shelve it,
/// or its owner brought it back at once.
Task<void> EvictingExecutor::go_on_shelving(Cull& cull, const Victim& victim, RecheckResult look) {
    if (look.has_task) co_return;  // Nova is at it, until the deadline
    const Departure how = look.verdict.departure;
    if (how == Departure::offloaded && cull.tries[victim.server] < tries_at_most) {
        co_await send_delete(cull, victim, std::move(look));
        co_return;
    }
    if (how == Departure::shelved && cull.tries[victim.server] < shelvings_at_most) {
        co_await send_again(cull, victim, Departure::shelved);
        co_return;
    }
    std::string why = "Nova did not shelve it";
    const bool deleting = co_await delete_instead(cull, victim, std::move(why));
    if (!deleting) co_await leave_unshelved(cull, victim);
}

/// If its room is still needed.
Task<void> EvictingExecutor::send_again(Cull& cull, const Victim& victim, Departure how) {
    cull.undeleted.insert(victim.server);
    cull.needed_at.reset();
    co_await ask_whether_needed(cull);
    cull.undeleted.erase(victim.server);
    if (cull.stopped) {
        if (how == Departure::deleted)
            co_await leave_restored(cull, victim);
        else
            co_await leave_unshelved(cull, victim);
        co_return;
    }
    auto look = co_await cull.look.fresh_at(victim);
    if (look && look->verdict.kind == Kind::fit && look->verdict.departure == how)
        co_await send_delete(cull, victim, std::move(*look));
}

Task<void> EvictingExecutor::leave_unshelved(Cull& cull, const Victim& victim) {
    not_done(cull, victim);
    co_await skip(cull, victim, "its plan was stopped before it left its host");
}

/// Nova marks a server as being shelved before it asks Glance, and leaves it so if that fails.
Task<void> EvictingExecutor::shelving_refused(Cull& cull, const Victim& victim, Error error) {
    auto look = co_await cull.look.fresh_at(victim);
    if (look) cull.saw(victim, *look);
    const bool marked = look && look->being_shelved;
    if (marked && error.code == Errc::conflict) {  // its owner was faster
        cull.shelving.insert(victim.server);
        co_return;
    }
    // A right that is missing is no reason to delete it, nor is a token.
    const bool never = look && look->verdict.kind == Kind::fit &&
                       (error.code == Errc::rejected || error.code == Errc::conflict);
    if (marked || never) {
        std::string why = "Nova can't shelve it: " + error.what;
        const bool deleting = co_await delete_instead(cull, victim, std::move(why));
        if (deleting) co_return;
    }
    not_done(cull, victim);
    safeguards_.on_deletion(cull.request.id, victim.server, false);
    co_await skip(cull, victim, "Nova refused to shelve it: " + error.what);
    if (error.code != Errc::conflict) cull.fail(std::move(error));
}

/// If its room is still needed, and nothing else keeps it. False: it is not.
Task<bool> EvictingExecutor::delete_instead(Cull& cull, const Victim& victim, std::string why) {
    if (!cull.look.give_up_shelving(victim.server)) co_return false;
    log_about(about(cull, victim), spdlog::level::warn, "{}: {} is to be deleted: {}",
              cull.request.id.str(), label(victim), why);
    auto look = co_await cull.look.fresh_at(victim);
    if (!look) {
        cull.fail(look.error());
        co_return false;
    }
    cull.saw(victim, *look);
    cull.undeleted.insert(victim.server);
    cull.needed_at.reset();
    co_await ask_whether_needed(cull);
    if (cull.stopped || look->verdict.kind != Kind::fit || !may_delete(cull)) co_return false;
    cull.leaving.erase(victim.server);
    co_await send_delete(cull, victim, std::move(*look));
    co_return true;
}

/// What takes longer than a cull may is not waited for by the next one as well.
Task<bool> EvictingExecutor::too_slow_to_shelve(Cull& cull, const Victim& victim) {
    if (settings_.policy->shelve.none()) co_return false;
    const auto look = co_await cull.look.at(victim);
    const bool on_its_way = look && look->verdict.kind == Kind::going && look->being_shelved;
    const bool back =
        look && look->verdict.kind == Kind::fit && cull.shelving.contains(victim.server);
    if (!on_its_way && !back) co_return false;
    std::string why = "it is not shelved within cull.deadline";
    co_return co_await delete_instead(cull, victim, std::move(why));
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
    bool finishes = by_a_reaper->value_or(surely_ours);
    if (!finishes && surely_ours) {
        // Its owner restored it and deleted it, which would keep its room.
        const auto restored = co_await restored_since_a_reaper_deleted_it(cloud_, victim.server);
        finishes = restored && *restored;
    }
    if (finishes) {
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

/// Nova never heard of its deletion, or shelved it and no more, and its plan is no more: the next
/// plan decides.
Task<void> EvictingExecutor::abandon(Cull& cull, const Victim& victim) {
    not_done(cull, victim);
    if (cull.erred.erase(victim.server) > 0)
        safeguards_.on_deletion(cull.request.id, victim.server, false);
    cull.state(victim) = Cull::State::planned;
    const bool off = cull.shelved.contains(victim.server);
    std::string why = "its plan was stopped before Nova heard of it";
    if (off) why = "its plan was stopped before it left its host";
    co_await record_end(cull, victim, std::move(why));
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
        safeguards_.on_sent(cull.request, victim, cull.hosts[victim.server]);
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
