// Port: Placement, in the domain's words.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// A wish to change an inventory's `reserved`: only if it is still `from`.
struct ReservedChange {
    ProviderId provider;
    ResourceClass resource_class;
    Amount from = 0;
    Amount to = 0;
    /// Written also where it is `to`: a call that was sent before, and arrives later, is refused.
    bool fence = false;
};

/// What came of it.
struct ReservedAnswer {
    bool done = false;  ///< it is `to` now (also if it was before); else it was neither
    Inventory found;    ///< as it was before
};

/// A wish to change how much an inventory has in all: only if it is still `from`. 0: there is none.
/// Its allocation_ratio becomes 1 with it.
struct TotalChange {
    ProviderId provider;
    ResourceClass resource_class;
    Amount from = 0;
    Amount to = 0;
    Amount min_unit = 1;  ///< to be set with it
};

/// `reserved` of an inventory whose total changes. All of it stays all of it: it is held. Of a
/// part, at least one stays free, so that it is never taken for all.
inline Amount reserved_after(const Inventory& before, Amount total) {
    const bool all = before.total > 0 && before.reserved >= before.total;
    return all ? total : std::clamp<Amount>(total - 1, 0, before.reserved);
}

/// The inventory as the wish makes it.
inline Inventory inventory_after(const TotalChange& change, Inventory found) {
    found.reserved = reserved_after(found, change.to);
    found.total = change.to;
    found.min_unit = change.min_unit;
    found.allocation_ratio = 1.0;
    return found;
}

/// What came of it.
struct TotalAnswer {
    bool done = false;  ///< it is as wished now (also if it was before); else it was not `from`
    Inventory found{};  ///< as it was before; total 0: there was none
};

class Placement {
public:
    virtual ~Placement() = default;
    virtual ResultTask<std::vector<ProviderRecord>> providers() = 0;
    /// All that there are, with inventory or without.
    virtual ResultTask<std::set<ResourceClass>> resource_classes() = 0;
    /// Capacity, use and traits of every provider of each tree that has at least one unit of the
    /// class left, in one answer; full trees are left out.
    virtual ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) = 0;
    /// Inventories and allocations of one provider, without its traits; `not_found` if it is gone.
    virtual ResultTask<ProviderState> room(ProviderId id) = 0;
    /// Inventories, traits and allocations of one provider; `not_found` if it is gone.
    virtual ResultTask<ProviderState> provider(ProviderId id) = 0;
    /// UUIDs of the host aggregates that Placement knows the provider in: Nova mirrors its own
    /// there, and its scheduler believes the mirror.
    virtual ResultTask<std::set<std::string>> aggregates(ProviderId id) = 0;
    /// What one consumer holds, on all providers; empty if nothing.
    virtual ResultTask<Allocations> allocations(ServerId consumer) = 0;
    /// The same with its project and user; its `holds` is empty if there is none of that id.
    virtual ResultTask<Consumer> consumer(ServerId id) = 0;
    /// What all consumers of a project hold together.
    virtual ResultTask<Resources> usage_of(std::string project) = 0;
    /// All of it or nothing, so that room changes hands without being free in between. `conflict`:
    /// one of them was changed meanwhile, or there is no room. After `timeout` and `unreachable` it
    /// may or may not have happened.
    virtual ResultTask<void> set_holdings(std::vector<ConsumerChange> changes,
                                          Duration deadline) = 0;
    /// It is repeated a bounded number of times when the provider is changed at
    /// the same time, and takes about `deadline` at most. `not_found` if the provider is gone or
    /// has no such inventory. After `timeout` and `unreachable` it may or may not have happened.
    virtual ResultTask<ReservedAnswer> change_reserved(ReservedChange change,
                                                       Duration deadline) = 0;
    /// The same; the inventory is as `inventory_after` has it. `conflict` if a consumer holds some
    /// of what is to be removed; `not_found` if the provider is gone.
    virtual ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline) = 0;
    /// A nested provider. If there is one of that name below that parent, it is that one;
    /// `conflict` if the name is another's. After `timeout` and `unreachable` it may or may not
    /// have happened.
    virtual ResultTask<ProviderId> create_provider(std::string name, ProviderId parent,
                                                   Duration deadline) = 0;
};

}  // namespace reaper
