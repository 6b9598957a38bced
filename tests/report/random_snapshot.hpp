// Snapshots by seed: every field is used somewhere, names hold what cloud users can type.
#pragma once

#include <algorithm>
#include <random>
#include <tuple>

#include "reaper/report/snapshot_file.hpp"

namespace reaper::report::test {

class RandomSnapshot {
public:
    explicit RandomSnapshot(unsigned seed) : random_(seed) {}

    SnapshotFile make() {
        SnapshotFile file;
        file.snapshot.taken_at = time();
        for (int i = below(4); i > 0; --i) file.snapshot.hosts.push_back(host());
        std::sort(file.snapshot.hosts.begin(), file.snapshot.hosts.end(),
                  [](const Host& a, const Host& b) {
                      return std::tie(a.name, a.id) < std::tie(b.name, b.id);
                  });
        for (int i = below(3); i > 0; --i) file.snapshot.remarks.push_back(word());
        for (int i = below(3); i > 0; --i)
            for (int j = below(3); j > 0; --j)
                file.tag_data.projects_by_tag["tag " + word()].insert(project());
        std::vector<Ledger::Eviction> evictions;
        for (int i = below(3); i > 0; --i)
            evictions.push_back({RequestId{"req-" + uuid()}, HostId{uuid()}, ServerId{uuid()},
                                 maybe() ? std::optional(time()) : std::nullopt});
        std::vector<Ledger::Promise> promises;
        for (int i = below(3); i > 0; --i)
            promises.push_back({RequestId{"req-" + uuid()},
                                project(),
                                HostId{uuid()},
                                resources(),
                                below(5),
                                {ServerId{uuid()}},
                                time(),
                                maybe() ? std::optional(time()) : std::nullopt});
        file.ledger = Ledger(evictions, promises);
        return file;
    }

    std::string uuid() {
        std::string text = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
        for (char& c : text)
            if (c == 'x') c = "0123456789abcdef"[below(16)];
        return text;
    }
    std::string word() {
        static const char* const parts[] = {"wéb ", "\"db\"",     "\\x", "\n",
                                            "zzz",  "\U0001F600", "q/"};
        std::string text;
        for (int i = 1 + below(3); i > 0; --i) text += parts[below(7)];
        return text + std::to_string(1000 + below(9000)) + "!";
    }

private:
    int below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
    bool maybe() { return below(2) == 0; }
    TimePoint time() { return TimePoint{Duration{1'700'000'000'000LL + below(2'000'000'000)}}; }
    ProjectId project() {
        std::string id = uuid();
        if (maybe()) std::erase(id, '-');
        return ProjectId{id};
    }
    Resources resources() {
        Resources all;
        for (const char* name : {"VCPU", "MEMORY_MB", "CUSTOM_GOLD"})
            if (maybe()) all.set(ResourceClass{name}, below(1'000'000));
        return all;
    }
    std::map<std::string, std::string> words() {
        std::map<std::string, std::string> all;
        for (int i = below(3); i > 0; --i) all[word()] = word();
        return all;
    }
    Provider provider(const HostId& parent) {
        Provider made;
        made.id = ProviderId{uuid()};
        made.name = word();
        made.parent = parent;
        for (const char* name : {"VCPU", "MEMORY_MB"})
            if (maybe())
                made.inventories[ResourceClass{name}] = {
                    below(100), below(3),        0.1 + below(160) / 10.0,
                    1,          1 + below(1000), 1 + below(4)};
        made.used = resources();
        if (maybe()) made.traits = {Trait{"CUSTOM_FAST"}, Trait{"COMPUTE_NODE"}};
        if (maybe()) made.other_consumers[ServerId{uuid()}] = resources();
        return made;
    }
    Server server(const Host& host) {
        Server made;
        made.id = ServerId{uuid()};
        made.name = word();
        made.project = project();
        made.host = host.service_host;
        made.status = "ACTIVE";
        made.task_state = maybe() ? "migrating" : "";
        made.locked = maybe();
        made.unfinished_deletion = maybe();
        made.created = time();
        if (maybe()) made.launched = time();
        made.flavor_name = word();
        made.flavor_extra_specs = words();
        made.flavor_extra_specs.insert_or_assign("resources1:CUSTOM_GOLD", std::string("1"));
        made.metadata = words();
        if (maybe()) made.tags = {word()};
        for (const Provider& one : host.providers)
            if (maybe()) made.allocations.insert_or_assign(one.id, resources());
        if (maybe()) made.revocable_because = "its project " + made.project.str();
        return made;
    }
    Host host() {
        Host made;
        made.name = word();
        made.service_host = maybe() ? made.name : word();
        made.enabled = maybe();
        made.up = maybe();
        made.why_unavailable = maybe() ? word() : "";
        made.availability_zone = word();
        if (maybe()) made.aggregates = {word()};
        if (maybe())
            made.member_of = HostAggregates{{uuid(), {word(), {{"filter_tenant_id", uuid()}}}},
                                            {uuid(), {word(), {}}}};
        made.providers.push_back(provider({}));
        made.id = made.providers.front().id;
        for (int i = below(3); i > 0; --i) made.providers.push_back(provider(made.id));
        std::sort(made.providers.begin() + 1, made.providers.end(),
                  [](const Provider& a, const Provider& b) { return a.id < b.id; });
        for (int i = below(5); i > 0; --i) made.servers.push_back(server(made));
        for (Provider& provider : made.providers) {
            for (const Server& one : made.servers)
                if (const auto held = one.allocations.find(provider.id);
                    held != one.allocations.end())
                    provider.used += held->second;
            for (const auto& [consumer, held] : provider.other_consumers) provider.used += held;
        }
        std::sort(made.servers.begin(), made.servers.end(),
                  [](const Server& a, const Server& b) { return a.id < b.id; });
        return made;
    }

    std::mt19937 random_;
};

}  // namespace reaper::report::test
