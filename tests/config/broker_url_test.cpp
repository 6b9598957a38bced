#include "config/broker_url.hpp"

#include <gtest/gtest.h>

namespace reaper::broker_url_test {
namespace {

BrokerUrl parsed(const std::string& text) {
    const auto url = parse_broker_urls(config::Secret(text));
    EXPECT_TRUE(url) << text << ": " << (url ? "" : url.error().what);
    return url ? url->front() : BrokerUrl{};
}

TEST(BrokerUrl, ReadsEveryPart) {
    const BrokerUrl url = parsed("amqps://re%40per:p%2Fa%3As%25s@rabbit1.example:5999/lab%2Fa");
    EXPECT_TRUE(url.tls);
    EXPECT_EQ(url.user, "re@per");
    EXPECT_EQ(url.password.reveal(), "p/a:s%s");
    EXPECT_EQ(url.host, "rabbit1.example");
    EXPECT_EQ(url.port, 5999);
    EXPECT_EQ(url.vhost, "lab/a");
}

TEST(BrokerUrl, FillsInWhatIsLeftOut) {
    EXPECT_EQ(parsed("amqp://host").port, 5672);
    EXPECT_EQ(parsed("amqps://host").port, 5671);
    EXPECT_EQ(parsed("amqp://host").user, "guest");
    EXPECT_EQ(parsed("amqp://host").password.reveal(), "guest");
    EXPECT_EQ(parsed("amqp://user@host").password.reveal(), "");
    EXPECT_EQ(parsed("amqp://u:p@host").vhost, "/");
}

TEST(BrokerUrl, TheDefaultVirtualHostHasManySpellings) {
    for (const char* text :
         {"amqp://h", "amqp://h/", "amqp://h/%2F", "amqp://h/%2f", "amqp://h//"}) {
        EXPECT_EQ(parsed(text).vhost, "/") << text;
    }
    EXPECT_EQ(parsed("amqp://h/nova").vhost, "nova");
}

TEST(BrokerUrl, NamesSeveralBrokersAsOsloDoes) {
    const auto urls =
        parse_broker_urls(config::Secret("amqp://u:p@h1:5000,u:p%2C2@[::1]:5001,w:p@@h3/nova"));
    ASSERT_TRUE(urls) << urls.error().what;
    ASSERT_EQ(urls->size(), 3U);
    EXPECT_EQ((*urls)[0].name(), "amqp://h1:5000/nova");
    EXPECT_EQ((*urls)[1].name(), "amqp://[::1]:5001/nova");
    EXPECT_EQ((*urls)[1].password.reveal(), "p,2");
    EXPECT_EQ((*urls)[2].name(), "amqp://h3:5672/nova");
    EXPECT_EQ((*urls)[2].user, "w");
    EXPECT_EQ((*urls)[2].password.reveal(), "p@");
    EXPECT_EQ(parse_broker_urls(config::Secret("amqp://h1,h2"))->size(), 2U);
}

TEST(BrokerUrl, ACommaInTheOnlyPasswordIsForgiven) {
    const BrokerUrl url = parsed("amqp://user:p,w@host");
    EXPECT_EQ(url.password.reveal(), "p,w");
    EXPECT_EQ(url.host, "host");
}

TEST(BrokerUrl, AnIpv6AddressStandsInBrackets) {
    const BrokerUrl url = parsed("amqp://u:p@[::1]:5000/v");
    EXPECT_EQ(url.host, "::1");
    EXPECT_EQ(url.port, 5000);
    EXPECT_EQ(url.name(), "amqp://[::1]:5000/v");
    EXPECT_EQ(parsed("amqp://[fe80::1]").port, 5672);
}

TEST(BrokerUrl, AnAtInThePasswordIsForgiven) {
    const BrokerUrl url = parsed("amqp://user:p@ss@host");
    EXPECT_EQ(url.password.reveal(), "p@ss");
    EXPECT_EQ(url.host, "host");
}

TEST(BrokerUrl, ItsNameShowsNeitherUserNorPassword) {
    EXPECT_EQ(parsed("amqp://user:hidden@host/v").name(), "amqp://host:5672/v");
    EXPECT_EQ(parsed("amqps://user:hidden@host").name(), "amqps://host:5671/");
}

struct BadUrl {
    const char* name;
    const char* text;
    const char* expected;
};

const BadUrl bad_urls[] = {
    {"Empty", "", "expected amqp://"},
    {"OtherScheme", "http://u:hidden@h", "expected amqp://"},
    {"NoScheme", "u:hidden@h:5672", "expected amqp://"},
    {"Oslo", "rabbit://u:hidden@h:5672//", "rabbit://"},
    {"NoHost", "amqp://u:hidden@/v", "host is missing"},
    {"NothingAtAll", "amqp://", "host is missing"},
    {"PortWord", "amqp://u:hidden@h:abc", "port"},
    {"PortZero", "amqp://u:hidden@h:0", "port"},
    {"PortHuge", "amqp://u:hidden@h:65536", "port"},
    {"PortHugeAndMore", "amqp://u:hidden@h:99999", "port"},
    {"PortEmpty", "amqp://u:hidden@h:", "port"},
    {"PortNegative", "amqp://u:hidden@h:-1", "port"},
    {"BareSlashInPassword", "amqp://u:hid/den@h", "%2F"},
    {"HashInPassword", "amqp://u:hid#den@h", "%23"},
    {"QuestionMark", "amqp://u:hidden@h/v?heartbeat=5", "heartbeat"},
    {"BrokenEscape", "amqp://u:hidden%2@h", "escape"},
    {"BrokenEscapeHex", "amqp://u:hidden%zz@h", "escape"},
    {"Nul", "amqp://u:hidden%00x@h", "escape"},
    {"NulInVhost", "amqp://u:hidden@h/a%00", "escape"},
    {"NoUser", "amqp://:hidden@h", "user name is empty"},
    {"OneUserForTwoHosts", "amqp://u:hidden@h1,h2/", "%2C"},
    {"CommaAndAtInPassword", "amqp://u:hid@d,en@h/", "%2C"},
    {"CommaInPasswordsOfTwo", "amqp://u:hid,den@h1,u:hid,den@h2/", "%2C"},
    {"NothingAfterComma", "amqp://h1,", "host is missing"},
    {"OpenBracket", "amqp://u:hidden@[::1:5672/", "]"},
    {"AfterBracket", "amqp://u:hidden@[::1]x", "port"},
    {"EscapeInHost", "amqp://u:hidden@h\x1b[31m/", "not a name or address"},
    {"ControlInHost", "amqp://u:hidden@h\x01/", "not a name or address"},
    {"BareSlashInVhost", "amqp://u:hidden@h/a/b", "%2F"},
};

class BrokenBrokerUrl : public testing::TestWithParam<BadUrl> {};

TEST_P(BrokenBrokerUrl, IsRefusedWithoutShowingIt) {
    const auto url = parse_broker_urls(config::Secret(GetParam().text));
    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().code, Errc::bad_input);
    EXPECT_NE(url.error().what.find(GetParam().expected), std::string::npos) << url.error().what;
    EXPECT_EQ(url.error().what.find("hid"), std::string::npos) << url.error().what;
}

INSTANTIATE_TEST_SUITE_P(Table, BrokenBrokerUrl, testing::ValuesIn(bad_urls),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BrokerUrl, ItsNameIsOnePlainLine) {
    const auto url = parse_broker_urls(config::Secret("amqp://h/a%0a%1b[31m"));
    ASSERT_TRUE(url);
    EXPECT_EQ(url->front().name(), "amqp://h:5672/a\\x0a\\x1b[31m");
}

TEST(BrokerUrl, ALongVirtualHostIsRefused) {
    EXPECT_TRUE(parse_broker_urls(config::Secret("amqp://h/" + std::string(255, 'v'))));
    EXPECT_FALSE(parse_broker_urls(config::Secret("amqp://h/" + std::string(256, 'v'))));
}

}  // namespace
}  // namespace reaper::broker_url_test
