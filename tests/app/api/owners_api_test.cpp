// What the owner of a revocable server learns from the admin API, and its guest from Nova's
// vendordata.
#include <boost/asio/co_spawn.hpp>

#include "app/api_house.hpp"
#include "reaper/api/owners.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/time.hpp"

namespace reaper::test::owners_api_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string route = "GET /v1/my/servers";
const std::string path = "/v1/my/servers";

class OwnersApi : public ApiHouse {
protected:
    OwnersApi() { settings.policy.notice.period = std::chrono::minutes{2}; }

    static api::Caller owner(const std::string& project) {
        return {api::Access::own, "eve@default", ProjectId{project}};
    }
    json mine(const std::string& query = "", const std::string& project = "spot") {
        return answer(200, route, path + query, "", owner(project));
    }
    std::vector<std::string> ids(const json& servers) {
        std::vector<std::string> all;
        for (const json& each : servers) all.push_back(each.at("id"));
        return all;
    }
    json vendordata(const json& body, int expected = 200) {
        return answer(expected, "POST /v1/vendordata", "/v1/vendordata", body.dump(),
                      {api::Access::look, {}});
    }
    /// One of the host's servers has notice.
    std::string told() {
        requester();
        start_and_read_the_cloud();
        messages->deliver(body_of(failure()));
        std::string server;
        run_until([&] {
            for (const Notice& each : service().status().notices) server = each.server.str();
            return !server.empty();
        });
        return server;
    }
};

TEST_F(OwnersApi, AnOwnerSeesTheRevocableServersOfHisProjectAndNoHost) {
    full_host();
    cloud.tagged.insert(ProjectId{"other"});
    cloud.add_host("host2", small * 4);
    cloud.add_server("theirs", "host2", "other", small);
    cloud.add_server("regular-1", "host2", "regular", small);
    auto& server = cloud.server_at("host1a").record.server;
    server.flavor_name = "m1.small";
    server.launched = clock.now();
    start_and_read_the_cloud();
    const std::size_t calls = cloud.calls.size();
    const json servers = mine().at("servers");
    EXPECT_THAT(ids(servers), ElementsAre("host1a", "host1b", "host1c", "host1d"));
    const json& first = servers[0];
    EXPECT_EQ(first.at("name"), "name-of-host1a");
    EXPECT_EQ(first.at("flavor"), "m1.small");
    EXPECT_EQ(first.at("launched_at"), iso_time(*server.launched));
    EXPECT_THAT(std::string{first.at("revocable_because")}, HasSubstr("project"));
    EXPECT_EQ(first.at("protected"), false);
    EXPECT_EQ(first.at("evict_at"), nullptr);
    EXPECT_EQ(first.at("evicted"), json({{"last_24h", 0}, {"last_7d", 0}}));
    EXPECT_THAT(servers.dump(), Not(HasSubstr("\"host\"")));
    EXPECT_THAT(ids(mine("", "other").at("servers")), ElementsAre("theirs"));
    EXPECT_THAT(mine("", "regular").at("servers"), IsEmpty());
    const json shown = answer(200, route, path, "", {api::Access::act, "ops@x", ProjectId{"spot"}});
    EXPECT_EQ(shown.at("servers")[0].at("host"), "host1");
    EXPECT_EQ(cloud.calls.size(), calls) << "the cloud is not asked";
}

TEST_F(OwnersApi, EveryOtherRouteIsClosed) {
    full_host();
    start_and_read_the_cloud();
    for (const api::Route& each : api::routes()) {
        if (each.path == path) continue;
        std::string target{each.path};
        std::erase_if(target, [](char c) { return c == '{' || c == '}'; });
        const HttpResponse said = ask({std::string{each.method}, target, {}}, owner("spot"));
        EXPECT_EQ(said.status, 403) << each.path;
        EXPECT_THAT(said.body, HasSubstr("eve@default")) << each.path;
    }
    EXPECT_EQ(ask({"GET", "/v1/nonsense", {}}, owner("spot")).status, 403);
    EXPECT_EQ(ask({"POST", path, {}}, owner("spot")).status, 403);
    const json unscoped = answer(403, route, path, "", {api::Access::own, "eve@default", {}});
    EXPECT_THAT(why(unscoped), HasSubstr("for a project"));
    EXPECT_THAT(why(get(path, 403)), HasSubstr("admin.owners")) << "the socket's owner has none";
}

TEST_F(OwnersApi, ItHasPages) {
    full_host();
    start_and_read_the_cloud();
    const json page = mine("?limit=3");
    EXPECT_THAT(ids(page.at("servers")), ElementsAre("host1a", "host1b", "host1c"));
    const json rest = mine(std::string{page.at("servers_links")[0].at("href")}.substr(path.size()));
    EXPECT_THAT(ids(rest.at("servers")), ElementsAre("host1d"));
    EXPECT_THAT(rest.at("servers_links"), IsEmpty());
    EXPECT_THAT(mine("?limit=4").at("servers_links"), IsEmpty());
    answer(400, route, path + "?what=1", "", owner("spot"));
}

TEST_F(OwnersApi, AProjectThatAsksTooMuchWaitsAndNoOtherOne) {
    full_host();
    start_and_read_the_cloud();
    api::OwnersQuestions questions;
    const ProjectId spot{"spot"};
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(questions.may_ask(spot, Duration{1000}));
    EXPECT_FALSE(questions.may_ask(spot, Duration{1000}));
    EXPECT_TRUE(questions.may_ask(ProjectId{"other"}, Duration{1000}));
    EXPECT_TRUE(questions.may_ask(spot, Duration{1200}));
    EXPECT_FALSE(questions.may_ask(spot, Duration{1200}));
    api::Backend asked = backend();
    while (asked.owners->may_ask(spot, clock.steady())) {
    }
    asked.standby = [] { return "standby of reaper-7"; };
    const auto refused = [&](api::Caller caller) {
        std::optional<HttpResponse> said;
        HttpRequest request{"GET", path};
        boost::asio::co_spawn(
            io(), api::answer(asked, std::move(caller), std::move(request)),
            [&](std::exception_ptr, HttpResponse told) { said = std::move(told); });
        run_until([&] { return said.has_value(); });
        EXPECT_EQ(said->status, 503);
        EXPECT_EQ(said->headers, (HttpHeaders{{"Retry-After", "1"}}));
        return said->body;
    };
    EXPECT_THAT(refused(owner("spot")), Not(HasSubstr("reaper-7"))) << "that is for operators";
    EXPECT_THAT(refused({api::Access::act, "ops@x", spot}), HasSubstr("reaper-7"));
}

TEST_F(OwnersApi, OnceAMinuteTheJournalIsAskedWhatWentOfAFlavor) {
    settings.policy.notice = {};
    full_host();
    for (const char* const each : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(each).record.server.flavor_name = "m1.small";
    requester();
    start_and_read_the_cloud();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    api::OwnersQuestions questions;
    int answered = 0;
    JournalReader* asked = observed.get();
    const auto count_at = [&](Duration steady, Duration later) {
        boost::asio::co_spawn(io(), questions.count(*asked, clock.now() + later, steady),
                              [&](std::exception_ptr, Result<void> done) {
                                  EXPECT_TRUE(done);
                                  ++answered;
                              });
        const int all = answered + 1;
        run_until([&] { return answered == all; });
        return questions.of_flavor("m1.small");
    };
    EXPECT_EQ(count_at(Duration{1000}, {}).last_24h, 1);
    EXPECT_EQ(count_at(Duration{60'999}, std::chrono::days{2}).last_24h, 1) << "not yet again";
    const auto later = count_at(Duration{61'000}, std::chrono::days{2});
    EXPECT_EQ(later.last_24h, 0);
    EXPECT_EQ(later.last_7d, 1);
    test::FakeJournal broken;
    broken.cut_off = true;
    asked = &broken;
    EXPECT_EQ(count_at(Duration{130'000}, std::chrono::days{8}).last_7d, 1) << "the last one stays";
    asked = observed.get();
    EXPECT_EQ(count_at(Duration{200'000}, std::chrono::days{8}).last_7d, 0);
    EXPECT_EQ(questions.of_flavor("m1.large").last_7d, 0);
    EXPECT_EQ(mine().at("servers")[0].at("evicted"), json({{"last_24h", 1}, {"last_7d", 1}}));
    journal.cut_off = true;
    EXPECT_THAT(why(answer(503, route, path, "", owner("spot"))), Not(HasSubstr("server of the")));
}

TEST_F(OwnersApi, AnOwnerSeesUntilWhenItIsProtected) {
    full_host();
    start_and_read_the_cloud();
    answer(200, "POST /v1/protect", "/v1/protect",
           R"({"server": "host1b", "until": "2100-01-01T00:00:00Z", "reason": "secret"})");
    const json servers = mine().at("servers");
    EXPECT_EQ(servers[1].at("protected"), true);
    EXPECT_EQ(servers[1].at("protected_until"), "2100-01-01T00:00:00.000Z");
    EXPECT_EQ(servers[0].at("protected"), false);
    EXPECT_THAT(servers.dump(), Not(HasSubstr("secret")));
}

TEST_F(OwnersApi, BothSeeTheNotice) {
    full_host();
    const std::string server = told();
    const std::string end = iso_time(service().status().notices.at(0).until);
    int others = 0;
    const json servers = mine().at("servers");
    for (const json& each : servers) {
        if (each.at("id") != server) {
            EXPECT_EQ(each.at("evict_at"), nullptr);
            ++others;
            continue;
        }
        EXPECT_EQ(each.at("evict_at"), end);
        EXPECT_EQ(each.at("evict_because"), "a regular server needs its room");
    }
    EXPECT_EQ(others, 3);
    EXPECT_EQ(vendordata({{"instance-id", server}, {"metadata", json::object()}}),
              json({{"revocable", true}, {"notice_s", 120}, {"evict_at", end}}));
}

TEST_F(OwnersApi, MetadataCountWhereAnotherReaperServes) {
    full_host();
    const std::string end = "2026-11-27T12:00:00.000Z";
    using Metadata = std::map<std::string, std::string>;
    cloud.server_at("host1a").record.server.metadata = Metadata{{evict_at_key, end}};
    cloud.server_at("host1b").record.server.metadata = Metadata{{evict_at_key, "soon"}};
    start_and_read_the_cloud();
    EXPECT_EQ(mine().at("servers")[0].at("evict_at"), nullptr) << "it was withdrawn";
    messages->serves = false;
    const json servers = mine().at("servers");
    EXPECT_EQ(servers[0].at("evict_at"), end);
    EXPECT_EQ(servers[0].at("evict_because"), nullptr);
    EXPECT_EQ(servers[1].at("evict_at"), nullptr);
}

TEST_F(OwnersApi, AGuestHearsOnlyOfARevocableServer) {
    full_host();
    cloud.add_host("host2", small);
    cloud.add_server("regular-1", "host2", "regular", small);
    start_and_read_the_cloud();
    const std::size_t calls = cloud.calls.size();
    json nova = {
        {"project-id", "spot"},         {"instance-id", "host1a"}, {"image-id", ""},
        {"user-data", nullptr},         {"hostname", "a"},         {"metadata", json::object()},
        {"boot-roles", "member,reader"}};
    const json revocable{{"revocable", true}, {"notice_s", 120}};
    EXPECT_EQ(vendordata(nova), revocable);
    nova["metadata"] = {{evict_at_key, "2026-11-27T12:00:00Z"}};  // another reaper's
    EXPECT_EQ(vendordata(nova).at("evict_at"), "2026-11-27T12:00:00.000Z");
    nova["metadata"] = {{evict_at_key, "soon"}};
    EXPECT_EQ(vendordata(nova), revocable);
    for (const char* const id : {"regular-1", "no-such"})
        EXPECT_EQ(vendordata({{"instance-id", id}}), json::object()) << id;
    EXPECT_THAT(why(vendordata({{"metadata", json::object()}}, 400)), HasSubstr("instance-id"));
    EXPECT_THAT(why(vendordata({{"instance-id", 1}}, 400)), HasSubstr("instance-id"));
    EXPECT_EQ(cloud.calls.size(), calls) << "the cloud is not asked";
}

TEST_F(OwnersApi, BeforeTheCloudWasReadItSaysSo) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    start();
    EXPECT_THAT(why(answer(503, route, path, "", owner("spot"))), HasSubstr("not been read"));
    vendordata({{"instance-id", "host1a"}}, 503);
}

}  // namespace
}  // namespace reaper::test::owners_api_test
