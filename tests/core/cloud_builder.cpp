#include "core/cloud_builder.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace reaper::testing {

TimePoint at(long seconds) {
    return TimePoint{std::chrono::seconds{1'800'000'000 + seconds}};
}

Server server(const std::string& id, const ProviderId& on, Resources held, long created) {
    Server made;
    made.id = ServerId{id};
    made.name = "name-of-" + id;
    made.project = ProjectId{"project"};
    made.status = "ACTIVE";
    made.created = at(created);
    if (!held.empty()) made.allocations.emplace(on, std::move(held));
    return made;
}

Server revocable(const std::string& id, const ProviderId& on, Resources held, long created) {
    Server made = server(id, on, std::move(held), created);
    made.project = ProjectId{"cheap"};
    made.revocable_because = "its project cheap carries the tag 'preemptible'";
    return made;
}

namespace {

Provider provider(const std::string& id, const Resources& capacity) {
    Provider made;
    made.id = ProviderId{id};
    made.name = id;
    for (const auto& [resource_class, amount] : capacity)
        made.inventories.emplace(resource_class, Inventory{.total = amount});
    return made;
}

}  // namespace

Host host(const std::string& name, const Resources& capacity) {
    Host made;
    made.id = HostId{name};
    made.name = name;
    made.service_host = name;
    made.availability_zone = "nova";
    made.providers.push_back(provider(name, capacity));
    return made;
}

void put(Host& host, Server server) {
    server.host = host.service_host;
    for (auto& provider : host.providers)
        if (const auto held = server.allocations.find(provider.id);
            held != server.allocations.end())
            provider.used += held->second;
    host.servers.push_back(std::move(server));
}

Provider& nest(Host& host, const std::string& id, const Resources& capacity) {
    host.providers.push_back(provider(id, capacity));
    host.providers.back().parent = host.id;
    return host.providers.back();
}

Request request(Resources resources, int slots, const std::string& id) {
    Request made;
    made.id = RequestId{id};
    made.project = ProjectId{"regular"};
    made.resources = std::move(resources);
    made.slots = slots;
    made.sent_at = at(0);
    return made;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, Parameters given) {
    const auto* info = find_strategy(name);
    if (info == nullptr) throw std::invalid_argument("no such strategy");
    auto made = info->make(with_standards(info->parameters, std::move(given)));
    return std::move(std::get<std::unique_ptr<Strategy>>(made));
}

Decision plan(const Request& request, const Snapshot& snapshot, const PlanOptions& options,
              const Ledger& ledger, std::string_view strategy, Parameters parameters) {
    return make_plan(request, snapshot, ledger, *make_strategy(strategy, std::move(parameters)),
                     strategy, options);
}

std::vector<std::string> victim_ids(const Decision& decision) {
    std::vector<std::string> ids;
    if (const auto* made = std::get_if<Plan>(&decision))
        for (const auto& victim : made->victims()) ids.push_back(victim.server.str());
    std::sort(ids.begin(), ids.end());
    return ids;
}

Rejection rejection_of(const Decision& decision, const std::string& host_name) {
    const std::vector<Rejection>* all = nullptr;
    if (const auto* made = std::get_if<Plan>(&decision)) all = &made->rejected;
    if (const auto* none = std::get_if<NotEnough>(&decision)) all = &none->rejected;
    if (all != nullptr)
        for (const auto& rejection : *all)
            if (rejection.host_name == host_name) return rejection;
    return {};
}

}  // namespace reaper::testing
