// Placement as if each victim held its room until Nova lets it go.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/kept_room/kept_rooms.hpp"

namespace reaper {

/// Both must outlive it.
class KeptView final : public Placement {
public:
    KeptView(KeptRooms& rooms, Placement& placement) : rooms_(rooms), placement_(placement) {}

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
        auto state = co_await placement_.room(id);
        if (!state) co_return state;
        co_await rooms_.adopt_from(std::move(id), state->allocations);
        rooms_.show(state->allocations);
        co_return state;
    }
    ResultTask<ProviderState> provider(ProviderId id) override {
        auto state = co_await placement_.provider(id);
        if (!state) co_return state;
        co_await rooms_.adopt_from(std::move(id), state->allocations);
        rooms_.show(state->allocations);
        co_return state;
    }
    ResultTask<std::set<std::string>> aggregates(ProviderId id) override {
        return placement_.aggregates(std::move(id));
    }
    ResultTask<Allocations> allocations(ServerId consumer) override {
        return rooms_.held_by(std::move(consumer));
    }
    ResultTask<Consumer> consumer(ServerId id) override {
        return placement_.consumer(std::move(id));
    }
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
    KeptRooms& rooms_;
    Placement& placement_;
};

}  // namespace reaper
