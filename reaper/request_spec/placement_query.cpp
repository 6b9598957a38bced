#include "reaper/request_spec/placement_query.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "reaper/model/aggregate_rules.hpp"
#include "reaper/model/standard_traits.hpp"

namespace reaper {
namespace {

/// `[scheduler] max_placement_results`, the default.
constexpr const char* usual_limit = "1000";

std::string all_of(const std::set<std::string>& words) {
    return joined(std::vector<std::string>(words.begin(), words.end()));
}

/// Required ones first, then those that are forbidden.
std::string traits_text(const std::set<Trait>& required, const std::set<Trait>& forbidden) {
    std::vector<std::string> words;
    for (const auto& trait : required) words.push_back(trait.str());
    for (const auto& trait : forbidden) words.push_back("!" + trait.str());
    return joined(words);
}

std::string resources_text(const Resources& resources) {
    std::vector<std::string> words;
    for (const auto& [resource_class, amount] : resources)
        words.push_back(resource_class.str() + ":" + std::to_string(amount));
    std::sort(words.begin(), words.end());
    return joined(words);
}

/// Aggregates of which one will do; none if the wish binds no request.
template <class Wanted>
std::set<std::string> uuids(const std::vector<AggregateRecord>& aggregates, Wanted wanted) {
    std::set<std::string> found;
    for (const auto& aggregate : aggregates)
        if (wanted(aggregate.metadata)) found.insert(aggregate.uuid);
    return found;
}

class Query {
public:
    explicit Query(const Request& request) : request_{request} {}

    void add(std::string name, std::string value) {
        query_.emplace_back(std::move(name), std::move(value));
    }
    void add_traits(const std::string& suffix, const std::set<Trait>& required,
                    const std::set<Trait>& forbidden) {
        if (!required.empty() || !forbidden.empty())
            add("required" + suffix, traits_text(required, forbidden));
    }
    void add_group(const RequestGroup& group) {
        add("resources" + group.suffix, resources_text(group.resources));
        add_traits(group.suffix, group.required_traits, group.forbidden_traits);
        for (const auto& any_of : group.aggregates)
            add("member_of" + group.suffix, "in:" + all_of(any_of));
        if (!group.in_tree.empty()) add("in_tree" + group.suffix, group.in_tree.str());
    }
    void add_shape() {
        const Resources rest = ungrouped_resources(request_);
        const bool nothing =
            rest.empty() && request_.required_traits.empty() && request_.forbidden_traits.empty();
        if (!nothing) add("resources", resources_text(rest));
        add_traits("", request_.required_traits, request_.forbidden_traits);
        for (const auto& group : request_.groups) add_group(group);
        if (request_.group_policy)
            add("group_policy", std::string{to_string(*request_.group_policy)});
        add("root_required", traits_text(request_.root_required_traits, {disabled_trait}));
    }

    PlacementQuery take() {
        std::sort(query_.begin(), query_.end());
        return std::move(query_);
    }

private:
    const Request& request_;
    PlacementQuery query_;
};

/// Hosts of which the request names one.
std::set<std::string> named(const Request& request, const std::vector<HypervisorRecord>& hosts) {
    std::set<std::string> found;
    for (const auto& host : hosts)
        if (request.placement.only_hosts.contains(host.service_host) ||
            request.placement.only_hosts.contains(host.name))
            found.insert(host.id.str());
    return found;
}

/// In a server group, or near or apart from servers: which hosts will do only the filters know.
bool unlimited(const PlacementConstraints& placement) {
    return !placement.group.id.empty() || !placement.with.empty() || !placement.apart_from.empty();
}

PlacementQuery query_of(const Request& request, const SchedulerRules& rules,
                        const std::vector<AggregateRecord>& aggregates,
                        const std::vector<HypervisorRecord>& hosts) {
    Query query{request};
    query.add_shape();
    // The search for hosts shows those of the zone and the project too.
    std::set<std::set<std::string>> sets;
    const auto one_of = [&](const std::set<std::string>& any_of) {
        if (!any_of.empty() && sets.insert(any_of).second)
            query.add("member_of", "in:" + all_of(any_of));
    };
    for (const auto& any_of : request.placement.aggregates) one_of(any_of);
    if (rules.own_aggregates != SchedulerRules::OwnAggregates::off)
        one_of(
            uuids(aggregates, [&](const auto& each) { return belongs_to(each, request.project); }));
    if (request.availability_zone)
        one_of(uuids(aggregates,
                     [&](const auto& each) { return is_zone(each, *request.availability_zone); }));
    if (rules.trait_isolation) {
        auto traits = all_required_traits(request);
        traits.insert(request.res_type_traits.begin(), request.res_type_traits.end());
        const auto isolated = uuids(aggregates, [&](const auto& each) {
            return isolating_trait(each, traits).has_value();
        });
        if (!isolated.empty()) query.add("member_of", "!in:" + all_of(isolated));
    }
    const auto only = named(request, hosts);
    if (only.size() == 1) query.add("in_tree", *only.begin());
    if (only.size() <= 1 && !unlimited(request.placement)) query.add("limit", usual_limit);
    return query.take();
}

}  // namespace

std::vector<std::string> words_of(std::string_view list) {
    std::vector<std::string> words;
    while (!list.empty()) {
        const auto comma = list.find(',');
        words.emplace_back(list.substr(0, comma));
        list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
    }
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
    return text;
}

std::vector<PlacementQuery> placement_queries(const Request& request, const SchedulerRules& rules,
                                              const std::vector<AggregateRecord>& aggregates,
                                              const std::vector<HypervisorRecord>& hosts) {
    const bool none_of_its_own = uuids(aggregates, [&](const auto& each) {
                                     return belongs_to(each, request.project);
                                 }).empty();
    if (rules.own_aggregates == SchedulerRules::OwnAggregates::required && none_of_its_own)
        return {};
    std::vector<PlacementQuery> queries{query_of(request, rules, aggregates, hosts)};
    if (request.fallback && rules.pcpu_fallback)
        queries.push_back(query_of(by_fallback(request), rules, aggregates, hosts));
    return queries;
}

std::string to_string(const PlacementQuery& query) {
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

}  // namespace reaper
