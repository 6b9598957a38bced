// Getting into a real RabbitMQ, or not: TLS, passwords, virtual hosts, rights.
#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/loopback_proxy.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_login_test {
namespace {

config::Broker tls_settings(const std::string& host = "localhost") {
    const auto& place = BrokerPlace::get();
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(place.tls_url(host))};
    settings.ca_file = place.tls_file("ca.pem");
    settings.cert_file = place.tls_file("client.pem");
    settings.key_file = place.tls_file("client.key");
    return settings;
}

/// What probing with these settings fails with.
Error refusal(const config::Broker& settings) {
    const auto report = AmqpConsole{settings}.look();
    if (!report) return report.error();
    ADD_FAILURE() << "the broker let us in";
    return {};
}

void expect_says(const Error& error, Errc code, const std::string& text) {
    EXPECT_EQ(error.code, code) << error.what;
    EXPECT_NE(error.what.find(text), std::string::npos) << error.what;
    EXPECT_EQ(error.what.find('\n'), std::string::npos) << error.what;
    EXPECT_EQ(error.what.find("p@ss"), std::string::npos) << error.what;
    EXPECT_EQ(error.what.find("p%40ss"), std::string::npos) << error.what;
}

TEST(AmqpTls, CarriesMessages) {
    BrokerAdmin admin;
    SourceRunner run(tls_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    EXPECT_NE(run.states.back().detail.find("amqps://localhost:"), std::string::npos);
    for (int i = 0; i < 50; ++i) {
        admin.publish(run.broker.exchange, error_key, std::string(50'000, 'x'));
    }
    ASSERT_TRUE(run.until_messages(50));
    EXPECT_EQ(run.messages[49].body.size(), 50'000U);
    run.source->set_aside(run.messages[0], "why");
    for (std::size_t i = 1; i < 50; ++i) run.source->acknowledge(run.messages[i].ticket);
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
}

TEST(AmqpTls, AnAddressInTheCertificateIsAccepted) {
    EXPECT_TRUE(AmqpConsole{tls_settings("127.0.0.1")}.look());
}

TEST(AmqpTls, AnotherNameIsRefused) {
    // 127.1 resolves to the same broker, and its certificate does not have it.
    expect_says(refusal(tls_settings("127.1")), Errc::tls, "hostname mismatch");
}

TEST(AmqpTls, ACertificateOfAnotherCaIsRefused) {
    config::Broker settings = tls_settings();
    settings.ca_file = BrokerPlace::get().tls_file("wrong-ca.pem");
    expect_says(refusal(settings), Errc::tls, "certificate is not accepted");
    settings.ca_file.clear();  // the system's do not have the test's CA either
    expect_says(refusal(settings), Errc::tls, "certificate is not accepted");
}

TEST(AmqpTls, NothingIsVerifiedWhenToldSo) {
    config::Broker settings = tls_settings("127.1");
    settings.ca_file = BrokerPlace::get().tls_file("wrong-ca.pem");
    settings.verify_tls = false;
    EXPECT_TRUE(AmqpConsole{settings}.look());
}

TEST(AmqpTls, WithoutAClientCertificateTheBrokerRefuses) {
    config::Broker settings = tls_settings();
    settings.cert_file.clear();
    settings.key_file.clear();
    expect_says(refusal(settings), Errc::tls, "broker.cert_file");
}

TEST(AmqpTls, FilesThatCannotBeUsedAreNamed) {
    config::Broker settings = tls_settings();
    settings.ca_file = "/nowhere/ca.pem";
    expect_says(refusal(settings), Errc::bad_input, "broker.ca_file: /nowhere/ca.pem");
    settings = tls_settings();
    settings.cert_file = "/nowhere/client.pem";
    expect_says(refusal(settings), Errc::bad_input, "broker.cert_file: /nowhere/client.pem");
    settings = tls_settings();
    settings.key_file = BrokerPlace::get().tls_file("wrong-ca.key");
    expect_says(refusal(settings), Errc::bad_input, "broker.key_file");
}

TEST(AmqpTls, APortWithTheOtherProtocolIsReported) {
    const auto& place = BrokerPlace::get();
    config::Broker settings = tls_settings();
    settings.urls = {config::Secret("amqps://u:p@localhost:" + std::to_string(place.port))};
    expect_says(refusal(settings), Errc::tls, "does this port speak TLS?");
    settings.urls = {config::Secret("amqp://u:p@localhost:" + std::to_string(place.tls_port))};
    EXPECT_NE(refusal(settings).what.find("logging in"), std::string::npos);
}

TEST(AmqpLogin, AWrongPasswordIsReportedAndNotShown) {
    config::Broker settings = broker_settings();
    settings.urls = {
        config::Secret("amqp://reaper:wr0ng@127.0.0.1:" + std::to_string(BrokerPlace::get().port))};
    const Error error = refusal(settings);
    expect_says(error, Errc::unauthorized, "refused user 'reaper'");
    EXPECT_EQ(error.what.find("wr0ng"), std::string::npos);

    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("refused user 'reaper'"));
    EXPECT_EQ(run.all_states().find("wr0ng"), std::string::npos);
    ASSERT_TRUE(run.stop());
}

TEST(AmqpLogin, AMissingVirtualHostIsReported) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(BrokerPlace::get().url(0, "nowhere"))};
    expect_says(refusal(settings), Errc::not_found, "no virtual host 'nowhere'");
}

TEST(AmqpLogin, AForbiddenVirtualHostIsReported) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://limited:limited@127.0.0.1:" +
                                    std::to_string(BrokerPlace::get().port) + "/lab%2Fa")};
    expect_says(refusal(settings), Errc::forbidden, "may not use virtual host 'lab/a'");
}

TEST(AmqpLogin, AVirtualHostWithASlashIsEntered) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(BrokerPlace::get().url(0, "lab%2Fa"))};
    const auto report = AmqpConsole{settings}.look();
    EXPECT_TRUE(report) << report.error().what;
}

TEST(AmqpLogin, MissingRightsAreReported) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://limited:limited@127.0.0.1:" +
                                    std::to_string(BrokerPlace::get().port))};
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("needs the rights configure, write and read"));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpLogin, ABrokenUrlIsReportedAndNotShown) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://u:hidden@host:port/")};
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("the port is not a number"));
    EXPECT_EQ(run.all_states().find("hidden"), std::string::npos);
    ASSERT_TRUE(run.stop());
}

TEST(AmqpLogin, ADeadPortAndAnUnknownNameAreReported) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://u:p@127.0.0.1:1/")};
    expect_says(refusal(settings), Errc::unreachable, "amqp://127.0.0.1:1/: connecting");
    settings.urls = {config::Secret("amqp://u:p@no-such-host.invalid/")};
    expect_says(refusal(settings), Errc::unreachable, "does not resolve");
    settings.urls.clear();
    expect_says(refusal(settings), Errc::bad_input, "broker.urls is empty");
}

}  // namespace
}  // namespace reaper::test::amqp_login_test
