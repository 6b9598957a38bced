#include <algorithm>
#include <utility>

#include "reaper/escrow/escrow.hpp"
#include "reaper/model/escrow_consumer.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

// Placement as if each victim held its room until Nova lets it go.

/// Both must outlive it.
class EscrowView final : public Placement {
    static constexpr int most_readings = 3;

public:
    EscrowView(Escrow& rooms, Placement& placement) : rooms_(rooms), placement_(placement) {}

    ResultTask<std::vector<ProviderRecord>> providers() override { return placement_.providers(); }
    ResultTask<std::set<ResourceClass>> resource_classes() override {
        return placement_.resource_classes();
    }
    ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) override {
        auto summaries = co_await placement_.summaries(std::move(resource_class));
        if (summaries && rooms_.size() > 0)
            for (ProviderSummary& each : *summaries) each.used -= rooms_.shown_free_on(each.id);
        co_return summaries;
    }
    ResultTask<ProviderState> room(ProviderId id) override {
        return shown(std::move(id), &Placement::room);
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        return shown(std::move(id), &Placement::provider);
    }
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override {
        return placement_.aggregates(std::move(id));
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        auto held = co_await rooms_.held_by(std::move(consumer));
        if (!held) co_return held.error();
        co_return std::move(held->holds);
    }
    ResultTask<Consumer> consumer(ServerId id) override { return rooms_.held_by(std::move(id)); }
    ResultTask<Resources> usage_of(std::string project) override {
        return placement_.usage_of(std::move(project));
    }
    ResultTask<void> set_holdings(std::vector<ConsumerChange> changes, Duration deadline) override {
        return placement_.set_holdings(std::move(changes), deadline);
    }
    ResultTask<ReservedAnswer> change_reserved(ReservedChange change, Duration deadline) override {
        return placement_.change_reserved(std::move(change), deadline);
    }
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) override {
        return placement_.change_total(std::move(change), deadline);
    }
    ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                           Duration deadline) override {
        return placement_.create_provider(std::move(name), std::move(parent), deadline);
    }

private:
    /// Who claimed room while its provider was read is shown with the next reading.
    ResultTask<ProviderState> shown(ProviderId id,
                                    ResultTask<ProviderState> (Placement::*read)(ProviderId)) {
        for (int readings = 1;; ++readings) {
            ProviderId provider = id;
            auto state = co_await (placement_.*read)(std::move(provider));
            if (!state) co_return state;
            provider = id;
            const bool ended = co_await rooms_.adopt_from(std::move(provider), state->allocations);
            if (ended && readings < most_readings) continue;
            rooms_.show(state->allocations);
            co_return state;
        }
    }

    Escrow& rooms_;
    Placement& placement_;
};

namespace {

constexpr Duration poll_while_busy{50};
/// If nova-compute fails in between, the server stays DELETED.
constexpr Duration gives_back_within{10'000};

}  // namespace

Escrow::Escrow(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      view_(std::make_unique<EscrowView>(*this, dependencies_.cloud.placement)) {}

Escrow::~Escrow() = default;

Placement& Escrow::view() {
    return *view_;
}

/// What Placement says of the escrow_consumer; it is forgotten if it holds nothing.
Task<void> Escrow::look(ServerId server) {
    ServerId escrow_consumer = *escrow_consumer_of(server);
    auto found = co_await dependencies_.cloud.placement.consumer(std::move(escrow_consumer));
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.busy) co_return;
    if (!found) {
        try_later(server, found.error().what);
    } else if (found->holds.empty()) {
        const EscrowedRoom room = at->second.room;
        kept_.erase(at);
        if (room.holds.empty()) co_return;  // it never showed room: nothing changes
        note_change(room.host, server);
        if (!room.gone) co_await tell_if_lost(server);
    } else {
        at->second.room.holds = found->holds;
        at->second.read = std::move(*found);
        at->second.sure = true;
    }
}

/// The host is shown otherwise from now on, and no cull waits for that.
void Escrow::note_change(const HostId& host, const ServerId& server) {
    if (!under_way(server)) changed_.insert(host);
}

/// Of a previous process, or whose last answer was lost.
Task<void> Escrow::look_if_unsure(ServerId server) {
    if (const auto at = kept_.find(server); at == kept_.end() || at->second.sure) co_return;
    co_await look(server);
    const auto at = kept_.find(server);
    if (at == kept_.end() || at->second.room.gone) co_return;
    const auto still = co_await unreleased(server);
    if (!still) spdlog::debug("server {}: {}", name_of(server), still.error().what);
}

/// What Nova has of it; none, and noted, once it let it go. While it is DELETED, its host has yet
/// to give back its CPUs, NUMA memory and devices.
ResultTask<std::optional<ServerRecord>> Escrow::unreleased(ServerId server) {
    auto record = co_await dependencies_.cloud.compute.server_or_deleted(server);
    const auto at = kept_.find(server);
    if (!record || at == kept_.end()) co_return record;
    Entry& entry = at->second;
    if (*record && (*record)->server.status == "DELETED") {
        const Duration now = dependencies_.cloud.clock.steady();
        entry.deleted_at = entry.deleted_at.value_or(now);
        const bool gave_back = now >= *entry.deleted_at + gives_back_within;
        if (!entry.room.all_gone || gave_back) record->reset();
    }
    if (!*record && !entry.room.gone) {
        entry.room.gone = true;
        note_change(entry.room.host, server);
    }
    co_return record;
}

ResultTask<Consumer> Escrow::held_by(ServerId server) {
    while (true) {
        const auto at = kept_.find(server);
        if (at == kept_.end()) co_return co_await dependencies_.cloud.placement.consumer(server);
        if (at->second.room.gone) co_return Consumer{};
        if (at->second.busy) {
            co_await dependencies_.cloud.clock.sleep(poll_while_busy);
            continue;
        }
        at->second.sure = false;  // a deletion may rest on it
        std::optional<Result<std::optional<ServerRecord>>> record;
        std::vector<Task<void>> questions;
        questions.push_back(look(server));
        questions.push_back(reaper::keep(unreleased(server), record));
        co_await run_all(std::move(questions));
        const auto still = kept_.find(server);
        if (still == kept_.end()) continue;
        if (!still->second.sure)
            co_return Error{Errc::unreachable,
                            "placement: who holds the room of a server is not known"};
        if (!*record) co_return record->error();
        Consumer shown;
        if (**record) shown.holds = still->second.room.holds;
        co_return shown;
    }
}

void Escrow::show(std::map<ServerId, Resources>& allocations) const {
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

Resources Escrow::shown_free_on(const ProviderId& provider) const {
    Resources free;
    for (const auto& [server, entry] : kept_) {
        const auto here = entry.room.holds.find(provider);
        if (entry.room.gone && here != entry.room.holds.end()) free += here->second;
    }
    return free;
}

std::vector<EscrowedRoom> Escrow::kept_for(const RequestId& request) const {
    std::vector<EscrowedRoom> rooms;
    for (const auto& [server, entry] : kept_)
        if (entry.room.request == request && entry.room.gone) rooms.push_back(entry.room);
    return rooms;
}

bool Escrow::keeps_for(const RequestId& request) const {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const auto& each) { return each.second.room.request == request; });
}

Resources Escrow::kept_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request)
            sum += sum_of(entry.room.holds);
    return sum;
}

Resources Escrow::of_victims_on(const HostId& host, const RequestId& request) const {
    const auto stand_in = stand_in_on(request, host);
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request == request && server != stand_in)
            sum += sum_of(entry.room.holds);
    return sum;
}

Resources Escrow::promised_for_others_on(const HostId& host, const RequestId& request) const {
    Resources sum;
    for (const auto& [server, entry] : kept_)
        if (entry.room.host == host && entry.room.request != request && promised(entry.room))
            sum += sum_of(entry.room.holds);
    return sum;
}

}  // namespace reaper
