#include "reaper/report/render_parts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::report {

std::size_t width_of(const RenderOptions& options) {
    return static_cast<std::size_t>(std::clamp(options.width, 40, 1000));
}

std::string age(TimePoint created, const RenderOptions& options) {
    return options.now ? format_duration(*options.now - created) : format_time(created);
}

std::string age_head(const RenderOptions& options) {
    return options.now ? "AGE" : "CREATED";
}

std::string request_lines(const Request& request, const RenderOptions& options) {
    const Paint paint{options.color};
    const std::size_t width = width_of(options);
    std::string text = paint.bold("Request " + safe(request.id.str())) + "\n";
    text += "  " + counted(static_cast<std::size_t>(std::max(request.slots, 0)), "slot") + " of " +
            safe(to_string(request.resources)) + "\n";
    std::string about = std::string{to_string(request.operation)} + " for project " +
                        (request.project.empty() ? "(unknown)" : request.project.str());
    if (request.availability_zone) about += ", availability zone " + *request.availability_zone;
    text += wrapped(about, 2, width);
    std::string constraints;
    for (const auto& trait : request.required_traits) constraints += ", requires " + trait.str();
    for (const auto& trait : request.forbidden_traits) constraints += ", refuses " + trait.str();
    for (const auto& [host, why] : request.excluded_hosts)
        constraints += ", not on " + host + " (" + why + ")";
    const PlacementConstraints& placement = request.placement;
    if (!placement.group.policy.empty())
        constraints +=
            ", server group " + placement.group.name + " (" + placement.group.policy + ")";
    for (const auto& host : placement.only_hosts) constraints += ", only on " + host;
    if (!placement.aggregates.empty()) constraints += ", in requested aggregates only";
    for (const auto& server : placement.with) constraints += ", on the host of " + server.str();
    for (const auto& server : placement.apart_from)
        constraints += ", not on the host of " + server.str();
    if (!constraints.empty()) text += wrapped(constraints.substr(2), 2, width);
    if (request.phases != Phases{} || !request.phases_because.empty())
        text += wrapped("res-type " + to_string(request.phases) +
                            (request.phases_because.empty() ? "" : " by " + request.phases_because),
                        2, width);
    std::string requesters;
    for (const auto& server : request.requesters) requesters += ", " + server.str();
    if (!requesters.empty())
        text += wrapped("requesting servers: " + requesters.substr(2), 2, width);
    return text;
}

std::vector<ResourceClass> classes_of(const std::vector<Resources>& vectors) {
    std::set<ResourceClass> found;
    for (const auto& vector : vectors)
        for (const auto& [resource_class, amount] : vector) found.insert(resource_class);
    std::vector<ResourceClass> ordered;
    for (const char* const usual : {"VCPU", "MEMORY_MB", "DISK_GB"})
        if (found.erase(ResourceClass{usual}) > 0) ordered.emplace_back(usual);
    ordered.insert(ordered.end(), found.begin(), found.end());
    return ordered;
}

TextTable room_table(const Resources& request, const Resources& before, const Resources& after) {
    using Align = TextTable::Align;
    TextTable table{
        {{"ROOM"}, {"BEFORE", Align::right}, {"AFTER", Align::right}, {"ONE SLOT", Align::right}}};
    for (const auto& each : classes_of({request, before, after}))
        table.row({each.str(), std::to_string(before.get(each)), std::to_string(after.get(each)),
                   std::to_string(request.get(each))});
    return table;
}

TextTable victim_table(const std::vector<Victim>& victims, const RenderOptions& options) {
    TextTable table{{{"VICTIM"}, {"ID"}, {"PROJECT"}, {age_head(options)}, {"FREES"}}};
    for (const auto& victim : victims) {
        table.row({shortened(safe(victim.name), 40), victim.server.str(), victim.project.str(),
                   age(victim.created, options), to_string(victim.resources)});
        table.note(victim.reason);
    }
    return table;
}

std::string rejected_lines(const std::vector<Rejection>& rejected,
                           const std::vector<RejectionCount>& counts,
                           const RenderOptions& options) {
    struct OfCode {
        std::vector<const Rejection*> told;
        std::size_t hosts = 0;
    };
    std::map<RejectionCode, OfCode, std::greater<>> by_code;
    for (const auto& each : rejected) by_code[each.code].told.push_back(&each);
    for (const auto& each : counts)
        by_code[each.code].hosts = static_cast<std::size_t>(std::max(each.hosts, 0));
    std::size_t all = 0;
    for (auto& [code, hosts] : by_code)
        all += hosts.hosts = std::max(hosts.hosts, hosts.told.size());
    if (all == 0) return "";
    const Paint paint{options.color};
    const std::size_t width = width_of(options);
    std::string text = paint.bold("Not used: " + counted(all, "host")) + "\n";
    for (const auto& [code, hosts] : by_code) {
        text += "  " + std::string{to_string(code)} + ": " + counted(hosts.hosts, "host") + "\n";
        const auto shown = std::min(hosts.told.size(),
                                    static_cast<std::size_t>(std::max(options.max_rejected, 0)));
        for (std::size_t i = 0; i < shown; ++i)
            text += wrapped(hosts.told[i]->host_name + ": " + hosts.told[i]->reason, 4, width);
        if (shown < hosts.hosts) {
            const std::string rest = std::to_string(hosts.hosts - shown);
            text += shown == 0 ? "    " + rest + " not shown\n" : "    and " + rest + " more\n";
        }
    }
    return text;
}

}  // namespace reaper::report
