#include "reaper/eviction/evicting_executor.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

namespace reaper {
namespace {

using Kind = FreshVerdict::Kind;

/// Between two questions whether a requester waits for servers that have notice.
constexpr Duration notice_question{5'000};
/// Between two looks whether anything ended the wait.
constexpr Duration notice_poll{250};

}  // namespace

Task<Execution> EvictingExecutor::carry_out(Request request, Plan plan,
                                            std::map<ServerId, Progress> known,
                                            std::shared_ptr<const CompiledPolicy> policy) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const RequestSource source = request.source;
    Cull cull{std::move(request), plan, known,
              Recheck{executor, services_.cloud, services_.settings, source},
              AsyncSemaphore{executor, 1}};
    cull.deadline = services_.cloud.clock.steady() + services_.settings.cull.deadline;
    cull.planned_under = std::move(policy);
    // Of a former process, nothing new is sent.
    if (known.empty())
        for (const HostPlan& host : plan.hosts) cull.planned_on.insert(host.host);
    co_await wait_.for_others(cull);
    if (!cull.stopped) co_await verify_all(cull);
    if (!cull.stopped) co_await hold_room(cull);
    if (!cull.stopped) co_await take_free_room(cull, std::move(plan.hosts));
    if (!cull.stopped) co_await give_notice(cull);
    if (!cull.stopped) co_await wait_.for_leaving(cull);
    if (!cull.stopped) co_await remove_all(cull);
    co_await wait_.for_all(cull);
    for (const auto& victim : cull.victims) {
        if (cull.state(victim) != Cull::State::planned) continue;
        services_.rooms.stays(victim.server);
        if (cull.unwritten.contains(victim.server))
            co_await recorder_.record(cull, victim, Step::skipped, "its deletion was not sent");
    }
    co_return cull.conclude();
}

/// At the same time: does any requester still wait?
Task<void> EvictingExecutor::verify_all(Cull& cull) {
    std::vector<Task<void>> looks;
    looks.push_back(gate_.ask_whether_needed(cull));
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) looks.push_back(verify(cull, victim));
    co_await run_all(std::move(looks));
}

Task<void> EvictingExecutor::verify(Cull& cull, const Victim& victim) {
    auto look = co_await cull.look.at(victim);
    if (!look) {
        cull.fail(look.error());
        co_return;
    }
    co_await settle(cull, victim, look->verdict);
    if (look->verdict.kind == Kind::going) cull.leaving.insert(victim.server);
    if (look->verdict.kind == Kind::fit)
        cull.looks.insert_or_assign(victim.server, std::move(*look));
}

/// Of one that is not fit to be deleted.
Task<void> EvictingExecutor::settle(Cull& cull, const Victim& victim, const FreshVerdict& verdict) {
    switch (verdict.kind) {
        case Kind::fit: break;
        case Kind::unfit:
        case Kind::soft_deleted:  // by its user, who may want it back
            co_await recorder_.skip(cull, victim, verdict.reason);
            break;
        case Kind::going:
            log_about(cull, victim, spdlog::level::info, "{}: victim {}: {}", verdict.reason);
            break;
        case Kind::vanished:
            co_await recorder_.record(cull, victim, Step::vanished, verdict.reason);
            cull.state(victim) = Cull::State::gone;
            break;
    }
}

Task<void> EvictingExecutor::hold_room(Cull& cull) {
    auto hosts = cull.hosts_of_untouched();
    if (hosts.empty() || services_.guard.blocked_reason()) co_return;
    const bool took_time = co_await services_.room.hold(std::move(hosts));
    if (took_time) co_await gate_.ask_again(cull);
}

/// Of a plan of which nothing was done.
Task<void> EvictingExecutor::take_free_room(Cull& cull, std::vector<HostPlan> hosts) {
    if (cull.count_untouched() < cull.victims.size() || !gate_.may_delete(cull)) co_return;
    auto taken = co_await services_.room.take_free(std::move(hosts));
    if (!taken) co_return;
    cull.stopped = true;
    cull.taken = std::move(taken);
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
    const TimePoint now = services_.cloud.clock.now();
    TimePoint until = now;
    bool waits = false;
    std::vector<const Victim*> to_tell;
    for (const auto& victim : cull.victims) {
        const auto look = cull.looks.find(victim.server);
        if (cull.state(victim) != Cull::State::planned || look == cull.looks.end()) continue;
        const Notice* const given = notices_.find(victim.server);
        if (still_stands(given, look->second.verdict)) {
            waits = waits || gate_.has_time_left(*given);
            until = std::max(until, given->until);
        } else if (look->second.verdict.notice > Duration::zero()) {
            to_tell.push_back(&victim);
            until = std::max(until, now + look->second.verdict.notice);
        }
    }
    if (to_tell.empty() && !waits) co_return;
    if (!gate_.may_delete(cull)) co_return;
    std::vector<Task<void>> all;
    for (const Victim* const victim : to_tell) all.push_back(tell(cull, *victim, until));
    co_await run_all(std::move(all));
    co_await wait_for_notice(cull);
}

Task<void> EvictingExecutor::wait_for_notice(Cull& cull) {
    while (!cull.stopped) {
        const auto given = notices_.of(cull.request.id);
        const bool all_gone = std::all_of(given.begin(), given.end(), [&](const Notice& notice) {
            return services_.refresher.cache().reported_gone(notice.server);
        });
        const bool over = std::none_of(given.begin(), given.end(), [&](const Notice& each) {
            return gate_.has_time_left(each);
        });
        if (over || all_gone) {
            cull.block("the notice of its victims is over");
            co_return;
        }
        if (!gate_.may_wait(cull) || !gate_.may_delete(cull)) co_return;
        if (gate_.may_have_left(cull) ||
            services_.cloud.clock.steady() - cull.asked_at >= notice_question)
            co_await gate_.ask_again(cull);
        if (!cull.stopped) co_await stop_some(cull);
        co_await services_.cloud.clock.sleep(notice_poll);
    }
}

/// Those whose guests are to shut down by now.
Task<void> EvictingExecutor::stop_some(Cull& cull) {
    const Duration before = services_.settings.policy->configured.notice.stop_before;
    if (before <= Duration::zero()) co_return;
    const TimePoint now = services_.cloud.clock.now();
    std::vector<Task<void>> stops;
    for (const auto& victim : cull.victims) {
        const Notice* const notice = notices_.find(victim.server);
        if (notice != nullptr && !notice->stopped && notice->told && now >= notice->until - before)
            stops.push_back(stop(cull, victim, *notice));
    }
    co_await run_all(std::move(stops));
}

/// It may have become a regular one since it got its notice, or be locked by an administrator.
Task<void> EvictingExecutor::stop(Cull& cull, const Victim& victim, Notice notice) {
    const auto look = co_await cull.look.fresh_at(victim);
    if (!look || !gate_.may_delete(cull)) co_return;
    if (look->verdict.kind == Kind::fit) co_await giver_.stop(notice);
    if (look->verdict.kind == Kind::unfit) co_await settle(cull, victim, look->verdict);
}

Task<void> EvictingExecutor::remove_all(Cull& cull) {
    std::vector<Task<void>> removals;
    for (const auto& victim : cull.victims)
        if (cull.state(victim) == Cull::State::planned) removals.push_back(remove(cull, victim));
    co_await run_all(std::move(removals));
}

/// It may have waited long for its turn. The question may wait too, so the turn is given up first.
Task<AsyncSemaphore::Permit> EvictingExecutor::turn_to_send(Cull& cull) {
    auto first = co_await services_.deletions.acquire();
    std::optional<AsyncSemaphore::Permit> turn{std::move(first)};
    if (gate_.need_is_open(cull)) {
        turn.reset();
        co_await gate_.ask_whether_needed(cull);
        auto next = co_await services_.deletions.acquire();
        turn.emplace(std::move(next));
        co_await gate_.ask_whether_needed(cull);
    }
    co_return std::move(*turn);
}

/// A guest that shuts down by its notice: Nova can shelve it after that.
Task<void> EvictingExecutor::wait_for_stop(Cull& cull, const Victim& victim) {
    while (!cull.stopped && services_.cloud.clock.steady() < cull.deadline) {
        const Notice* const notice = notices_.find(victim.server);
        if (notice == nullptr || !notice->stopped) co_return;
        cull.looks.erase(victim.server);
        const auto look = co_await cull.look.at(victim);
        if (!look || !look->shelved_next || !gate_.may_wait(cull)) co_return;
        co_await services_.cloud.clock.sleep(services_.settings.cull.poll_interval);
    }
}

Task<void> EvictingExecutor::remove(Cull& cull, const Victim& victim) {
    co_await wait_for_stop(cull, victim);
    const auto turn = co_await turn_to_send(cull);
    if (cull.stopped || !gate_.may_delete(cull)) co_return;
    // The first ones go together, right after all were looked at.
    std::optional<RecheckResult> earlier;
    auto made = cull.looks.extract(victim.server);
    if (made && cull.sent.empty()) earlier = std::move(made.mapped());
    auto look = co_await cull.look.fresh_at(victim, std::move(earlier));
    if (!look) {
        cull.fail(look.error());
        co_return;
    }
    if (look->verdict.kind == Kind::going) cull.state(victim) = Cull::State::sent;
    co_await settle(cull, victim, look->verdict);
    if (look->verdict.kind != Kind::fit) co_return;
    // Another deletion may have found a reason to stop while this one was reading, or the
    // requester may have left.
    co_await gate_.ask_whether_needed(cull);
    if (!cull.stopped) co_await shelving_.evict(cull, victim, *look);
    co_await repeat(cull, victim);
}

/// As long as it is not known whether Nova heard of it. The result of the earlier look may be out
/// of date, for it or for the victims without which none should go.
Task<void> EvictingExecutor::repeat(Cull& cull, const Victim& victim) {
    while (!cull.stopped && cull.to_repeat.erase(victim.server) > 0) {
        const bool rest = co_await rest_may_go(cull, victim);
        if (!rest) co_return;
        const Duration began = services_.cloud.clock.steady();
        auto held = co_await services_.cloud.placement.consumer(victim.holder());
        if (held && !held->holds.empty())
            co_await wait_.push(cull, victim, std::move(*held), began);
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

}  // namespace reaper
