// The server with TLS, asked by our own client.
#include "clients/http_server/tls.hpp"

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/http/client.hpp"
#include "clients/http_server/server.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/support/http_server_tls.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::server_tls_test {
namespace {

using ::testing::HasSubstr;

class HttpServerTlsTest : public ::testing::Test {
protected:
    HttpServerTlsTest() {
        options.tls.ca_file = authority.ca_file();
        options.call_timeout = options.connect_timeout = options.idle_timeout = test::patience;
    }
    std::unique_ptr<HttpServer> start(HttpServerTls tls) {
        HttpServerSettings settings{"test", "127.0.0.1:0", std::move(tls), {}};
        HttpHandler handler = [this](HttpRequest request) {
            shown = std::move(request.certificate_name);
            return hello();
        };
        auto made = listen_http(io.get_executor(), std::move(settings), std::move(handler));
        if (!made) throw std::runtime_error(made.error().what);
        return std::move(*made);
    }
    static Task<HttpResponse> hello() {
        HttpResponse said;
        said.body = "hello";
        co_return said;
    }
    Result<http::Response> get(const HttpServer& server) {
        auto client = http::make_client(io.get_executor(), options, clock);
        if (!client) return client.error();
        http::Request request;
        request.url = "https://" + server.address() + "/";
        return test::run(io, (*client)->call(std::move(request)));
    }

    boost::asio::io_context io;
    test::ManualClock clock{io, TimePoint{}};
    test::TestAuthority authority;
    http::Options options;
    std::string shown;  ///< the name in the certificate of who asked last
};

TEST_F(HttpServerTlsTest, AnswersOverTls) {
    const auto pair = authority.issue("server", "IP:127.0.0.1");
    const auto server = start({pair.cert_file, pair.key_file});
    const auto answer = get(*server);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->body, "hello");
}

TEST_F(HttpServerTlsTest, AClientWithoutACertificateIsRefusedWhereOneIsDemanded) {
    const auto pair = authority.issue("server", "IP:127.0.0.1");
    const auto server = start({pair.cert_file, pair.key_file, authority.ca_file()});
    EXPECT_FALSE(get(*server));
    const auto ours = authority.issue("client", "");
    options.tls.cert_file = ours.cert_file;
    options.tls.key_file = ours.key_file;
    const auto answer = get(*server);
    EXPECT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(shown, "client");
}

TEST_F(HttpServerTlsTest, ItIsKnownWhenTheCertificateExpires) {
    const auto day = std::chrono::hours{24};
    const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const auto pair = authority.issue("server", "");
    const auto good = start({pair.cert_file, pair.key_file})->certificate_expires();
    ASSERT_TRUE(good);
    EXPECT_LT(std::chrono::abs(*good - (now + day)), std::chrono::minutes{10});
    const auto expired = authority.issue("server", "", true);
    const auto old = start({expired.cert_file, expired.key_file})->certificate_expires();
    ASSERT_TRUE(old);
    EXPECT_LT(*old, now);
    HttpServerSettings plain{"test", "127.0.0.1:0", std::nullopt, {}};
    const auto made = listen_http(io.get_executor(), std::move(plain), HttpHandler{});
    ASSERT_TRUE(made);
    EXPECT_FALSE((*made)->certificate_expires());
}

/// A certificate that a client takes is put in the place of one that it does not.
class RenewedTest : public HttpServerTlsTest {
protected:
    void put(const std::string& from, const std::string& to) {
        std::filesystem::copy_file(from, to + ".new");
        std::filesystem::rename(to + ".new", to);
    }
    test::KeyPair old = authority.issue("server", "IP:127.0.0.1", true);
    test::KeyPair renewed = authority.issue("server", "IP:127.0.0.1");
};

TEST_F(RenewedTest, ACertificateThatIsRenewedIsShownToTheNextClient) {
    const auto server = start({old.cert_file, old.key_file});
    EXPECT_FALSE(get(*server)) << "it has expired";
    const auto before = server->certificate_expires();
    put(renewed.key_file, old.key_file);
    put(renewed.cert_file, old.cert_file);
    const auto answer = get(*server);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_GT(server->certificate_expires(), before);
}

TEST_F(RenewedTest, FilesThatCanNotBeUsedLeaveThoseBeforeInForceAndAreReportedOnce) {
    const auto server = start({renewed.cert_file, renewed.key_file});
    ASSERT_TRUE(get(*server));
    const auto before = server->certificate_expires();
    const auto other = authority.issue("server", "IP:127.0.0.1");
    test::LogCapture log;
    put(other.cert_file, renewed.cert_file);  // the key is still that of the old one
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(get(*server));
    EXPECT_EQ(server->certificate_expires(), before);
    std::filesystem::remove(renewed.key_file);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(get(*server));
    EXPECT_EQ(log.lines_with("stays in force").size(), 2U) << "one line for each change";
    put(other.key_file, renewed.key_file);
    EXPECT_TRUE(get(*server));
    EXPECT_EQ(log.lines_with("read again").size(), 1U);
}

TEST_F(HttpServerTlsTest, AFileThatCannotBeUsedIsNamed) {
    const auto pair = authority.issue("server", "IP:127.0.0.1");
    for (const HttpServerTls& files :
         {HttpServerTls{"/no/such/cert.pem", pair.key_file},
          HttpServerTls{pair.cert_file, "/no/such/key.pem"},
          HttpServerTls{pair.cert_file, pair.key_file, "/no/such/ca.pem"}}) {
        const auto made =
            listen_http(io.get_executor(), {"test", "127.0.0.1:0", files, {}}, HttpHandler{});
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, Errc::bad_input);
        EXPECT_THAT(made.error().what, HasSubstr("/no/such/"));
    }
}

}  // namespace
}  // namespace reaper::server_tls_test
