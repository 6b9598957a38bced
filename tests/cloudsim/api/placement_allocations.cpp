// Placement's /allocations, /allocation_candidates and /usages.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/placement_parts.hpp"

namespace reaper::cloudsim {

namespace placement_allocations_api {
namespace {

using Json = nlohmann::json;

// Allocations ----------------------------------------------------------------

Response show(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    const Consumer* consumer = id ? call.world.placement.find_consumer(*id) : nullptr;
    if (!consumer) return json_response(200, R"({"allocations":{}})");
    const Names& names = call.world.names;
    JsonWriter json;
    json.open_object().open_object("allocations");
    const Provider* open = nullptr;
    for (const Held& held : consumer->held) {
        if (held.provider != open) {
            if (open) json.close_object().member("generation", open->generation).close_object();
            open = held.provider;
            json.open_object(open->uuid.text()).open_object("resources");
        }
        json.member(names.text(held.resource_class), held.amount);
    }
    if (open) json.close_object().member("generation", open->generation).close_object();
    json.close_object();
    if (call.since(12))
        json.member("project_id", names.text(consumer->project))
            .member("user_id", names.text(consumer->user));
    if (call.since(28)) json.member("consumer_generation", consumer->generation);
    if (call.since(38)) json.member("consumer_type", names.text(consumer->type));
    json.close_object();
    return json_response(200, json.take());
}

void need_names(const Call& call, const Json& said) {
    for (const char* key : {"project_id", "user_id"}) need_text(said, key);
    if (call.since(28) && !said.contains("consumer_generation"))
        throw ApiError(400, "JSON does not validate: 'consumer_generation' is a required property");
    if (call.since(38)) need_text(said, "consumer_type");
}

std::vector<Held> held_in(const Call& call, const Json& allocations) {
    std::vector<Held> all;
    for (const auto& [uuid, each] : allocations.items()) {
        const auto id = Uuid::parse(uuid);
        Provider* provider = id ? call.world.placement.find(*id) : nullptr;
        if (!provider)
            throw ApiError(400,
                           "Allocation for resource provider '" + uuid + "' that does not exist.");
        for (const auto& [name, amount] : need_object(each, "resources").items()) {
            if (!amount.is_number_integer() || amount.get<std::int64_t>() < 1)
                throw ApiError(400, "JSON does not validate: " + amount.dump() +
                                        " is less than the minimum of 1");
            if (!call.world.placement.knows_class(name))
                throw ApiError(400,
                               "Unable to allocate inventory for consumer: No such resource "
                               "class " +
                                   name + ".");
            all.push_back({provider, call.world.names.id(name), amount.get<std::int64_t>()});
        }
    }
    return all;
}

Claim claim_in(const Call& call, const Uuid& consumer, const Json& said) {
    Claim claim;
    claim.consumer = consumer;
    Names& names = call.world.names;
    if (call.since(12)) {
        need_names(call, said);
        claim.project = names.id(text_in(said, "project_id", ""));
        claim.user = names.id(text_in(said, "user_id", ""));
    }
    claim.type = names.id(call.since(38) ? text_in(said, "consumer_type", "") : "unknown");
    if (const Consumer* old = call.world.placement.find_consumer(consumer); old && !call.since(38))
        claim.type = old->type;
    if (call.since(28)) {
        const Json& generation = said["consumer_generation"];
        claim.generation.emplace(std::nullopt);
        if (generation.is_number_integer())
            claim.generation.emplace(generation.get<std::int64_t>());
    }
    claim.held = held_in(call, need_object(said, "allocations"));
    if (claim.held.empty() && !call.since(28))
        throw ApiError(400, "JSON does not validate: {} does not have enough properties");
    return claim;
}

Response put(Call& call) {
    const Json said = call.body();
    const Uuid consumer = uuid_in(call.args[0], "Malformed consumer_uuid: " + call.args[0]);
    throw_if(call.world.placement.claim({claim_in(call, consumer, said)}));
    return no_content();
}

Response post(Call& call) {
    const Json said = call.body();
    std::vector<Claim> claims;
    for (const auto& [uuid, each] : said.items())
        claims.push_back(claim_in(call,
                                  uuid_in(uuid, "JSON does not validate: '" + uuid +
                                                    "' does not match any of the regexes"),
                                  each));
    throw_if(call.world.placement.claim(claims));
    return no_content();
}

Response remove(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    if (!id || !call.world.placement.remove_consumer(*id))
        throw ApiError(404, "No allocations for consumer '" + call.args[0] + "'");
    return no_content();
}

// Candidates -----------------------------------------------------------------

/// `required1` into `1`; false if the parameter is not of that kind.
bool suffix_of(const std::string& parameter, std::string_view prefix, std::string& suffix) {
    if (!parameter.starts_with(prefix)) return false;
    suffix = parameter.substr(prefix.size());
    return suffix.empty() || suffix[0] == '_' || (suffix[0] >= '1' && suffix[0] <= '9');
}

CandidateQuery query_of(const Call& call) {
    CandidateQuery query;
    std::string suffix;
    for (const auto& [key, value] : call.request.query) {
        if (key == "limit") {
            const std::string wrong =
                "Invalid query string parameters: '" + value + "' does not match '^[1-9][0-9]*$'";
            query.limit = static_cast<std::size_t>(number_in(value, wrong));
            if (query.limit == 0) throw ApiError(400, wrong);
        } else if (key == "group_policy") {
            query.isolate = value == "isolate";
        } else if (key == "root_required") {
            RequestGroup traits;
            add_required(call, value, traits);
            for (const auto& any : traits.required) query.root_required.insert(*any.begin());
            query.root_forbidden = traits.forbidden;
        } else if (key == "same_subtree") {
            continue;  // groups of one tree of two levels always share a subtree here
        } else if (suffix_of(key, "resources", suffix)) {
            query.groups[suffix].resources = resources_in(call, value);
        } else if (suffix_of(key, "required", suffix)) {
            add_required(call, value, query.groups[suffix]);
        } else if (suffix_of(key, "member_of", suffix)) {
            add_member_of(value, query.groups[suffix]);
        } else if (suffix_of(key, "in_tree", suffix)) {
            query.groups[suffix].in_tree =
                uuid_in(value, "Expected '" + key + "' parameter to be a UUID. Got: " + value);
        } else {
            throw ApiError(400,
                           "Invalid query string parameters: Additional properties are not "
                           "allowed ('" +
                               key + "' was unexpected)");
        }
    }
    return query;
}

void check(const Call& call, const CandidateQuery& query) {
    std::size_t numbered = 0;
    bool any = false;
    for (const auto& [suffix, group] : query.groups) {
        any = any || !group.resources.empty();
        if (!suffix.empty() && !group.resources.empty()) ++numbered;
    }
    if (!any)
        throw ApiError(400,
                       "At least one request group (`resources` or `resources{$S}`) is "
                       "required.");
    if (numbered > 1 && !call.request.parameter("group_policy"))
        throw ApiError(400,
                       "The \"group_policy\" parameter is required when specifying more than "
                       "one \"resources{N}\" parameter.");
}

void write_request(JsonWriter& json, const Call& call, const Candidate& candidate) {
    json.open_object().open_object("allocations");
    const Provider* open = nullptr;
    for (const Held& held : candidate.held) {
        if (held.provider != open) {
            if (open) json.close_object().close_object();
            open = held.provider;
            json.open_object(open->uuid.text()).open_object("resources");
        }
        json.member(call.world.names.text(held.resource_class), held.amount);
    }
    if (open) json.close_object().close_object();
    json.close_object();
    if (call.since(34)) {
        json.open_object("mappings");
        for (const auto& [suffix, providers] : candidate.mappings) {
            json.open_array(suffix);
            for (const Provider* provider : providers) json.value(provider->uuid.text());
            json.close_array();
        }
        json.close_object();
    }
    json.close_object();
}

void write_summary(JsonWriter& json, const Call& call, const Provider& provider) {
    json.open_object(provider.uuid.text()).open_object("resources");
    for (const Room& room : provider.rooms)
        json.open_object(call.world.names.text(room.resource_class))
            .member("capacity", room.inventory.capacity())
            .member("used", room.used)
            .close_object();
    json.close_object();
    if (call.since(17)) {
        json.open_array("traits");
        for (const NameId trait : provider.traits) json.value(call.world.names.text(trait));
        json.close_array();
    }
    if (call.since(29)) {
        json.name("parent_provider_uuid");
        if (provider.parent)
            json.value(provider.parent->uuid.text());
        else
            json.value(nullptr);
        json.member("root_provider_uuid", provider.root->uuid.text());
    }
    json.close_object();
    for (const Provider* child : provider.children) write_summary(json, call, *child);
}

Response candidates(Call& call) {
    const CandidateQuery query = query_of(call);
    check(call, query);
    const Candidates found = find_candidates(call.world.placement, query);
    JsonWriter json;
    json.open_object().open_array("allocation_requests");
    for (const Candidate& candidate : found.requests) write_request(json, call, candidate);
    json.close_array().open_object("provider_summaries");
    for (const Provider* root : found.roots) write_summary(json, call, *root);
    json.close_object().close_object();
    return json_response(200, json.take());
}

// Usages ---------------------------------------------------------------------

Response usages(Call& call) {
    const auto project = call.request.parameter("project_id");
    if (!project)
        throw ApiError(400, "Invalid query string parameters: 'project_id' is a required property");
    const auto user = call.request.parameter("user_id");
    const auto type = call.request.parameter("consumer_type");
    const Names& names = call.world.names;
    std::map<std::string, std::map<std::string, std::int64_t>> sums;
    for (const auto& [id, consumer] : call.world.placement.consumers()) {
        if (names.text(consumer->project) != *project) continue;
        if (user && names.text(consumer->user) != *user) continue;
        const std::string& its = names.text(consumer->type);
        if (type && *type != "all" && *type != its) continue;
        const std::string key = !call.since(38) ? "" : type && *type == "all" ? "all" : its;
        auto& sum = sums[key];
        ++sum["consumer_count"];
        for (const Held& held : consumer->held) sum[names.text(held.resource_class)] += held.amount;
    }
    JsonWriter json;
    json.open_object();
    if (call.since(38)) {
        json.open_object("usages");
        for (const auto& [kind, sum] : sums) write_map(json, kind, sum);
        json.close_object();
    } else {
        sums[""].erase("consumer_count");
        write_map(json, "usages", sums[""]);
    }
    json.close_object();
    return json_response(200, json.take());
}

constexpr Route routes[] = {
    {"GET", "allocations/*", show},
    {"PUT", "allocations/*", put},
    {"DELETE", "allocations/*", remove},
    {"POST", "allocations", post},
    {"GET", "allocation_candidates", candidates},
    {"GET", "usages", usages},
};

}  // namespace
}  // namespace placement_allocations_api

std::span<const Route> placement_allocations() {
    return placement_allocations_api::routes;
}

}  // namespace reaper::cloudsim
