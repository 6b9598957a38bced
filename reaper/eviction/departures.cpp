#include "reaper/eviction/departures.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

using Kind = FreshVerdict::Kind;

/// So often a server is shelved that is back before its room is free.
constexpr int shelvings_at_most = 2;

}  // namespace

/// What its resize left behind, Nova itself gives back on the way.
Task<bool> EvictionSender::keep_room(Cull& cull, const Victim& victim, Consumer held) {
    if (!victim.held_by.empty()) co_return true;
    ServerId server = victim.server;
    HostId host = cull.hosts[server];
    const bool same =
        co_await services_.room.put_in_escrow(std::move(server), std::move(host), std::move(held));
    if (same) co_return true;
    co_await recorder_.skip(cull, victim, "what it holds changed since it was looked at");
    co_return false;
}

/// Rule 5: what can't be written is not done.
Task<bool> EvictionSender::record(Cull& cull, const Victim& victim, const Sent& sent) {
    const bool sent_before = cull.state(victim) == Cull::State::sent;
    // Meanwhile another one may have found a reason to stop.
    bool goes_on = (sent_before || !cull.stopped) && gate_.may_delete(cull);
    if (goes_on) {
        std::string reason = victim.reason;
        const Step step = sent.forces                      ? Step::force_delete_sent
                          : sent.how == Departure::deleted ? Step::delete_sent
                                                           : Step::shelve_sent;
        goes_on = co_await recorder_.record(cull, victim, step, std::move(reason));
    }
    // If it was sent before, whether Nova heard it is as open as it was. Else the journal may have
    // what was not done.
    if (!goes_on && sent_before) cull.unheard.insert(victim.server);
    if (!goes_on && !sent_before && cull.failure) cull.unwritten.insert(victim.server);
    co_return goes_on;
}

Task<std::optional<Error>> EvictionSender::send(Cull& cull, const Victim& victim,
                                                RecheckResult look) {
    if (!gate_.may_delete(cull)) co_return std::nullopt;
    const bool is_back = cull.accepted.contains(victim.server);
    if (auto why_not = is_back ? std::nullopt : gate_.why_not_yet(victim, look)) {
        cull.stopped = true;
        cull.blocked = std::move(why_not);
        co_return std::nullopt;
    }
    Sent sent;
    sent.how = look.verdict.departure;
    const bool deletes = sent.how == Departure::deleted;
    sent.forces = deletes && is_back;  // leaves nothing to restore
    Consumer held = look.held;
    bool goes_on = co_await keep_room(cull, victim, std::move(held));
    if (!goes_on) co_return std::nullopt;
    sent.went_out =
        cull.state(victim) == Cull::State::sent && !cull.not_out.contains(victim.server);
    goes_on = co_await record(cull, victim, sent);
    if (!goes_on) co_return std::nullopt;
    cull.state(victim) = Cull::State::sent;
    cull.ours.insert(victim.server);
    cull.sent.insert(victim.server);
    if (!deletes && !look.verdict.evict_at.empty()) {
        // Nova changes no metadata of one that is shelved.
        std::string key = evict_at_key;
        const auto removed =
            co_await services_.cloud.compute.remove_metadata(victim.server, std::move(key));
        if (!removed) spdlog::debug("{}", removed.error().what);
    }
    services_.safeguards.on_sent(cull.request, victim, cull.hosts[victim.server]);
    log_about(cull, victim, spdlog::level::info, "{0}: {2} {1}: {3}",
              deletes ? "deleting" : "shelving", victim.reason);
    co_await call(cull, victim, std::move(look), sent);
    co_return co_await take_answer(cull, victim, std::move(sent));
}

Task<void> EvictionSender::call(Cull& cull, const Victim& victim, RecheckResult look, Sent& sent) {
    // Heard once for each look. It may go out late (the service was busy).
    const bool may_repeat = ++cull.tries[victim.server] < tries_at_most;
    Compute::StillWanted wanted = [this, &cull, &sent, may_repeat,
                                   look = std::move(look)](bool may_be_heard) {
        if (!cull.look.is_fresh(look) || !gate_.may_delete(cull)) return false;
        sent.repeats = may_be_heard && may_repeat;
        sent.went_out = sent.went_out || !may_be_heard;
        return !may_be_heard;
    };
    if (sent.forces)
        sent.answer =
            co_await services_.cloud.compute.force_delete_server(victim.server, std::move(wanted));
    else if (sent.how == Departure::deleted)
        sent.answer =
            co_await services_.cloud.compute.delete_server(victim.server, std::move(wanted));
    else
        sent.answer = co_await services_.cloud.compute.shelve_server(victim.server, sent.how,
                                                                     std::move(wanted));
}

Task<std::optional<Error>> EvictionSender::take_answer(Cull& cull, const Victim& victim,
                                                       Sent sent) {
    const bool deletes = sent.how == Departure::deleted;
    const auto& answer = sent.answer;
    std::optional<Error> refusal;
    if (!answer && surely_not_done(answer.error().code)) refusal = answer.error();
    if (answer && *answer == DeleteAnswer::conflict)
        refusal = Error{Errc::conflict, "not in this state (409)"};
    if (!answer && answer.error().code == Errc::cancelled && !sent.went_out) {
        cull.not_out.insert(victim.server);
    } else {
        cull.not_out.erase(victim.server);
        // Its turn may have come late.
        if (deletes || cull.tries[victim.server] == 1)
            cull.deadline = std::max(
                cull.deadline, services_.cloud.clock.steady() + services_.settings.cull.deadline);
    }
    if (sent.forces && refusal) {
        log_about(cull, victim, spdlog::level::warn,
                  "{}: Nova refused to force {}, so it is to be deleted once more: {}",
                  refusal->what);
        cull.accepted.erase(victim.server);
        cull.unheard.insert(victim.server);
    } else if (!answer && sent.repeats) {
        cull.unheard.insert(victim.server);
        cull.to_repeat.insert(victim.server);
    } else if (refusal && !deletes) {
        co_return refusal;
    } else if (refusal) {
        std::string reason = "Nova refused its deletion: " + refusal->what;
        co_await recorder_.refused(cull, victim, std::move(reason));
        if (!answer) cull.fail(std::move(*refusal));
    } else if (!answer) {
        answer_lost(cull, victim, deletes, answer.error());
    } else if (!deletes && *answer == DeleteAnswer::accepted) {
        cull.shelving.insert(victim.server);
    } else {
        cull.shelving.erase(victim.server);
        cull.undeleted.erase(victim.server);
        cull.accepted.insert(victim.server);
        const bool was_gone = *answer == DeleteAnswer::gone;
        co_await recorder_.record(cull, victim, Step::delete_accepted,
                                  was_gone ? "it was gone already" : "");
    }
    co_return std::nullopt;
}

/// It may have been heard: look again while waiting, and send no other meanwhile.
void EvictionSender::answer_lost(Cull& cull, const Victim& victim, bool deletes,
                                 const Error& error) {
    cull.unheard.insert(victim.server);
    if (error.code != Errc::cancelled) {
        cull.erred.insert(victim.server);
        cull.fail(error);
    }
    const bool unsent = cull.not_out.contains(victim.server);
    log_about(cull, victim, spdlog::level::warn, "{0}: the call to {2} {1}{3}: {4}",
              deletes ? "delete" : "shelve",
              unsent ? " came too late to be sent, looking again" : ": its answer was lost",
              error.what);
}

Task<void> EvictionSender::force(Cull& cull, const Victim& victim, RecheckResult look) {
    if (!gate_.may_force(cull, victim)) {
        cull.withheld.insert(victim.server);
        co_return;
    }
    cull.withheld.erase(victim.server);
    std::string detail = look.verdict.reason;
    const bool written =
        co_await recorder_.record(cull, victim, Step::force_delete_sent, std::move(detail));
    if (!written) co_return;
    log_about(cull, victim, spdlog::level::info, "{}: force-deleting {}: {}", look.verdict.reason);
    const bool unfinished = cull.unfinished.contains(victim.server);
    if (unfinished) {
        cull.ours.insert(victim.server);
        services_.safeguards.on_sent(cull.request, victim, cull.hosts[victim.server]);
        cull.deadline = std::max(cull.deadline,
                                 services_.cloud.clock.steady() + services_.settings.cull.deadline);
    }
    // Heard once for each look.
    Compute::StillWanted wanted = [this, &cull, &victim, look](bool may_be_heard) {
        return !may_be_heard && cull.look.is_fresh(look) && gate_.may_force(cull, victim);
    };
    auto answer =
        co_await services_.cloud.compute.force_delete_server(victim.server, std::move(wanted));
    if (!answer) {
        const Errc code = answer.error().code;
        const bool refused = code == Errc::forbidden || code == Errc::rejected;
        if (unfinished && (refused || code == Errc::cancelled)) recorder_.not_done(cull, victim);
        if (unfinished && refused) {
            std::string reason = "Nova refused to force it: " + answer.error().what;
            co_await recorder_.leave(cull, victim, std::move(reason));
            co_return;
        }
        log_about(cull, victim, spdlog::level::warn,
                  "{}: force-deleting {} failed, will try again: {}", answer.error().what);
    } else if (*answer != DeleteAnswer::conflict) {
        cull.state(victim) = Cull::State::forced;
    }
}

Task<void> Shelving::evict(Cull& cull, const Victim& victim, RecheckResult look) {
    auto refusal = co_await sender_.send(cull, victim, std::move(look));
    if (refusal) co_await refused(cull, victim, std::move(*refusal));
}

Task<bool> Shelving::evict_again(Cull& cull, const Victim& victim, Departure how) {
    cull.undeleted.insert(victim.server);
    co_await gate_.ask_again(cull);
    cull.undeleted.erase(victim.server);
    if (cull.stopped) co_return false;
    auto look = co_await cull.look.fresh_at(victim);
    if (look && look->verdict.kind == Kind::fit && look->verdict.departure == how)
        co_await evict(cull, victim, std::move(*look));
    co_return true;
}

Task<void> Shelving::go_on(Cull& cull, const Victim& victim, RecheckResult look) {
    if (look.has_task) co_return;  // Nova is at it, until the deadline
    const Departure how = look.verdict.departure;
    const int tries = cull.tries[victim.server];
    if (how == Departure::offloaded && tries < EvictionSender::tries_at_most) {
        co_await evict(cull, victim, std::move(look));
        co_return;
    }
    bool goes_on = false;
    if (how == Departure::shelved && tries < shelvings_at_most) {
        goes_on = co_await evict_again(cull, victim, how);
    } else {
        std::string why = "Nova did not shelve it";
        goes_on = co_await delete_instead(cull, victim, std::move(why));
    }
    if (goes_on) co_return;
    recorder_.not_done(cull, victim);
    co_await recorder_.skip(cull, victim, "its plan was stopped before it left its host");
}

/// Nova marks a server as being shelved before it asks Glance, and leaves it so if that fails.
Task<void> Shelving::refused(Cull& cull, const Victim& victim, Error error) {
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
    std::string reason = "Nova refused to shelve it: " + error.what;
    co_await recorder_.refused(cull, victim, std::move(reason));
    if (error.code != Errc::conflict) cull.fail(std::move(error));
}

/// If its room is still needed, and nothing else keeps it. False: it is not.
Task<bool> Shelving::delete_instead(Cull& cull, const Victim& victim, std::string why) {
    if (!cull.look.give_up_shelving(victim.server)) co_return false;
    log_about(cull, victim, spdlog::level::warn, "{}: {} is to be deleted: {}", why);
    auto look = co_await cull.look.fresh_at(victim);
    if (!look) {
        cull.fail(look.error());
        co_return false;
    }
    cull.saw(victim, *look);
    cull.undeleted.insert(victim.server);
    co_await gate_.ask_again(cull);
    if (cull.stopped || look->verdict.kind != Kind::fit || !gate_.may_delete(cull)) co_return false;
    cull.leaving.erase(victim.server);
    co_await evict(cull, victim, std::move(*look));
    co_return true;
}

Task<bool> Shelving::end(Cull& cull, const Victim& victim) {
    if (services_.settings.policy->shelve.none()) co_return false;
    const auto look = co_await cull.look.at(victim);
    const bool on_its_way = look && look->verdict.kind == Kind::going && look->being_shelved;
    const bool back =
        look && look->verdict.kind == Kind::fit && cull.shelving.contains(victim.server);
    if (!on_its_way && !back) co_return false;
    std::string why = "it is not shelved within cull.deadline";
    co_return co_await delete_instead(cull, victim, std::move(why));
}

}  // namespace reaper
