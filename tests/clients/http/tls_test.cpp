#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/http/client.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/http_server_tls.hpp"

namespace reaper::http::tls_test {
namespace {

using test::HttpServer;
using test::Reply;
using test::ServerRequest;
using ::testing::HasSubstr;

Reply hello(const ServerRequest&) {
    Reply reply;
    reply.body = "hello";
    return reply;
}

class TlsTest : public ::testing::Test {
protected:
    TlsTest() {
        options.tls.ca_file = authority.ca_file();
        options.call_timeout = options.connect_timeout = options.idle_timeout = test::patience;
    }

    Result<Response> get(const std::string& url) {
        auto client = make_client(io.get_executor(), options, clock);
        if (!client) return client.error();
        Request request;
        request.url = url;
        return test::run(io, (*client)->call(std::move(request)));
    }
    void expect_refused(const Result<Response>& response, const std::string& why) {
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, Errc::tls) << response.error().what;
        EXPECT_THAT(response.error().what, HasSubstr(why));
        EXPECT_TRUE(clock.sleeps.empty()) << "retried";
    }

    boost::asio::io_context io;
    test::ManualClock clock{io, TimePoint{}};
    test::TestAuthority authority;
    Options options;
};

TEST_F(TlsTest, AcceptsAServerOfTheAuthorityByNameAndByAddress) {
    const auto pair = authority.issue("server", "DNS:localhost,IP:127.0.0.1");
    HttpServer server(io, hello, authority.server(pair));
    const auto by_name = get(server.url("localhost"));
    ASSERT_TRUE(by_name) << by_name.error().what;
    EXPECT_EQ(by_name->body, "hello");
    EXPECT_EQ(server.last_sni(), "localhost");
    const auto by_address = get(server.url("127.0.0.1"));
    ASSERT_TRUE(by_address) << by_address.error().what;
    EXPECT_EQ(server.last_sni(), "") << "an address is no server name";
}

TEST_F(TlsTest, KeepsTlsConnections) {
    HttpServer server(io, hello, authority.server(authority.issue("s", "IP:127.0.0.1")));
    auto client = make_client(io.get_executor(), options, clock).value();
    for (int i = 0; i < 3; ++i) {
        Request request;
        request.url = server.url();
        const auto response = test::run(io, client->call(std::move(request)));
        ASSERT_TRUE(response) << response.error().what;
    }
    EXPECT_EQ(server.connections(), 1);
}

TEST_F(TlsTest, RefusesAnUnknownAuthority) {
    HttpServer server(io, hello, authority.server(authority.issue("s", "IP:127.0.0.1")));
    options.tls.ca_file.clear();
    expect_refused(get(server.url()), "set cloud.ca_file");
    test::TestAuthority another;
    options.tls.ca_file = another.ca_file();
    expect_refused(get(server.url()), "cloud.ca_file holds another authority");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(TlsTest, RefusesACertificateForAnotherHost) {
    HttpServer server(io, hello,
                      authority.server(authority.issue("localhost", "DNS:other.example")));
    expect_refused(get(server.url("localhost")), "the certificate is not for localhost");
    expect_refused(get(server.url("127.0.0.1")), "the certificate is not for 127.0.0.1");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(TlsTest, RefusesAnExpiredCertificate) {
    HttpServer server(io, hello, authority.server(authority.issue("s", "IP:127.0.0.1", true)));
    expect_refused(get(server.url()), "certificate has expired");
}

TEST_F(TlsTest, AcceptsAnyCertificateOnlyWhenToldSo) {
    HttpServer server(io, hello, authority.server(authority.issue("s", "", true)));
    options.tls.ca_file.clear();
    options.tls.verify = false;
    const auto response = get(server.url());
    EXPECT_TRUE(response) << response.error().what;
}

TEST_F(TlsTest, ShowsAClientCertificateWhereOneIsDemanded) {
    const auto pair = authority.issue("s", "IP:127.0.0.1");
    HttpServer server(io, hello, authority.server(pair, true));
    const auto ours = authority.issue("reaper", "");
    options.tls.cert_file = ours.cert_file;
    options.tls.key_file = ours.key_file;
    const auto response = get(server.url());
    EXPECT_TRUE(response) << response.error().what;
}

TEST_F(TlsTest, SaysThatAClientCertificateIsMissing) {
    HttpServer server(io, hello, authority.server(authority.issue("s", "IP:127.0.0.1"), true));
    expect_refused(get(server.url()), "set cloud.cert_file and cloud.key_file");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(TlsTest, RefusesOldVersionsOfTls) {
    const auto context = authority.server(authority.issue("s", "IP:127.0.0.1"));
    SSL_CTX_set_security_level(context->native_handle(), 0);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context->native_handle(), TLS1_1_VERSION);
    HttpServer server(io, hello, context);
    expect_refused(get(server.url()), "TLS");
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(TlsTest, SaysThatTheServerSpeaksPlainHttp) {
    HttpServer server(io, [](const ServerRequest&) { return Reply{}; });
    const auto response = get("https://127.0.0.1:" + std::to_string(server.port()));
    ASSERT_FALSE(response);
    EXPECT_THAT(response.error().what, HasSubstr("TLS"));
}

TEST_F(TlsTest, NamesTheFileThatCannotBeUsed) {
    options.tls.ca_file = "/nonexistent/ca.pem";
    const auto no_ca = get("https://127.0.0.1:1");
    ASSERT_FALSE(no_ca);
    EXPECT_EQ(no_ca.error().code, Errc::bad_input);
    EXPECT_THAT(no_ca.error().what, HasSubstr("/nonexistent/ca.pem"));

    options.tls.ca_file.clear();
    const auto one = authority.issue("one", "");
    const auto two = authority.issue("two", "");
    options.tls.cert_file = one.cert_file;
    const auto half = get("https://127.0.0.1:1");
    ASSERT_FALSE(half);
    EXPECT_THAT(half.error().what, HasSubstr("both cert_file and key_file"));
    options.tls.key_file = two.key_file;
    const auto mixed = get("https://127.0.0.1:1");
    ASSERT_FALSE(mixed);
    EXPECT_THAT(mixed.error().what, HasSubstr(two.key_file));
}

}  // namespace
}  // namespace reaper::http::tls_test
