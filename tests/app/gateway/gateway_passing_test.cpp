// Never in the way: when it can't help, Placement's answer passes unchanged, no server is deleted,
// and logs, API and metrics give the reason.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"
#include "reaper/cli/daemon/status_report.hpp"

namespace reaper::test::gateway_passing_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ValuesIn;

struct Trouble {
    const char* name;
    const char* told;    ///< why, to people
    int answered = 503;  ///< to haproxy
};

const std::vector<Trouble> troubles{
    {"paused", "paused by alice: maintenance"},
    {"standby", "this reaper does not serve the queue: another one does"},
    {"broker_down", "the broker can't be reached"},
    {"stopping", "stopping"},
    {"nova_down", "Nova does not name the requester: nova: no route"},
    {"journal_full", "the journal can't be written: disk full"},
    {"overloaded", "gateway.max_held", 200},  // haproxy would leave those that wait
};

class GatewayPassing : public GatewayHouse, public ::testing::WithParamInterface<Trouble> {
protected:
    GatewayPassing() {
        cloud.deletion_takes = minutes{1};
        settings.gateway.deadline = minutes{2};
        settings.gateway.max_held = 2;
    }
    /// Nova does not answer the gateway.
    void nova_is_down() {
        cloud.on_call = [](const std::string& call) -> std::optional<Error> {
            if (!call.starts_with("servers in")) return std::nullopt;
            return Error{Errc::unreachable, "nova: no route"};
        };
    }
    /// A search that is helped, as far as its first deletion.
    void one_waits(const std::string& request, const std::string& project = "regular") {
        const std::size_t before = cloud.count("DELETE");
        booting("of-" + request, project);
        search(request);
        run_until([&] { return cloud.count("DELETE") > before; });
    }
    void make(const std::string& trouble) {
        if (trouble == "paused") pause.why = "paused by alice: maintenance";
        if (trouble == "standby") messages->serves = false;
        if (trouble == "broker_down") messages->disconnect();
        if (trouble == "stopping") {
            one_waits("req-before");
            service().stop();
        }
        if (trouble == "nova_down") {
            nova_is_down();
            booting("first");
            EXPECT_THAT(search_for("req-before"), IsEmpty());
        }
        if (trouble == "journal_full") {
            journal.fails = [](const std::string&) { return true; };
            booting("first", "other");
            search("req-before");
            run_until(
                [&] { return service().gateway()->line().find("journal") != std::string::npos; });
        }
        if (trouble == "overloaded") {
            one_waits("req-one");
            one_waits("req-two", "other");
        }
    }
    std::string told() {
        FakeSearch& made = search("", "/placement/reaper-gateway");
        run_until([&] { return made.done(); });
        EXPECT_EQ(made.answered, GetParam().answered);
        return *made.body;
    }
};

TEST_P(GatewayPassing, AnswersPassAndTheReasonIsReported) {
    full_host();
    start();
    make(GetParam().name);
    const std::size_t deleted = cloud.count("DELETE");
    booting("new");
    const TimePoint began = clock.now();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_FALSE(made.own) << "it is Placement's answer";
    EXPECT_THAT(made.asked, ElementsAre(two_cpus)) << "to one question";
    EXPECT_LT(clock.now() - began, seconds{1});
    EXPECT_EQ(cloud.count("DELETE"), deleted);
    EXPECT_THAT(service().gateway()->line(), HasSubstr(GetParam().told)) << "the status line";
    const std::string body = told();
    EXPECT_THAT(body, HasSubstr(GetParam().answered == 200 ? "\"full\":true" : GetParam().told));
    const auto state = cli::read_gateway_state(body);
    EXPECT_THAT(cli::to_text(state, settings.gateway), HasSubstr(GetParam().told))
        << "reaper status";
}

INSTANTIATE_TEST_SUITE_P(All, GatewayPassing, ValuesIn(troubles),
                         [](const auto& each) { return std::string{each.param.name}; });

class GatewayRecovers : public GatewayPassing {};

TEST_P(GatewayRecovers, NovaIsAskedAgainAfterAWhile) {
    full_host();
    cloud.deletion_takes = seconds{1};
    start();
    make("nova_down");
    cloud.on_call = {};
    const std::size_t asked = cloud.count("servers in");
    booting("new");
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(cloud.count("servers in"), asked);
    pass(seconds{10});
    told();
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
}

TEST_P(GatewayRecovers, AJournalThatIsWellAgainIsUsedAtOnce) {
    full_host();
    cloud.deletion_takes = seconds{1};
    start();
    make("journal_full");
    journal.fails = nullptr;
    run_until([&] { return service().gateway()->line().find("journal") == std::string::npos; });
    told();
    booting("new");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
}

INSTANTIATE_TEST_SUITE_P(Helps, GatewayRecovers, ::testing::Values(Trouble{"none", "", 200}));

}  // namespace
}  // namespace reaper::test::gateway_passing_test
