#include "reaper/kept_room/kept_rooms.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/kept_room/keeper_words.hpp"
#include "reaper/kept_room/kept_view.hpp"
#include "reaper/model/kept_consumer.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

using namespace keeper_words;

namespace {

constexpr Duration moment{50};
/// A request to which the room of another one goes.
constexpr Duration decided_within{3'000};
/// Without the right to write, it is not tried again so soon.
constexpr Duration forbidden_for = std::chrono::minutes{10};

/// Takes of `holds` what is asked for; true if that is something.
bool take_from(Allocations& holds, Allocations& asked) {
    bool taken = false;
    for (auto& [provider, amounts] : holds) {
        const auto wanted = asked.find(provider);
        if (wanted == asked.end()) continue;
        const Resources before = amounts;
        for (const auto& [name, amount] : before) {
            const Amount part = std::min(amount, wanted->second.get(name));
            if (part <= 0) continue;
            amounts.set(name, amount - part);
            wanted->second.set(name, wanted->second.get(name) - part);
            taken = true;
        }
    }
    std::erase_if(holds, [](const auto& each) { return each.second.empty(); });
    return taken;
}

}  // namespace

KeptRooms::KeptRooms(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      view_(std::make_unique<KeptView>(*this, dependencies_.cloud.placement)) {}

KeptRooms::~KeptRooms() = default;

Placement& KeptRooms::view() {
    return *view_;
}

/// What may be kept for a request of a former process: it is looked at before it is spoken of.
void KeptRooms::expect(const RequestRecord& record) {
    const auto note = [&](const ServerId& server, const HostId& host, bool gone) {
        Entry& kept = kept_[server];
        kept.room = KeptRoom{record.request.id, host, {}, gone};
        kept.sure = false;
    };
    for (const PlanEntry& entry : record.plans) {
        for (const HostPlan& host : host_plans(entry.decision)) {
            if (const auto nobody = stand_in_on(record.request.id, host.host))
                note(*nobody, host.host, true);
            for (const Victim& victim : host.victims)
                if (keeper_of(victim.server)) note(victim.server, host.host, false);
        }
    }
}

ResultTask<void> KeptRooms::restore(JournalReader& journal, TimePoint since) {
    auto records = co_await journal.culls_since(since);
    if (!records) co_return records.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    records->insert(records->end(), unfinished->begin(), unfinished->end());
    for (const RequestRecord& record : *records)
        if (record.request.source == RequestSource::gateway) expect(record);
    co_return Result<void>{};
}

// ---- keeping ----

Task<bool> KeptRooms::take_free(RequestId request, HostId host, Resources amounts) {
    const auto nobody = stand_in_on(request, host);
    if (!nobody || amounts.empty() || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(*nobody);
    if (at->second.busy) co_return true;
    at->second.busy = true;
    Consumer wanted;
    if (!is_new) {
        ServerId keeper = *keeper_of(*nobody);
        auto found = co_await dependencies_.cloud.placement.consumer(std::move(keeper));
        const auto still = kept_.find(*nobody);
        if (!found || still == kept_.end()) {
            if (still != kept_.end()) still->second.busy = false;
            co_return true;
        }
        wanted = std::move(*found);
    }
    wanted.holds.clear();
    wanted.holds.emplace(host, std::move(amounts));
    wanted.project = own_name;
    wanted.user = own_name;
    wanted.type = keeper_type;
    at->second.room.request = request;
    at->second.room.host = std::move(host);
    at->second.room.gone = true;
    Allocations holds = wanted.holds;
    std::vector<ConsumerChange> changes;
    changes.push_back({*keeper_of(*nobody), std::move(wanted)});
    auto done =
        co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    const auto entry = kept_.find(*nobody);
    if (entry != kept_.end()) {
        entry->second.busy = false;
        entry->second.sure = done.has_value();
        entry->second.room.holds = std::move(holds);
        if (!done && is_new && surely_not_done(done.error().code)) kept_.erase(entry);
    }
    if (done) co_return true;
    note_refusal(done.error());
    const bool taken = done.error().code == Errc::conflict;
    log_about({.request = request.str()}, spdlog::level::info,
              "{}: free room can't be kept for it{}: {}", request.str(),
              taken ? ", somebody has it" : "", done.error().what);
    co_return !taken;
}

bool KeptRooms::allowed() const {
    return dependencies_.cloud.clock.steady() >= forbidden_until_;
}

void KeptRooms::note_refusal(const Error& error) {
    if (error.code == Errc::forbidden)
        forbidden_until_ = dependencies_.cloud.clock.steady() + forbidden_for;
}

Task<bool> KeptRooms::keep(RequestId request, HostId host, ServerId victim, Allocations held) {
    if (!keeper_of(victim) || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(victim);
    at->second.room.request = request;
    if (!is_new) co_return true;
    at->second.room.host = std::move(host);
    at->second.busy = true;
    const Taken taken = co_await take(victim, std::move(held));
    if (taken == Taken::yes)
        kept_.at(victim).busy = false;
    else
        kept_.erase(victim);
    co_return taken != Taken::differs;
}

/// `no`: it may not be kept, and comes free for all.
Task<KeptRooms::Taken> KeptRooms::take(ServerId victim, Allocations held) {
    Entry& entry = kept_.at(victim);  // nobody else erases it while it is busy
    const std::string request = entry.room.request.str();
    auto owner = co_await dependencies_.cloud.placement.consumer(victim);
    const LogFields fields{.request = request, .server = victim.str()};
    if (!owner) {
        log_about(fields, spdlog::level::warn, "{}: the room of server {} is not kept for it: {}",
                  request, name_of(victim), owner.error().what);
        co_return Taken::no;
    }
    if (owner->holds != held) co_return Taken::differs;
    Consumer keeper = *owner;
    keeper.generation.reset();
    keeper.project = own_name;
    keeper.type = keeper_type;
    entry.room.holds = keeper.holds;
    std::vector<ConsumerChange> changes;
    changes.push_back(emptied(victim, std::move(*owner)));
    changes.push_back({*keeper_of(victim), std::move(keeper)});
    auto done =
        co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    if (done) {
        log_about(fields, spdlog::level::debug, "{}: the room of server {} is kept for it", request,
                  name_of(victim));
        co_return Taken::yes;
    }
    log_about(fields, spdlog::level::warn,
              "{}: the room of server {} may not be kept for it, and come free for all: {}",
              request, name_of(victim), done.error().what);
    entry.sure = false;
    note_refusal(done.error());
    co_return surely_not_done(done.error().code) ? Taken::no : Taken::yes;
}

// ---- what is there ----

/// What Placement says of the keeper; it is forgotten if it holds nothing.
Task<void> KeptRooms::look(ServerId server) {
    ServerId keeper = *keeper_of(server);
    auto found = co_await dependencies_.cloud.placement.consumer(std::move(keeper));
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.busy) co_return;
    if (!found) {
        try_later(server, found.error().what);
    } else if (found->holds.empty()) {
        note_change(at->second.room.host, server);
        kept_.erase(at);
    } else {
        at->second.room.holds = std::move(found->holds);
        at->second.sure = true;
    }
}

/// The host is shown otherwise from now on, and no cull waits for that.
void KeptRooms::note_change(const HostId& host, const ServerId& server) {
    if (!under_way(server)) changed_.insert(host);
}

/// Of a former process, or whose last answer was lost.
Task<void> KeptRooms::look_if_unsure(ServerId server) {
    if (const auto at = kept_.find(server); at == kept_.end() || at->second.sure) co_return;
    co_await look(server);
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.room.gone) co_return;
    const auto gone = co_await released_by_nova(server);
    if (!gone) spdlog::debug("server {}: {}", name_of(server), gone.error().what);
}

/// Has Nova let the server go? Noted if so.
ResultTask<bool> KeptRooms::released_by_nova(ServerId server) {
    auto record = co_await dependencies_.cloud.compute.server(server);
    if (!record) co_return record.error();
    const bool gone = is_gone(*record);
    const auto at = kept_.find(server);
    if (gone && at != kept_.end() && !at->second.room.gone) {
        at->second.room.gone = true;
        note_change(at->second.room.host, server);
    }
    co_return gone;
}

ResultTask<Allocations> KeptRooms::held_by(ServerId server) {
    while (true) {
        const auto at = kept_.find(server);
        if (at == kept_.end()) co_return co_await dependencies_.cloud.placement.allocations(server);
        if (at->second.room.gone) co_return Allocations{};
        if (at->second.busy) {
            co_await dependencies_.cloud.clock.sleep(moment);
            continue;
        }
        at->second.sure = false;  // a deletion may rest on it
        std::optional<Result<bool>> gone;
        std::vector<Task<void>> questions;
        questions.push_back(look(server));
        questions.push_back(reaper::keep(released_by_nova(server), gone));
        co_await run_all(std::move(questions));
        const auto still = kept_.find(server);
        if (still == kept_.end()) continue;
        if (!still->second.sure)
            co_return Error{Errc::unreachable,
                            "placement: who holds the room of a server is not known"};
        if (!*gone) co_return gone->error();
        if (**gone) co_return Allocations{};
        co_return still->second.room.holds;
    }
}

void KeptRooms::show(std::map<ServerId, Resources>& allocations) const {
    std::map<ServerId, Resources> victims;
    std::erase_if(allocations, [&](const auto& each) {
        const auto server = kept_of(each.first);
        if (!server) return false;
        const auto at = kept_.find(*server);
        if (at == kept_.end()) return false;
        if (!at->second.room.gone) victims[*server] = each.second;
        return true;
    });
    for (auto& [server, amounts] : victims) allocations[server] += amounts;
}

Resources KeptRooms::shown_free_on(const ProviderId& provider) const {
    Resources free;
    for (const auto& [server, entry] : kept_) {
        const auto here = entry.room.holds.find(provider);
        if (entry.room.gone && here != entry.room.holds.end()) free += here->second;
    }
    return free;
}

std::vector<KeptRoom> KeptRooms::kept_for(const RequestId& request) const {
    std::vector<KeptRoom> rooms;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && entry.room.gone) rooms.push_back(entry.room);
    return rooms;
}

bool KeptRooms::keeps_for(const RequestId& request) const {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const auto& each) { return each.second.room.request == request; });
}

Resources KeptRooms::kept_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request)
            sum += sum_of(entry.room.holds);
    return sum;
}

Resources KeptRooms::kept_for_others_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request != request)
            sum += sum_of(entry.room.holds);
    return sum;
}

Resources KeptRooms::promised_for_others_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request != request && promised(entry.room))
            sum += sum_of(entry.room.holds);
    return sum;
}

// ---- handing over ----

ResultTask<std::vector<ConsumerChange>> KeptRooms::hand_over(RequestId request, Allocations asked) {
    std::vector<ServerId> servers;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && !entry.busy) servers.push_back(server);
    std::vector<Task<void>> looks;
    for (const ServerId& server : servers) looks.push_back(look_if_unsure(server));
    co_await run_all(std::move(looks));
    std::erase_if(servers, [&](const ServerId& server) {
        const auto at = kept_.find(server);
        return at == kept_.end() || !at->second.room.gone || !at->second.sure;
    });
    // All of them beside each other: the claim waits.
    std::map<ServerId, std::optional<Result<Consumer>>> keepers;
    std::vector<Task<void>> reads;
    for (const ServerId& server : servers)
        reads.push_back(reaper::keep(dependencies_.cloud.placement.consumer(*keeper_of(server)),
                                     keepers[server]));
    co_await run_all(std::move(reads));
    std::vector<ConsumerChange> changes;
    for (const ServerId& server : servers) {
        Allocations still_asked = asked;
        const auto at = kept_.find(server);
        if (at == kept_.end()) continue;
        Allocations holds = at->second.room.holds;
        const bool claimed_there = std::any_of(holds.begin(), holds.end(), [&](const auto& each) {
            return still_asked.contains(each.first);
        });
        const bool rest_goes = claimed_there && is_for_last_slot(at->second.room);
        if (!take_from(holds, still_asked) && !rest_goes) continue;
        auto& found = *keepers.at(server);
        if (!found) co_return found.error();
        Consumer wanted = std::move(*found);
        const bool taken = take_from(wanted.holds, asked);
        if (rest_goes) wanted.holds.clear();
        if (!taken && !rest_goes) continue;
        changes.push_back({*keeper_of(server), std::move(wanted)});
    }
    co_return changes;
}

/// What is left of it with the next claim is promised to nobody, or to others who count on it.
bool KeptRooms::is_for_last_slot(const KeptRoom& room) const {
    int open = 0;
    for (const auto* const promise : dependencies_.ledger.promises_of(room.request))
        if (promise->host == room.host) open += promise->open();
    return open <= 1;
}

void KeptRooms::reassign(const RequestId& from, const RequestId& to) {
    const Duration until = dependencies_.cloud.clock.steady() + decided_within;
    for (auto& [server, entry] : kept_) {
        if (entry.room.request != from) continue;
        entry.room.request = to;
        entry.stays_until = until;
    }
}

void KeptRooms::take_over(const HostId& host, const RequestId& request) {
    const Duration now = dependencies_.cloud.clock.steady();
    for (auto& [server, entry] : kept_) {
        const bool idle = entry.room.gone && entry.sure && !entry.busy && entry.stays_until <= now;
        if (entry.room.host == host && idle && !promised(entry.room)) entry.room.request = request;
    }
}

void KeptRooms::handed_over(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes) {
        const auto at = kept_.find(*kept_of(change.id));
        if (at == kept_.end()) continue;
        if (change.wanted.holds.empty())
            kept_.erase(at);
        else
            at->second.room.holds = change.wanted.holds;
    }
}

void KeptRooms::not_sure_of(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes)
        if (const auto at = kept_.find(*kept_of(change.id)); at != kept_.end())
            at->second.sure = false;
}

Resources KeptRooms::of_victims_on(const HostId& host, const RequestId& request) const {
    const auto nobody = stand_in_on(request, host);
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request && server != nobody)
            sum += sum_of(entry.room.holds);
    return sum;
}

}  // namespace reaper
