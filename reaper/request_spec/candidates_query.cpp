#include "reaper/request_spec/candidates_query.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "reaper/model/standard_traits.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/res_type_query.hpp"

namespace reaper {
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
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.suffix < b.suffix; });
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
