#include "reaper/planner/constraint_checker.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "reaper/model/aggregate_rules.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {
namespace {

constexpr std::string_view scope = "aggregate_instance_extra_specs:";

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const auto begin = text.find_first_not_of(blanks);
        if (begin == text.npos) return words;
        text.remove_prefix(begin);
        const auto end = std::min(text.find_first_of(blanks), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::optional<double> number(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
}

using Judge = bool (*)(std::string_view value, std::string_view wanted);

template <class Compare>
bool by_number(std::string_view value, std::string_view wanted, Compare compare) {
    const auto have = number(value);
    const auto need = number(wanted);
    return have && need && compare(*have, *need);
}

struct Operator {
    std::string_view word;
    Judge judge;
};

constexpr Operator operators[] = {
    {"=", [](auto v, auto w) { return by_number(v, w, std::greater_equal<>{}); }},
    {">=", [](auto v, auto w) { return by_number(v, w, std::greater_equal<>{}); }},
    {"<=", [](auto v, auto w) { return by_number(v, w, std::less_equal<>{}); }},
    {"==", [](auto v, auto w) { return by_number(v, w, std::equal_to<>{}); }},
    {"!=", [](auto v, auto w) { return by_number(v, w, std::not_equal_to<>{}); }},
    {"s==", [](auto v, auto w) { return v == w; }},
    {"s!=", [](auto v, auto w) { return v != w; }},
    {"s<", [](auto v, auto w) { return v < w; }},
    {"s<=", [](auto v, auto w) { return v <= w; }},
    {"s>", [](auto v, auto w) { return v > w; }},
    {"s>=", [](auto v, auto w) { return v >= w; }},
    {"<in>", [](auto v, auto w) { return v.find(w) != v.npos; }},
};

bool meets_any(std::string_view list, std::string_view wish) {
    while (true) {
        const auto comma = list.find(',');
        if (meets(trimmed(list.substr(0, comma)), wish)) return true;
        if (comma == list.npos) return false;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace

bool meets(std::string_view value, std::string_view wish) {
    const auto words = words_in(wish);
    if (words.empty()) return value == wish;
    if (words[0] == "<or>") {
        for (std::size_t i = 1; i < words.size(); i += 2)
            if (words[i] == value) return true;
        return false;
    }
    if (words[0] == "<all-in>")
        return words.size() > 1 && std::all_of(words.begin() + 1, words.end(), [&](auto part) {
                   return value.find(part) != value.npos;
               });
    for (const auto& [word, judge] : operators)
        if (words[0] == word) return words.size() > 1 && judge(value, words[1]);
    return value == wish;
}

std::optional<std::string> unmet_spec(const std::map<std::string, std::string>& extra_specs,
                                      const HostAggregates& aggregates) {
    for (const auto& spec : extra_specs) {
        std::string_view key = spec.first;
        const std::string& wish = spec.second;
        if (key.starts_with(scope))
            key.remove_prefix(scope.size());
        else if (key.find(':') != key.npos)
            continue;
        const bool met = std::any_of(aggregates.begin(), aggregates.end(), [&](const auto& each) {
            const auto& metadata = each.second.metadata;
            const auto at = metadata.find(std::string{key});
            return at != metadata.end() && meets_any(at->second, wish);
        });
        if (!met) return std::string{key} + "=" + wish;
    }
    return std::nullopt;
}

namespace {

const SchedulerRules no_rules;
constexpr std::string_view tenant_key = "filter_tenant_id";

/// Does `filter_tenant_id` of the aggregate name projects, and the request's among them? (One
/// value may name several, separated by commas.) Before 2024.2 no longer key counts.
struct Tenants {
    bool any = false;
    bool ours = false;
};
Tenants tenants_of(const HostAggregate& aggregate, const ProjectId& project,
                   std::optional<NovaRelease> release) {
    const bool one_key = release && *release < NovaRelease::r2024_2;
    Tenants tenants;
    for (const auto& [key, value] : aggregate.metadata) {
        if (one_key ? key != tenant_key : !key.starts_with(tenant_key)) continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const auto comma = rest.find(',');
            auto name = rest.substr(0, comma);
            while (name.starts_with(' ')) name.remove_prefix(1);
            while (name.ends_with(' ')) name.remove_suffix(1);
            tenants.any = tenants.any || !name.empty();
            tenants.ours = tenants.ours || name == project.str();
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        }
    }
    return tenants;
}

/// How many of `servers` are on which host. One that has room there, and that Nova's list leaves
/// out, is soft-deleted, and on its host as before; if the list has it elsewhere, it moves.
std::map<HostId, int> where_are(const std::set<ServerId>& servers, const CloudIndex& cloud) {
    std::map<HostId, int> where;
    if (servers.empty()) return where;
    std::unordered_set<std::uint32_t> sought;
    for (const auto& server : servers) sought.insert(hash_of_consumer(server));
    std::set<ServerId> listed;
    std::map<ServerId, HostId> holds;
    for (const std::uint32_t row : cloud.order()) {
        const HostRow& own = cloud.row(row);
        if (std::none_of(own.consumers.begin(), own.consumers.end(),
                         [&](std::uint32_t consumer) { return sought.contains(consumer); }))
            continue;
        for (const Server& server : own.host->servers)
            if (servers.contains(server.id) && listed.insert(server.id).second)
                ++where[own.host->id];
        for (const Provider& provider : own.host->providers)
            for (const auto& [consumer, held] : provider.other_consumers)
                if (servers.contains(consumer)) holds.emplace(consumer, own.host->id);
    }
    for (const auto& [server, host] : holds)
        if (!listed.contains(server)) ++where[host];
    return where;
}

std::string servers(int n) {
    return std::to_string(n) + (n == 1 ? " server" : " servers");
}

}  // namespace

ConstraintChecker::ConstraintChecker(const Request& request, const SchedulerRules* rules,
                                     const CloudIndex& cloud, const Ledger& ledger)
    : request_{request},
      rules_{rules != nullptr ? *rules : no_rules},
      required_traits_{all_required_traits(request)} {
    required_traits_.insert(request.res_type_traits.begin(), request.res_type_traits.end());
    const PlacementConstraints& placement = request.placement;
    find_members(cloud, ledger);
    with_ = where_are(placement.with, cloud);
    company_ = placement.with;
    if (placement.group.together())
        company_.insert(placement.group.members.begin(), placement.group.members.end());
    apart_ = where_are(placement.apart_from, cloud);
    choosy_ = !placement.only_hosts.empty() || !placement.with.empty() || !apart_.empty() ||
              placement.group.apart() || !members_.empty();
    by_aggregate_ = request.availability_zone || !placement.aggregates.empty() ||
                    rules_.own_aggregates != SchedulerRules::OwnAggregates::off;
    choosy_ = choosy_ || by_aggregate_;
    if (rules_.own_aggregates != SchedulerRules::OwnAggregates::off) find_own_aggregates(cloud);
    choosy_ = choosy_ || !rules_.cells.empty();
    if (!rules_.cells.empty() && stays_in_cell(request, rules_)) {
        const auto found = cell_of_server(request, rules_.cells, cloud);
        if (const auto* const cell = std::get_if<const Cell*>(&found)) cell_ = *cell;
    }
}

void ConstraintChecker::find_members(const CloudIndex& cloud, const Ledger& ledger) {
    const ServerGroup& group = request_.placement.group;
    if (!group.apart() && !group.together()) return;
    std::set<ServerId> others = group.members;
    // A server that moves leaves its place, but to Nova its group is still there: affinity keeps a
    // server that is alone where it is. One that is unshelved is nowhere.
    const bool stays = group.together() && is_move(request_.operation) &&
                       request_.operation != Operation::unshelve;
    if (!stays)
        for (const auto& requester : request_.requesters) others.erase(requester);
    members_ = where_are(others, cloud);
    // A moving server may keep its place, though room elsewhere is promised to it.
    if (group.together() && !members_.empty()) return;
    for (const auto* const promise : ledger.promises_of_group(group.id)) {
        const auto& theirs = promise->requesters;
        const bool others_wait =
            std::any_of(theirs.begin(), theirs.end(), [&](const ServerId& requester) {
                const auto& ours = request_.requesters;
                return std::find(ours.begin(), ours.end(), requester) == ours.end();
            });
        if (promise->request != request_.id && others_wait && promise->kept() > 0)
            members_[promise->host] += promise->kept();
    }
    all_on_one_ = group.together() && members_.empty() && request_.slots > 1;
}

void ConstraintChecker::find_own_aggregates(const CloudIndex& cloud) {
    std::set<std::uint32_t> profiles;
    for (const std::uint32_t row : cloud.order()) profiles.insert(cloud.profile(row));
    for (const std::uint32_t profile : profiles)
        for (const auto& [uuid, aggregate] : cloud.names().profiles()[profile].member_of)
            owns_aggregates_ = owns_aggregates_ || belongs_to(aggregate.metadata, request_.project);
}

// ---- aggregates ----

ConstraintChecker::Refusal ConstraintChecker::by_aggregates(
    const HostAggregates& aggregates) const {
    if (auto no = unwatched(aggregates)) return no;
    for (const auto& wanted : request_.placement.aggregates) {
        const bool in = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& uuid) {
            return aggregates.contains(uuid);
        });
        if (!in)
            return {{RejectionCode::not_requested,
                     "it is in none of the aggregates that the request was sent to"}};
    }
    if (auto no = by_tenant(aggregates)) return no;
    if (auto no = by_extra_specs(aggregates)) return no;
    return by_isolation(aggregates);
}

/// The filter does not run for a rebuild: that stays where it is.
ConstraintChecker::Refusal ConstraintChecker::by_extra_specs(
    const HostAggregates& aggregates) const {
    if (!rules_.extra_specs_filter || request_.operation == Operation::rebuild) return std::nullopt;
    if (const auto unmet = unmet_spec(request_.flavor_extra_specs, aggregates))
        return {{RejectionCode::isolated,
                 "none of its aggregates has what the flavor asks for, " + in_quotes(*unmet)}};
    return std::nullopt;
}

ConstraintChecker::Refusal ConstraintChecker::unwatched(const HostAggregates& aggregates) const {
    if (rules_.watched.empty()) return std::nullopt;
    for (const auto& shard : rules_.watched)
        if (in_shard(aggregates, shard)) return std::nullopt;
    return {{RejectionCode::unwatched, "it is in none of the watched aggregates"}};
}

ConstraintChecker::Refusal ConstraintChecker::by_tenant(const HostAggregates& aggregates) const {
    const std::string whose = "project " + project_text(request_.project, request_.project_name);
    bool ours = false;
    bool own = false;
    bool others = false;
    std::string of_others;
    for (const auto& [uuid, aggregate] : aggregates) {
        const Tenants tenants = tenants_of(aggregate, request_.project, rules_.release);
        ours = ours || tenants.ours;
        own = own || belongs_to(aggregate.metadata, request_.project);
        if (tenants.any && !tenants.ours && !others) of_others = aggregate.name;
        others = others || (tenants.any && !tenants.ours);
    }
    if (rules_.tenant_filter && others && !ours)
        return {{RejectionCode::isolated,
                 "its aggregate " + in_quotes(of_others) + " is for other projects than " + whose}};
    using Own = SchedulerRules::OwnAggregates;
    const bool bound = rules_.own_aggregates == Own::required ||
                       (rules_.own_aggregates == Own::limit && owns_aggregates_);
    if (bound && !own) return {{RejectionCode::isolated, "it is in no aggregate of " + whose}};
    return std::nullopt;
}

ConstraintChecker::Refusal ConstraintChecker::by_isolation(const HostAggregates& aggregates) const {
    if (!rules_.trait_isolation) return std::nullopt;
    for (const auto& [uuid, aggregate] : aggregates)
        if (const auto trait = isolating_trait(aggregate.metadata, required_traits_))
            return {{RejectionCode::isolated, "its aggregate " + in_quotes(aggregate.name) +
                                                  " is for requests that require " +
                                                  printable(*trait, 100)}};
    return std::nullopt;
}

// ---- hosts ----

int ConstraintChecker::on(const std::map<HostId, int>& where, const Host& host) const {
    const auto at = where.find(host.id);
    return at == where.end() ? 0 : at->second;
}

/// Nova's scheduler asks Placement for members of aggregates: where Nova's own membership was not
/// mirrored there, it finds no host.
ConstraintChecker::Refusal ConstraintChecker::by_mirror(const Host& host) const {
    if (!by_aggregate_ || !host.placement_aggregates) return std::nullopt;
    const auto refuse = [](const std::string& what) -> Refusal {
        return {{RejectionCode::not_in_placement,
                 "Placement does not know it in " + what +
                     ", though Nova does (`nova-manage placement sync_aggregates` corrects that)"}};
    };
    const auto& known = *host.placement_aggregates;
    std::size_t zones = 0;
    std::size_t own = 0;
    bool zone_known = false;
    bool own_known = false;
    for (const auto& [uuid, aggregate] : host.member_of) {
        const bool mirrored = known.contains(uuid);
        if (request_.availability_zone &&
            is_zone(aggregate.metadata, *request_.availability_zone)) {
            ++zones;
            zone_known = zone_known || mirrored;
        }
        if (belongs_to(aggregate.metadata, request_.project)) {
            ++own;
            own_known = own_known || mirrored;
        }
    }
    if (zones > 0 && !zone_known)
        return refuse("the aggregate of availability zone " +
                      in_quotes(*request_.availability_zone));
    if (rules_.own_aggregates != SchedulerRules::OwnAggregates::off && own > 0 && !own_known)
        return refuse("the aggregate of the project");
    for (const auto& wanted : request_.placement.aggregates)
        if (std::none_of(wanted.begin(), wanted.end(),
                         [&](const std::string& uuid) { return known.contains(uuid); }))
            return refuse("a requested aggregate");
    return std::nullopt;
}

/// A server that moves stays in its cell; a new one goes to no cell that is disabled.
ConstraintChecker::Refusal ConstraintChecker::by_cell(const Host& host) const {
    if (rules_.cells.empty()) return std::nullopt;
    const auto found = cell_of(host, rules_.cells);
    const auto* const cell = std::get_if<const Cell*>(&found);
    if (!stays_in_cell(request_, rules_)) {
        if (cell == nullptr || !(*cell)->disabled) return std::nullopt;
        return {{RejectionCode::disabled, "its cell " + in_quotes((*cell)->name) + " is disabled"}};
    }
    const std::string stays =
        "the server stays in its cell" +
        (cell_ == nullptr ? ", which is not known" : " " + in_quotes(cell_->name));
    if (cell == nullptr)
        return {{RejectionCode::other_cell, stays + ", and this host " + std::get<1>(found)}};
    if (cell_ != nullptr && (*cell)->name == cell_->name) return std::nullopt;
    return {{RejectionCode::other_cell, stays + "; this host is in " + in_quotes((*cell)->name)}};
}

ConstraintChecker::Refusal ConstraintChecker::by_host(const Host& host) const {
    if (!choosy_) return std::nullopt;
    const PlacementConstraints& placement = request_.placement;
    if (!placement.only_hosts.empty() && !placement.only_hosts.contains(host.service_host) &&
        !placement.only_hosts.contains(host.name)) {
        std::string names;
        for (const auto& name : placement.only_hosts)
            names += (names.empty() ? "" : ", ") + in_quotes(name);
        const std::string why =
            placement.why_only.empty() ? "the request is for" : placement.why_only;
        return {{RejectionCode::not_requested, why + " " + names + " only"}};
    }
    if (auto no = by_cell(host)) return no;
    if (auto no = by_mirror(host)) return no;
    const ServerGroup& group = placement.group;
    if (group.policy.empty() && with_.empty() && apart_.empty() && placement.with.empty())
        return std::nullopt;
    const std::string of_group = " of its server group " + in_quotes(group.name);
    if (group.together() && !members_.empty() && on(members_, host) == 0)
        return {{RejectionCode::server_group,
                 "the servers" + of_group +
                     " are elsewhere, or on their way there, and its policy is affinity"}};
    if (group.apart() && on(members_, host) >= group.max_on_a_host)
        return {{RejectionCode::server_group, servers(on(members_, host)) + of_group +
                                                  " on it or on their way to it, and its policy "
                                                  "is anti-affinity (at most " +
                                                  std::to_string(group.max_on_a_host) + ")"}};
    if (!placement.with.empty() && on(with_, host) == 0)
        return {{RejectionCode::server_group, "the request hints at other servers' host"}};
    if (on(apart_, host) > 0)
        return {{RejectionCode::server_group,
                 "a server that the request is to be apart from is on it"}};
    return std::nullopt;
}

Amount ConstraintChecker::max_slots(const Host& host) const {
    const ServerGroup& group = request_.placement.group;
    if (!choosy_ || !group.apart()) return any_number;
    return std::max(group.max_on_a_host - on(members_, host), 0);
}

// ---- shards ----

bool in_shard(const HostAggregates& aggregates, const std::set<std::string>& shard) {
    return std::any_of(aggregates.begin(), aggregates.end(), [&](const auto& each) {
        return shard.contains(each.first) || shard.contains(each.second.name);
    });
}

std::string to_string(const std::vector<std::set<std::string>>& shards) {
    std::string text;
    for (const auto& shard : shards) {
        std::string names;
        for (const auto& name : shard) names += (names.empty() ? "" : "|") + printable(name, 100);
        text += (text.empty() ? "" : ", ") + names;
    }
    return text;
}

std::optional<std::string> refused_for_isolation(const Request& request,
                                                 const SchedulerRules& rules,
                                                 const CloudIndex& cloud) {
    if (!rules.trait_isolation || request.groups.empty() || !ungrouped_resources(request).empty())
        return std::nullopt;
    auto traits = all_required_traits(request);
    traits.insert(request.res_type_traits.begin(), request.res_type_traits.end());
    for (const std::uint32_t row : cloud.order())
        for (const auto& [uuid, aggregate] : cloud.row(row).host->member_of)
            if (const auto trait = isolating_trait(aggregate.metadata, traits))
                return "all resources of the request are in groups, and aggregate " +
                       in_quotes(aggregate.name) + " is for requests that require " +
                       printable(*trait, 100) +
                       ": Placement refuses to search for that, so no room can help it";
    return std::nullopt;
}

std::optional<std::string> outside_all_shards(const Request& request, const SchedulerRules& rules,
                                              const CloudIndex& cloud) {
    if (rules.watched.empty()) return std::nullopt;
    // Only what names places: the rest is a host's own reason.
    Request where;
    where.placement.only_hosts = request.placement.only_hosts;
    where.placement.aggregates = request.placement.aggregates;
    SchedulerRules shards;
    shards.watched = rules.watched;
    const ConstraintChecker checker{where, &shards, cloud, Ledger{}};
    for (const std::uint32_t row : cloud.order()) {
        const Host& host = *cloud.row(row).host;
        const bool zone =
            !request.availability_zone || *request.availability_zone == host.availability_zone;
        if (zone && !checker.by_aggregates(host.member_of) && !checker.by_host(host))
            return std::nullopt;
    }
    const std::string zone = request.availability_zone
                                 ? " in availability zone " + in_quotes(*request.availability_zone)
                                 : "";
    return "it is outside the watched aggregates (" + to_string(rules.watched) +
           "): none of their hosts is a place for it" + zone;
}

}  // namespace reaper
