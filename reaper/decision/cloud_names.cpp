#include "reaper/decision/cloud_names.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/text.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"

namespace reaper {
namespace {

using Kind = CloudName::Kind;
using Level = NameFinding::Level;

constexpr const char* protected_aggregates = "protect.aggregates";
constexpr std::size_t longest_name = 100;
constexpr std::size_t names_told = 10;

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), names_told); ++i)
        text += (i == 0 ? "" : ", ") + printable(names[i], longest_name);
    if (names.size() > names_told)
        text += " and " + std::to_string(names.size() - names_told) + " more";
    return text;
}

Kind kind_of(NamedThing::Kind kind) {
    switch (kind) {
        case NamedThing::Kind::resource_class: return Kind::resource_class;
        case NamedThing::Kind::project_tag: return Kind::project_tag;
        case NamedThing::Kind::project_or_flavor: return Kind::project_or_flavor;
    }
    return Kind::resource_class;
}

void add(std::vector<CloudName>& names, CloudName name) {
    const bool known = std::ranges::any_of(names, [&](const CloudName& other) {
        return other.key == name.key && other.text == name.text;
    });
    if (!known) names.push_back(std::move(name));
}

template <class Info>
void add_of_plugin(std::vector<CloudName>& names, const Info* info, const config::Plugin& plugin,
                   const std::string& key) {
    if (info == nullptr || info->names == nullptr) return;
    const Parameters parameters = with_standards(info->parameters, plugin.parameters);
    if (!check_parameters(info->parameters, parameters).empty()) return;  // it is refused
    for (auto& thing : info->names(parameters))
        add(names, {kind_of(thing.kind), key + "." + thing.parameter, std::move(thing.name)});
}

bool is_uuid_of(const AggregateRecord& aggregate, const std::string& text) {
    return aggregate.uuid == to_lower(text);
}

const AggregateRecord* find_aggregate(const CloudDirectory& directory, const std::string& text) {
    const auto& all = directory.aggregates;
    const auto at = std::ranges::find_if(all, [&](const AggregateRecord& aggregate) {
        return aggregate.name == text || is_uuid_of(aggregate, text);
    });
    return at == all.end() ? nullptr : &*at;
}

const ProjectSearch& search_for(const CloudDirectory& directory, const std::string& text) {
    static const ProjectSearch not_searched{std::nullopt, "it was not looked up"};
    const auto at = directory.projects.find(text);
    return at == directory.projects.end() ? not_searched : at->second;
}

std::string project_text(const Project& project) {
    return "project " + printable(project.name, longest_name) + " (" +
           printable(project.id.str(), 64) + ", domain " + printable(project.domain, 64) + ")";
}

// ---- what is said of each ----

struct Said {
    Level level{};
    std::string detail;
};

Said of_protected(const CloudName& name, const CloudDirectory& directory) {
    const ProjectSearch& search = search_for(directory, name.text);
    if (search.found)
        return {Level::found, in_quotes(name.text) + " is " + project_text(*search.found)};
    return {Level::missing, search.why_not +
                                "; no server is deleted until it is found, or corrected or taken "
                                "out of the configuration"};
}

Said of_valued(const CloudName& name, const CloudDirectory& directory) {
    const ProjectSearch& search = search_for(directory, name.text);
    const bool flavor = directory.flavors.contains(name.text);
    if (search.found)
        return {Level::found, in_quotes(name.text) + " is " + project_text(*search.found) +
                                  (flavor ? ", and a flavor" : "")};
    if (flavor) return {Level::found, in_quotes(name.text) + " is a flavor"};
    return {Level::missing,
            search.why_not + "; nor is there such a flavor: the priority has no effect"};
}

/// Servers keep the name of a flavor that was deleted.
Said of_flavor(const CloudName& name, const CloudDirectory& directory) {
    if (directory.flavors.contains(name.text))
        return {Level::found, in_quotes(name.text) + " is a flavor"};
    return {Level::missing, "Nova has no flavor " + in_quotes(name.text) +
                                ": it protects only servers that have it still"};
}

Said of_aggregate(const CloudName& name, const CloudDirectory& directory) {
    const auto* const aggregate = find_aggregate(directory, name.text);
    const bool protects = name.key == protected_aggregates;
    if (aggregate == nullptr)
        return {Level::missing,
                "Nova has no aggregate " + in_quotes(name.text) + " (neither a name nor a UUID): " +
                    (protects ? "it protects no server" : "no server is deleted for it")};
    if (aggregate->hosts.empty()) return {Level::doubtful, in_quotes(name.text) + " has no host"};
    return {Level::found, in_quotes(name.text) + ": " + counted(aggregate->hosts.size(), "host")};
}

Said of_class(const CloudName& name, const CloudDirectory& directory) {
    if (directory.classes.contains(ResourceClass{name.text}))
        return {Level::found, in_quotes(name.text) + " is there"};
    const bool tagger = name.key.starts_with("taggers");
    return {Level::missing, "Placement has no resource class " + in_quotes(name.text) +
                                (tagger ? ": nothing is revocable by it; 'reaper setup "
                                          "resource-tagging' makes it"
                                        : "; 'openstack resource class list' shows those that "
                                          "there are")};
}

Said of_tag(const CloudName& name, const CloudDirectory& directory) {
    const auto at = directory.tagged.find(name.text);
    if (at == directory.tagged.end() || at->second.empty())
        return {Level::missing,
                "none: nothing of theirs is revocable; tag one with 'openstack project set --tag " +
                    printable(name.text, longest_name) + " PROJECT'"};
    return {Level::found, std::to_string(at->second.size()) + ": " + listed(at->second)};
}

Said said_of(const CloudName& name, const CloudDirectory& directory) {
    switch (name.kind) {
        case Kind::protected_project: return of_protected(name, directory);
        case Kind::protected_flavor: return of_flavor(name, directory);
        case Kind::project_or_flavor: return of_valued(name, directory);
        case Kind::aggregate: return of_aggregate(name, directory);
        case Kind::resource_class: return of_class(name, directory);
        case Kind::project_tag: return of_tag(name, directory);
    }
    return {};
}

NameFinding finding_of(const CloudName& name, const CloudDirectory& directory) {
    const std::string what =
        name.kind == Kind::project_tag ? "projects tagged " + in_quotes(name.text) : name.key;
    const auto untold = directory.not_asked.find(name.kind);
    if (untold != directory.not_asked.end())
        return {name, Level::doubtful, what,
                in_quotes(name.text) + " could not be looked up: " + untold->second.what};
    Said said = said_of(name, directory);
    return {name, said.level, what, std::move(said.detail)};
}

// ---- ids for names ----

ProjectIds ids_of(const CloudDirectory& directory) {
    ProjectIds ids;
    for (const auto& [written, search] : directory.projects)
        if (search.found) ids.emplace(written, search.found->id.str());
    return ids;
}

/// A shard with the aggregates' UUIDs in Nova's spelling.
std::string shard_with_ids(const std::string& text, const CloudDirectory& directory) {
    std::string shard;
    for (const auto& part : aggregates_of(text)) {
        const auto* const aggregate = find_aggregate(directory, part);
        const bool by_uuid = aggregate != nullptr && aggregate->name != part;
        shard += (shard.empty() ? "" : "|") + (by_uuid ? aggregate->uuid : part);
    }
    return shard.empty() ? text : shard;
}

}  // namespace

std::vector<std::string> aggregates_of(const std::string& shard) {
    std::vector<std::string> names;
    std::string_view rest = shard;
    while (!rest.empty()) {
        const auto bar = rest.find('|');
        auto name = rest.substr(0, bar);
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (!name.empty()) names.emplace_back(name);
        rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
    }
    return names;
}

std::vector<CloudName> names_in(const config::Policy& policy) {
    std::vector<CloudName> names;
    for (const auto& project : policy.safeguards.protect.projects)
        add(names, {Kind::protected_project, "protect.projects", project});
    for (const auto& flavor : policy.safeguards.protect.flavors)
        add(names, {Kind::protected_flavor, "protect.flavors", flavor});
    for (const auto& aggregate : policy.safeguards.protect.aggregates)
        add(names, {Kind::aggregate, protected_aggregates, aggregate});
    for (const auto& shard : policy.scheduler.watched_aggregates)
        for (auto& part : aggregates_of(shard))
            add(names, {Kind::aggregate, "watched_aggregates", std::move(part)});
    for (std::size_t i = 0; i < policy.taggers.size(); ++i)
        add_of_plugin(names, find_tagger(policy.taggers[i].name), policy.taggers[i],
                      "taggers[" + std::to_string(i) + "]");
    add_of_plugin(names, find_strategy(policy.strategy.name), policy.strategy, "strategy");
    return names;
}

std::optional<std::string> ResolvedPolicy::obstacle() const {
    for (const auto& finding : findings)
        if (finding.name.kind == Kind::protected_project && finding.level != Level::found)
            return finding.what + ": " + finding.detail;
    return std::nullopt;
}

ResolvedPolicy resolve(config::Policy written, const CloudDirectory& directory) {
    ResolvedPolicy resolved;
    for (const auto& name : names_in(written))
        resolved.findings.push_back(finding_of(name, directory));
    const ProjectIds ids = ids_of(directory);
    ProtectSettings& protect = written.safeguards.protect;
    for (const auto& project : protect.projects)
        if (const auto id = ids.find(project); id != ids.end())
            protect.project_ids.insert_or_assign(project, id->second);
    for (auto& shard : written.scheduler.watched_aggregates)
        shard = shard_with_ids(shard, directory);
    const StrategyInfo* const strategy = find_strategy(written.strategy.name);
    if (strategy != nullptr && strategy->with_project_ids != nullptr)
        written.strategy.parameters = strategy->with_project_ids(
            with_standards(strategy->parameters, std::move(written.strategy.parameters)), ids);
    resolved.policy = std::move(written);
    return resolved;
}

}  // namespace reaper
