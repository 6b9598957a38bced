#include "faults/schedules/gateway_words.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reaper/gateway/call_words.hpp"
#include "reaper/model/text.hpp"

namespace reaper::faults {

using cloudsim::Candidate;
using cloudsim::CandidateQuery;
using cloudsim::Candidates;
using cloudsim::NameId;
using cloudsim::RequestGroup;
using cloudsim::Uuid;
using nlohmann::json;

namespace {

/// A set of aggregates, as in `member_of=in:A,B`.
std::string any_of(const std::set<Uuid>& ids) {
    std::vector<std::string> words;
    for (const Uuid& id : ids) words.push_back(id.text());
    return "in:" + joined(words, ",");
}

/// As Nova writes it.
class QueryWriter {
public:
    explicit QueryWriter(const cloudsim::Names& names) : names_(names) {}

    PlacementQuery write(const CandidateQuery& query) {
        if (query.limit > 0) add("limit", std::to_string(query.limit));
        for (const auto& [suffix, group] : query.groups) write(suffix, group);
        if (query.groups.size() > 1) add("group_policy", query.isolate ? "isolate" : "none");
        std::vector<std::string> roots;
        for (const NameId trait : query.root_required) roots.push_back(names_.text(trait));
        for (const NameId trait : query.root_forbidden) roots.push_back("!" + names_.text(trait));
        if (!roots.empty()) add("root_required", joined(roots, ","));
        return std::move(written_);
    }

private:
    void write(const std::string& suffix, const RequestGroup& group) {
        std::vector<std::string> amounts, traits;
        for (const auto& [name, amount] : group.resources)
            amounts.push_back(names_.text(name) + ":" + std::to_string(amount));
        for (const auto& one_of : group.required) traits.push_back(names_.text(*one_of.begin()));
        for (const NameId trait : group.forbidden) traits.push_back("!" + names_.text(trait));
        if (!amounts.empty()) add("resources" + suffix, joined(amounts, ","));
        if (!traits.empty()) add("required" + suffix, joined(traits, ","));
        for (const auto& ids : group.member_of) add("member_of" + suffix, any_of(ids));
        if (!group.not_member_of.empty())
            add("member_of" + suffix, "!" + any_of(group.not_member_of));
        if (group.in_tree) add("in_tree" + suffix, group.in_tree->text());
    }
    void add(std::string name, std::string value) {
        written_.emplace_back(std::move(name), std::move(value));
    }

    const cloudsim::Names& names_;
    PlacementQuery written_;
};

}  // namespace

std::string search_target(const cloudsim::Names& names, const CandidateQuery& query) {
    return with_query("/placement/allocation_candidates", QueryWriter{names}.write(query));
}

std::optional<Candidates> candidates_in(cloudsim::World& world, const std::string& body) {
    try {
        Candidates found;
        const json answer = json::parse(body);
        const json& ways = answer.at("allocation_requests");
        for (const json& way : ways) {
            Candidate candidate;
            const json& allocations = way.at("allocations");
            for (const auto& [id, row] : allocations.items()) {
                cloudsim::Provider* const provider = world.placement.find(Uuid::parse(id).value());
                if (provider == nullptr) return std::nullopt;
                const json& amounts = row.at("resources");
                for (const auto& [name, amount] : amounts.items())
                    candidate.held.push_back(
                        {provider, world.names.id(name), amount.get<std::int64_t>()});
            }
            found.requests.push_back(std::move(candidate));
        }
        return found;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::string claim_body(cloudsim::World& world, const cloudsim::Claim& claim) {
    const auto& names = world.names;
    json allocations = json::object();
    for (const auto& held : claim.held)
        allocations[held.provider->uuid.text()]["resources"][names.text(held.resource_class)] =
            held.amount;
    const auto* const known = world.placement.find_consumer(claim.consumer);
    json body = {{"allocations", std::move(allocations)},
                 {"project_id", names.text(claim.project)},
                 {"user_id", names.text(claim.user)},
                 {"consumer_generation", nullptr}};
    if (known != nullptr) body["consumer_generation"] = known->generation;
    return body.dump();
}

}  // namespace reaper::faults
