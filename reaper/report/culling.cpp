#include "reaper/report/culling.hpp"

#include <set>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

void append(std::string& members, const std::string& name, const json& value) {
    if (!members.empty()) members += ",";
    members += dump(json(name)) + ":" + dump(value);
}

/// All providers of the host together.
ClassUse total(const CullingCandidate& candidate, const ResourceClass& resource_class) {
    ClassUse sum;
    for (const auto& [provider, classes] : candidate.providers) {
        const auto at = classes.find(resource_class);
        if (at == classes.end()) continue;
        sum.used += at->second.used;
        sum.capacity += at->second.capacity;
    }
    return sum;
}

Resources held_by_preemptible(const CullingCandidate& candidate) {
    Resources sum;
    for (const auto& [provider, consumers] : candidate.preemptible)
        for (const auto& [consumer, held] : consumers) sum += held;
    return sum;
}

std::size_t preemptible_servers(const CullingCandidate& candidate) {
    std::set<ServerId> all;
    for (const auto& [provider, consumers] : candidate.preemptible)
        for (const auto& [consumer, held] : consumers) all.insert(consumer);
    return all.size();
}

std::map<std::string, CullingCandidate> candidates_in(const JsonPlace& in) {
    std::map<std::string, CullingCandidate> by_name;
    std::map<std::string, std::string> host_of;  // by provider
    in["provider_summaries"].each_member([&](const std::string& id, const JsonPlace& summary) {
        const std::string name = summary["host"].text();
        host_of[id] = name;
        CullingCandidate& candidate = by_name[name];
        candidate.host_name = name;
        candidate.host = HostId{candidate.providers.empty() ? id : std::string{}};
        candidate.has_room = summary["has_room"].boolean();
        auto& classes = candidate.providers[ProviderId{id}];
        summary["resources"].each_member([&](const std::string& word, const JsonPlace& use) {
            classes[ResourceClass{word}] = {use["used"].amount(), use["capacity"].amount()};
        });
    });
    in["preemptible_allocations"].each_member([&](const std::string& id, const JsonPlace& held) {
        const auto host = host_of.find(id);
        if (host == host_of.end()) held.fail("is of no provider in provider_summaries");
        auto& consumers = by_name[host->second].preemptible[ProviderId{id}];
        held.each_member([&](const std::string& consumer, const JsonPlace& amounts) {
            consumers[ServerId{consumer}] = amounts.resources();
        });
    });
    return by_name;
}

}  // namespace

Result<std::vector<CullingCandidate>> candidates_from_json(const json& document) {
    auto by_name = read_json(document, "list of candidates", candidates_in);
    if (!by_name) return by_name.error();
    std::vector<CullingCandidate> all;
    for (auto& [name, candidate] : *by_name) all.push_back(std::move(candidate));
    return all;
}

void CullingJson::add(const CullingCandidate& candidate) {
    for (const auto& [provider, classes] : candidate.providers) {
        json uses = json::object();
        for (const auto& [name, use] : classes)
            uses[name.str()] = {{"used", use.used}, {"capacity", use.capacity}};
        append(summaries_, provider.str(),
               {{"host", candidate.host_name},
                {"has_room", candidate.has_room},
                {"resources", std::move(uses)}});
    }
    for (const auto& [provider, consumers] : candidate.preemptible) {
        json held = json::object();
        for (const auto& [consumer, resources] : consumers)
            held[consumer.str()] = to_json(resources);
        append(allocations_, provider.str(), held);
    }
}

std::string CullingJson::finish(const Resources& resources, TimePoint taken_at) {
    std::string text = "{\"version\":" + std::to_string(json_version) +
                       ",\"resources\":" + dump(to_json(resources)) + ",\"taken_at\":\"" +
                       iso_time(taken_at) + "\",\"provider_summaries\":{";
    text += std::exchange(summaries_, {});
    text += "},\"preemptible_allocations\":{";
    text += std::exchange(allocations_, {});
    return text + "}}";
}

Table candidates_table(const std::vector<CullingCandidate>& candidates, const Resources& resources,
                       std::optional<std::size_t> hosts) {
    Table table;
    table.columns = {column("host"), column("room"), number("servers"), wide("id")};
    const auto classes = classes_of({resources});
    for (const auto& name : classes)
        for (const char* const what : {"_used", "_capacity", "_preemptible"})
            table.columns.push_back(number(name.str() + what));
    std::size_t with_room = 0;
    for (const auto& candidate : candidates) {
        with_room += candidate.has_room ? 1 : 0;
        const Resources held = held_by_preemptible(candidate);
        std::vector<Cell> cells{text_cell(candidate.host_name),
                                std::string{candidate.has_room ? "yes" : "by culling"},
                                static_cast<std::int64_t>(preemptible_servers(candidate)),
                                text_cell(candidate.host.str())};
        for (const auto& name : classes) {
            const ClassUse use = total(candidate, name);
            for (const Amount amount : {use.used, use.capacity, held.get(name)})
                cells.emplace_back(amount);
        }
        table.rows.push_back(std::move(cells));
    }
    table.none = "No candidates.";
    table.summary = counted(candidates.size(), "candidate") +
                    (hosts ? " of " + counted(*hosts, "host") : "") + " for " +
                    to_string(resources) + ": " + std::to_string(with_room) +
                    " with room as it is, " + std::to_string(candidates.size() - with_room) +
                    " if preemptible servers go";
    return table;
}

}  // namespace reaper::report
