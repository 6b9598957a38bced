#include "reaper/cloud/cache/assemble.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reaper/cloud/cache/host_parts.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

template <class Item, class Key>
std::vector<const Item*> sorted_by(const std::vector<Item>& items, Key key) {
    std::vector<const Item*> sorted;
    for (const auto& item : items) sorted.push_back(&item);
    std::ranges::stable_sort(sorted,
                             [&](const Item* a, const Item* b) { return key(*a) < key(*b); });
    return sorted;
}

/// Builds one snapshot; the records outlive it.
class Assembler {
public:
    Assembler(const CloudRecords& records, const Taggers& taggers, const TagData& tag_data)
        : records_{records}, taggers_{taggers}, tag_data_{tag_data} {}

    Snapshot run(TimePoint taken_at) {
        index();
        Snapshot snapshot;
        snapshot.taken_at = taken_at_ = taken_at;
        snapshot.revocable_classes = revocable_classes(taggers_);
        for (const auto* hypervisor : sorted_by(records_.hypervisors, [](const auto& h) {
                 return std::tie(h.name, h.id, h.service_host);
             }))
            add_host(*hypervisor, snapshot.hosts);
        place_servers(snapshot.hosts);
        for (auto& host : snapshot.hosts) sort_consumers(host);
        remark_unmatched();
        std::ranges::sort(remarks_);
        snapshot.remarks = std::move(remarks_);
        return snapshot;
    }

private:
    void index() {
        for (const auto& provider : records_.providers) {
            const bool root = provider.parent.empty() || provider.root == provider.id;
            providers_of_[root ? provider.id : provider.root].push_back(&provider);
        }
        for (const auto& [provider, state] : records_.states)
            for (const auto& [consumer, held] : state.allocations)
                if (!held.empty()) held_[consumer][provider] = held;
        for (const auto* service : sorted_by(records_.services, [](const auto& s) {
                 return std::tie(s.host, s.up, s.enabled, s.zone);
             }))
            services_.emplace(service->host, service);
    }

    void add_host(const HypervisorRecord& hypervisor, std::vector<Host>& hosts) {
        const auto tree = providers_of_.find(hypervisor.id);
        if (tree == providers_of_.end()) {
            remark("hypervisor " + hypervisor.name + " (" + hypervisor.id.str() +
                   ") has no resource provider in Placement: it is left out");
            return;
        }
        if (!matched_.insert(hypervisor.id).second) {
            remark("hypervisor " + hypervisor.name + " is listed twice: the second is left out");
            return;
        }
        Host host;
        host.id = hypervisor.id;
        host.name = hypervisor.name;
        host.service_host = hypervisor.service_host;
        host.read_at = taken_at_;
        add_service(host);
        in_allowed_aggregates(host, records_.aggregates);
        if (add_providers(tree->second, host)) hosts.push_back(std::move(host));
    }

    void add_service(Host& host) {
        const auto at = services_.find(host.service_host);
        const bool known = at != services_.end();
        set_service(host, known ? at->second : nullptr);
        if (known)
            matched_services_.insert(host.service_host);
        else
            remark("hypervisor " + host.name + ": " + host.why_unavailable +
                   "; it is taken to be down");
    }

    /// The tree, the root first. False (with a remark) if a part of it was not read: half a host
    /// is no host.
    bool add_providers(std::vector<const ProviderRecord*> tree, Host& host) {
        std::ranges::sort(tree, [&](const auto* a, const auto* b) {
            return std::pair(a->id != host.id, a->id) < std::pair(b->id != host.id, b->id);
        });
        tree.erase(std::unique(tree.begin(), tree.end(),
                               [](const auto* a, const auto* b) { return a->id == b->id; }),
                   tree.end());
        for (const auto* record : tree) {
            const auto state = records_.states.find(record->id);
            if (state == records_.states.end()) {
                remark("host " + host.name + " is left out: provider " + record->id.str() + " (" +
                       record->name + ") of its tree could not be read");
                return false;
            }
            Provider provider;
            provider.id = record->id;
            provider.name = record->name;
            provider.parent = record->parent;
            provider.inventories = state->second.inventories;
            provider.traits = state->second.traits;
            for (const auto& [consumer, held] : state->second.allocations) provider.used += held;
            host.providers.push_back(std::move(provider));
        }
        return true;
    }

    Server complete(const Server& told) const {
        Server server = told;
        if (const auto held = held_.find(server.id); held != held_.end())
            server.allocations = held->second;
        tag(server, taggers_, tag_data_);
        return server;
    }

    void place_servers(std::vector<Host>& hosts) {
        std::map<std::string, std::vector<Host*>> by_service;
        for (auto& host : hosts) by_service[host.service_host].push_back(&host);
        std::set<ServerId> seen;
        for (const auto* record :
             sorted_by(records_.servers, [](const auto& r) { return r.server.id; })) {
            if (record->server.host.empty() || !seen.insert(record->server.id).second) continue;
            Server server = complete(record->server);
            const auto at = by_service.find(server.host);
            if (at == by_service.end()) {
                remark("server " + server.id.str() + " is on host '" + printable(server.host) +
                       "', which is not known");
                continue;
            }
            Host& host = host_of(server, at->second);
            if (server.allocations.empty() && server.status == "ACTIVE")
                remark("server " + server.id.str() + " is ACTIVE on " + host.name +
                       ", but holds nothing in Placement");
            host.servers.push_back(std::move(server));
        }
    }

    /// One service may run several hypervisors (bare metal): the server is where it holds room.
    static Host& host_of(const Server& server, const std::vector<Host*>& hosts) {
        for (Host* host : hosts)
            for (const auto& provider : host->providers)
                if (server.allocations.contains(provider.id)) return *host;
        return *hosts.front();
    }

    /// What is held on the host's providers by others than its servers.
    void sort_consumers(Host& host) const {
        std::set<ServerId> own;
        for (const auto& server : host.servers) own.insert(server.id);
        for (auto& provider : host.providers)
            for (const auto& [consumer, held] : records_.states.at(provider.id).allocations)
                if (!own.contains(consumer) && !held.empty())
                    provider.other_consumers.emplace(consumer, held);
    }

    void remark_unmatched() {
        const ProviderId reservation_list{reservation_register::provider_id};  // is no host
        for (const auto& [root, tree] : providers_of_) {
            if (matched_.contains(root) || root == reservation_list) continue;
            std::string name;
            for (const auto* record : tree)
                if (record->id == root) name = " (" + record->name + ")";
            remark("provider " + root.str() + name + " has no hypervisor in Nova: it is left out");
        }
        for (const auto& [host, service] : services_)
            if (!matched_services_.contains(host))
                remark("compute service '" + host + "' has no hypervisor that can be used");
    }

    void remark(const std::string& text) { remarks_.push_back(printable(text, 1024)); }

    const CloudRecords& records_;
    const Taggers& taggers_;
    const TagData& tag_data_;
    TimePoint taken_at_{};
    std::map<HostId, std::vector<const ProviderRecord*>> providers_of_;  // by root
    std::map<ServerId, Allocations> held_;
    std::map<std::string, const ComputeServiceRecord*> services_;
    std::set<HostId> matched_;
    std::set<std::string> matched_services_;
    std::vector<std::string> remarks_;
};

}  // namespace

std::set<ResourceClass> revocable_classes(const Taggers& taggers) {
    std::set<ResourceClass> classes;
    for (const auto& tagger : taggers)
        if (auto marker = tagger->marker_class()) classes.insert(std::move(*marker));
    return classes;
}

Snapshot assemble(const CloudRecords& records, const Taggers& taggers, const TagData& tag_data,
                  TimePoint taken_at) {
    return Assembler{records, taggers, tag_data}.run(taken_at);
}

}  // namespace reaper
