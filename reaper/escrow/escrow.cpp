#include "reaper/escrow/escrow.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/escrow_consumer.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

// What a request does: its room is taken into escrow, and handed over to it.

namespace {

/// Without the right to write, it is not tried again for this time.
constexpr Duration forbidden_for = std::chrono::minutes{10};
/// Who has the turn may take this time; then Placement decides between the two.
constexpr Duration longest_turn{3'000};
constexpr Duration turn_poll_interval{5};
/// A request to which the room of another one goes.
constexpr Duration decided_within{3'000};

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
    return taken;
}

/// Leaves of `holds` what is of the classes of `wanted`.
void keep_classes(Allocations& holds, const Resources& wanted) {
    for (auto& each : holds) {
        const Resources before = each.second;
        for (const auto& [name, amount] : before)
            if (wanted.get(name) <= 0) each.second.set(name, 0);
    }
    std::erase_if(holds, [](const auto& each) { return each.second.empty(); });
}

}  // namespace

std::string Escrow::name_of(const ServerId& server) {
    return printable(server.str(), 64);
}

/// What may be kept for a request of a previous process: it is read before it is used for an
/// answer.
void Escrow::expect(const RequestRecord& record) {
    const auto note = [&](const ServerId& server, const HostId& host, bool gone) {
        Entry& kept = kept_[server];
        kept.room = {record.request.id, host, {}, gone, needs_room_first(record.request)};
        kept.sure = false;
    };
    for (const PlanEntry& entry : record.plans) {
        for (const HostPlan& host : host_plans(entry.decision)) {
            if (const auto stand_in = stand_in_on(record.request.id, host.host))
                note(*stand_in, host.host, true);
            for (const Victim& victim : host.victims)
                if (escrow_consumer_of(victim.server)) note(victim.server, host.host, false);
        }
    }
}

ResultTask<void> Escrow::restore(JournalReader& journal, TimePoint since) {
    auto records = co_await journal.culls_since(since);
    if (!records) co_return records.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    records->insert(records->end(), unfinished->begin(), unfinished->end());
    for (const RequestRecord& record : *records)
        if (record.request.source == RequestSource::gateway) expect(record);
    co_return Result<void>{};
}

// A claim that loses the race for a provider's generation is tried again by Placement, and checked
// against what was free before the other one (seen on MariaDB from Zed to 2026.1).
Task<std::unique_ptr<Turn<ProviderId>>> Escrow::turn_for(std::set<ProviderId> providers) {
    const Clock& clock = dependencies_.cloud.clock;
    const Duration until = clock.steady() + longest_turn;
    const auto taken = [&] {
        return std::any_of(providers.begin(), providers.end(),
                           [&](const ProviderId& id) { return taking_.contains(id); });
    };
    while (taken() && clock.steady() < until)
        co_await dependencies_.cloud.clock.sleep(turn_poll_interval);
    co_return std::make_unique<Turn<ProviderId>>(taking_, std::move(providers));
}

Task<bool> Escrow::take_free(RequestId request, HostId host, Resources amounts) {
    const auto stand_in = stand_in_on(request, host);
    if (!stand_in || amounts.empty() || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(*stand_in);
    if (at->second.busy) co_return true;
    at->second.busy = true;
    Consumer wanted;
    if (!is_new) {
        ServerId escrow_consumer = *escrow_consumer_of(*stand_in);
        auto found = co_await dependencies_.cloud.placement.consumer(std::move(escrow_consumer));
        const auto still = kept_.find(*stand_in);
        if (!found || still == kept_.end()) {
            if (still != kept_.end()) still->second.busy = false;
            co_return true;
        }
        wanted = std::move(*found);
    }
    wanted.holds.clear();
    wanted.holds.emplace(host, std::move(amounts));
    wanted.project = escrow_project;
    wanted.user = escrow_project;
    wanted.type = escrow_consumer_type;
    at->second.room.request = request;
    at->second.room.host = std::move(host);
    at->second.room.gone = true;
    Allocations holds = wanted.holds;
    std::vector<ConsumerChange> changes;
    changes.push_back({*escrow_consumer_of(*stand_in), std::move(wanted)});
    std::set<ProviderId> providers;
    for (const auto& each : holds) providers.insert(each.first);
    auto turn = co_await turn_for(std::move(providers));
    auto done =
        co_await dependencies_.cloud.placement.set_holdings(std::move(changes), call_deadline);
    turn.reset();
    const auto entry = kept_.find(*stand_in);
    if (entry != kept_.end()) {
        entry->second.busy = false;
        entry->second.sure = done.has_value();
        entry->second.room.holds = std::move(holds);
        entry->second.read.reset();
        if (!done && is_new && surely_not_done(done.error().code)) kept_.erase(entry);
    }
    if (done) co_return true;
    note_refusal(done.error());
    const bool taken = done.error().code == Errc::conflict;
    log_about({.request = request.str()}, spdlog::level::info,
              "{}: free room can't be kept for it{}: {}", request.str(),
              taken ? ", another consumer has it" : "", done.error().what);
    co_return !taken;
}

bool Escrow::allowed() const {
    return dependencies_.cloud.clock.steady() >= forbidden_until_;
}

void Escrow::note_refusal(const Error& error) {
    if (error.code == Errc::forbidden)
        forbidden_until_ = dependencies_.cloud.clock.steady() + forbidden_for;
}

Task<bool> Escrow::keep(EscrowedRoom room, ServerId victim, Consumer held) {
    if (!escrow_consumer_of(victim) || !allowed()) co_return true;
    const auto [at, is_new] = kept_.try_emplace(victim);
    if (!is_new) {
        at->second.room.request = room.request;
        at->second.room.all_gone = room.all_gone;
        co_return true;
    }
    at->second.room = std::move(room);
    at->second.busy = true;
    const Taken taken = co_await take(victim, std::move(held));
    if (taken == Taken::yes)
        kept_.at(victim).busy = false;
    else
        kept_.erase(victim);
    co_return taken != Taken::differs;
}

/// `no`: it may not be kept, and comes free for all. Placement refuses (`conflict`) where the
/// victim's consumer changed since `held` was read: then it is read again, once.
Task<Escrow::Taken> Escrow::take(ServerId victim, Consumer held) {
    Entry& entry = kept_.at(victim);  // no other coroutine erases it while it is busy
    const std::string request = entry.room.request.str();
    const LogFields fields{.request = request, .server = victim.str()};
    entry.room.holds = held.holds;
    Result<void> done = Error{Errc::conflict, {}};
    if (held.generation) done = co_await move_to_escrow(victim, held);
    if (!done && done.error().code == Errc::conflict) {
        auto owner = co_await dependencies_.cloud.placement.consumer(victim);
        if (!owner) {
            log_about(fields, spdlog::level::warn,
                      "{}: the room of server {} is not kept for it: {}", request, name_of(victim),
                      owner.error().what);
            co_return Taken::no;
        }
        if (owner->holds != held.holds) co_return Taken::differs;
        done = co_await move_to_escrow(victim, std::move(*owner));
    }
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

ResultTask<void> Escrow::move_to_escrow(ServerId victim, Consumer owner) {
    Consumer escrow_consumer = owner;
    escrow_consumer.generation.reset();
    escrow_consumer.project = escrow_project;
    escrow_consumer.type = escrow_consumer_type;
    std::vector<ConsumerChange> changes;
    changes.push_back(emptied(victim, std::move(owner)));
    changes.push_back({*escrow_consumer_of(victim), std::move(escrow_consumer)});
    co_return co_await dependencies_.cloud.placement.set_holdings(std::move(changes),
                                                                  call_deadline);
}

// ---- handing over ----

ResultTask<std::vector<ConsumerChange>> Escrow::hand_over(RequestId request, Allocations asked) {
    std::vector<ServerId> servers;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && !entry.busy) servers.push_back(server);
    std::vector<Task<void>> looks;
    for (const ServerId& server : servers) {
        const Entry& entry = kept_.at(server);
        if (entry.room.gone && entry.sure && !entry.read)
            looks.push_back(look(server));
        else
            looks.push_back(look_if_unsure(server));
    }
    co_await run_all(std::move(looks));
    std::vector<ConsumerChange> changes;
    for (const ServerId& server : servers) {
        const auto at = kept_.find(server);
        if (at == kept_.end() || !at->second.room.gone || !at->second.sure) continue;
        if (!at->second.read)
            co_return Error{Errc::unreachable, "placement: the room in escrow can't be read"};
        // Where it changed since, Placement refuses the claim, and it is read again.
        Consumer wanted = *at->second.read;
        const bool claimed_there =
            std::any_of(wanted.holds.begin(), wanted.holds.end(),
                        [&](const auto& each) { return asked.contains(each.first); });
        const Resources later = claimed_later(at->second.room);
        const bool rest_goes = claimed_there && later.empty();
        const bool taken = take_from(wanted.holds, asked);
        if (!taken && !rest_goes) continue;
        // Placement checks again what stays, and refuses the claim where a class is closed by now.
        keep_classes(wanted.holds, later);
        changes.push_back({*escrow_consumer_of(server), std::move(wanted)});
    }
    co_return changes;
}

/// By slots of its request there, after the next claim. What is left of other classes is promised
/// to no request, or to others; after the last claim, all of it.
Resources Escrow::claimed_later(const EscrowedRoom& room) const {
    int open = 0;
    Resources slots;
    for (const auto* const promise : dependencies_.ledger.promises_of(room.request)) {
        if (promise->host != room.host) continue;
        open += promise->open();
        slots += promise->slot * promise->open();
    }
    return open > 1 ? slots : Resources{};
}

void Escrow::reassign(const RequestId& from, const RequestId& to) {
    const Duration until = dependencies_.cloud.clock.steady() + decided_within;
    for (auto& [server, entry] : kept_) {
        if (entry.room.request != from) continue;
        entry.room.request = to;
        entry.stays_until = until;
    }
}

void Escrow::take_over(const HostId& host, const RequestId& request) {
    const Duration now = dependencies_.cloud.clock.steady();
    for (auto& [server, entry] : kept_) {
        const bool idle = entry.room.gone && entry.sure && !entry.busy && entry.stays_until <= now;
        if (entry.room.host == host && idle && !promised(entry.room)) entry.room.request = request;
    }
}

void Escrow::handed_over(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes) {
        const auto at = kept_.find(*kept_of(change.id));
        if (at == kept_.end()) continue;
        at->second.read.reset();
        at->second.room.holds = change.wanted.holds;
        if (at->second.busy)
            at->second.sure = false;  // another coroutine is at it
        else if (change.wanted.holds.empty())
            kept_.erase(at);
    }
}

void Escrow::not_sure_of(const std::vector<ConsumerChange>& changes) {
    for (const ConsumerChange& change : changes)
        if (const auto at = kept_.find(*kept_of(change.id)); at != kept_.end())
            at->second.sure = false;
}

}  // namespace reaper
