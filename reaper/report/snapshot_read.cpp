// From the text of a snapshot file back to values, host by host. Exceptions end in this file.
#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "reaper/json/json_parts.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/snapshot_file.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr std::size_t max_classes = 500;    // of all inventories
constexpr std::size_t max_remark = 16'384;  // bytes

void check_version(const json& version) {
    if (version == snapshot_version) return;
    throw WrongJson{"version " + printable(version.dump(), 30) +
                    " of the format; this reaper reads " + std::to_string(snapshot_version)};
}

void check_format(const json& document) {
    if (document.is_null() || document.value("format", json()) != "reaper-snapshot") {
        throw WrongJson{"not a snapshot of the reaper (it has no \"format\": \"reaper-snapshot\")"};
    }
    const JsonPlace top(document);
    check_version(top["version"].value());
}

/// No duplicates: hosts, providers and servers have ids of their own.
void check_ids(const Snapshot& snapshot) {
    std::set<ProviderId> providers;
    std::set<ServerId> servers;
    for (const Host& host : snapshot.hosts) {
        const std::string on = " (host " + printable(host.name) + ")";
        for (const Provider& provider : host.providers)
            if (!providers.insert(provider.id).second)
                throw WrongJson{"provider " + printable(provider.id.str()) + " is there twice" +
                                on};
        for (const Server& server : host.servers) {
            if (!servers.insert(server.id).second)
                throw WrongJson{"server " + printable(server.id.str()) + " is there twice" + on};
            if (!server.host.empty() && server.host != host.service_host)
                throw WrongJson{"server " + printable(server.id.str()) + on + " names the host " +
                                in_quotes(server.host) + ", where it stands under " +
                                in_quotes(host.service_host)};
        }
    }
}

using HeldOf = std::map<ResourceClass, Amount>;

void add_held(HeldOf& sum, const Resources& held) {
    for (const auto& [resource_class, amount] : held) {
        Amount& all = sum[resource_class];
        all = saturating_add(all, amount);
    }
}

/// What servers of the host hold on its providers is part of what is used, with what others hold.
void check_use(const Host& host) {
    std::map<ProviderId, HeldOf> by_servers;
    for (const Server& server : host.servers)
        for (const auto& [id, resources] : server.allocations) add_held(by_servers[id], resources);
    for (const Provider& provider : host.providers) {
        HeldOf& held = by_servers[provider.id];
        for (const auto& [consumer, resources] : provider.other_consumers)
            add_held(held, resources);
        for (const auto& [resource_class, amount] : held)
            if (amount > provider.used.get(resource_class))
                throw WrongJson{"provider " + printable(provider.id.str()) + " (host " +
                                printable(host.name) + ") has used " + resource_class.str() + "=" +
                                std::to_string(provider.used.get(resource_class)) +
                                ", but its consumers hold " + std::to_string(amount)};
    }
}

void check_holdings(const Snapshot& snapshot) {
    std::set<ProviderId> providers;
    std::set<ResourceClass> classes;
    for (const Host& host : snapshot.hosts)
        for (const Provider& provider : host.providers) {
            providers.insert(provider.id);
            for (const auto& [resource_class, inventory] : provider.inventories)
                classes.insert(resource_class);
        }
    if (classes.size() > max_classes)
        throw WrongJson{"inventories of " + std::to_string(classes.size()) +
                        " resource classes, where " + std::to_string(max_classes) +
                        " are the most"};
    for (const Host& host : snapshot.hosts) {
        for (const Server& server : host.servers)
            for (const auto& [provider, held] : server.allocations)
                if (!providers.contains(provider))
                    throw WrongJson{"server " + printable(server.id.str()) + " (host " +
                                    printable(host.name) + ") holds something on provider " +
                                    printable(provider.str()) + ", which no host has"};
        check_use(host);
    }
}

/// Takes each host as soon as it is read; the version stands before them.
json read_parts(std::string_view text, std::vector<Host>& hosts) {
    static const std::set<std::string> known{"format", "version",           "taken_at", "anonymous",
                                             "facts",  "revocable_classes", "ledger",   "remarks",
                                             "hosts",  "project_names"};
    JsonParts parts;
    parts.keeps = [](const std::string& member) { return known.contains(member); };
    parts.hands_out = [](const std::string& member) { return member == "hosts"; };
    parts.plain = [](const std::string& member, const json& value) {
        if (member == "version") check_version(value);
    };
    parts.element = [&](const std::string& member, std::size_t index, const json& value) {
        hosts.push_back(host_in(JsonPlace(value, member, index)));
    };
    return read_json_parts(text, parts);
}

/// The holders and servers on each host of the snapshot.
std::map<HostId, std::set<ServerId>> holders_of(const Snapshot& snapshot) {
    std::map<HostId, std::set<ServerId>> holders;
    for (const Host& host : snapshot.hosts) {
        std::set<ServerId>& here = holders[host.id];
        for (const Server& server : host.servers) here.insert(server.id);
        for (const Provider& provider : host.providers)
            for (const auto& [consumer, held] : provider.other_consumers) here.insert(consumer);
    }
    return holders;
}

/// What the ledger has of servers and hosts that are not there frees and keeps nothing.
void remark_strangers(const Ledger& ledger, Snapshot& snapshot) {
    if (ledger.empty()) return;
    const auto holders = holders_of(snapshot);
    std::size_t evictions = 0;
    std::string first;
    for (const Ledger::Eviction& eviction : ledger.evictions()) {
        const auto host = holders.find(eviction.host);
        if (eviction.ended || (host != holders.end() && host->second.contains(eviction.server)))
            continue;
        if (evictions++ == 0)
            first = "server " + printable(eviction.server.str()) + " on host " +
                    printable(eviction.host.str());
    }
    std::size_t promises = 0;
    std::string where;
    for (const Ledger::Promise& promise : ledger.promises())
        if (!holders.contains(promise.host) && promises++ == 0)
            where = "host " + printable(promise.host.str());
    const auto remark = [&](std::size_t count, const char* what, const std::string& example) {
        if (count > 0)
            snapshot.remarks.push_back("ledger: " + std::to_string(count) + " of its " + what +
                                       " name what is not in the snapshot, the first " + example);
    };
    remark(evictions, "evictions", first);
    remark(promises, "promises", where);
}

void read_remarks(const JsonPlace& in, Snapshot& snapshot) {
    std::size_t more = 0;
    in.each([&](const JsonPlace& remark) {
        std::string text = remark.text(max_remark);
        if (snapshot.remarks.size() < max_snapshot_remarks)
            snapshot.remarks.push_back(std::move(text));
        else
            ++more;
    });
    if (more > 0) snapshot.remarks.back() = more_remarks(more + 1);
}

SnapshotFile read(std::string_view text) {
    SnapshotFile file;
    Snapshot& snapshot = file.snapshot;
    const json document = read_parts(text, snapshot.hosts);
    check_format(document);
    const JsonPlace in(document);
    snapshot.taken_at = in["taken_at"].time();
    file.anonymous = in["anonymous"].boolean();
    file.tag_data = tag_data_in(in["facts"]);
    if (const auto classes = in.maybe("revocable_classes"))
        classes->each([&](const JsonPlace& each) {
            snapshot.revocable_classes.emplace(upper_name(each, each.text()));
        });
    if (const auto names = in.maybe("project_names"))
        snapshot.project_names = project_names_in(*names);
    file.ledger = ledger_in(in["ledger"]);
    read_remarks(in["remarks"], snapshot);
    in["hosts"].each([](const JsonPlace&) {});
    check_ids(snapshot);
    check_holdings(snapshot);
    remark_strangers(file.ledger, snapshot);
    std::sort(snapshot.hosts.begin(), snapshot.hosts.end(), [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return file;
}

}  // namespace

Result<SnapshotFile> read_snapshot(std::string_view text) {
    return guarded([&] { return read(text); });
}

}  // namespace reaper::report
