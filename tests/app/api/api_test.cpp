// What people and programs ask the admin API for. All answers are as reaper/api/openapi.json says.
#include <cctype>

#include "app/api_house.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::test::api_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ApiTest : public ApiHouse {
protected:
    std::vector<std::string> names(const json& list, const std::string& member) {
        std::vector<std::string> all;
        for (const json& each : list) all.push_back(each.at(json::json_pointer{member}));
        return all;
    }
    /// Pages, one after the other, by the links of each.
    std::vector<std::string> walk(const std::string& path, const std::string& name,
                                  const std::string& query, const std::string& member) {
        std::vector<std::string> all;
        std::string target = path + query;
        for (int pages = 0; pages < 100; ++pages) {
            const json page = get(target);
            for (const std::string& each : names(page.at(name), member)) all.push_back(each);
            const json& links = page.at(name + "_links");
            if (links.empty()) return all;
            target = links.at(0).at("href").get<std::string>();
        }
        ADD_FAILURE() << "the pages have no end";
        return all;
    }
    void fails(const std::string& request, const std::string& server) {
        requester(server);
        NovaFailure one = another(request, server);
        messages->deliver(body_of(one));
        outcome_of(request);
    }
};

TEST_F(ApiTest, EveryRouteIsInTheDocumentAndTheOtherWayRound) {
    std::set<std::string> there;
    for (const api::Route& route : api::routes())
        there.insert(std::string{route.method} + " " + std::string{route.path});
    EXPECT_EQ(there, documented_routes());
    for (const api::Route& route : api::routes()) {
        std::string method{route.method};
        for (char& c : method) c = static_cast<char>(std::tolower(c));
        const json& operation = openapi().at("paths").at(std::string{route.path}).at(method);
        const bool open = operation.contains("security") && operation.at("security").empty();
        EXPECT_EQ(open, route.open) << route.path;
        const bool acts =
            operation.value("description", "").find("For who may act") != std::string::npos;
        EXPECT_EQ(acts, route.needs == api::Access::act) << route.path;
    }
}

/// The names of a body's members, those of its lists' entries too.
void members_of(const nlohmann::json& schema, std::set<std::string>& names) {
    const nlohmann::json properties =
        resolved(schema).value("properties", nlohmann::json::object());
    for (const auto& [name, member] : properties.items()) {
        names.insert(name);
        if (member.contains("items")) members_of(member.at("items"), names);
    }
}

TEST_F(ApiTest, TheLineOfARouteNamesAllThatItTakes) {
    for (const api::Route& route : api::routes()) {
        std::string method{route.method};
        for (char& c : method) c = static_cast<char>(std::tolower(c));
        const json& operation = openapi().at("paths").at(std::string{route.path}).at(method);
        std::set<std::string> names;
        for (const json& each : operation.value("parameters", json::array()))
            if (resolved(each).value("in", "") == "query") names.insert(resolved(each).at("name"));
        const json::json_pointer body{"/requestBody/content/application~1json/schema"};
        if (operation.contains(body)) members_of(operation.at(body), names);
        for (const std::string& name : names)
            if (name != "approved") {  // of saved plans, for the command alone
                EXPECT_THAT(std::string{route.help},
                            testing::ContainsRegex("[^a-z_]" + name + "[^a-z_]"))
                    << route.method << " " << route.path;
            }
    }
}

TEST_F(ApiTest, ExamplesInTheDocumentAreWhatTheirSchemasSay) {
    const auto examples = documented_examples();
    EXPECT_GE(examples.size(), 15U);
    for (const auto& [name, wrong] : examples) EXPECT_EQ(wrong, "") << name;
    // Each POST has an example of its body.
    for (const auto& [path, methods] : openapi().at("paths").items())
        EXPECT_TRUE(!methods.contains("post") || examples.contains("POST " + path)) << path;
}

TEST_F(ApiTest, StatusShowsTheStateAndTheCaller) {
    full_host();
    start_and_read_the_cloud();
    json told = get("/v1/status");
    EXPECT_EQ(told.at("ready"), true);
    EXPECT_EQ(told.at("serving"), true);
    EXPECT_EQ(told.at("paused"), nullptr);
    EXPECT_EQ(told.at("no_help"), nullptr);
    EXPECT_EQ(told.at("pause"), nullptr);
    EXPECT_EQ(told.at("circuit"), json({{"state", "closed"}, {"reason", ""}}));
    EXPECT_EQ(told.at("program_version"), "1.2.3");
    EXPECT_EQ(told.at("cache").at("hosts"), 1);
    EXPECT_EQ(told.at("cache").at("servers"), 4);
    EXPECT_EQ(told.at("you"), json({{"may_act", true}, {"principal", nullptr}}));
    told = answer(200, "GET /v1/status", "/v1/status", "", {api::Access::look, "eve@default"});
    EXPECT_EQ(told.at("you"), json({{"may_act", false}, {"principal", "eve@default"}}));
    messages->serves = false;
    told = get("/v1/status");
    EXPECT_EQ(told.at("serving"), false);
    EXPECT_THAT(std::string{told.at("no_help")}, HasSubstr("another one does"));
}

TEST_F(ApiTest, WhoIsLeftAloneHasANameIfKeystoneToldIt) {
    full_host();
    cloud.listed_names = {{"p-1", "web"}};
    start_and_read_the_cloud();
    with_status = [](DaemonStatus& state) {
        for (const char* const project : {"p-1", "p-2"})
            state.left_alone.push_back({safeguard::project_breaker, ProjectId{project}, "",
                                        CircuitState::open, 3, std::nullopt});
    };
    run_until([&] { return !service().view()->cache.project_names().empty(); });
    const json told = get("/v1/status").at("left_alone");
    ASSERT_THAT(told, SizeIs(2));
    EXPECT_EQ(told[0].at("project"), "p-1");
    EXPECT_EQ(told[0].at("project_name"), "web");
    EXPECT_FALSE(told[1].contains("project_name"));
}

TEST_F(ApiTest, StatusShowsWhoIsUnderNotice) {
    start_and_read_the_cloud();
    with_status = [](DaemonStatus& state) {
        state.notices.push_back(
            {ServerId{"s-1"}, RequestId{"req-1"}, TimePoint{}, true, false, {}, "web", "h1", {}});
    };
    EXPECT_EQ(get("/v1/status").at("notices"),
              json::array({{{"server", "s-1"},
                            {"name", "web"},
                            {"host", "h1"},
                            {"request", "req-1"},
                            {"until", "1970-01-01T00:00:00.000Z"}}}));
}

TEST_F(ApiTest, BeforeTheCloudWasReadItSaysSo) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    start();
    EXPECT_EQ(get("/v1/status").at("cache"), nullptr);
    EXPECT_THAT(why(get("/v1/hosts", 503)), HasSubstr("not been read"));
    answer(503, "GET /v1/hosts/{host}", "/v1/hosts/h1");
    answer(503, "POST /v1/plan", "/v1/plan", R"({"project": "regular", "resources": "VCPU=1"})");
}

TEST_F(ApiTest, HostsTellWhoUsesThem) {
    full_host("h1");
    cloud.add_host("h2", small * 4);
    cloud.add_server("regular-1", "h2", "regular", small);
    start_and_read_the_cloud();
    const json hosts = get("/v1/hosts").at("hosts");
    ASSERT_THAT(hosts, SizeIs(2));
    const bool first = hosts[0].at("name") == "h1";
    const json& h1 = hosts[first ? 0 : 1];
    const json& h2 = hosts[first ? 1 : 0];
    EXPECT_EQ(h1.at("state"), "up");
    EXPECT_EQ(h1.at("servers"), json({{"regular", 0}, {"revocable", 4}, {"evicting", 0}}));
    EXPECT_EQ(h1.at("resources").at("VCPU").at("revocable"), 8);
    EXPECT_EQ(h1.at("resources").at("VCPU").at("free"), 0);
    EXPECT_EQ(h2.at("resources").at("VCPU").at("regular"), 2);
    EXPECT_EQ(h2.at("resources").at("VCPU").at("free"), 6);
    const json only = get("/v1/hosts?resource_class=VCPU&name=h2").at("hosts");
    ASSERT_THAT(only, SizeIs(1));
    EXPECT_THAT(only[0].at("resources"), SizeIs(1));
    EXPECT_THAT(why(get("/v1/hosts?resource_class=vcpu", 400)), HasSubstr("resource_class"));
}

TEST_F(ApiTest, OneHostHasItsServersByIdAndByName) {
    full_host("h1");
    start_and_read_the_cloud();
    const json by_name = answer(200, "GET /v1/hosts/{host}", "/v1/hosts/h1");
    EXPECT_THAT(by_name.at("servers"), SizeIs(4));
    EXPECT_EQ(by_name.at("servers")[0].at("revocable"), true);
    const std::string id = by_name.at("host").at("id");
    EXPECT_EQ(answer(200, "GET /v1/hosts/{host}", "/v1/hosts/" + id), by_name);
    EXPECT_THAT(why(answer(404, "GET /v1/hosts/{host}", "/v1/hosts/h%2Fx")), HasSubstr("'h/x'"));
    EXPECT_EQ(ask({"GET", "/v1/hosts/", {}}).status, 404);
    EXPECT_EQ(ask({"GET", "/v1/hosts/h1/servers", {}}).status, 404);
}

TEST_F(ApiTest, HostsHavePages) {
    for (const int i : {10, 9, 4, 3, 2, 1, 0}) cloud.add_host("h" + std::to_string(i), small);
    start_and_read_the_cloud();
    const auto all = names(get("/v1/hosts").at("hosts"), "/name");
    EXPECT_THAT(all, SizeIs(7));
    EXPECT_EQ(walk("/v1/hosts", "hosts", "?limit=3&resource_class=VCPU", "/name"), all);
    EXPECT_EQ(walk("/v1/hosts", "hosts", "?limit=7", "/name"), all);
    EXPECT_THAT(walk("/v1/hosts", "hosts", "?limit=2", "/name"),
                ElementsAre("h0", "h1", "h2", "h3", "h4", "h9", "h10"))
        << "as commands list them";
    EXPECT_THAT(why(get("/v1/hosts?marker=no-such", 400)), HasSubstr("'no-such'"));
    EXPECT_THAT(why(get("/v1/hosts?limit=x", 400)), HasSubstr("whole number"));
    EXPECT_THAT(why(get("/v1/hosts?limit=1&limit=2", 400)), HasSubstr("twice"));
    EXPECT_THAT(why(get("/v1/hosts?what=1", 400)), HasSubstr("'what'"));
}

TEST_F(ApiTest, HostsAreFoundByZoneAndProject) {
    full_host();
    cloud.add_host("h2", small, "az2");
    cloud.listed_names = {{"spot", "batch"}};
    cloud.no_projects = {"no-such"};
    start_and_read_the_cloud();
    run_until([&] { return !service().view()->cache.project_names().empty(); });
    for (const char* const project : {"spot", "batch"})
        EXPECT_THAT(names(get("/v1/hosts?project=" + std::string{project}).at("hosts"), "/name"),
                    ElementsAre("host1"))
            << project;
    EXPECT_THAT(why(get("/v1/hosts?project=no-such", 404)), HasSubstr("no-such"));
    EXPECT_THAT(names(get("/v1/hosts?zone=az2").at("hosts"), "/name"), ElementsAre("h2"));
    EXPECT_THAT(why(get("/v1/hosts?zone=mars", 404)), HasSubstr("'mars'"));
}

TEST_F(ApiTest, WhatIsBeingEvictedAndPromisedIsSeenOnItsHost) {
    full_host("h1");
    cloud.ignore_deletes = true;
    start_and_read_the_cloud();
    requester();
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("DELETE") == 1U; });
    const json host = get("/v1/hosts").at("hosts")[0];
    EXPECT_EQ(host.at("servers").at("evicting"), 1);
    EXPECT_EQ(host.at("resources").at("VCPU").at("evicting"), 2);
    EXPECT_EQ(host.at("resources").at("VCPU").at("promised"), 2);
    EXPECT_EQ(host.at("resources").at("VCPU").at("revocable"), 6);
}

TEST_F(ApiTest, RequestsAreListedNewestFirstByPagesAndFilters) {
    full_host("h1");
    start_and_read_the_cloud();
    for (int i = 0; i < 5; ++i) {
        fails("req-" + std::to_string(i), "wanting-" + std::to_string(i));
        clock.advance(std::chrono::minutes{1});
    }
    const std::string id = "/request/id";
    const auto all = names(get("/v1/requests").at("requests"), id);
    EXPECT_THAT(all, ElementsAre("req-4", "req-3", "req-2", "req-1", "req-0"));
    EXPECT_EQ(walk("/v1/requests", "requests", "?limit=2", id), all);
    const auto freed = walk("/v1/requests", "requests", "?limit=1&outcome=freed", id);
    EXPECT_THAT(freed, Contains("req-0"));
    const json answer = get("/v1/requests?outcome=freed");
    for (const json& line : answer.at("requests"))
        EXPECT_EQ(line.at("outcome").at("kind"), "freed");
    EXPECT_THAT(get("/v1/requests?outcome=none").at("requests"), IsEmpty());
    EXPECT_THAT(get("/v1/requests?project=no-such").at("requests"), IsEmpty());
    EXPECT_THAT(get("/v1/requests?project=regular").at("requests"), SizeIs(5));
    EXPECT_THAT(names(get("/v1/requests?host=h1").at("requests"), id), Contains("req-0"));
    EXPECT_THAT(why(get("/v1/requests?host=h2", 404)), HasSubstr("knows a host 'h2'"));
    cloud.services["h2"] = {};
    EXPECT_THAT(get("/v1/requests?host=h2").at("requests"), IsEmpty());
    EXPECT_THAT(get("/v1/requests?since=150s").at("requests"), SizeIs(::testing::Lt(5)));
    EXPECT_THAT(get("/v1/requests?since=2000-01-01").at("requests"), SizeIs(5));
    EXPECT_THAT(get("/v1/requests?until=2000-01-01").at("requests"), IsEmpty());
    EXPECT_THAT(get("/v1/requests?until=2100-01-01").at("requests"), SizeIs(5));
    EXPECT_THAT(why(get("/v1/requests?flavor=huge", 404)), HasSubstr("knows a flavor 'huge'"));
    cloud.flavors["1"].name = "huge";
    EXPECT_THAT(get("/v1/requests?flavor=huge").at("requests"), IsEmpty());
    EXPECT_THAT(names(get("/v1/requests?server=" + uuid_of("wanting-3")).at("requests"), id),
                ElementsAre("req-3"));
    const json record = this->answer(200, "GET /v1/requests/{id}", "/v1/requests/req-0");
    const std::string victim =
        record.at(json::json_pointer{"/plans/0/decision/hosts/0/victims/0/server"});
    EXPECT_THAT(names(get("/v1/requests?server=" + victim).at("requests"), id), Contains("req-0"));
    EXPECT_THAT(why(get("/v1/requests?until=later", 400)), HasSubstr("until: "));
    EXPECT_THAT(why(get("/v1/requests?outcome=good", 400)), HasSubstr("not-enough"));
    EXPECT_THAT(why(get("/v1/requests?since=later", 400)), HasSubstr("2h"));
    for (const char* const list : {"requests", "victims", "messages", "journal_events"})
        EXPECT_THAT(why(get("/v1/" + std::string{list} +
                                "?since=2h&until=" + iso_time(clock.now() - std::chrono::hours{3}),
                            400)),
                    HasSubstr("since: must be before until"))
            << list;
    EXPECT_THAT(why(get("/v1/requests?marker=req-9", 400)), HasSubstr("'req-9'"));
}

TEST_F(ApiTest, VictimsMessagesAndEventsAreListedByPagesAndFilters) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-0", "wanting-0");
    RequestRecord& record = journal.records.at(RequestId{"req-0"});
    auto& victims = std::get<Plan>(record.plans.at(0).decision).hosts.at(0).victims;
    const TimePoint sent = get("/v1/victims").at("victims").empty() ? TimePoint{} : clock.now();
    for (const char* const id : {"one-more", "another"}) {
        Victim more = victims.at(0);
        more.server = ServerId{id};
        victims.push_back(more);
        record.steps.push_back({ServerId{id}, Step::delete_sent, "", sent});
    }
    const auto all = names(get("/v1/victims").at("victims"), "/server");
    ASSERT_THAT(all, SizeIs(3));
    EXPECT_EQ(walk("/v1/victims", "victims", "?limit=1", "/server"), all)
        << "pages end between servers with the same time too";
    EXPECT_THAT(get("/v1/victims?project=no-such").at("victims"), IsEmpty());
    EXPECT_THAT(get("/v1/victims?host=h1").at("victims"), SizeIs(all.size()));
    EXPECT_THAT(why(get("/v1/victims?host=h2", 404)), HasSubstr("knows a host 'h2'"));
    EXPECT_THAT(names(get("/v1/victims?server=" + all[0]).at("victims"), "/server"),
                ElementsAre(all[0]));
    EXPECT_THAT(get("/v1/victims?until=2000-01-01").at("victims"), IsEmpty());
    EXPECT_THAT(why(get("/v1/victims?marker=me", 400)), HasSubstr("'me'"));
    EXPECT_THAT(why(get("/v1/victims?outcome=good", 400)), HasSubstr("outcome"));

    for (const char* const id : {"m-1", "m-2", "m-3"})
        journal.notes.push_back({id, "e", RequestId{}, "ignored", "why", clock.now()});
    const auto ids = names(get("/v1/messages").at("messages"), "/message_id");
    EXPECT_THAT(ids, Contains("m-1"));
    EXPECT_EQ(walk("/v1/messages", "messages", "?limit=2", "/message_id"), ids);
    EXPECT_THAT(get("/v1/messages?until=2000-01-01").at("messages"), IsEmpty());
    EXPECT_THAT(why(get("/v1/messages?project=p", 400)), HasSubstr("unknown parameter"));

    for (const char* const reason : {"one", "two", "three"})
        journal.noted_marks.push_back({"paused", reason, clock.now()});
    const auto reasons = names(get("/v1/journal_events").at("events"), "/reason");
    EXPECT_THAT(reasons, Contains("two"));
    EXPECT_EQ(walk("/v1/journal_events", "events", "?limit=1", "/reason"), reasons);
}

TEST_F(ApiTest, NoSearchOfAClientGoesBeforeTheReapersOwnCalls) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-0", "wanting-0");
    const int own = journal.impatient;
    for (const char* const list : {"requests", "victims", "messages", "journal_events"})
        get("/v1/" + std::string{list});
    answer(404, "GET /v1/explain/{server}", "/v1/explain/no-such");
    EXPECT_EQ(journal.impatient, own);
}

TEST_F(ApiTest, WhatTheCloudCouldNotAnswerIsReported) {
    full_host("h1");
    start_and_read_the_cloud();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "project typo") return std::nullopt;
        return Error{Errc::unreachable, "keystone: no answer"};
    };
    for (const char* const list : {"requests", "victims"}) {
        const std::string target = std::string{"/v1/"} + list;
        const json told = get(target + "?project=typo");
        EXPECT_THAT(told.at(list), IsEmpty());
        ASSERT_THAT(told.at("remarks"), SizeIs(1));
        EXPECT_THAT(std::string{told.at("remarks").at(0)},
                    HasSubstr("could not be asked: keystone: no answer"));
        EXPECT_FALSE(get(target).contains("remarks"));
    }
}

TEST_F(ApiTest, TheSnapshotFindsAProjectThatHasNoServers) {
    cloud.listed_names = {{"p-1", "web"}, {"p-2", "twice"}, {"p-3", "twice"}};
    cloud.no_projects = {"typo"};
    full_host("h1");
    start_and_read_the_cloud();
    run_until([&] { return !service().view()->cache.project_names().empty(); });
    const auto found = [&](const std::string& written) {
        return get("/v1/snapshot?limit=1&project=" + written).at("project");
    };
    EXPECT_EQ(found("web"), "p-1");
    EXPECT_EQ(found("p-1"), "p-1");
    EXPECT_EQ(cloud.count("project web"), 0U) << "it knows them by itself";
    EXPECT_EQ(found("new"), "new") << "Keystone knows it by now";
    EXPECT_THAT(why(get("/v1/snapshot?project=typo", 404)), HasSubstr("'typo'"));
    EXPECT_FALSE(get("/v1/snapshot").contains("project"));
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "project twice") return std::nullopt;
        return Error{Errc::unreachable, "keystone: no answer"};
    };
    EXPECT_THAT(why(get("/v1/snapshot?project=twice", 503)), HasSubstr("Keystone"));
}

TEST_F(ApiTest, ProjectsAreNamedAndFoundByTheirNames) {
    cloud.listed_names = {{"spot", "<b>batch</b>"}};
    full_host("h1");
    start_and_read_the_cloud();
    run_until([&] { return cloud.count("names of projects") > 0; });
    fails("req-0", "wanting-0");
    RequestRecord& record = journal.records.at(RequestId{"req-0"});
    const auto victims = [&](const std::string& project) {
        return get("/v1/victims?project=" + project).at("victims");
    };
    ASSERT_THAT(victims("spot"), SizeIs(1));
    EXPECT_EQ(victims("spot").at(0).at("project_name"), "<b>batch</b>");
    EXPECT_THAT(victims("%3Cb%3Ebatch%3C%2Fb%3E"), SizeIs(1)) << "by its name";

    // A record without names is shown with the current names.
    record.request.project_name.clear();
    auto& victim = std::get<Plan>(record.plans.at(0).decision).hosts.at(0).victims.at(0);
    victim.project_name.clear();
    EXPECT_EQ(victims("spot").at(0).at("project_name"), "<b>batch</b>");
    const json told = answer(200, "GET /v1/requests/{id}", "/v1/requests/req-0");
    EXPECT_FALSE(told.at("request").contains("project_name")) << "no name is known";
    EXPECT_EQ(told.at(json::json_pointer{"/plans/0/decision/hosts/0/victims/0/project_name"}),
              "<b>batch</b>");
    const json why = answer(200, "GET /v1/explain/{server}", "/v1/explain/" + victim.server.str());
    EXPECT_EQ(why.at("servers").at(0).at("project_name"), "<b>batch</b>");
    EXPECT_EQ(get("/v1/snapshot").at("project_names"), (json{{"spot", "<b>batch</b>"}}));
    const json host = answer(200, "GET /v1/hosts/{host}", "/v1/hosts/h1");
    EXPECT_EQ(host.at("servers").at(0).at("project_name"), "<b>batch</b>");
}

TEST_F(ApiTest, AFilterThatMeansNothingOrSeveralThingsIsNoEmptyList) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-0", "wanting-0");
    RequestRecord& record = journal.records.at(RequestId{"req-0"});
    record.request.project_name = "web";
    std::get<Plan>(record.plans.at(0).decision).hosts.at(0).victims.at(0).project_name = "web";
    EXPECT_THAT(why(get("/v1/requests?project=web", 400)), HasSubstr("regular, spot"));
    cloud.no_projects.insert("no-such");
    for (const char* const list : {"/v1/requests", "/v1/victims"})
        EXPECT_THAT(why(get(list + std::string{"?project=no-such"}, 404)),
                    HasSubstr("knows a project 'no-such'"));
    // Keystone knows it no more, but the journal tells of it.
    cloud.no_projects.insert("regular");
    EXPECT_THAT(get("/v1/requests?project=regular").at("requests"), SizeIs(1));
    // What can't be asked is not denied.
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "project no-such") return std::nullopt;
        return Error{Errc::unreachable, "keystone is away"};
    };
    EXPECT_THAT(get("/v1/requests?project=no-such").at("requests"), IsEmpty());
}

TEST_F(ApiTest, CandidatesForAnUnknownClassAreNotFound) {
    full_host("h1");
    start_and_read_the_cloud();
    EXPECT_THAT(why(get("/v1/culling_candidates?resources=FOO:1", 404)), HasSubstr("'FOO'"));
    get("/v1/culling_candidates?resources=VCPU:1");
}

TEST_F(ApiTest, ARecordHasThePlanTheStepsAndTheOutcome) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-1", "wanting");
    const json record = answer(200, "GET /v1/requests/{id}", "/v1/requests/req-1");
    EXPECT_EQ(record.at("outcome").at("kind"), "freed");
    EXPECT_THAT(record.at("plans"), SizeIs(1));
    EXPECT_THAT(record.at("plans")[0].at("decision").at("hosts")[0].at("victims"), SizeIs(1));
    EXPECT_THAT(record.at("steps"), ::testing::Not(IsEmpty()));
    EXPECT_THAT(why(answer(404, "GET /v1/requests/{id}", "/v1/requests/req-2")),
                HasSubstr("'req-2'"));
}

TEST_F(ApiTest, AKilledServerIsExplainedByIdNameAndRequest) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-1", "wanting");
    const std::string route = "GET /v1/explain/{server}";
    const json by_request = answer(200, route, "/v1/explain/req-1");
    ASSERT_THAT(by_request.at("servers"), SizeIs(1));
    const json& server = by_request.at("servers")[0];
    EXPECT_EQ(server.at("fate"), "deleted");
    EXPECT_EQ(by_request.at("decision").at("decision").at("hosts")[0].at("spared_in_all"), 3);
    EXPECT_EQ(by_request.at("request").at("flavor"), "flavor");
    const std::string id = server.at("server");
    const std::string name = server.at("name");
    EXPECT_EQ(answer(200, route, "/v1/explain/" + id).at("servers")[0], server);
    EXPECT_EQ(answer(200, route, "/v1/explain/" + name).at("servers")[0], server);
    EXPECT_THAT(why(answer(404, route, "/v1/explain/h%2Fx")), HasSubstr("'h/x'"));
    answer(400, route, "/v1/explain/" + id + "?all=1");
}

TEST_F(ApiTest, AServerThatWasNeverChosenIsExplainedByTheCloud) {
    full_host("h1");
    cloud.add_server("kept", "h1", "regular", Resources{});
    start_and_read_the_cloud();
    const auto why_not = [&](const std::string& server) {
        const json told = answer(200, "GET /v1/explain/{server}", "/v1/explain/" + server);
        EXPECT_EQ(told.at("host"), "h1");
        return told.at("never_chosen").get<std::string>();
    };
    EXPECT_THAT(why_not("name-of-kept"), HasSubstr("it is a regular server, and those never go"));
    EXPECT_THAT(why_not("name-of-h1b"), HasSubstr("goes when a regular request finds no room"));
}

TEST_F(ApiTest, ARequestWithoutAVictimIsExplainedToo) {
    full_host("h1");
    start_and_read_the_cloud();
    requester("large", "regular", 64);
    NovaFailure one = another("req-1", "large");
    one.vcpus = 64;
    messages->deliver(body_of(one));
    outcome_of("req-1");
    const json told = answer(200, "GET /v1/explain/{server}", "/v1/explain/req-1");
    EXPECT_THAT(told.at("servers"), IsEmpty());
    EXPECT_EQ(told.at("freed_room"), nullptr);
}

TEST_F(ApiTest, APlanIsAnsweredAndNothingIsDone) {
    full_host("h1");
    start_and_read_the_cloud();
    const std::string body = R"({"project": "regular", "resources": {"VCPU": 2}, "slots": 2})";
    const json plan = answer(200, "POST /v1/plan", "/v1/plan", body, {api::Access::look, {}});
    EXPECT_EQ(plan.at("decision").at("decision"), "plan");
    EXPECT_EQ(plan.at("decision").at("slots_freed"), 2);
    EXPECT_THAT(plan.at("remarks"), IsEmpty());
    EXPECT_EQ(plan.at("request").at("slots"), 2);
    EXPECT_TRUE(service().view()->ledger.empty());
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    const std::string large = R"({"project": "regular", "resources": "VCPU=9"})";
    EXPECT_EQ(answer(200, "POST /v1/plan", "/v1/plan", large).at("decision").at("decision"),
              "not-enough");
    pause.why = "paused by alice";
    EXPECT_THAT(answer(200, "POST /v1/plan", "/v1/plan", body).at("remarks").dump(),
                HasSubstr("paused by alice"));
}

TEST_F(ApiTest, APlanThatCantBeUnderstoodIsRefused) {
    full_host("h1");
    start_and_read_the_cloud();
    for (const char* const body :
         {"", "{}", "[]", "{", R"({"project": "regular", "resources": "VCPU=x"})",
          R"({"project": "regular", "resources": "VCPU=1"}, {})",
          R"({"project": "regular", "resources": "VCPU=1", "slots": 0})"})
        answer(400, "POST /v1/plan", "/v1/plan", body);
    const std::string large = R"({"project": "regular", "resources": "VCPU=1", "slots": 1001})";
    const json refused = answer(400, "POST /v1/plan", "/v1/plan", large, {api::Access::look, {}});
    EXPECT_THAT(why(refused), HasSubstr("at most 1000"));
    answer(200, "POST /v1/plan", "/v1/plan", large);
}

/// A document of any depth would overflow the stack where it is written again.
TEST_F(ApiTest, ABodyThatIsNestedTooDeeplyIsRefused) {
    full_host("h1");
    start_and_read_the_cloud();
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    const std::string approved =
        R"("approved": {"by": "x", "planned_at": "2026-11-30T00:00:00Z", "victims": []}, )";
    for (const std::string route : {"POST /v1/plan", "POST /v1/requests", "POST /v1/protect"})
        for (const std::string& before : {std::string{}, approved}) {
            const std::string body = "{" + before + "\"x\": " + deep + "}";
            EXPECT_THAT(why(answer(400, route, route.substr(5), body)),
                        HasSubstr("nested too deeply"))
                << route;
        }
}

TEST_F(ApiTest, TotalsTellWhatHappenedSince) {
    full_host("h1");
    start_and_read_the_cloud();
    const json told = get("/v1/totals?since=24h");
    EXPECT_EQ(told.at("totals").at("under_way"), 0);
    EXPECT_EQ(told.at("holds"), json::array());
    EXPECT_EQ(get("/v1/totals").at("totals"), told.at("totals"));
    EXPECT_THAT(why(get("/v1/totals?since=now", 400)), HasSubstr("since: "));
    EXPECT_THAT(why(get("/v1/totals?until=now", 400)), HasSubstr("until"));
}

TEST_F(ApiTest, ATimelineHasAllItsSlotsAndTheNewestLast) {
    full_host("h1");
    start_and_read_the_cloud();
    fails("req-0", "wanting-0");
    clock.advance(std::chrono::minutes{5});
    const json told = get("/v1/timeline?since=1h&limit=60");
    EXPECT_EQ(told.at("slot_seconds"), 60.0);
    const json& slots = told.at("slots");
    ASSERT_EQ(slots.size(), 60U);
    EXPECT_EQ(slots.front().at("at"), told.at("since"));
    std::int64_t victims = 0, freed = 0;
    for (const json& slot : slots) {
        victims += slot.at("victims").get<std::int64_t>();
        freed += slot.at("outcomes").value("freed", 0);
    }
    EXPECT_GT(victims, 0);
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(get("/v1/timeline").at("slots").size(), 48U);
    EXPECT_THAT(why(get("/v1/timeline?limit=x", 400)), HasSubstr("limit: "));
    EXPECT_THAT(why(get("/v1/timeline?since=now", 400)), HasSubstr("since: "));
}

TEST_F(ApiTest, WhatUsersWroteOnTheirServersIsNotForReadOnlyCallers) {
    full_host("h1");
    auto& server = cloud.add_server("told", "h1", "spot", small).record.server;
    server.metadata = {{"password", "hunter2"}};
    start_and_read_the_cloud();
    const std::string said = get("/v1/snapshot").dump();
    EXPECT_THAT(said, HasSubstr("name-of-told"));
    EXPECT_THAT(said, Not(HasSubstr("hunter2")));
}

TEST_F(ApiTest, TheSnapshotHasHostsAsFilesHaveThem) {
    full_host("h1");
    full_host("h2");
    full_host("h3");
    start_and_read_the_cloud();
    const json all = get("/v1/snapshot");
    ASSERT_THAT(all.at("hosts"), SizeIs(3));
    EXPECT_EQ(all.at("hosts_links"), json::array());
    for (const json& each : all.at("hosts")) {
        const auto host = report::host_from_json(each);
        ASSERT_TRUE(host) << host.error().what;
        EXPECT_THAT(host->servers, SizeIs(4));
        EXPECT_EQ(report::host_json(*host), each);
    }
    json paged = json::array();
    std::string target = "/v1/snapshot?limit=2";
    for (int page = 0; page < 2; ++page) {
        const json some = get(target);
        for (const json& each : some.at("hosts")) paged.push_back(each);
        const json& links = some.at("hosts_links");
        ASSERT_EQ(links.size(), page == 0 ? 1U : 0U);
        if (page == 0) target = links[0].at("href");
    }
    EXPECT_EQ(paged, all.at("hosts"));
    const json rest = get("/v1/snapshot?marker=rp-h1-that-is-gone");
    EXPECT_THAT(names(rest.at("hosts"), "/name"), ElementsAre("h2", "h3"));
    EXPECT_THAT(rest.at("remarks"), IsEmpty()) << "they come with the first page";
}

TEST_F(ApiTest, PauseAndResumeAreForWhoMayAct) {
    full_host("h1");
    start_and_read_the_cloud();
    for (const char* const route : {"POST /v1/pause", "POST /v1/resume"}) {
        const std::string path = std::string{route}.substr(5);
        EXPECT_THAT(why(answer(403, route, path, "", {api::Access::look, {}})),
                    HasSubstr("admin.socket"));
    }
    EXPECT_THAT(pause.calls, IsEmpty());
    const json paused = answer(200, "POST /v1/pause", "/v1/pause", R"({"reason": "upgrade"})",
                               {api::Access::act, "ops@default"});
    EXPECT_EQ(paused.at("was_paused"), false);
    EXPECT_THAT(std::string{paused.at("pause").at("reason")}, HasSubstr("upgrade"));
    EXPECT_THAT(pause.calls, ElementsAre("pause ops@default: upgrade"));
    EXPECT_THAT(std::string{get("/v1/status").at("paused")}, HasSubstr("upgrade"));
    EXPECT_EQ(answer(200, "POST /v1/pause", "/v1/pause").at("was_paused"), true);
    breaker.why = "open";
    const json resumed = answer(200, "POST /v1/resume", "/v1/resume", "{}");
    EXPECT_EQ(resumed.at("paused"), nullptr);
    EXPECT_EQ(resumed.at("was_paused"), true);
    EXPECT_THAT(std::string{resumed.at("was").at("reason")}, HasSubstr("upgrade"));
    EXPECT_EQ(resumed.at("breaker_was").at("reason"), "open");
    EXPECT_FALSE(breaker.why);
    EXPECT_EQ(answer(200, "POST /v1/resume", "/v1/resume").at("was_paused"), false);
    EXPECT_EQ(get("/v1/status").at("paused"), nullptr);
}

TEST_F(ApiTest, APauseThatIsNotWrittenIsNoPause) {
    start();
    pause.disk_full = true;
    EXPECT_THAT(why(answer(503, "POST /v1/pause", "/v1/pause")), HasSubstr("disk full"));
    for (const char* const body : {"x", "[]", R"({"why": "x"})", R"({"reason": 1})"})
        answer(400, "POST /v1/pause", "/v1/pause", body);
    answer(400, "POST /v1/resume", "/v1/resume", R"({"reason": "x"})");
}

TEST_F(ApiTest, ADryRunHasNothingToPause) {
    dry_run = true;
    start();
    EXPECT_THAT(why(answer(409, "POST /v1/pause", "/v1/pause")), HasSubstr("dry run"));
    EXPECT_THAT(pause.calls, IsEmpty());
    EXPECT_EQ(get("/v1/status").at("dry_run"), true);
    EXPECT_EQ(get("/v1/status").at("serving"), false) << "it has a queue of its own";
}

TEST_F(ApiTest, ADryRunTellsWhomItWouldDeleteAndForWhom) {
    dry_run = true;
    full_host();
    start_and_read_the_cloud();
    requester("wanting-0");
    cloud.server_at(uuid_of("wanting-0")).record.server.name = "web-1";
    messages->deliver(body_of(another("req-0", "wanting-0")));
    outcome_of("req-0");
    const json line = get("/v1/requests").at("requests").at(0);
    EXPECT_EQ(line.at("victims"), 0);
    EXPECT_EQ(line.at("planned_victims"), 1);
    EXPECT_EQ(line.at("request").at("requester_names"), json({{uuid_of("wanting-0"), "web-1"}}));
    EXPECT_THAT(get("/v1/requests?server=web-1").at("requests"), SizeIs(1));
    EXPECT_THAT(get("/v1/victims").at("victims"), IsEmpty());
    EXPECT_THAT(get("/v1/victims?planned=false").at("victims"), IsEmpty());
    EXPECT_THAT(get("/v1/victims?planned=true").at("victims"), SizeIs(1));
    EXPECT_THAT(why(get("/v1/victims?planned=yes", 400)), HasSubstr("true or false"));
    EXPECT_THAT(why(get("/v1/requests?planned=true", 400)), HasSubstr("unknown parameter"));
    const json told = answer(200, "GET /v1/explain/{server}", "/v1/explain/web-1");
    EXPECT_EQ(told.at("request").at("id"), "req-0");
}

TEST_F(ApiTest, ReapersAreListedOrWhyTheyAreNotKnown) {
    start();
    const json one = get("/v1/reapers");
    EXPECT_EQ(one.at("reapers")[0].at("machine"), "ctl-1");
    EXPECT_EQ(one.at("unknown"), nullptr);
    EXPECT_EQ(one.at("reapers")[0].at("differs_in"), nullptr);
    JournalReaper active, standby;
    active.note = {"a", "ctl-1", "1", "", "x", "cull=1 limits=2"};
    active.state = ReaperState{std::nullopt, 3, true};
    standby.note = {"b", "ctl-2", "1", "", "y", "cull=1 limits=4"};
    standby.state = ReaperState{Duration{7'000}, 0, std::nullopt};
    reapers = std::vector<api::KnownReaper>{{"ctl-1", "db", false, true, active},
                                            {"ctl-2", "db", true, false, standby}};
    const json both = get("/v1/reapers").at("reapers");
    EXPECT_EQ(both[0].at("differs_in"), json::array());
    EXPECT_EQ(both[0].at("cache_age_s"), nullptr);
    EXPECT_EQ(both[0].at("in_flight"), 3);
    EXPECT_EQ(both[0].at("broker_connected"), true);
    EXPECT_EQ(both[1].at("differs_in"), json({"limits"}));
    EXPECT_EQ(both[1].at("cache_age_s"), 7);
    EXPECT_EQ(both[1].at("broker_connected"), nullptr);
    reapers = Error{Errc::unreachable, "no answer"};
    EXPECT_EQ(get("/v1/reapers").at("unknown"), "no answer");
}

TEST_F(ApiTest, ReservationsAndOversubscriptionAreAsTheDocumentSays) {
    full_host("h1");
    settings.reservations.enabled = true;
    start_and_know_reservations();
    get("/v1");
    get("/v1/reservations");
    answer(404, "GET /v1/oversubscription", "/v1/oversubscription");
    answer(200, "GET /v1/culling_candidates", "/v1/culling_candidates?resources=VCPU:1");
}

TEST_F(ApiTest, ThePageAndTheDocumentNeedNoToken) {
    start();
    EXPECT_TRUE(api::is_open({"GET", "/", {}}));
    EXPECT_TRUE(api::is_open({"GET", "/?x=1", {}}));
    EXPECT_TRUE(api::is_open({"GET", "/v1/openapi.json", {}}));
    for (const char* const target : {"/v1", "/v1/status", "/v1/hosts/openapi.json", "//", "*", ""})
        EXPECT_FALSE(api::is_open({"GET", target, {}})) << target;
    EXPECT_FALSE(api::is_open({"POST", "/", {}}));
    EXPECT_EQ(get("/v1/openapi.json"), openapi());
}

TEST_F(ApiTest, ThePageLetsNothingInButItself) {
    start();
    const HttpResponse page = ask({"GET", "/", {}});
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    std::map<std::string, std::string> headers(page.headers.begin(), page.headers.end());
    const std::string policy = headers["Content-Security-Policy"];
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, HasSubstr("script-src 'sha256-"));
    EXPECT_THAT(policy, ::testing::Not(HasSubstr("unsafe")));
    EXPECT_THAT(policy, ::testing::Not(HasSubstr("http")));
    EXPECT_EQ(headers["Referrer-Policy"], "no-referrer");
    // Nothing of it comes from elsewhere, and nothing runs that is not hashed.
    for (const char* const word : {" src=", "@import", "url(", " style=", "onclick=", "innerHTML",
                                   "eval(", "@style@", "@script@"})
        EXPECT_THAT(page.body, ::testing::Not(HasSubstr(word)));
    EXPECT_THAT(page.body, HasSubstr("</script>\n</body>"));
}

}  // namespace
}  // namespace reaper::test::api_test
