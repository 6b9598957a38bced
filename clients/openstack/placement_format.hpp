// Placement's answers as records. Pure. `where` names the call in the error.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/error.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper::openstack {

/// `{"resource_providers": [...]}`
Result<std::vector<ProviderRecord>> read_providers(std::string_view body, const std::string& where);
/// `{"resource_classes": [{"name": "VCPU"}]}`
Result<std::set<ResourceClass>> read_resource_classes(std::string_view body,
                                                      const std::string& where);
/// `{"provider_summaries": {PROVIDER: {"resources": {"VCPU": {"capacity": 8, "used": 2}}}}}`
Result<std::vector<ProviderSummary>> read_summaries(std::string_view body,
                                                    const std::string& where);
/// `{"inventories": {"VCPU": {...}}}`
Result<std::map<ResourceClass, Inventory>> read_inventories(std::string_view body,
                                                            const std::string& where);
/// `{"resource_provider_generation": 7}`: what a change of the inventories must name.
Result<std::int64_t> read_generation(std::string_view body, const std::string& where);
/// The body that sets one inventory.
std::string write_inventory(const Inventory& inventory, std::int64_t generation);
/// The body that sets all inventories of a provider.
std::string write_inventories(const std::map<ResourceClass, Inventory>& inventories,
                              std::int64_t generation);
/// `{"traits": [...]}`
Result<std::set<Trait>> read_traits(std::string_view body, const std::string& where);
/// `{"aggregates": [...]}`
Result<std::set<std::string>> read_aggregate_ids(std::string_view body, const std::string& where);
/// Of one provider: `{"allocations": {CONSUMER: {"resources": {"VCPU": 2}}}}`
Result<std::map<ServerId, Resources>> read_provider_allocations(std::string_view body,
                                                                const std::string& where);
/// Of one consumer: `{"allocations": {PROVIDER: {"resources": {"VCPU": 2}}}}`
Result<Allocations> read_consumer_allocations(std::string_view body, const std::string& where);
/// Of one project: `{"usages": {"VCPU": 2}}`, or since 1.38 `{"usages": {TYPE: {"VCPU": 2,
/// "consumer_count": 1}}}`; all types together.
Result<Resources> read_usages(std::string_view body, const std::string& where);
/// Of one consumer, with `"consumer_generation"`, `"project_id"`, `"user_id"` and
/// `"consumer_type"`, which an unknown consumer has not.
Result<Consumer> read_consumer(std::string_view body, const std::string& where);

}  // namespace reaper::openstack
