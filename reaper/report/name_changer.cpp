#include "reaper/report/name_changer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace reaper::report {
namespace {

constexpr std::string_view standard_tag = "preemptible";
constexpr const char* anonymous_reason = "it was revocable in the cloud that this was taken from";
constexpr const char* left_out = "left out: anonymous";

/// By kind: what the word begins with.
constexpr std::array<const char*, name_kinds> kind_words{
    "host",      "provider", "consumer", "project", "request",     "server", "flavor", "zone",
    "aggregate", "key",      "value",    "tag",     "project-tag", "spec",   "image"};

bool is_hex(std::string_view text) {
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
    return is_hex(digits);
}

/// Says something about resources or traits, in Placement's words, and nothing else.
bool is_harmless(const std::string& key, const std::string& value) {
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

}  // namespace

std::string pseudonym(NameKind kind, const std::string& original, std::string digits) {
    constexpr std::string_view of_request = "req-";
    constexpr std::size_t most = 22;
    const auto number = static_cast<std::size_t>(kind);
    const bool request = original.starts_with(of_request);
    const std::string bare = original.substr(request ? of_request.size() : 0);
    const std::string prefix(request ? of_request : "");
    const bool with_dashes = is_uuid(bare);
    if (!with_dashes && (bare.size() != 32 || !is_hex(bare))) {
        constexpr std::size_t short_ones = 6;
        if (digits.size() < short_ones) digits.insert(0, short_ones - digits.size(), '0');
        return prefix + kind_words[number] + "-" + digits;
    }
    if (digits.size() < most) digits.insert(0, most - digits.size(), '0');
    const std::string group = std::string("0000000") + "123456789abcdef"[number];
    const std::string dash = with_dashes ? "-" : "";
    return prefix + group + dash + digits.substr(0, 4) + dash + "4" + digits.substr(4, 3) + dash +
           "8" + digits.substr(7, 3) + dash + digits.substr(10, 12);
}

std::string NameChanger::of(NameKind kind, const std::string& original) const {
    return original.empty() ? original : rename_(kind, original);
}

void NameChanger::change(Host& host) const {
    host.id = of(NameKind::provider, host.id);
    host.name = of(NameKind::machine, host.name);
    host.service_host = of(NameKind::machine, host.service_host);
    host.why_unavailable.clear();
    host.availability_zone = of(NameKind::zone, host.availability_zone);
    host.aggregates = all_of(NameKind::aggregate, host.aggregates);
    if (host.placement_aggregates)
        host.placement_aggregates = all_of(NameKind::aggregate, *host.placement_aggregates);
    change(host.member_of);
    for (Provider& provider : host.providers) change(provider);
    for (Server& server : host.servers) change(server);
}

/// Of the metadata, what decides who may go there.
void NameChanger::change(Shared<HostAggregates>& aggregates) const {
    HostAggregates changed;
    for (const auto& [uuid, aggregate] : aggregates) {
        HostAggregate one;
        one.name = of(NameKind::aggregate, aggregate.name);
        for (const auto& [key, value] : aggregate.metadata) {
            if (key == "availability_zone") one.metadata.emplace(key, of(NameKind::zone, value));
            if (key.starts_with("filter_tenant_id"))
                one.metadata.emplace("filter_tenant_id" + std::to_string(one.metadata.size()),
                                     of(NameKind::project, value));
            if (is_harmless(key, value)) one.metadata.emplace(key, value);
        }
        changed.emplace(of(NameKind::aggregate, uuid), std::move(one));
    }
    aggregates = std::move(changed);
}

void NameChanger::change(Provider& provider) const {
    provider.id = of(NameKind::provider, provider.id);
    provider.name = of(NameKind::machine, provider.name);
    provider.parent = of(NameKind::provider, provider.parent);
    std::map<ServerId, Resources> others;
    for (const auto& [id, resources] : provider.other_consumers)
        others.emplace(of(NameKind::consumer, id), resources);
    provider.other_consumers = std::move(others);
}

std::map<std::string, std::string> NameChanger::specs(
    const std::map<std::string, std::string>& all) const {
    std::map<std::string, std::string> changed;
    for (const auto& [key, value] : all) {
        if (is_harmless(key, value)) {
            changed.emplace(key, value);
        } else {
            const std::string replaced = of(NameKind::value, value);
            changed.emplace(of(NameKind::spec, key), replaced);
        }
    }
    return changed;
}

void NameChanger::change(Server& server) const {
    server.id = of(NameKind::consumer, server.id);
    server.name = of(NameKind::server, server.name);
    server.project = of(NameKind::project, server.project);
    server.host = of(NameKind::machine, server.host);
    server.flavor_name = of(NameKind::flavor, server.flavor_name);
    server.flavor_extra_specs = specs(server.flavor_extra_specs);
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : server.metadata) {
        const std::string replaced = of(NameKind::value, value);
        metadata.emplace(of(NameKind::key, key), replaced);
    }
    server.metadata = std::move(metadata);
    server.tags = all_of(NameKind::tag, server.tags.get());
    Allocations held;
    for (const auto& [id, resources] : server.allocations)
        held.emplace(of(NameKind::provider, id), resources);
    server.allocations = std::move(held);
    if (server.revocable_because) server.revocable_because = anonymous_reason;
    if (!server.protected_because.empty()) server.protected_because = anonymous_reason;
}

void NameChanger::change(TagData& tag_data) const {
    TagData changed;
    for (const auto& [tag, projects] : tag_data.projects_by_tag) {
        const std::string name = tag == standard_tag ? tag : of(NameKind::project_tag, tag);
        changed.projects_by_tag[name] = all_of(NameKind::project, projects);
    }
    tag_data = std::move(changed);
}

void NameChanger::change(Ledger& ledger) const {
    auto evictions = ledger.evictions();
    for (Ledger::Eviction& eviction : evictions) {
        eviction.request = of(NameKind::request, eviction.request);
        eviction.host = of(NameKind::provider, eviction.host);
        eviction.server = of(NameKind::consumer, eviction.server);
    }
    auto promises = ledger.promises();
    for (Ledger::Promise& promise : promises) {
        promise.request = of(NameKind::request, promise.request);
        promise.project = of(NameKind::project, promise.project);
        promise.host = of(NameKind::provider, promise.host);
        for (ServerId& requester : promise.requesters)
            requester = of(NameKind::consumer, requester);
        promise.group = of(NameKind::aggregate, promise.group);
    }
    ledger = Ledger(evictions, std::move(promises));
}

void NameChanger::change(PlacementConstraints& placement) const {
    ServerGroup& group = placement.group;
    group.id = of(NameKind::aggregate, group.id);
    group.name = of(NameKind::aggregate, group.name);
    group.members = all_of(NameKind::consumer, group.members);
    placement.only_hosts = all_of(NameKind::machine, placement.only_hosts);
    placement.first_hosts = all_of(NameKind::machine, placement.first_hosts);
    placement.why_only.clear();
    for (auto& set : placement.aggregates) set = all_of(NameKind::aggregate, set);
    placement.with = all_of(NameKind::consumer, placement.with);
    placement.apart_from = all_of(NameKind::consumer, placement.apart_from);
}

void NameChanger::change(Request& request) const {
    request.id = of(NameKind::request, request.id);
    request.project = of(NameKind::project, request.project);
    request.project_name.clear();
    request.requester_names.clear();
    for (ServerId& requester : request.requesters) requester = of(NameKind::consumer, requester);
    if (request.availability_zone)
        request.availability_zone = of(NameKind::zone, *request.availability_zone);
    std::map<std::string, std::string> excluded;
    for (const auto& [host, why] : request.excluded_hosts)
        excluded.emplace(of(NameKind::machine, host), left_out);
    request.excluded_hosts = std::move(excluded);
    request.from_host = of(NameKind::machine, request.from_host);
    change(request.placement);
    request.flavor = of(NameKind::flavor, request.flavor);
    request.flavor_extra_specs = specs(request.flavor_extra_specs);
    request.image = of(NameKind::image, request.image);
    if (!request.phases_because.empty()) request.phases_because = left_out;
    request.role = Role{};
    request.lent_by.clear();
    request.victims_among = all_of(NameKind::consumer, request.victims_among);
    if (request.approved) {
        request.approved->by = left_out;
        request.approved->victims = all_of(NameKind::consumer, request.approved->victims);
    }
    if (!request.correction) return;
    request.correction->host = of(NameKind::provider, request.correction->host);
    request.correction->host_name = of(NameKind::machine, request.correction->host_name);
    for (CorrectedServer& each : request.correction->servers) {
        each.server = of(NameKind::consumer, each.server);
        each.reason = left_out;
    }
}

void NameChanger::change(HostPlan& host) const {
    host.host = of(NameKind::provider, host.host);
    host.host_name = of(NameKind::machine, host.host_name);
    host.reason = left_out;
    for (Victim& victim : host.victims) {
        victim.server = of(NameKind::consumer, victim.server);
        victim.name = of(NameKind::server, victim.name);
        victim.project = of(NameKind::project, victim.project);
        victim.host = of(NameKind::machine, victim.host);
        victim.reason = left_out;
        victim.workload = of(NameKind::value, victim.workload);
        victim.flavor = of(NameKind::flavor, victim.flavor);
        victim.project_name.clear();
    }
    for (SparedServer& spared : host.spared) {
        spared.server = of(NameKind::consumer, spared.server);
        spared.name = of(NameKind::server, spared.name);
        spared.project = of(NameKind::project, spared.project);
        spared.project_name.clear();
        spared.reason = left_out;
    }
    for (PendingRelease& release : host.pending_releases) {
        release.server = of(NameKind::consumer, release.server);
        release.name = of(NameKind::server, release.name);
        release.project = of(NameKind::project, release.project);
        release.host = of(NameKind::machine, release.host);
        release.reason = left_out;
    }
}

void NameChanger::change(Decision& decision) const {
    if (auto* const plan = std::get_if<Plan>(&decision)) {
        plan->request = of(NameKind::request, plan->request);
        for (HostPlan& host : plan->hosts) change(host);
        plan->rejected.clear();
        for (RejectionCount& count : plan->rejected_counts) count.sample.clear();
        plan->note.clear();
    } else if (auto* const nothing = std::get_if<NothingToDo>(&decision)) {
        for (HostPlan& host : nothing->hosts) change(host);
        nothing->reason = left_out;
    } else if (auto* const too_little = std::get_if<NotEnough>(&decision)) {
        too_little->rejected.clear();
        for (RejectionCount& count : too_little->rejected_counts) count.sample.clear();
        too_little->reason = left_out;
    } else {
        std::get<Refused>(decision).reason = left_out;
    }
}

void NameChanger::change(std::map<ServerId, std::string>& skipped) const {
    std::map<ServerId, std::string> changed;
    for (const auto& [server, why] : skipped)
        changed.emplace(of(NameKind::consumer, server), left_out);
    skipped = std::move(changed);
}

}  // namespace reaper::report
