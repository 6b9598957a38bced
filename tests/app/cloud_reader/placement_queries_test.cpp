// What Nova's scheduler really asked of Placement (recorded on a lab,
// tests/data/placement_queries), and what the reaper makes of the same messages, servers and
// images: field by field the same, except for what no service reports.
//
// The page beside the data has a row for each case. REAPER_UPDATE_GOLDEN=1 rewrites it.
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "clients/openstack/glance.hpp"
#include "clients/openstack/nova_format.hpp"
#include "config/loader.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/notifications/cloud_event_parser.hpp"
#include "reaper/notifications/nova_notification.hpp"
#include "reaper/request_spec/placement_query.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper::placement_queries_test {
namespace {

using nlohmann::json;
using test::FakeClock;
using test::FakeCloud;

/// For people: nothing is escaped.
std::string to_string(const PlacementQuery& query) {
    std::string text;
    for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

const std::string folder = std::string{REAPER_TEST_DATA} + "/placement_queries/";

/// What can't be equal: parameters that Nova sent and that no message or API tells, by the start of
/// their names; or that the reaper refuses such a request.
struct Unknown {
    const char* name;
    std::vector<std::string> parameters;
    const char* why;
};
const char* const forced = "no service tells a forced host where Placement offered none";
const char* const no_zone = "before 2.96 Nova tells the zone of such a request to no client";
const std::vector<Unknown> unknown{
    {"zone and host", {"in_tree"}, forced},
    {"forced host", {"in_tree"}, forced},
    {"requested host", {"in_tree"}, forced},
    {"migrate to a host", {"in_tree"}, forced},
    {"live migration to a host", {"in_tree"}, forced},
    {"evacuate to a host", {"in_tree"}, forced},
    {"unshelve to a host", {"in_tree"}, forced},
    {"live migration in its zone", {"member_of"}, no_zone},
    {"unshelve to a zone", {"member_of"}, no_zone},
    {"unshelve in its zone", {"member_of"}, no_zone},
    {"accelerators",
     {"resourcesdevice_profile", "requireddevice_profile"},
     "what a device profile is, Cyborg tells"},
};
/// Placement answers 400.
const std::vector<std::string> refused{"two groups without policy", "a group of traits alone"};

SchedulerRules rules_of(const json& settings) {
    std::string text = "taggers: [{name: project, tag: preemptible}]\nscheduler:\n";
    for (const auto& [key, value] : settings.items())
        text += "  " + key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) +
                "\n";
    const std::string path = ::testing::TempDir() + "placement_queries.yaml";
    std::ofstream{path} << text;
    auto policy = config::load_policy(path, config::system_environment());
    if (!std::holds_alternative<config::Policy>(policy)) {
        ADD_FAILURE() << config::to_string(std::get<1>(policy).front());
        return {};
    }
    auto compiled = compile_policy(std::get<config::Policy>(policy));
    if (!compiled) ADD_FAILURE() << compiled.error().what;
    return compiled ? (*compiled)->scheduler : SchedulerRules{};
}

std::vector<AggregateRecord> aggregates_of(const json& record) {
    const std::string body = json{{"aggregates", record["aggregates"]}}.dump();
    return *openstack::read_aggregates(body, "the record");
}

std::vector<HypervisorRecord> hosts_of(const json& record) {
    std::vector<HypervisorRecord> hosts;
    for (const auto& [name, provider] : record["hosts"].items())
        hosts.push_back({HostId{provider.get<std::string>()}, name, name, "fake"});
    return hosts;
}

std::vector<PlacementQuery> asked_by_nova(const json& record) {
    std::vector<PlacementQuery> queries;
    for (const auto& query : record["queries"]) {
        queries.emplace_back();
        for (const auto& parameter : query["parameters"])
            queries.back().emplace_back(parameter[0], parameter[1]);
    }
    return queries;
}

class Replay {
public:
    explicit Replay(const json& record) : record_{record} {
        const std::string body = json{{"server", record["server"]}}.dump();
        server_ = *openstack::read_server(body, "the record");
        cloud_.add(test::FakeServer{server_, {}, {}, {}});
        if (!record["image"].is_null())
            cloud_.images[server_.image] =
                *openstack::read_image(record["image"].dump(), "the record");
        for (const auto& group : record["groups"]) {
            const std::string text = json{{"server_group", group}}.dump();
            cloud_.groups[group["id"]] = *openstack::read_server_group(text, "the record");
        }
    }

    std::variant<Request, Refused> request(SchedulerRules rules) {
        FailureNotice notice = this->notice();
        ActionRecord action;
        action.name = record_["action"];
        if (!action.name.empty()) cloud_.recorded_actions[notice.request_id.str()] = action;
        if (notice.flavor) cloud_.flavors[notice.flavor_id] = *notice.flavor;
        std::optional<Schedule> search;
        if (!record_["search"].is_null()) search = amqp::schedule_of(record_["search"].dump());
        auto built = run_task(io_, complete_request(cloud_.ports(), std::move(notice),
                                                    std::move(search), std::move(rules)));
        if (!built) return Refused{"error: " + built.error().what};
        return std::move(*built);
    }

private:
    FailureNotice notice() const {
        if (!record_["failure"].is_null()) {
            auto parsed = parse_notification(record_["failure"].dump());
            if (auto* const notice = std::get_if<FailureNotice>(&parsed)) return std::move(*notice);
            ADD_FAILURE() << "not understood: " << record_["failure"].dump();
        }
        // Nova does not report a failed unshelving: the trigger knows the server.
        FailureNotice notice;
        notice.event = FailureEvent::unshelve_server;
        notice.request_id = RequestId{"req-1"};
        notice.server = notice.spec_server = server_.server.id;
        notice.project = server_.server.project;
        return notice;
    }

    const json& record_;
    boost::asio::io_context io_;
    FakeClock clock_;
    FakeCloud cloud_{clock_};
    ServerRecord server_;
};

/// What Nova sent and the reaper can't know is taken out.
PlacementQuery without(PlacementQuery query, const std::vector<std::string>& names) {
    std::erase_if(query, [&](const auto& parameter) {
        return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return parameter.first.starts_with(name);
        });
    });
    return query;
}

std::string text_of(const std::vector<PlacementQuery>& queries) {
    std::string text;
    for (const auto& query : queries) text += to_string(query) + "\n";
    return text;
}

struct Row {
    std::string name, query, equal;
};

/// Names in the place of ids, and without what is in all queries.
std::string shown(const json& record) {
    std::string text;
    for (auto query : asked_by_nova(record)) {
        const bool limited =
            std::erase_if(query, [](const auto& each) { return each.first == "limit"; }) > 0;
        text += (text.empty() ? "" : " <br> ") + to_string(query) + (limited ? "" : " (no limit)");
    }
    const auto rename = [&](const std::string& id, const std::string& name) {
        for (auto at = text.find(id); at != std::string::npos; at = text.find(id))
            text.replace(at, id.size(), name);
    };
    for (const auto& [name, provider] : record["hosts"].items()) rename(provider, name);
    for (const auto& aggregate : record["aggregates"])
        rename(aggregate["uuid"], "'" + aggregate["name"].get<std::string>() + "'");
    rename("&root_required=!COMPUTE_STATUS_DISABLED", "");
    return text.empty() ? "none: it refuses the project at once" : "`" + text + "`";
}

std::vector<json> records() {
    std::ifstream in{folder + "zed.jsonl"};
    std::vector<json> all;
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    return all;
}

/// Compares one case, and says how it went.
std::string compare(const json& record) {
    const std::string name = record["case"];
    if (record["queries"].empty()) {
        const auto parsed = parse_notification(record["failure"].dump());
        EXPECT_FALSE(std::holds_alternative<FailureNotice>(parsed)) << name;
        return "none either: room would not help";
    }
    const SchedulerRules rules = rules_of(record["scheduler"]);
    auto built = Replay{record}.request(rules);
    const bool refuses = std::find(refused.begin(), refused.end(), name) != refused.end();
    if (const auto* no = std::get_if<Refused>(&built)) {
        EXPECT_TRUE(refuses) << name << ": " << no->reason;
        EXPECT_EQ(record["queries"][0]["status"], 400) << name;
        return "refused, as Placement does (400)";
    }
    EXPECT_FALSE(refuses) << name;
    const auto& request = std::get<Request>(built);
    const auto ours = placement_queries(request, rules, aggregates_of(record), hosts_of(record));
    auto novas = asked_by_nova(record);
    const auto known = std::find_if(unknown.begin(), unknown.end(),
                                    [&](const Unknown& each) { return each.name == name; });
    if (known == unknown.end()) {
        EXPECT_EQ(text_of(ours), text_of(novas)) << name;
        return "yes";
    }
    EXPECT_NE(ours, novas) << name << " is equal by now";
    for (auto& query : novas) query = without(std::move(query), known->parameters);
    EXPECT_EQ(text_of(ours), text_of(novas)) << name;
    std::string missing;
    for (const auto& parameter : known->parameters)
        missing += (missing.empty() ? "`" : ", `") + parameter + "`";
    return "but for " + missing + ": " + known->why;
}

std::string page(const std::vector<Row>& rows) {
    std::string text =
        "# What Nova asks of Placement\n\n"
        "`zed.jsonl` has a line for each case below: what nova-scheduler (Zed) asked of Placement "
        "for it on a\nreal cloud, and what a reaper could read when it failed. "
        "`tests/openstack/placement_queries` records it\nanew (`--check` compares, in `tests/run "
        "--soak`); its cases are in `tests/openstack/query_cases.py`.\n"
        "`tests/app/cloud_reader/placement_queries_test.cpp` builds the reaper's own queries from "
        "it and "
        "compares "
        "them field by\nfield; it also writes this page (`REAPER_UPDATE_GOLDEN=1`).\n\n"
        "`limit=1000` is left out, and `root_required=!COMPUTE_STATUS_DISABLED` where nothing else "
        "is required of the\nroot. Two queries: dedicated CPUs, and then the same as VCPU.\n\n"
        "| case | Nova's query | the reaper's is equal |\n|---|---|---|\n";
    for (const auto& row : rows)
        text += "| " + row.name + " | " + row.query + " | " + row.equal + " |\n";
    return text;
}

TEST(PlacementQueries, AreThoseOfNova) {
    const auto recorded = records();
    ASSERT_GE(recorded.size(), 60U);
    std::vector<Row> rows;
    for (const auto& record : recorded)
        rows.push_back({record["case"], shown(record), compare(record)});
    const std::string expected = page(rows);
    const std::string file = folder + "README.md";
    if (std::getenv("REAPER_UPDATE_GOLDEN") != nullptr) std::ofstream{file} << expected;
    std::ostringstream found;
    found << std::ifstream{file}.rdbuf();
    EXPECT_EQ(found.str(), expected) << "REAPER_UPDATE_GOLDEN=1 rewrites " << file << "";
}

/// What a query reads as: its host and the aggregates that it leaves out are no part of a request.
PlacementQuery of_shape(PlacementQuery query) {
    std::erase_if(query, [](const auto& each) {
        return each.first == "limit" || each.first == "in_tree" || each.second.starts_with("!in:");
    });
    return query;
}

TEST(PlacementQueries, OfNovaAreUnderstoodAndWrittenAsTheyWere) {
    for (const json& record : records()) {
        const bool whole = record["case"] != "a group of traits alone";
        for (const auto& query : asked_by_nova(record)) {
            const auto read = read_candidates_query(query);
            ASSERT_EQ(read.has_value(), whole) << record["case"];
            if (!read) continue;
            const auto written = placement_queries(as_asked(Request{}, *read), {}, {}, {});
            EXPECT_EQ(to_string(of_shape(written.front())), to_string(of_shape(query)))
                << record["case"];
        }
    }
}

TEST(PlacementQueries, OfNovaAreKnownAsThoseOfTheirRequest) {
    int itself = 0, fallback = 0;
    for (const json& record : records()) {
        if (record["queries"].empty()) continue;
        const auto built = Replay{record}.request(rules_of(record["scheduler"]));
        const auto* const request = std::get_if<Request>(&built);
        const bool told = std::none_of(unknown.begin(), unknown.end(), [&](const Unknown& each) {
            return each.name == record["case"].get<std::string>();
        });
        if (request == nullptr) continue;
        for (const auto& query : asked_by_nova(record)) {
            const AskedAs as = asked_as(*request, *read_candidates_query(query));
            EXPECT_TRUE(!told || as != AskedAs::other) << record["case"];
            itself += as == AskedAs::itself;
            fallback += as == AskedAs::fallback;
        }
    }
    EXPECT_GE(itself, 60);
    EXPECT_GE(fallback, 8);
}

}  // namespace
}  // namespace reaper::placement_queries_test
