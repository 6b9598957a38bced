#include "reaper/json/json_holdings.hpp"

#include <utility>

#include "reaper/json/json_text.hpp"

namespace reaper {

nlohmann::json holdings_json(const std::vector<ConsumerChange>& changes, bool with_types) {
    nlohmann::json all = nlohmann::json::object();
    for (const auto& [id, wanted] : changes) {
        nlohmann::json holds = nlohmann::json::object();
        for (const auto& [provider, amounts] : wanted.holds)
            for (const auto& [name, amount] : amounts)
                holds[provider.str()]["resources"][name.str()] = amount;
        nlohmann::json& one = all[id.str()];
        one = {{"allocations", std::move(holds)},
               {"consumer_generation", nullptr},
               {"project_id", wanted.project},
               {"user_id", wanted.user}};
        if (wanted.generation) one["consumer_generation"] = *wanted.generation;
        // Nova gives its own none; that is shown as "unknown", and may not be written.
        const bool told = !wanted.type.empty() && wanted.type != "unknown";
        if (with_types) one["consumer_type"] = told ? wanted.type : "INSTANCE";
    }
    return all;
}

bool is_concurrent_update(std::string_view answer) {
    const auto said = parse_bounded(answer);
    const nlohmann::json::json_pointer code{"/errors/0/code"};
    return said.contains(code) && said[code] == "placement.concurrent_update";
}

}  // namespace reaper
