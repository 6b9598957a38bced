#include "synthetic_cloud.hpp"

#include <array>
#include <cstdio>
#include <set>

#include "reaper/model/interner.hpp"
#include "strategies/seeded_rng.hpp"

namespace reaper::bench {
namespace {

const ResourceClass vcpu{"VCPU"};
const ResourceClass memory{"MEMORY_MB"};
const ResourceClass disk{"DISK_GB"};

struct Flavor {
    const char* name;
    Amount vcpus, memory_mib, disk_gib;
};

/// As public clouds have them: three families, sizes in powers of two.
constexpr std::array<Flavor, 9> flavors{{{"m.1", 1, 2048, 20},
                                         {"m.2", 2, 4096, 20},
                                         {"m.4", 4, 8192, 40},
                                         {"m.8", 8, 16384, 80},
                                         {"c.2", 2, 2048, 20},
                                         {"c.4", 4, 4096, 40},
                                         {"r.1", 1, 8192, 20},
                                         {"r.2", 2, 16384, 20},
                                         {"r.4", 4, 32768, 40}}};

std::string uuid(SeededRng& rng) {
    std::array<char, 40> text{};
    std::snprintf(
        text.data(), text.size(), "%08x-%04x-4%03x-a%03x-%012llx",
        static_cast<unsigned>(rng.below(1ULL << 32)), static_cast<unsigned>(rng.below(1 << 16)),
        static_cast<unsigned>(rng.below(1 << 12)), static_cast<unsigned>(rng.below(1 << 12)),
        static_cast<unsigned long long>(rng.below(1ULL << 48)));
    return text.data();
}

Resources size_of(const CloudSpec& spec, SeededRng& rng) {
    if (spec.sizes == Sizes::random)
        return Resources{{"VCPU", static_cast<Amount>(1 + rng.below(16))},
                         {"MEMORY_MB", static_cast<Amount>(256 * (2 + rng.below(127)))},
                         {"DISK_GB", static_cast<Amount>(5 + rng.below(96))}};
    const auto& flavor = flavors[rng.below(flavors.size())];
    return Resources{
        {"VCPU", flavor.vcpus}, {"MEMORY_MB", flavor.memory_mib}, {"DISK_GB", flavor.disk_gib}};
}

Server server_of(const CloudSpec& spec, const Host& host, bool revocable, int project,
                 SeededRng& rng) {
    Server server;
    server.id = ServerId{uuid(rng)};
    server.name = "server-of-" + host.name;
    server.project = ProjectId{"project-" + std::to_string(project)};
    server.host = host.service_host;
    server.status = "ACTIVE";
    // Up to 30 days old, to the second.
    server.created = now() - std::chrono::seconds{rng.below(30 * 24 * 3600)};
    server.launched = server.created + std::chrono::seconds{10};
    server.allocations.emplace(host.id, size_of(spec, rng));
    if (revocable) server.revocable_because = "its project carries the tag 'preemptible'";
    return server;
}

Host host_of(const CloudSpec& spec, int number, SeededRng& rng) {
    Host host;
    host.id = HostId{uuid(rng)};
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "compute-%05d", number);
    host.name = name.data();
    host.service_host = host.name;
    host.availability_zone = number % 3 == 0 ? "az-1" : number % 3 == 1 ? "az-2" : "az-3";
    Provider root;
    root.id = host.id;
    root.name = host.name;
    std::set<Trait> traits;
    for (int i = 0; i < 12; ++i) traits.insert(Trait{"HW_CPU_X86_" + std::to_string(i)});
    root.traits = traits;
    for (int i = 0; i < spec.servers + spec.regular; ++i) {
        host.servers.push_back(
            server_of(spec, host, i < spec.servers, static_cast<int>(rng.below(200)), rng));
        root.used += host.servers.back().allocations.begin()->second;
    }
    // Less is free than any flavor takes of one class or another.
    for (const auto& [resource_class, slack] :
         {std::pair{vcpu, Amount{2}}, std::pair{memory, Amount{2048}}, std::pair{disk, Amount{60}}})
        root.inventories[resource_class].total =
            root.used.get(resource_class) +
            static_cast<Amount>(rng.below(static_cast<std::uint64_t>(slack)));
    host.providers.push_back(std::move(root));
    return host;
}

}  // namespace

TimePoint now() {
    return TimePoint{std::chrono::seconds{1'800'000'000}};
}

Snapshot synthetic_cloud(const CloudSpec& spec) {
    SeededRng rng{spec.seed};
    Snapshot cloud;
    cloud.taken_at = now();
    Interner interner;  // as the daemon's cache keeps them
    cloud.hosts.reserve(static_cast<std::size_t>(spec.hosts));
    for (int i = 0; i < spec.hosts; ++i) {
        cloud.hosts.push_back(host_of(spec, i, rng));
        interner.share(cloud.hosts.back());
    }
    return cloud;
}

Request request_for(int i, int slots) {
    static constexpr std::array<Flavor, 4> wanted{
        {{"w.4", 4, 8192, 40}, {"w.2", 2, 4096, 20}, {"w.8", 8, 16384, 80}, {"w.r", 4, 24576, 40}}};
    const auto& flavor = wanted[static_cast<std::size_t>(i) % wanted.size()];
    Request request;
    request.id = RequestId{"req-" + std::to_string(i)};
    request.project = ProjectId{"regular"};
    request.slots = slots;
    request.resources = Resources{
        {"VCPU", flavor.vcpus}, {"MEMORY_MB", flavor.memory_mib}, {"DISK_GB", flavor.disk_gib}};
    return request;
}

}  // namespace reaper::bench
