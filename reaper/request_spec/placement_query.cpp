#include "reaper/request_spec/placement_query.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "reaper/model/aggregate_rules.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
namespace {

/// `[scheduler] max_placement_results`, the default.
constexpr const char* usual_limit = "1000";

std::string all_of(const std::set<std::string>& words) {
    return joined(words, ",");
}

/// Required ones first, then those that are forbidden.
std::string traits_text(const std::set<Trait>& required, const std::set<Trait>& forbidden) {
    std::vector<std::string> words;
    for (const auto& trait : required) words.push_back(trait.str());
    for (const auto& trait : forbidden) words.push_back("!" + trait.str());
    return joined(words, ",");
}

std::string resources_text(const Resources& resources) {
    std::vector<std::string> words;
    for (const auto& [resource_class, amount] : resources)
        words.push_back(resource_class.str() + ":" + std::to_string(amount));
    std::ranges::sort(words);
    return joined(words, ",");
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
        std::ranges::sort(query_);
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

namespace {

Error not_understood(const std::string& what) {
    return Error{Errc::bad_input, what};
}

Result<Resources> read_resources(std::string_view text) {
    Resources resources;
    for (const std::string& word : words_of(text)) {
        const auto colon = word.find(':');
        Amount amount = 0;
        const char* const end = word.data() + word.size();
        if (colon == word.npos || colon == 0)
            return not_understood("resources '" + printable(word, 64) + "'");
        const auto read = std::from_chars(word.data() + colon + 1, end, amount);
        if (read.ec != std::errc{} || read.ptr != end || amount <= 0)
            return not_understood("resources '" + printable(word, 64) + "'");
        const ResourceClass name{word.substr(0, colon)};
        if (resources.get(name) != 0)
            return not_understood("the class of '" + printable(word, 64) + "' twice");
        resources.set(name, amount);
    }
    if (resources.empty()) return not_understood("no resources");
    return resources;
}

/// `HW_A,!HW_B`
Result<void> read_traits(std::string_view text, std::set<Trait>& required,
                         std::set<Trait>& forbidden) {
    if (text.starts_with("in:")) return not_understood("one of several traits");
    for (std::string& word : words_of(text)) {
        const bool no = word.starts_with('!');
        if (no) word.erase(0, 1);
        if (word.empty()) return not_understood("an empty trait");
        (no ? forbidden : required).insert(Trait{std::move(word)});
    }
    return {};
}

/// `in:A,B`, `A`, `!A`, `!in:A,B`
Result<void> read_member_of(std::string_view text, std::vector<std::set<std::string>>& one_of,
                            std::set<std::string>* none_of) {
    const bool no = text.starts_with('!');
    if (no) text.remove_prefix(1);
    const bool several = text.starts_with("in:");
    if (several) text.remove_prefix(3);
    const auto words = words_of(text);
    if (words.empty() || (words.size() > 1 && !several)) return not_understood("member_of");
    if (no && none_of == nullptr) return not_understood("a group outside of aggregates");
    if (no)
        none_of->insert(words.begin(), words.end());
    else
        one_of.emplace_back(words.begin(), words.end());
    return {};
}

/// Reads one parameter after the other.
class Reading {
public:
    Result<void> parameter(const std::string& name, const std::string& value) {
        if (name == "limit") return {};
        if (name == "group_policy") {
            query.group_policy = group_policy_from(value);
            if (!query.group_policy) return not_understood("group_policy " + printable(value, 32));
            return {};
        }
        if (name == "root_required") {
            std::set<Trait> forbidden;
            auto read = read_traits(value, query.root_required_traits, forbidden);
            forbidden.erase(disabled_trait);  // no host that is disabled is planned with anyway
            if (read && !forbidden.empty()) return not_understood("a trait forbidden to the root");
            return read;
        }
        for (const char* const kind : {"resources", "required", "member_of", "in_tree"})
            if (name.starts_with(kind))
                return part(kind, name.substr(std::string_view{kind}.size()), value);
        return not_understood("the parameter " + printable(name, 64));
    }

    Result<CandidatesQuery> take() {
        query.shape.resources = ungrouped_;
        for (auto& [suffix, group] : groups_) {
            if (group.resources.empty())
                return not_understood("a group without resources (" + printable(suffix, 64) + ")");
            query.shape.resources += group.resources;
            query.groups.push_back(std::move(group));
        }
        if (query.shape.resources.empty()) return not_understood("no resources");
        return std::move(query);
    }

private:
    Result<void> part(std::string_view kind, const std::string& suffix, const std::string& value) {
        if (suffix.empty()) return of_the_rest(kind, value);
        RequestGroup& group = groups_[suffix];
        group.suffix = suffix;
        if (kind == "required")
            return read_traits(value, group.required_traits, group.forbidden_traits);
        if (kind == "member_of") return read_member_of(value, group.aggregates, nullptr);
        if (kind == "in_tree") {
            group.in_tree = ProviderId{value};
            return {};
        }
        return resources(value, group.resources);
    }

    Result<void> of_the_rest(std::string_view kind, const std::string& value) {
        if (kind == "required")
            return read_traits(value, query.shape.required_traits, query.shape.forbidden_traits);
        if (kind == "member_of")
            return read_member_of(value, query.aggregates, &query.forbidden_aggregates);
        if (kind == "in_tree") {
            query.in_tree = ProviderId{value};
            return {};
        }
        return resources(value, ungrouped_);
    }

    static Result<void> resources(const std::string& value, Resources& into) {
        auto read = read_resources(value);
        if (!read) return read.error();
        into = std::move(*read);
        return {};
    }

    CandidatesQuery query;
    Resources ungrouped_;
    std::map<std::string, RequestGroup> groups_;
};

/// In the order of their suffixes.
std::vector<RequestGroup> sorted(std::vector<RequestGroup> groups) {
    std::ranges::sort(groups, [](const auto& a, const auto& b) { return a.suffix < b.suffix; });
    return groups;
}

bool same_shape(const Request& request, const CandidatesQuery& query) {
    return request.resources == query.shape.resources &&
           request.required_traits == query.shape.required_traits &&
           request.forbidden_traits == query.shape.forbidden_traits &&
           sorted(request.groups) == query.groups;
}

}  // namespace

Result<CandidatesQuery> read_candidates_query(const PlacementQuery& query) {
    Reading reading;
    ResTypeQuery asked = take_res_type(query);
    for (const auto& [name, value] : asked.rest) {
        auto read = reading.parameter(name, value);
        if (!read) return read.error();
    }
    auto read = reading.take();
    if (read) read->res_type = std::move(asked.constraints);
    return read;
}

AskedAs asked_as(const Request& request, const CandidatesQuery& query) {
    if (same_shape(request, query)) return AskedAs::itself;
    if (request.fallback && same_shape(by_fallback(request), query)) return AskedAs::fallback;
    return AskedAs::other;
}

Request as_asked(Request request, const CandidatesQuery& query) {
    if (asked_as(request, query) != AskedAs::itself) request.fallback.reset();
    request.resources = query.shape.resources;
    request.required_traits = query.shape.required_traits;
    request.forbidden_traits = query.shape.forbidden_traits;
    request.groups = query.groups;
    request.group_policy = query.group_policy;
    request.root_required_traits = query.root_required_traits;
    request.placement.aggregates = query.aggregates;
    return request;
}

}  // namespace reaper
