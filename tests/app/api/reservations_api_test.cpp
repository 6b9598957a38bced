// Reservations through the admin API of a whole service.
#include "app/api_house.hpp"

namespace reaper::test::reservations_api_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReservationsApiTest : public ApiHouse {
protected:
    void SetUp() override {
        settings.reservations.enabled = true;
        for (const char* host : {"h1", "h2"}) cloud.add_host(host, Resources{{"VCPU", 8}});
        cloud.add_server("regular", "h2", "regular", Resources{{"VCPU", 6}});
    }
    HttpResponse ask(const std::string& method, const std::string& target, const json& body = {},
                     api::Caller caller = {api::Access::act}) {
        HttpRequest request{method, target, {}, body.is_null() ? std::string{} : body.dump()};
        return ApiHouse::ask(std::move(request), std::move(caller));
    }
    static json reserving(const std::string& host, const std::string& role, int vcpus) {
        return {{"host", host}, {"role", role}, {"resources", {{"VCPU", vcpus}}}};
    }
    static json orders(std::vector<json> list, const std::string& principal = "ops") {
        return {{"principal", principal}, {"reservations", std::move(list)}};
    }
    json list(const std::string& query = "") {
        const HttpResponse said = ask("GET", "/v1/reservations" + query);
        EXPECT_EQ(said.status, 200) << said.body;
        return json::parse(said.body).at("reservations");
    }
    /// What becomes of a request of 2 VCPU that Nova refused.
    Outcome fails(const std::string& id, const std::string& project) {
        cloud.add_requester(uuid_of(id), project, Flavor{"f", 2, 0, 0, 0, 0, {}});
        NovaFailure failure;
        failure.request_id = "req-" + id;
        failure.server = failure.spec_server = id;
        failure.project = project;
        failure.memory_mb = failure.root_gb = 0;
        messages->deliver(body_of(failure));
        run_until([&] {
            const auto at = journal.records.find(RequestId{"req-" + id});
            return at != journal.records.end() && at->second.outcome.has_value();
        });
        return *journal.records.at(RequestId{"req-" + id}).outcome;
    }
    std::string refused(int expected, const std::string& target, const json& body) {
        const HttpResponse said = ask("POST", target, body);
        EXPECT_EQ(said.status, expected) << said.body;
        return json::parse(said.body).value(json::json_pointer{"/error/message"}, "");
    }
};

TEST_F(ReservationsApiTest, WhatIsReservedIsHeldAndListed) {
    start_and_know_reservations();
    EXPECT_THAT(list(), IsEmpty());
    const HttpResponse said = ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 6)}));
    EXPECT_EQ(said.status, 202) << said.body;
    const json told = json::parse(said.body);
    EXPECT_EQ(told.at("state"), "applied");
    EXPECT_THAT(told.at("orders").dump(), HasSubstr("reserve 6 VCPU for eng on h1"));
    EXPECT_EQ(cloud.free_on("h1"), (Resources{{"VCPU", 2}}));
    const json reservations = list("?role=eng&host=h1");
    ASSERT_THAT(reservations, SizeIs(1));
    const json& one = reservations[0];
    EXPECT_EQ(one.at("held"), json({{"VCPU", 6}}));
    EXPECT_EQ(one.at("resources"), json({{"VCPU", 6}}));
    EXPECT_EQ(one.at("principal"), "ops");
    EXPECT_EQ(one.at("host_name"), "h1");
    EXPECT_EQ(one.at("refines"), nullptr);
    EXPECT_THAT(list("?role=other"), IsEmpty());
    EXPECT_EQ(ask("GET", "/v1/reservations?what=now").status, 400);
    EXPECT_EQ(ask("GET", "/v1/reservations?marker=no-such").status, 400);

    EXPECT_EQ(ask("POST", "/v1/unreserve", orders({reserving("h1", "eng", 2)})).status, 202);
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 4}}));
    EXPECT_EQ(ask("POST", "/v1/unreserve", orders({reserving("h1", "eng", 4)})).status, 202);
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_EQ(cloud.free_on("h1"), (Resources{{"VCPU", 8}}));
}

TEST_F(ReservationsApiTest, TheListHasPages) {
    start_and_know_reservations();
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 2)})).status, 202);
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "ads", 2)})).status, 202);
    const json all = list();
    ASSERT_THAT(all, SizeIs(2));
    const json first = json::parse(ask("GET", "/v1/reservations?limit=1").body);
    EXPECT_EQ(first.at("reservations"), json::array({all[0]}));
    const std::string next = first.at("reservations_links").at(0).at("href");
    const json last = json::parse(ask("GET", next).body);
    EXPECT_EQ(last.at("reservations"), json::array({all[1]}));
    EXPECT_THAT(last.at("reservations_links"), IsEmpty());
    EXPECT_EQ(ask("GET", "/v1/reservations?limit=x").status, 400);
}

TEST_F(ReservationsApiTest, ARefusalSaysWhyAndNothingIsDone) {
    settings.reservations.acl.permissive = false;
    settings.reservations.acl.reserve = {{{"ops"}, {"eng", "eng/*"}}};
    start_and_know_reservations();
    EXPECT_THAT(
        refused(409, "/v1/reserve", orders({reserving("h1", "eng", 2), reserving("h2", "eng", 6)})),
        HasSubstr("VCPU"));
    EXPECT_THAT(refused(403, "/v1/reserve", orders({reserving("h1", "web", 2)})), HasSubstr("web"));
    EXPECT_THAT(refused(403, "/v1/reserve", orders({reserving("h1", "eng", 2)}, "eve")),
                HasSubstr("'eve'"));
    EXPECT_THAT(refused(404, "/v1/reserve", orders({reserving("h7", "eng", 2)})),
                HasSubstr("there is no host 'h7' in this cloud, by name or id; did you mean 'h1'"));
    json typo = reserving("h1", "eng", 2);
    typo["resources"] = {{"cpu", 2}};
    EXPECT_THAT(refused(404, "/v1/reserve", orders({typo})),
                HasSubstr("no host has the resource class 'cpu'; did you mean 'VCPU'?"));
    typo["resources"] = {{"CORES", 2}};
    EXPECT_THAT(refused(404, "/v1/reserve", orders({typo})), HasSubstr("did you mean 'VCPU'?"));
    typo["resources"] = {{"CUSTOM_UNHEARD", 2}};
    EXPECT_THAT(refused(404, "/v1/reserve", orders({typo})), HasSubstr("; this one has 'VCPU'"));
    EXPECT_THAT(refused(404, "/v1/unreserve", orders({reserving("h1", "eng", 2)})),
                HasSubstr("eng"));
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_TRUE(cloud.consumers.empty());
}

TEST_F(ReservationsApiTest, WhatIsWrongInABodyIsNamed) {
    start_and_know_reservations();
    const auto with = [](const char* name, json value) {
        json order = reserving("h1", "eng", 2);
        order[name] = std::move(value);
        return orders({std::move(order)});
    };
    EXPECT_THAT(refused(400, "/v1/reserve", {}), HasSubstr("an object"));
    EXPECT_THAT(refused(400, "/v1/reserve", {{"reservations", json::array()}}),
                HasSubstr("there are none"));
    EXPECT_THAT(refused(400, "/v1/reserve", with("role", "a//b")),
                HasSubstr("reservations[0].role"));
    EXPECT_THAT(refused(400, "/v1/reserve", with("resources", {{"VCPU", 0}})),
                HasSubstr("reservations[0].resources"));
    EXPECT_THAT(refused(400, "/v1/reserve", with("resources", {{"CUSTOM_REVOCABLE_VCPU", 1}})),
                HasSubstr("can't be reserved: reserve VCPU"));
    EXPECT_THAT(refused(400, "/v1/reserve", with("lent_too", true)),
                HasSubstr("reservations[0].lent_too: it is not known here"));
    EXPECT_THAT(refused(400, "/v1/reserve", with("labels", "x")), HasSubstr("labels"));
}

TEST_F(ReservationsApiTest, InvalidJsonIsReportedWithItsPlace) {
    start_and_know_reservations();
    const auto said = [&](const std::string& body) {
        HttpRequest request{"POST", "/v1/reserve", {}, body};
        const HttpResponse answer = ApiHouse::ask(std::move(request), {api::Access::act});
        EXPECT_EQ(answer.status, 400) << answer.body;
        return json::parse(answer.body).value(json::json_pointer{"/error/message"}, "");
    };
    EXPECT_THAT(said("{\n  \"reservations\": [,]}"), HasSubstr("line 2, column 20: not JSON"));
    EXPECT_THAT(said(R"({"reservations": [], "key": "a", "key": "b"})"),
                HasSubstr("member 'key' is there twice"));
    for (const char* const other :
         {"slaveId=x&resources=[]", R"({"slaveId": "x", "resources": []})",
          R"({"type": "RESERVE_RESOURCES", "reserve_resources": {}})"}) {
        EXPECT_THAT(said(other), HasSubstr(R"(as {"reservations": [{"host": )")) << other;
    }
    HttpRequest doubled{"POST", "/v1/pause", {}, R"({"reason": "a", "reason": "b"})"};
    const HttpResponse twice = ApiHouse::ask(std::move(doubled), {api::Access::act});
    EXPECT_EQ(twice.status, 400);
    EXPECT_THAT(twice.body, HasSubstr("is there twice"));
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(ReservationsApiTest, LabelsArePairsTooAndKeysMayBeWithoutValue) {
    start_and_know_reservations();
    json order = reserving("h1", "eng", 2);
    order["labels"] = json::array({{{"key", "why"}, {"value", "peak"}}, {{"key", "lent"}}});
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({order})).status, 202);
    order["labels"] = {{"why", "peak"}, {"lent", nullptr}};
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({order})).status, 202);
    ASSERT_THAT(list(), SizeIs(1));
    EXPECT_EQ(list()[0].at("labels"), json({{"why", "peak"}, {"lent", ""}}));
    order["labels"] = {{"", "x"}};
    EXPECT_THAT(refused(400, "/v1/reserve", orders({order})), HasSubstr("a key that is not empty"));
    order["labels"] = json::array({{{"key", ""}}});
    EXPECT_THAT(refused(400, "/v1/reserve", orders({order})), HasSubstr("a key that is not empty"));
    order["labels"] = json::array({{{"key", "a"}}, {{"key", "a"}}});
    EXPECT_THAT(refused(400, "/v1/reserve", orders({order})), HasSubstr("'a' is there twice"));
}

TEST_F(ReservationsApiTest, WhatSeveralReservedIsOneAndEachUnreservesHisOwnFirst) {
    settings.reservations.acl.unreserve = {{{"bob"}, {"bob"}}};
    start_and_know_reservations();
    const auto post = [&](const std::string& path, int vcpus, const std::string& who,
                          const std::string& whose = "") {
        json order = reserving("h1", "eng", vcpus);
        if (!whose.empty()) order["reserver"] = whose;
        return ask("POST", path, orders({std::move(order)}, who)).status;
    };
    EXPECT_EQ(post("/v1/reserve", 4, "alice"), 202);
    EXPECT_EQ(post("/v1/reserve", 3, "bob"), 202);
    ASSERT_THAT(list(), SizeIs(1));
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 7}}));
    const auto whose = [&] { return list()[0].at("reservers"); };
    EXPECT_EQ(whose(), json({{"alice", {{"VCPU", 4}}}, {"bob", {{"VCPU", 3}}}}));
    EXPECT_EQ(post("/v1/unreserve", 1, "bob"), 202);
    EXPECT_EQ(post("/v1/unreserve", 1, "alice"), 202);
    EXPECT_EQ(whose(), json({{"alice", {{"VCPU", 3}}}, {"bob", {{"VCPU", 2}}}}));
    EXPECT_EQ(post("/v1/unreserve", 1, "bob", "alice"), 403);
    EXPECT_EQ(post("/v1/unreserve", 3, "bob"), 403);
    EXPECT_EQ(post("/v1/unreserve", 1, "alice", "bob"), 202);
    EXPECT_EQ(post("/v1/unreserve", 1, "alice", "carol"), 404);
    EXPECT_EQ(whose(), json({{"alice", {{"VCPU", 3}}}, {"bob", {{"VCPU", 1}}}}));
    json refined = reserving("h1", "eng/db", 4);
    refined["refines"] = {{"role", "eng"}};
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({refined}, "alice")).status, 202);
    const json below = list("?role=eng/db");
    ASSERT_THAT(below, SizeIs(1));
    EXPECT_EQ(below[0].at("refines_role"), "eng");
}

TEST_F(ReservationsApiTest, ADryRunAndAKeyChangeNothing) {
    start_and_know_reservations();
    json body = orders({reserving("h1", "eng", 6)});
    body["dry_run"] = true;
    const HttpResponse tried = ask("POST", "/v1/reserve", body);
    EXPECT_EQ(tried.status, 200);
    EXPECT_EQ(json::parse(tried.body).at("state"), "valid");
    EXPECT_THAT(list(), IsEmpty());
    body.erase("dry_run");
    body["key"] = "once";
    EXPECT_EQ(ask("POST", "/v1/reserve", body).status, 202);
    EXPECT_EQ(ask("POST", "/v1/reserve", body).status, 202);
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 6}}));
    EXPECT_THAT(refused(409, "/v1/unreserve", body), HasSubstr("key 'once' was given before"));
    body["reservations"][0]["resources"]["VCPU"] = 2;
    EXPECT_THAT(refused(409, "/v1/reserve", body), HasSubstr("another order"));
    const json told = json::parse(ask("GET", "/v1/reservations").body).at("orders");
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].at("key"), "once");
    EXPECT_EQ(told[0].at("reason"), "");
}

TEST_F(ReservationsApiTest, WhatIsUnreservedSaysWhomItReturnsTo) {
    start_and_know_reservations();
    ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 4)}));
    json refined = reserving("h1", "eng/web", 2);
    refined["refines"] = {{"role", "eng"}};
    ask("POST", "/v1/reserve", orders({refined}));
    ask("POST", "/v1/reserve", orders({reserving("h1", "eng/web", 2)}));
    json back = reserving("h1", "eng/web", 1);
    EXPECT_THAT(refused(409, "/v1/unreserve", orders({back})), HasSubstr("refines"));
    back["refines"] = {{"role", "eng"}};
    EXPECT_EQ(ask("POST", "/v1/unreserve", orders({back})).status, 202);
    EXPECT_EQ(list("?role=eng")[0].at("held"), json({{"VCPU", 3}}));
    back["refines"] = {{"role", ""}};
    EXPECT_EQ(ask("POST", "/v1/unreserve", orders({back})).status, 202);
    EXPECT_EQ(list("?role=eng")[0].at("held"), json({{"VCPU", 3}}));
    EXPECT_EQ(cloud.free_on("h1"), (Resources{{"VCPU", 3}}));
}

TEST_F(ReservationsApiTest, RefinedRoomGoesBackToItsPreviousOwner) {
    start_and_know_reservations();
    ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 6)}));
    json order = reserving("h1", "eng/web/front", 4);
    order["refines"] = {{"role", "eng"}};
    order["lending"] = {{"floor", {{"VCPU", 1}}}, {"longest_loan_s", 3600}};
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({order})).status, 202);
    const json refined = list("?role=eng/web/front");
    ASSERT_THAT(refined, SizeIs(1));
    EXPECT_EQ(refined[0].at("refines"), list("?role=eng")[0].at("id"));
    EXPECT_EQ(refined[0].at("lending"),
              json({{"lend", true}, {"floor", {{"VCPU", 1}}}, {"longest_loan_s", 3600}}));
    EXPECT_EQ(list("?role=eng")[0].at("held"), json({{"VCPU", 2}}));
    EXPECT_EQ(ask("POST", "/v1/unreserve", orders({reserving("h1", "eng/web/front", 4)})).status,
              202);
    EXPECT_EQ(list("?role=eng")[0].at("held"), json({{"VCPU", 6}}));
}

TEST_F(ReservationsApiTest, WhatAnOrderDoesNotSayOfLendingIsAsTheConfigurationHasIt) {
    settings.reservations.lend = true;
    settings.reservations.longest_loan = std::chrono::hours{1};
    start_and_know_reservations();
    ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 2)}));
    EXPECT_EQ(list("?role=eng")[0].at("lending"),
              json({{"lend", true}, {"floor", json::object()}, {"longest_loan_s", 3600}}));
    json order = reserving("h1", "web", 2);
    order["lending"] = {{"lend", true}};
    ask("POST", "/v1/reserve", orders({order}));
    EXPECT_EQ(list("?role=web")[0].at("lending").at("longest_loan_s"), 3600);
    order["lending"] = {{"lend", false}, {"longest_loan_s", 0}};
    order["role"] = "ads";
    ask("POST", "/v1/reserve", orders({order}));
    EXPECT_EQ(list("?role=ads")[0].at("lending"),
              json({{"lend", false}, {"floor", json::object()}, {"longest_loan_s", 0}}));
}

TEST_F(ReservationsApiTest, NoMoreIsKeptFromLendingThanIsReserved) {
    start_and_know_reservations();
    json order = reserving("h1", "eng", 2);
    order["lending"] = {{"lend", true}, {"floor", {{"VCPU", 3}}}};
    EXPECT_THAT(refused(400, "/v1/reserve", orders({order})), HasSubstr("floor"));
    EXPECT_THAT(list(), IsEmpty());
    order["lending"]["floor"]["VCPU"] = 2;
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({order})).status, 202);
}

TEST_F(ReservationsApiTest, AReadOnlyCallerCannotReserve) {
    start_and_know_reservations();
    EXPECT_EQ(
        ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 1)}), {api::Access::look}).status,
        403);
    EXPECT_EQ(ask("GET", "/v1/reservations", {}, {api::Access::look}).status, 200);
}

TEST_F(ReservationsApiTest, WhoIsKnownReservesAsHimselfAlone) {
    start_and_know_reservations();
    const api::Caller web{api::Access::act, "web@Default"};
    EXPECT_EQ(
        ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 1)}, "ops@Default"), web).status,
        403);
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 1)}, ""), web).status, 202);
    EXPECT_EQ(list()[0].at("principal"), "web@Default");
}

TEST_F(ReservationsApiTest, AKeyIsOfThePrincipalWhoGaveIt) {
    start_and_know_reservations();
    json first = orders({reserving("h1", "eng", 1)}, "alice");
    json second = orders({reserving("h1", "web", 2)}, "bob");
    first["key"] = second["key"] = "peak-1";
    EXPECT_EQ(ask("POST", "/v1/reserve", first).status, 202);
    EXPECT_EQ(ask("POST", "/v1/reserve", first).status, 202) << "the same";
    EXPECT_EQ(json::parse(ask("POST", "/v1/reserve", second).body).at("principal"), "bob");
    EXPECT_THAT(list(), SizeIs(2));
    EXPECT_EQ(list("?role=eng")[0].at("resources"), json({{"VCPU", 1}}));
}

TEST_F(ReservationsApiTest, ADryRunCountsWhatIsReservedAndWritesNothing) {
    settings.reservations.roles = {{Role::parse("eng").value(), {"eng-project"}}};
    cloud.add_server("spot", "h2", "spot", Resources{{"VCPU", 2}});
    start_and_know_reservations();
    ASSERT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 8)})).status, 202);
    crash();
    dry_run = true;
    start_and_know_reservations();
    const auto consumers = cloud.consumers;
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 8}}));
    const Outcome there = fails("one", "eng-project");
    EXPECT_EQ(there.kind, OutcomeKind::already_there);
    EXPECT_THAT(there.reason, HasSubstr("for that a reservation releases 2 VCPU of eng on h1"));
    EXPECT_EQ(fails("again", "eng-project").reason, there.reason)
        << "that Nova refused it says nothing against the host";
    EXPECT_EQ(fails("two", "stranger").kind, OutcomeKind::dry_run) << "a server would go";
    EXPECT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "web", 1)})).status, 409);
    EXPECT_EQ(cloud.consumers, consumers);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ReservationsApiTest, ARequestOfTheRoleGetsItsRoomAndNoServerIsDeleted) {
    settings.reservations.roles = {{Role::parse("eng").value(), {"eng-project"}}};
    cloud.add_server("spot", "h2", "spot", Resources{{"VCPU", 2}});
    start_and_know_reservations();
    ASSERT_EQ(ask("POST", "/v1/reserve", orders({reserving("h1", "eng", 8)})).status, 202);
    EXPECT_EQ(fails("one", "eng-project").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.free_on("h1"), (Resources{{"VCPU", 2}}));
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 6}}));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    // It comes, and counts as part of what is reserved.
    cloud.add_server(uuid_of("came"), "h1", "eng-project", Resources{{"VCPU", 2}});
    EXPECT_EQ(list()[0].at("resources"), json({{"VCPU", 8}}));
    // A stranger gets none of it: servers are deleted for it.
    EXPECT_EQ(fails("two", "stranger").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 6}}));
}

TEST_F(ReservationsApiTest, AQueryShowsReservedRoomAndWritesNothing) {
    settings.reservations.roles = {{Role::parse("eng").value(), {"eng-project"}}};
    cloud.add_server("spot", "h2", "spot", Resources{{"VCPU", 2}});
    start_and_know_reservations();
    json lent = reserving("h1", "eng", 8);
    lent["lending"] = {{"lend", true}, {"floor", {{"VCPU", 4}}}};
    ASSERT_EQ(ask("POST", "/v1/reserve", orders({lent})).status, 202);
    run_until([&] {
        const auto view = service().view();
        const Host* const host = view->cache.find(HostId{"rp-h1"});
        return host != nullptr && host->providers.front().used.get(ResourceClass{"VCPU"}) == 8;
    });
    const auto consumers = cloud.consumers;
    const auto plan_for = [&](const std::string& project) {
        const json asked{{"project", project}, {"resources", {{"VCPU", 2}}}};
        const HttpResponse said = ask("POST", "/v1/plan", asked);
        EXPECT_EQ(said.status, 200) << said.body;
        EXPECT_THAT(json::parse(said.body).at("remarks"), IsEmpty());
        return json::parse(said.body).at("decision");
    };
    const json there = plan_for("eng-project");
    EXPECT_EQ(there.at("decision"), "nothing-to-do");
    EXPECT_THAT(there.dump(), HasSubstr("for that a reservation releases 2 VCPU of eng on h1"));
    EXPECT_EQ(plan_for("stranger").at("decision"), "plan");
    EXPECT_THAT(plan_for("spot").dump(), HasSubstr("lends 2 VCPU of eng on h1"));

    const auto room_for = [&](const std::string& project) {
        const HttpResponse said = ask("GET", "/v1/room?resources=VCPU:2&project=" + project);
        EXPECT_EQ(said.status, 200) << said.body;
        return json::parse(said.body);
    };
    EXPECT_EQ(room_for("eng-project").at("fits_now"), 4);
    EXPECT_EQ(room_for("spot").at("fits_now"), 2) << "the rest is below what is never lent";
    EXPECT_EQ(room_for("stranger").at("fits_now"), 0);
    EXPECT_EQ(room_for("stranger").at("answer"), "after-victims");

    EXPECT_EQ(cloud.consumers, consumers);
    EXPECT_EQ(list()[0].at("held"), json({{"VCPU", 8}}));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(ReservationsApiTest, WhoCantTellWhatIsReservedSaysSo) {
    start();
    messages->serves = false;
    run_until([&] { return service().view().has_value(); });
    const HttpResponse said = ask("GET", "/v1/room?resources=VCPU:2");
    EXPECT_THAT(said.body, HasSubstr("room that reservations would release is not counted"));
}

TEST_F(ReservationsApiTest, SwitchedOffItSaysSo) {
    settings.reservations.enabled = false;
    start();
    run_until([&] { return service().reservations() != nullptr && service().view(); });
    EXPECT_THAT(refused(404, "/v1/reserve", orders({reserving("h1", "eng", 1)})),
                HasSubstr("reservations.enabled"));
    EXPECT_EQ(ask("GET", "/v1/reservations").status, 404);
}

}  // namespace
}  // namespace reaper::test::reservations_api_test
