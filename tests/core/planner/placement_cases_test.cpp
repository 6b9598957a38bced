// Room for groups, held to Placement's own answers: random hosts and requests that tests/placement
// put to its code (tests/data/placement/cases.jsonl; REAPER_PLACEMENT_CASES names another file).
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reaper/planner/host_filter.hpp"

namespace reaper::placement_cases_test {
namespace {

using nlohmann::json;

/// As the generator counts them.
constexpr Amount most_slots = 3;

std::string file_of_cases() {
    const char* const given = std::getenv("REAPER_PLACEMENT_CASES");
    return given != nullptr ? given : REAPER_TEST_DATA "/placement/cases.jsonl";
}

/// The element, or what is meant where the list ends before it.
template <class T>
T at(const json& list, std::size_t i, T usual = {}) {
    return i < list.size() ? list[i].get<T>() : usual;
}

Inventory inventory_of(const json& in) {
    Inventory made;
    made.total = at<Amount>(in, 0);
    made.reserved = at<Amount>(in, 2);
    made.allocation_ratio = at(in, 3, 1.0);
    made.max_unit = at<Amount>(in, 4, 2147483647);
    made.min_unit = at<Amount>(in, 5, 1);
    made.step_size = at<Amount>(in, 6, 1);
    return made;
}

std::set<Trait> traits_of(const json& in) {
    std::set<Trait> made;
    for (const auto& trait : in) made.emplace(trait.get<std::string>());
    return made;
}

Provider provider_of(const json& in) {
    Provider made;
    made.id = ProviderId{at<std::string>(in, 0)};
    made.parent = ProviderId{at<std::string>(in, 1)};
    const json inventories = at(in, 2, json::object());
    for (const auto& [name, amounts] : inventories.items()) {
        made.inventories.emplace(ResourceClass{name}, inventory_of(amounts));
        made.used.set(ResourceClass{name}, at<Amount>(amounts, 1));
    }
    made.traits = traits_of(at(in, 3, json::array()));
    return made;
}

Host host_of(const json& in) {
    Host made;
    for (const auto& provider : in) made.providers.push_back(provider_of(provider));
    std::sort(made.providers.begin() + 1, made.providers.end(),
              [](const Provider& a, const Provider& b) { return a.id < b.id; });
    made.id = made.root().id;
    made.name = made.service_host = "host-" + made.id.str();
    made.placement_aggregates = at<std::set<std::string>>(in[0], 4);
    return made;
}

Resources resources_from(const json& in) {
    Resources made;
    for (const auto& [name, amount] : in.items())
        made.set(ResourceClass{name}, amount.get<Amount>());
    return made;
}

RequestGroup group_of(const json& in) {
    RequestGroup group;
    group.suffix = at<std::string>(in, 0);
    group.resources = resources_from(in[1]);
    group.required_traits = traits_of(at(in, 2, json::array()));
    group.forbidden_traits = traits_of(at(in, 3, json::array()));
    group.aggregates = at<std::vector<std::set<std::string>>>(in, 4);
    group.in_tree = ProviderId{at<std::string>(in, 5)};
    return group;
}

Request request_of(const json& groups, const std::string& policy) {
    Request made;
    made.id = RequestId{"req-1"};
    made.group_policy = group_policy_from(policy);
    for (const auto& each : groups) {
        RequestGroup group = group_of(each);
        made.resources += group.resources;
        if (!group.suffix.empty()) {
            made.groups.push_back(std::move(group));
            continue;
        }
        made.required_traits = std::move(group.required_traits);
        made.forbidden_traits = std::move(group.forbidden_traits);
    }
    return made;
}

struct Case {
    Snapshot cloud;
    Request request;
    std::map<HostId, Amount> slots;
};

Case case_of(const std::string& line) {
    const json in = json::parse(line);
    Case made;
    made.request = request_of(in[1], in[2].get<std::string>());
    for (std::size_t i = 0; i < in[0].size(); ++i) {
        made.cloud.hosts.push_back(host_of(in[0][i]));
        made.slots.emplace(made.cloud.hosts.back().id, in[3][i].get<Amount>());
    }
    return made;
}

/// By the host itself.
Amount slots_on(const Host& host, const Request& request) {
    const Shape shape = shape_of(request);
    const Ledger ledger;
    const std::map<ServerId, std::string> skipped;
    const auto filtered = filter_host(host, FilterInput{request, shape, ledger, skipped});
    const auto* const option = std::get_if<HostOption>(&filtered);
    return option == nullptr ? 0 : std::min(option->slots_ready, most_slots);
}

/// By the rows of the index, as far as they tell.
std::map<HostId, Amount> slots_by_rows(const Case& c) {
    const CloudIndex index{c.cloud};
    const Shape shape = shape_of(c.request);
    const Ledger ledger;
    const std::map<ServerId, std::string> skipped;
    const HostFilter hosts{index, FilterInput{c.request, shape, ledger, skipped}, most_slots};
    std::map<HostId, Amount> slots;
    for (std::size_t i = 0; i < hosts.size(); ++i) slots.emplace(hosts.host(i).id, hosts.ready(i));
    return slots;
}

TEST(PlacementCases, AHostTakesAsManyServersAsPlacementOffers) {
    std::ifstream file{file_of_cases()};
    ASSERT_TRUE(file.is_open()) << file_of_cases();
    std::string line;
    std::map<Amount, int> hosts;
    for (int number = 1; std::getline(file, line); ++number) {
        const Case c = case_of(line);
        const auto by_rows = slots_by_rows(c);
        for (const Host& host : c.cloud.hosts) {
            const Amount expected = c.slots.at(host.id);
            ++hosts[expected];
            ASSERT_EQ(slots_on(host, c.request), expected)
                << "case " << number << ", host " << host.id << ": " << line;
            const auto row = by_rows.find(host.id);
            ASSERT_EQ(row == by_rows.end() ? 0 : row->second, expected)
                << "by rows: case " << number << ", host " << host.id << ": " << line;
        }
    }
    for (Amount slots = 0; slots <= most_slots; ++slots)
        EXPECT_GT(hosts[slots], 50) << "too few hosts with " << slots << " slots to mean much";
}

}  // namespace
}  // namespace reaper::placement_cases_test
