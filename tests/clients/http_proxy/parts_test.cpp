// The pure parts of the proxy: messages, header rules, targets, errors.
#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "clients/http_proxy/message.hpp"

namespace reaper::proxy_parts_test {
namespace {

using namespace proxy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// What comes of a message that arrives in pieces of `step` bytes.
template <bool is_request>
struct Read {
    MessageReader<is_request> reader;
    std::string body;
    std::string rest{};  ///< behind the message
    bool has_head = false;

    explicit Read(std::string_view text, std::size_t step = 1'000'000, bool to_head = false)
        : reader(to_head) {
        Input input;
        while (!text.empty() && !reader.done() && !reader.bad()) {
            const auto piece = text.substr(0, std::min({step, text.size(), input.room().size()}));
            std::memcpy(input.room().data(), piece.data(), piece.size());
            input.commit(piece.size());
            text.remove_prefix(piece.size());
            has_head = has_head || reader.read_head(input);
            if (has_head) body += reader.read_body(input);
        }
        rest.append(input.text()).append(text);
    }
    int status() const { return reader.bad() ? reader.bad()->status : 0; }
};
using ReadRequest = Read<true>;
using ReadAnswer = Read<false>;

TEST(ProxyHead, ReadsARequestAsItCame) {
    const std::string text =
        "PUT /a%2fb/../c?x=1&x=%32 HTTP/1.1\r\nhost: me\r\nX-a:1\r\nX-A: \t 2 "
        "\t\r\nEmpty:\r\n\r\nrest";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        const ReadRequest read{text, step};
        ASSERT_TRUE(read.has_head) << step;
        const RequestHead& head = read.reader.head();
        EXPECT_EQ(head.method, "PUT");
        EXPECT_EQ(head.target, "/a%2fb/../c?x=1&x=%32");
        EXPECT_EQ(head.minor, 1);
        EXPECT_THAT(head.headers, ElementsAre(Pair("host", "me"), Pair("X-a", "1"),
                                              Pair("X-A", "2"), Pair("Empty", "")));
        EXPECT_EQ(read.rest, "rest");
    }
}

struct BadText {
    const char* text;
    int status;
};

TEST(ProxyHead, RefusesWhatCouldBeReadInTwoWays) {
    for (const auto& [text, status] :
         std::initializer_list<BadText>{{"\n", 400},
                                        {"GET / HTTP/1.1\n", 400},
                                        {"GET / HTTP/1.1\r\nA: b\n\r\n", 400},
                                        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
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
                                        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400}})
        for (const std::size_t step : {1U, 1000U})
            EXPECT_EQ(ReadRequest(text, step).status(), status) << text;
    std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 0; i < max_headers; ++i) many += "a: b\r\n";
    EXPECT_EQ(ReadRequest(many + "\r\n").status(), 431);
    EXPECT_EQ(ReadRequest("GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\n").status(), 431);
}

TEST(ProxyHead, ReadsAnAnswerAsItCame) {
    const ReadAnswer read{
        "HTTP/1.0 299 Quite  fine: \xc3\xa4\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n"};
    ASSERT_TRUE(read.has_head);
    const AnswerHead& head = read.reader.head();
    EXPECT_EQ(head.status, 299);
    EXPECT_EQ(head.minor, 0);
    EXPECT_EQ(head.reason, "Quite  fine: \xc3\xa4");
    EXPECT_THAT(head.headers, ElementsAre(Pair("Set-Cookie", "a"), Pair("set-cookie", "b")));
    EXPECT_EQ(ReadAnswer("HTTP/1.1 200 \r\n\r\n").status(), 0);
    for (const char* bad :
         {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 -10 OK\r\n\r\n",
          "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n\r\n",
          "HTTP/1.1 200 OK\r\na\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n"})
        EXPECT_NE(ReadAnswer(bad).status(), 0) << bad;
}

TEST(ProxyFraming, OfARequest) {
    const auto read = [](const std::string& headers, char minor = '1') {
        return ReadRequest{std::string("POST / HTTP/1.") + minor + "\r\nHost: a\r\n" + headers +
                           "\r\n"};
    };
    const auto kind = [&](const std::string& headers) {
        return read(headers).reader.framing().kind;
    };
    EXPECT_EQ(kind(""), Framing::Kind::none);
    EXPECT_EQ(kind("content-length: 0\r\n"), Framing::Kind::none);
    EXPECT_EQ(kind("content-length: 12\r\n"), Framing::Kind::length);
    EXPECT_EQ(kind("Transfer-Encoding: Chunked\r\n"), Framing::Kind::chunked);
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    EXPECT_EQ(read("Content-Length: 1\r\n" + chunked).status(), 400);
    EXPECT_EQ(read(chunked + "Content-Length: 1\r\n").status(), 400);
    EXPECT_EQ(read("Content-Length: 1\r\nContent-Length: 1\r\n").status(), 400);
    EXPECT_EQ(read(chunked + chunked).status(), 400);
    EXPECT_EQ(read("Transfer-Encoding: gzip, chunked\r\n").status(), 501);
    EXPECT_EQ(read("Transfer-Encoding: xchunked\r\n").status(), 501);
    EXPECT_EQ(read(chunked, '0').status(), 400);
    for (const std::string wrong :
         {"", "+1", "-1", "0x1", "1, 1", "1 1", "18446744073709551616", "1a"})
        EXPECT_EQ(read("Content-Length: " + wrong + "\r\n").status(), 400) << wrong;
}

TEST(ProxyFraming, OfAnAnswer) {
    const auto kind = [](const std::string& status, const std::string& headers,
                         bool to_head = false) {
        const ReadAnswer read{"HTTP/1.1 " + status + " X\r\n" + headers + "\r\n", 1000, to_head};
        return read.reader.bad() ? -1 : static_cast<int>(read.reader.framing().kind);
    };
    const auto none = static_cast<int>(Framing::Kind::none);
    const std::string five = "Content-Length: 5\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    EXPECT_EQ(kind("200", five), static_cast<int>(Framing::Kind::length));
    EXPECT_EQ(kind("200", five, true), none);
    EXPECT_EQ(kind("204", ""), none);
    EXPECT_EQ(kind("304", five), none);
    EXPECT_EQ(kind("200", ""), static_cast<int>(Framing::Kind::until_close));
    EXPECT_EQ(kind("200", chunked), static_cast<int>(Framing::Kind::chunked));
    EXPECT_EQ(kind("200", chunked + five), -1);
    EXPECT_EQ(kind("200", five + "Content-Length: 6\r\n"), -1);
}

const std::string chunked_post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(ProxyBody, ChunksComeTogetherWhateverThePieces) {
    const std::string text = chunked_post +
                             "5\r\nhello\r\n1;ext=\"a\"\r\n,\r\n00A\r\n0123456789\r\n0\r\n"
                             "Trailer: x\r\nb:\r\n\r\nnext";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        const ReadRequest read{text, step};
        EXPECT_EQ(read.body, "hello,0123456789") << step;
        EXPECT_EQ(read.rest, "next") << step;
        EXPECT_EQ(read.reader.head().headers.size(), 2U) << "trailers are no headers";
    }
}

TEST(ProxyBody, BrokenChunksAreRefused) {
    for (const char* bad :
         {"\r\n", "x\r\n", "-1\r\n", "0x5\r\nhello\r\n", " 5\r\nhello\r\n0\r\n\r\n",
          "5\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
          "5\r\nhello\r\n\r\n0\r\n\r\n", "5\r\rhello", "5;a\nb\r\nhello", "0\r\nA: b\n\r\n",
          "0\r\n\n", "5 5x\r\rhello"})
        for (const std::size_t step : {1U, 1000U})
            EXPECT_EQ(ReadRequest(chunked_post + bad + "0\r\n\r\n", step).status(), 400) << bad;
    for (const std::string& endless :
         {"5;" + std::string(100'000, 'a'), "0\r\n" + std::string(100'000, 'a') + ": b\r\n\r\n"})
        EXPECT_EQ(ReadRequest(chunked_post + endless, 1000).status(), 400);
}

/// Whatever was put into chunks comes out again.
TEST(ProxyBody, ChunkingAndReadingIsNothing) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 200; ++round) {
        std::string body, text = chunked_post;
        const auto chunks = random() % 20;
        for (std::uint64_t i = 0; i < chunks; ++i) {
            std::string chunk(1 + random() % 300, '\0');
            for (char& byte : chunk) byte = static_cast<char>(random());
            text += chunk_head(chunk.size()) + chunk + std::string(chunk_tail);
            body += chunk;
        }
        const ReadRequest read{text + std::string(last_chunk) + "N", 1 + random() % 500};
        EXPECT_EQ(read.body, body);
        EXPECT_EQ(read.rest, "N");
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
    // A client can't hide the length of a body from the upstream.
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
              "{\"errors\":[{\"code\":\"reaper.not_sent\",\"detail\":\"it is "
              "\\\"down\\\"\",\"status\":503,"
              "\"title\":\"Service Unavailable\"}]}\n");
    EXPECT_THAT(answer.headers, testing::Contains(Pair("Content-Type", "application/json")));
    EXPECT_EQ(status_of(http::Failure{Errc::timeout, ""}), 504);
    EXPECT_EQ(status_of(http::Failure{Errc::unreachable, ""}), 502);
    http::Failure refused{Errc::unreachable, ""};
    refused.sent = false;
    EXPECT_EQ(status_of(refused), 503);
}

}  // namespace
}  // namespace reaper::proxy_parts_test
