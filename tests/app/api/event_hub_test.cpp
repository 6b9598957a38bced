// GET /v1/events: each event is sent once, in order, and no client slows the others down.
#include "app/api_house.hpp"

namespace reaper::test::event_hub_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Piece = std::optional<std::string>;

class EventHubTest : public ApiHouse {
protected:
    HttpResponse listen(const std::string& last_seen = "") {
        HttpRequest request{"GET", "/v1/events", {}};
        if (!last_seen.empty()) request.headers.emplace_back("last-event-id", last_seen);
        return ask(std::move(request), {api::Access::look, {}});
    }
    /// The next piece, whenever it comes.
    Piece next(const HttpResponse& stream) {
        std::optional<Piece> got;
        boost::asio::co_spawn(io(), stream.more(), [&](std::exception_ptr error, Piece piece) {
            if (error) std::rethrow_exception(error);
            got = std::move(piece);
        });
        for (int i = 0; i < 1000 && !got; ++i) {
            io().restart();
            io().run_one_for(std::chrono::seconds{60});
        }
        return got.value_or("it never came");
    }
    void happens(const std::string& kind) {
        std::optional<bool> written;
        JournalEvent event{kind, "because", clock.now()};
        boost::asio::co_spawn(io(), observed->note_event(std::move(event)),
                              [&](std::exception_ptr, Result<void> done) { written = bool(done); });
        run_until([&] { return written.has_value(); });
    }
    static std::string id_in(const std::string& piece) {
        const std::size_t at = piece.rfind("id: ");
        return piece.substr(at + 4, piece.find('\n', at) - at - 4);
    }
    /// The data of the events in a piece, each as documented.
    static std::vector<json> data_in(const std::string& piece) {
        std::vector<json> all;
        const std::string mark = "\ndata: ";
        for (std::size_t at = piece.find(mark); at != std::string::npos;
             at = piece.find(mark, at + 1)) {
            const std::size_t begin = at + mark.size();
            all.push_back(json::parse(piece.substr(begin, piece.find('\n', begin) - begin)));
            EXPECT_EQ(wrong_with("GET /v1/events", 200, "text/event-stream", all.back()), "");
        }
        return all;
    }
};

TEST_F(EventHubTest, EachStepOfARequestIsSent) {
    full_host("h1");
    start_and_read_the_cloud();
    const HttpResponse stream = listen();
    EXPECT_EQ(stream.content_type, "text/event-stream");
    EXPECT_THAT(stream.body, HasSubstr("event: hello\n"));
    requester();
    messages->deliver(body_of(failure()));
    const std::string id = failure().request_id;
    outcome_of(id);
    const Piece piece = next(stream);
    ASSERT_TRUE(piece);
    std::vector<std::string> what;
    for (const json& data : data_in(*piece)) {
        EXPECT_EQ(data.at("request"), id);
        what.push_back(data.at("what"));
    }
    ASSERT_GE(what.size(), 4U) << *piece;
    EXPECT_EQ(what.front(), "received");
    EXPECT_EQ(what[1], "plan");
    EXPECT_EQ(what.back(), "outcome");
}

TEST_F(EventHubTest, ChangesOfTheReapersStateAreSent) {
    start();
    const HttpResponse stream = listen();
    happens("paused");
    const Piece piece = next(stream);
    ASSERT_TRUE(piece);
    EXPECT_THAT(*piece, StartsWith("id: test-1\nevent: reaper\ndata: {"));
    EXPECT_THAT(*piece, ::testing::EndsWith("}\n\n"));
    EXPECT_EQ(data_in(*piece).front().at("kind"), "paused");
}

TEST_F(EventHubTest, WhoComesBackMissesNothing) {
    start();
    const HttpResponse first = listen();
    happens("one");
    const std::string seen = id_in(*next(first));
    happens("two");
    happens("three");
    const HttpResponse again = listen(seen);
    EXPECT_THAT(again.body, HasSubstr("event: hello"));
    const auto missed = data_in(*next(again));
    ASSERT_EQ(missed.size(), 2U);
    EXPECT_EQ(missed[0].at("kind"), "two");
    EXPECT_EQ(missed[1].at("kind"), "three");
    // Who has seen nothing but the greeting too.
    happens("four");
    EXPECT_EQ(data_in(*next(listen(id_in(again.body)))).size(), 3U);
}

TEST_F(EventHubTest, AForgottenPositionOrOneOfAnotherProcessStartsAgain) {
    start();
    happens("one");
    for (const char* const id :
         {"other-1", "test-", "test-x", "test-2", "test-99999999999999999999", "-1", "\n"})
        EXPECT_THAT(listen(id).body, HasSubstr("event: reset\n")) << id;
    EXPECT_THAT(listen("test-1").body, HasSubstr("event: hello\n"));
    for (int i = 0; i < 1100; ++i) happens("more");
    EXPECT_THAT(listen("test-1").body, HasSubstr("event: reset\n"));
    EXPECT_THAT(listen("test-1000").body, HasSubstr("event: hello\n"));
}

TEST_F(EventHubTest, WhoFallsBehindIsCutOff) {
    start();
    const HttpResponse slow = listen();
    const HttpResponse other = listen();
    happens("one");
    EXPECT_TRUE(next(other));
    for (int i = 0; i < 1030; ++i) happens("more");
    EXPECT_EQ(next(slow), std::nullopt);
    EXPECT_EQ(next(other), std::nullopt);
}

TEST_F(EventHubTest, SoManyMayListen) {
    start();
    std::vector<HttpResponse> all;
    for (int i = 0; i < 16; ++i) all.push_back(listen());
    EXPECT_EQ(all.back().status, 200);
    const HttpResponse refused = listen();
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(wrong_with("GET /v1/events", 503, refused.content_type, json::parse(refused.body)),
              "");
    all.pop_back();
    EXPECT_EQ(listen().status, 200);
}

TEST_F(EventHubTest, ANameEndsNoLineOfTheStream) {
    start();
    const HttpResponse stream = listen();
    happens("paused\n\nevent: reset\ndata: {}\n\n");
    const std::string piece = *next(stream);
    EXPECT_EQ(data_in(piece).size(), 1U);
    EXPECT_THAT(piece, Not(HasSubstr("\nevent: reset")));
}

}  // namespace
}  // namespace reaper::test::event_hub_test
