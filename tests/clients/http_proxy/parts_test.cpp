// The pure parts of the proxy: heads, framing, bodies, header rules, targets, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "clients/http_proxy/body_decoder.hpp"
#include "clients/http_proxy/error_answer.hpp"
#include "clients/http_proxy/header_rules.hpp"
#include "clients/http_proxy/input_buffer.hpp"
#include "clients/http_proxy/target.hpp"

namespace reaper::proxy_parts_test {
namespace {

using namespace proxy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ProxyHead, SearchFindsTheEndWhateverThePieces) {
    const std::string text = "GET / HTTP/1.1\r\nA: b\r\n\r\nrest";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        HeadSearch search;
        auto state = HeadSearch::State::more;
        for (std::size_t size = step; state == HeadSearch::State::more; size += step)
            state = search.look(std::string_view(text).substr(0, std::min(size, text.size())));
        EXPECT_EQ(state, HeadSearch::State::whole);
        EXPECT_EQ(search.end(), text.size() - 4);
    }
    for (const char* bad : {"\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nA: b\n\r\n", "a\r\n\n"})
        EXPECT_EQ(HeadSearch{}.look(bad), HeadSearch::State::bad) << bad;
    EXPECT_EQ(HeadSearch{}.look("GET / HTTP/1.1\r\n\r"), HeadSearch::State::more);
}

TEST(ProxyHead, ReadsARequestAsItCame) {
    const auto parsed = parse_request_head(
        "PUT /a%2fb/../c?x=1&x=%32 HTTP/1.1\r\nhost: me\r\nX-a:1\r\nX-A: \t 2 "
        "\t\r\nEmpty:\r\n\r\n");
    const auto* head = std::get_if<RequestHead>(&parsed);
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->method, "PUT");
    EXPECT_EQ(head->target, "/a%2fb/../c?x=1&x=%32");
    EXPECT_EQ(head->minor, 1);
    EXPECT_THAT(head->headers, ElementsAre(Pair("host", "me"), Pair("X-a", "1"), Pair("X-A", "2"),
                                           Pair("Empty", "")));
}

struct BadHead {
    const char* text;
    int status;
};

TEST(ProxyHead, RefusesWhatCouldBeReadInTwoWays) {
    for (const auto& [text, status] :
         std::initializer_list<BadHead>{{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
                                        {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET /\r\nHost: a\r\n\r\n", 400},
                                        {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET /\tb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
                                        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
                                        {"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
                                        {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\n\r\n", 400},
                                        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400}}) {
        const auto parsed = parse_request_head(text);
        const auto* bad = std::get_if<BadMessage>(&parsed);
        ASSERT_NE(bad, nullptr) << text;
        EXPECT_EQ(bad->status, status) << text;
    }
    std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 0; i < max_headers; ++i) many += "a: b\r\n";
    const auto parsed = parse_request_head(many + "\r\n");
    ASSERT_TRUE(std::holds_alternative<BadMessage>(parsed));
    EXPECT_EQ(std::get<BadMessage>(parsed).status, 431);
}

TEST(ProxyHead, ReadsAnAnswerAsItCame) {
    const auto parsed = parse_answer_head(
        "HTTP/1.0 299 Quite  fine: \xc3\xa4\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n");
    const auto* head = std::get_if<AnswerHead>(&parsed);
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->status, 299);
    EXPECT_EQ(head->minor, 0);
    EXPECT_EQ(head->reason, "Quite  fine: \xc3\xa4");
    EXPECT_THAT(head->headers, ElementsAre(Pair("Set-Cookie", "a"), Pair("set-cookie", "b")));
    for (const char* fine : {"HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n"})
        EXPECT_TRUE(std::holds_alternative<AnswerHead>(parse_answer_head(fine))) << fine;
    for (const char* bad :
         {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 -10 OK\r\n\r\n",
          "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
          "HTTP/1.1 200 OK\r\na\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n"})
        EXPECT_TRUE(std::holds_alternative<BadMessage>(parse_answer_head(bad))) << bad;
}

RequestHead with_headers(HttpHeaders headers, int minor = 1) {
    return {"POST", "/", minor, std::move(headers)};
}

TEST(ProxyFraming, OfARequest) {
    const auto framing = [](HttpHeaders headers, int minor = 1) {
        return framing_of(with_headers(std::move(headers), minor));
    };
    const auto kind = [&](HttpHeaders headers) {
        return std::get<Framing>(framing(std::move(headers))).kind;
    };
    const auto status = [&](HttpHeaders headers, int minor = 1) {
        const auto told = framing(std::move(headers), minor);
        const auto* bad = std::get_if<BadMessage>(&told);
        return bad == nullptr ? 0 : bad->status;
    };
    EXPECT_EQ(kind({}), Framing::Kind::none);
    EXPECT_EQ(kind({{"content-length", "0"}}), Framing::Kind::none);
    EXPECT_EQ(kind({{"content-length", "12"}}), Framing::Kind::length);
    EXPECT_EQ(kind({{"Transfer-Encoding", "Chunked"}}), Framing::Kind::chunked);
    EXPECT_EQ(status({{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}}), 400);
    EXPECT_EQ(status({{"Content-Length", "1"}, {"Content-Length", "1"}}), 400);
    EXPECT_EQ(status({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}), 400);
    EXPECT_EQ(status({{"Transfer-Encoding", "gzip, chunked"}}), 501);
    EXPECT_EQ(status({{"Transfer-Encoding", "xchunked"}}), 501);
    EXPECT_EQ(status({{"Transfer-Encoding", "chunked"}}, 0), 400);
    for (const char* wrong : {"", "+1", "-1", "0x1", "1, 1", "1 1", "18446744073709551616", "1a"})
        EXPECT_EQ(status({{"Content-Length", wrong}}), 400) << wrong;
}

TEST(ProxyFraming, OfAnAnswer) {
    const auto kind = [](int status, HttpHeaders headers, bool to_head = false) {
        const AnswerHead head{1, status, "", std::move(headers)};
        const auto framing = framing_of(head, to_head);
        const auto* good = std::get_if<Framing>(&framing);
        return good == nullptr ? -1 : static_cast<int>(good->kind);
    };
    const auto none = static_cast<int>(Framing::Kind::none);
    EXPECT_EQ(kind(200, {{"Content-Length", "5"}}), static_cast<int>(Framing::Kind::length));
    EXPECT_EQ(kind(200, {{"Content-Length", "5"}}, true), none);
    EXPECT_EQ(kind(204, {}), none);
    EXPECT_EQ(kind(304, {{"Content-Length", "5"}}), none);
    EXPECT_EQ(kind(200, {}), static_cast<int>(Framing::Kind::until_close));
    EXPECT_EQ(kind(200, {{"Transfer-Encoding", "chunked"}}),
              static_cast<int>(Framing::Kind::chunked));
    EXPECT_EQ(kind(200, {{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}), -1);
    EXPECT_EQ(kind(200, {{"Content-Length", "5"}, {"Content-Length", "6"}}), -1);
}

/// What comes of `text`, given in pieces of `step` bytes; none if the framing is broken.
std::optional<std::pair<std::string, std::string>> decoded(const std::string& text,
                                                           std::size_t step, Framing framing) {
    BodyDecoder decoder{framing};
    std::string body, kept;
    for (std::size_t at = 0; at < text.size() && !decoder.done(); at += step) {
        kept += text.substr(at, step);
        const auto done = decoder.decode(kept);
        body += kept.substr(0, done.body);
        kept.erase(0, done.consumed);
        if (done.bad) return std::nullopt;
        if (decoder.done())
            return std::pair{body, kept + text.substr(std::min(at + step, text.size()))};
        EXPECT_EQ(kept, "");
    }
    if (!decoder.done()) return std::nullopt;
    return std::pair{body, text};
}

TEST(ProxyBody, ChunksComeTogetherWhateverThePieces) {
    const std::string text =
        "5\r\nhello\r\n1;ext=\"a\"\r\n,\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\nb:\r\n\r\nnext";
    for (std::size_t step = 1; step <= text.size(); ++step)
        EXPECT_EQ(decoded(text, step, {Framing::Kind::chunked, 0}),
                  (std::pair<std::string, std::string>{"hello,0123456789", "next"}))
            << step;
    for (std::size_t step = 1; step < 10; ++step) {
        EXPECT_EQ(decoded("abcdefgh", step, {Framing::Kind::length, 5}),
                  (std::pair<std::string, std::string>{"abcde", "fgh"}));
    }
}

TEST(ProxyBody, BrokenChunksAreRefused) {
    for (const char* bad :
         {"\r\n", "x\r\n", "-1\r\n", "0x5\r\nhello\r\n", " 5\r\nhello\r\n0\r\n\r\n",
          "5\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
          "5\r\nhello\r\n\r\n0\r\n\r\n", "5\r\rhello", "1000000000000000\r\n", "5;a\nb\r\nhello",
          "0\r\nA: b\n\r\n", "0\r\n\n", "5 5x\r\rhello"}) {
        for (const std::size_t step : {1U, 100U})
            EXPECT_EQ(decoded(std::string(bad) + "0\r\n\r\n", step, {Framing::Kind::chunked, 0}),
                      std::nullopt)
                << bad;
    }
    const std::string endless = "5;" + std::string(5000, 'a');
    EXPECT_EQ(decoded(endless + "\r\nhello\r\n0\r\n\r\n", 100, {Framing::Kind::chunked, 0}),
              std::nullopt);
    const std::string trailers = "0\r\n" + std::string(20'000, 'a') + ": b\r\n\r\n";
    EXPECT_EQ(decoded(trailers, 100, {Framing::Kind::chunked, 0}), std::nullopt);
}

/// Whatever was put into chunks comes out again.
TEST(ProxyBody, ChunkingAndDecodingIsNothing) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 200; ++round) {
        std::string body, text;
        const auto chunks = random() % 20;
        for (std::uint64_t i = 0; i < chunks; ++i) {
            std::string chunk(1 + random() % 300, '\0');
            for (char& byte : chunk) byte = static_cast<char>(random());
            text += chunk_head(chunk.size()) + chunk + std::string(chunk_tail);
            body += chunk;
        }
        text += last_chunk;
        EXPECT_EQ(decoded(text + "N", 1 + random() % 500, {Framing::Kind::chunked, 0}),
                  (std::pair<std::string, std::string>{body, "N"}));
    }
}

TEST(ProxyHeaders, OnlyThoseOfTheConnectionAreOurs) {
    const HttpHeaders headers{{"Host", "a"},
                              {"connection", "close, X-Mine"},
                              {"Keep-Alive", "timeout=5"},
                              {"TE", "trailers"},
                              {"x-mine", "1"},
                              {"X-Yours", "2"},
                              {"Transfer-Encoding", "chunked"},
                              {"x-yours", "3"},
                              {"Upgrade", "h2c"},
                              {"Trailer", "x"},
                              {"Proxy-Connection", "x"},
                              {"Proxy-Authorization", "x"},
                              {"Proxy", "kept"}};
    EXPECT_THAT(end_to_end(headers), ElementsAre(Pair("Host", "a"), Pair("X-Yours", "2"),
                                                 Pair("x-yours", "3"), Pair("Proxy", "kept")));
    // Nobody hides the length of a body from the upstream.
    const HttpHeaders sly{
        {"Connection", "Content-Length, host"}, {"Content-Length", "3"}, {"Host", "a"}};
    EXPECT_EQ(end_to_end(sly).size(), 2U);
}

TEST(ProxyHeaders, SayWhetherTheConnectionIsKept) {
    EXPECT_TRUE(keeps_connection(1, {}));
    EXPECT_FALSE(keeps_connection(0, {}));
    EXPECT_FALSE(keeps_connection(1, {{"Connection", "x , Close"}}));
    EXPECT_TRUE(keeps_connection(0, {{"Connection", "Keep-Alive"}}));
    EXPECT_FALSE(keeps_connection(1, {{"Connection", "keep-alive"}, {"Connection", "close"}}));
}

TEST(ProxyTarget, OnlyThePrefixIsExchanged) {
    const PathPrefixes same{"/placement", "/placement"};
    EXPECT_EQ(upstream_target(same, "/placement/a%2F?b=/placement"),
              "/placement/a%2F?b=/placement");
    EXPECT_EQ(upstream_target(same, "/placement"), "/placement");
    EXPECT_EQ(upstream_target(same, "/placements"), std::nullopt);
    EXPECT_EQ(upstream_target(same, "/"), std::nullopt);
    EXPECT_EQ(upstream_target(same, "*"), "*");
    EXPECT_EQ(upstream_target(same, "http://a:1/placement/x"), "http://a:1/placement/x");
    const PathPrefixes into{"", "/placement"};
    EXPECT_EQ(upstream_target(into, "/x?y"), "/placement/x?y");
    EXPECT_EQ(upstream_target(into, "//x"), "/placement//x");
    const PathPrefixes out{"/gate/way", ""};
    EXPECT_EQ(upstream_target(out, "/gate/way/x"), "/x");
    EXPECT_EQ(upstream_target(out, "/gate/way?x"), "/?x");
    EXPECT_EQ(upstream_target(out, "/gate/way"), "/");
    EXPECT_EQ(upstream_target(out, "https://h/gate/way/x"), "https://h/x");
    EXPECT_EQ(upstream_target({"", ""}, "/%zz"), "/%zz");
    for (const char* const out_of_it : {"/placement/..", "/placement/../identity",
                                        "/placement/a/%2e%2E/../x", "/placement/.%2e/x"})
        EXPECT_EQ(upstream_target(same, out_of_it), std::nullopt) << out_of_it;
    EXPECT_EQ(upstream_target(into, "/../identity"), std::nullopt);
    EXPECT_EQ(upstream_target(same, "/placement/...?x=/../y"), "/placement/...?x=/../y");
    EXPECT_EQ(upstream_target({"", ""}, "/a/../b"), "/a/../b");
    EXPECT_EQ(shown("http://user:secret@host/a?b=1"), "/a?b=1");
    EXPECT_EQ(path_prefix("/"), "");
    EXPECT_EQ(path_prefix("placement/"), "/placement");
    EXPECT_EQ(path_prefix("/a/b//"), "/a/b");
    EXPECT_EQ(shown("/a?token=secret&b=1"), "/a?token=...&b=1");
}

TEST(ProxyErrors, AreInTheStyleOfOpenStack) {
    const OwnAnswer answer = error_answer(503, "it is \"down\"");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body,
              "{\"errors\":[{\"detail\":\"it is \\\"down\\\"\",\"status\":503,"
              "\"title\":\"Service Unavailable\"}]}\n");
    EXPECT_THAT(answer.headers, testing::Contains(Pair("Content-Type", "application/json")));
    EXPECT_EQ(status_of(http::Failure{Errc::timeout, ""}), 504);
    EXPECT_EQ(status_of(http::Failure{Errc::unreachable, ""}), 502);
    http::Failure refused{Errc::unreachable, ""};
    refused.sent = false;
    EXPECT_EQ(status_of(refused), 503);
}

TEST(ProxyBuffer, GrowsToItsLimitAndNoFurther) {
    InputBuffer buffer;
    std::string all;
    while (!buffer.full()) {
        const auto room = buffer.room();
        ASSERT_GT(room.size(), 0U);
        std::memset(room.data(), 'a' + static_cast<int>(all.size() % 7), room.size());
        all.append(static_cast<const char*>(room.data()), room.size());
        buffer.added(room.size());
    }
    EXPECT_EQ(buffer.size(), InputBuffer::largest);
    EXPECT_EQ(buffer.text(), all);
    buffer.consume(1000);
    EXPECT_EQ(buffer.room().size(), 1000U);
    EXPECT_EQ(buffer.text(), std::string_view(all).substr(1000));
    buffer.consume(buffer.size());
    buffer.release();
    EXPECT_EQ(buffer.room().size(), InputBuffer::smallest);
}

}  // namespace
}  // namespace reaper::proxy_parts_test
