#include "reaper/report/anonymize.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace reaper::report {
namespace {

constexpr std::string_view standard_tag = "preemptible";
constexpr const char* anonymous_reason = "it was revocable in the cloud that this was taken from";

bool hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash != (text[i] == '-')) return false;
        if (!dash) digits += text[i];
    }
    return hex(digits);
}

/// The replacements of one kind of name. First all originals are noted, then asked for.
class Names {
public:
    /// `word` is for names, `group` (8 digits) tells the kinds of UUIDs apart.
    Names(std::string word, std::string group) : word_(std::move(word)), group_(std::move(group)) {}

    void note(const std::string& original) {
        if (!original.empty()) names_.emplace(original, "");
    }
    /// No further ones.
    void number() {
        long n = 0;
        for (auto& [original, replacement] : names_) replacement = make(original, ++n);
    }
    std::string of(const std::string& original) const {
        return original.empty() ? original : names_.at(original);
    }
    template <class IdType>
    IdType of(const IdType& id) const {
        return IdType{of(id.str())};
    }

private:
    std::string make(const std::string& original, long n) const {
        constexpr std::string_view request = "req-";
        const bool of_request = original.starts_with(request);
        const std::string bare = original.substr(of_request ? request.size() : 0);
        char number[32];
        std::snprintf(number, sizeof number, "%012lx", n);
        const std::string prefix(of_request ? request : "");
        if (is_uuid(bare)) return prefix + group_ + "-0000-4000-8000-" + number;
        if (bare.size() == 32 && hex(bare)) return prefix + group_ + "000040008000" + number;
        std::snprintf(number, sizeof number, "%06ld", n);
        return prefix + word_ + "-" + number;
    }

    std::string word_, group_;
    std::map<std::string, std::string> names_;
};

/// Says something about resources or traits, in Placement's words, and nothing else.
bool harmless(const std::string& key, const std::string& value) {
    const auto upper = [](std::string_view text) {
        return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
            return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
        });
    };
    const std::size_t colon = key.find(':');
    if (colon == std::string::npos || !upper(std::string_view(key).substr(colon + 1))) return false;
    std::string_view kind(key.data(), colon);
    while (!kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())) != 0)
        kind.remove_suffix(1);
    const bool digits = !value.empty() && value.size() < 19 &&
                        std::all_of(value.begin(), value.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    return (kind == "resources" && digits) ||
           (kind == "trait" && (value == "required" || value == "forbidden"));
}

class Anonymizer {
public:
    explicit Anonymizer(const SnapshotFile& file) {
        // The first time, what there is is only noted.
        SnapshotFile copy = file;
        change(copy);
        for (Names* names :
             {&machines_, &providers_, &consumers_, &servers_, &projects_, &flavors_, &zones_,
              &aggregates_, &keys_, &values_, &tags_, &project_tags_, &requests_, &specs_})
            names->number();
        noting_ = false;
    }

    void change(SnapshotFile& file) {
        file.anonymous = true;
        file.snapshot.remarks.clear();
        for (Host& host : file.snapshot.hosts) change(host);
        change(file.tag_data);
        change(file.ledger);
    }

private:
    std::string swap(Names& names, const std::string& original) {
        if (!noting_) return names.of(original);
        names.note(original);
        return original;
    }
    template <class IdType>
    IdType swap(Names& names, const IdType& id) {
        return IdType{swap(names, id.str())};
    }
    std::set<std::string> swap_all(Names& names, const std::set<std::string>& originals) {
        std::set<std::string> all;
        for (const std::string& original : originals) all.insert(swap(names, original));
        return all;
    }
    template <class IdType>
    std::map<IdType, Resources> swap_keys(Names& names, const std::map<IdType, Resources>& held) {
        std::map<IdType, Resources> all;
        for (const auto& [id, resources] : held) all.emplace(swap(names, id), resources);
        return all;
    }

    void change(Host& host) {
        host.id = swap(providers_, host.id);
        host.name = swap(machines_, host.name);
        host.service_host = swap(machines_, host.service_host);
        host.why_unavailable.clear();
        host.availability_zone = swap(zones_, host.availability_zone);
        host.aggregates = swap_all(aggregates_, host.aggregates);
        change(host.member_of);
        for (Provider& provider : host.providers) change(provider);
        for (Server& server : host.servers) change(server);
    }
    /// Of the metadata, what decides who may go there.
    void change(Shared<HostAggregates>& aggregates) {
        HostAggregates changed;
        for (const auto& [uuid, aggregate] : aggregates) {
            HostAggregate one;
            one.name = swap(aggregates_, aggregate.name);
            for (const auto& [key, value] : aggregate.metadata) {
                if (key == "availability_zone") one.metadata.emplace(key, swap(zones_, value));
                if (key.starts_with("filter_tenant_id"))
                    one.metadata.emplace("filter_tenant_id" + std::to_string(one.metadata.size()),
                                         swap(projects_, value));
                if (harmless(key, value)) one.metadata.emplace(key, value);
            }
            changed.emplace(swap(aggregates_, uuid), std::move(one));
        }
        aggregates = std::move(changed);
    }
    void change(Provider& provider) {
        provider.id = swap(providers_, provider.id);
        provider.name = swap(machines_, provider.name);
        provider.parent = swap(providers_, provider.parent);
        provider.other_consumers = swap_keys(consumers_, provider.other_consumers);
    }
    void change(Server& server) {
        server.id = swap(consumers_, server.id);
        server.name = swap(servers_, server.name);
        server.project = swap(projects_, server.project);
        server.host = swap(machines_, server.host);
        server.flavor_name = swap(flavors_, server.flavor_name);
        std::map<std::string, std::string> specs, metadata;
        for (const auto& [key, value] : server.flavor_extra_specs) {
            if (harmless(key, value)) {
                specs.emplace(key, value);
            } else {
                const std::string replaced = swap(values_, value);
                specs.emplace(swap(specs_, key), replaced);
            }
        }
        for (const auto& [key, value] : server.metadata) {
            const std::string replaced = swap(values_, value);
            metadata.emplace(swap(keys_, key), replaced);
        }
        server.flavor_extra_specs = std::move(specs);
        server.metadata = std::move(metadata);
        server.tags = swap_all(tags_, server.tags);
        server.allocations = swap_keys(providers_, server.allocations.get());
        if (server.revocable_because) server.revocable_because = anonymous_reason;
    }
    void change(TagData& tag_data) {
        TagData changed;
        for (const auto& [tag, projects] : tag_data.projects_by_tag) {
            auto& ids =
                changed.projects_by_tag[tag == standard_tag ? tag : swap(project_tags_, tag)];
            for (const ProjectId& project : projects) ids.insert(swap(projects_, project));
        }
        tag_data = std::move(changed);
    }
    void change(Ledger& ledger) {
        auto evictions = ledger.evictions();
        for (Ledger::Eviction& eviction : evictions) {
            eviction.request = swap(requests_, eviction.request);
            eviction.host = swap(providers_, eviction.host);
            eviction.server = swap(consumers_, eviction.server);
        }
        auto promises = ledger.promises();
        for (Ledger::Promise& promise : promises) {
            promise.request = swap(requests_, promise.request);
            promise.project = swap(projects_, promise.project);
            promise.host = swap(providers_, promise.host);
            for (ServerId& requester : promise.requesters) requester = swap(consumers_, requester);
            if (!promise.group.empty()) promise.group = swap(aggregates_, promise.group);
        }
        ledger = Ledger(evictions, std::move(promises));
    }

    bool noting_ = true;
    Names machines_{"host", "00000001"}, providers_{"provider", "00000002"},
        consumers_{"consumer", "00000003"}, projects_{"project", "00000004"},
        requests_{"request", "00000005"}, servers_{"server", "00000006"},
        flavors_{"flavor", "00000007"}, zones_{"zone", "00000008"},
        aggregates_{"aggregate", "00000009"}, keys_{"key", "0000000a"},
        values_{"value", "0000000b"}, tags_{"tag", "0000000c"},
        project_tags_{"project-tag", "0000000d"}, specs_{"spec", "0000000e"};
};

}  // namespace

SnapshotFile anonymized(const SnapshotFile& file) {
    Anonymizer anonymizer(file);
    SnapshotFile changed = file;
    anonymizer.change(changed);
    return changed;
}

}  // namespace reaper::report
