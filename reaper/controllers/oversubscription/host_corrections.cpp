#include "reaper/controllers/oversubscription/host_corrections.hpp"

#include <algorithm>
#include <tuple>

#include "reaper/controllers/oversubscription/host_figures.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/suitable_hosts.hpp"
#include "reaper/rooms/room.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// What is lost with a server: the hours that its vCPUs worked.
double work_lost(const Server& server, Amount vcpus, TimePoint now) {
    const std::chrono::duration<double, std::ratio<3600>> ran = now - start_of(server);
    return std::max(ran.count(), 0.0) * static_cast<double>(std::max<Amount>(vcpus, 1));
}

}  // namespace

bool HostCorrections::may_go(const Server& server, const Host& host) const {
    const CompiledPolicy& policy = *dependencies_.settings.policy;
    const Duration least = policy.safeguards.protect.min_run_time;
    return server.revocable() && may_be_victim(server) &&
           !dependencies_.ledger.evicting(server.id) && !comes_free(server, dependencies_.ledger) &&
           !policy.protection.why(server, host.member_of) &&
           !why_too_young(server, least, dependencies_.clock.now());
}

std::vector<HostCorrections::Choice> HostCorrections::candidates(const Host& host,
                                                                 CorrectionSource source) const {
    const ResourceClass& room_class = dependencies_.settings.oversubscription->room_class;
    const TimePoint now = dependencies_.clock.now();
    std::vector<Choice> all;
    const auto kept = dependencies_.refresher.kept_by_nova();
    for (const Server& server : host.servers) {
        if (!may_go(server, host) || kept.contains(server.id)) continue;
        const Amount sold = oversubscribed_by(server, host, room_class);
        if (source == CorrectionSource::estimator && sold == 0) continue;
        CorrectionCandidate candidate;
        candidate.id = server.id;
        candidate.oversubscribed = sold > 0;
        candidate.vcpus =
            source == CorrectionSource::estimator ? sold : vcpus_held(server, host, room_class);
        candidate.harm = work_lost(server, candidate.vcpus, now);
        all.push_back({std::move(candidate), &server});
    }
    return all;
}

OrderedCorrection HostCorrections::correct(const Host& host, const HostCorrection& correction,
                                           CorrectionSource source) {
    if (busy(host.id, source) || !dependencies_.settings.oversubscription) return {};
    auto choices = candidates(host, source);
    std::vector<CorrectionCandidate> offered;
    for (const Choice& each : choices) offered.push_back(each.candidate);
    const auto chosen = choose_corrected(offered, correction);
    std::erase_if(choices, [&](const Choice& each) {
        return std::find(chosen.begin(), chosen.end(), each.candidate.id) == chosen.end();
    });
    // Where limits do not leave all of them, these go first.
    std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
        return std::tuple(!a.candidate.oversubscribed, a.candidate.harm, a.candidate.id) <
               std::tuple(!b.candidate.oversubscribed, b.candidate.harm, b.candidate.id);
    });
    const OrderedCorrection going{chosen.size(), vcpus_of(chosen, offered)};
    Correction ordered{host.id, host.name, {}};
    for (const Choice& each : choices)
        ordered.servers.push_back(
            {each.server->id, correction.why + " on host " + printable(host.name, 64)});
    return order(std::move(ordered), source) ? going : OrderedCorrection{};
}

bool HostCorrections::order(Correction correction, CorrectionSource source) {
    const HostId id = correction.host;
    if (correction.servers.empty() || busy(id, source)) return false;
    under_way_.insert(id);
    const bool submitted = dependencies_.submit(
        std::move(correction), source,
        [this, id, source](const Outcome& outcome) { ended(id, source, outcome); });
    if (!submitted) under_way_.erase(id);
    return submitted;
}

std::string HostCorrections::why_busy(const HostId& host, CorrectionSource source) const {
    if (under_way_.contains(host)) return "another correction is under way";
    const auto wait = waits_.find({host, source});
    if (wait == waits_.end() || dependencies_.clock.steady() >= wait->second.until) return {};
    return "the last correction freed nothing or too little, and the next one waits";
}

void HostCorrections::ended(const HostId& host, CorrectionSource source, const Outcome& outcome) {
    under_way_.erase(host);
    if (outcome.kind == OutcomeKind::freed) {
        waits_.erase({host, source});
        return;
    }
    Wait& wait = waits_[{host, source}];
    wait.until = dependencies_.clock.steady() + wait.pause.next();
}

Amount HostCorrections::leaving(const Host& host, const std::vector<CorrectedServer>& but) const {
    if (!dependencies_.settings.oversubscription) return 0;
    const ResourceClass& room_class = dependencies_.settings.oversubscription->room_class;
    const auto counts = [&](const Server& server) {
        return std::none_of(but.begin(), but.end(),
                            [&](const CorrectedServer& each) { return each.server == server.id; });
    };
    Amount vcpus = 0;
    for (const Server& server : host.servers)
        if ((dependencies_.ledger.evicting(server.id) ||
             comes_free(server, dependencies_.ledger)) &&
            counts(server))
            vcpus += oversubscribed_by(server, host, room_class);
    return vcpus;
}

}  // namespace reaper
