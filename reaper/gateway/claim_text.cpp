#include "reaper/gateway/claim_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "reaper/json/json_holdings.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"

namespace reaper {

std::optional<Allocations> read_claim(std::string_view body) {
    Allocations asked;
    try {
        const nlohmann::json document = parse_bounded(body);
        const JsonPlace top(document);
        const JsonPlace allocations = top["allocations"];
        allocations.each_member([&](const std::string& provider, const JsonPlace& row) {
            const JsonPlace amounts = row["resources"];
            asked.emplace(ProviderId{provider}, amounts.resources());
        });
    } catch (const WrongJson&) {
        return std::nullopt;
    }
    return asked;
}

std::optional<ProjectId> claiming_project(std::string_view body) {
    const auto claim = parse_bounded(body);
    if (!claim.is_object()) return std::nullopt;
    const auto project = claim.find("project_id");
    if (project == claim.end() || !project->is_string()) return std::nullopt;
    return ProjectId{project->get<std::string>()};
}

bool repeats_what_is_held(std::string_view body) {
    const auto claim = parse_bounded(body);
    return claim.contains("consumer_generation") && !claim["consumer_generation"].is_null();
}

bool takes_room_of(const Host& host, const Allocations& asked) {
    return std::any_of(host.providers.begin(), host.providers.end(),
                       [&](const Provider& provider) { return asked.contains(provider.id); });
}

std::optional<std::string> joint_claim(std::string_view body, const ServerId& server,
                                       const std::vector<ConsumerChange>& changes) {
    auto claim = parse_bounded(body);
    if (!claim.is_object()) return std::nullopt;
    auto all = holdings_json(changes, claim.contains("consumer_type"));
    all[server.str()] = std::move(claim);
    return all.dump();
}

std::string no_room_text(std::string_view request) {
    return nlohmann::json{
        {"errors",
         {{{"status", 409},
           {"title", "Conflict"},
           {"detail",
            "There was a conflict when trying to complete your request.\n\n Unable to "
            "allocate inventory: the room is promised to another request "},
           {"code", "placement.undefined_code"},
           {"request_id", request}}}}}
        .dump();
}

}  // namespace reaper
