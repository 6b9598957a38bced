#include "reaper/report/render_parts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"

namespace reaper::report {
namespace {

/// Phrases with commas between them.
struct Words {
    void add(const std::string& phrase) { text += (text.empty() ? "" : ", ") + phrase; }
    /// The first ones; users may write thousands into a request.
    template <class Things, class Phrase>
    void add_each(const Things& things, Phrase phrase) {
        constexpr std::size_t most = 20;
        std::size_t shown = 0;
        for (const auto& thing : things) {
            if (shown++ == most)
                return add("and " + std::to_string(things.size() - most) + " more");
            add(phrase(thing));
        }
    }
    std::string text;
};

std::string constraint_words(const Request& request) {
    const PlacementConstraints& placement = request.placement;
    Words words;
    words.add_each(request.required_traits,
                   [](const auto& t) { return "requires " + safe(t.str()); });
    words.add_each(request.forbidden_traits,
                   [](const auto& t) { return "refuses " + safe(t.str()); });
    words.add_each(request.root_required_traits,
                   [](const auto& t) { return "requires of the host itself " + safe(t.str()); });
    if (request.fallback) words.add("else " + safe(to_string(request.fallback->resources)));
    words.add_each(request.excluded_hosts, [](const auto& each) {
        return "not on " + each.first + " (" + each.second + ")";
    });
    if (!placement.group.policy.empty())
        words.add("server group " + placement.group.name + " (" + placement.group.policy + ")");
    words.add_each(placement.only_hosts, [](const auto& host) { return "only on " + host; });
    if (!placement.aggregates.empty()) words.add("in requested aggregates only");
    words.add_each(placement.with, [](const auto& id) { return "on the host of " + id.str(); });
    words.add_each(placement.apart_from,
                   [](const auto& id) { return "not on the host of " + id.str(); });
    return words.text;
}

std::string correction_lines(const Correction& correction, std::size_t width) {
    std::string text = wrapped("correction: " + counted(correction.servers.size(), "server") +
                                   " to go from host " + correction.host_name,
                               2, width);
    Words servers;
    servers.add_each(correction.servers, [](const CorrectedServer& each) {
        return each.server.str() + ": " + each.reason;
    });
    return text + wrapped(servers.text, 2, width);
}

}  // namespace

std::size_t width_of(const RenderOptions& options) {
    return static_cast<std::size_t>(std::clamp(options.width, 40, 1000));
}

std::string age(TimePoint created, const RenderOptions& options) {
    return options.now ? format_duration(*options.now - created) : iso_time(created);
}

std::string age_head(const RenderOptions& options) {
    return options.now ? "AGE" : "CREATED";
}

std::string what_is_asked(const Request& request) {
    return std::to_string(request.slots) + " x " +
           (request.flavor.empty() ? to_string(request.resources) : request.flavor);
}

std::string request_lines(const Request& request, const RenderOptions& options) {
    const Paint paint{options.color};
    const std::size_t width = width_of(options);
    std::string text = paint.bold("Request " + safe(request.id.str())) + "\n";
    if (request.correction) return text + correction_lines(*request.correction, width);
    text += "  " + counted(static_cast<std::size_t>(std::max(request.slots, 0)), "slot") + " of " +
            safe(to_string(request.resources)) + "\n";
    if (!request.groups.empty())
        text += wrapped(groups_text(request.groups, request.group_policy), 2, width);
    std::string about = std::string{to_string(request.operation)} + " for " +
                        (request.project.empty()
                             ? "no project"
                             : "project " + project_text(request.project, request.project_name));
    if (request.availability_zone) about += ", availability zone " + *request.availability_zone;
    text += wrapped(about, 2, width);
    const std::string constraints = constraint_words(request);
    if (!constraints.empty()) text += wrapped(constraints, 2, width);
    if (request.phases != Phases{} || !request.phases_because.empty())
        text += wrapped("res-type " + to_string(request.phases) +
                            (request.phases_because.empty() ? "" : " by " + request.phases_because),
                        2, width);
    if (request.approved)
        text += wrapped("approved by " + request.approved->by + ": a plan of " +
                            iso_time(request.approved->planned_at) + " with " +
                            counted(request.approved->victims.size(), "victim"),
                        2, width);
    Words requesters;
    requesters.add_each(request.requesters,
                        [&](const auto& id) { return requester_text(request, id); });
    if (!requesters.text.empty())
        text += wrapped("requesting servers: " + requesters.text, 2, width);
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
        table.row({shortened(safe(victim.name), 40), victim.server.str(),
                   project_text(victim.project, victim.project_name), age(victim.created, options),
                   to_string(victim.resources)});
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
            const std::size_t known = hosts.told.size() - shown;
            // The others were counted only.
            const std::string elsewhere = known > 0 && known < hosts.hosts - shown
                                              ? ", " + std::to_string(known) + " of them in --json"
                                              : "";
            text += shown == 0 ? "    " + rest + " not shown\n"
                               : "    and " + rest + " more" + elsewhere + "\n";
        }
    }
    return text;
}

}  // namespace reaper::report
