#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/prometheus/prometheus.hpp"
#include "tests/clients/prometheus/web_form.hpp"

namespace reaper::prometheus_request_test {
namespace {

using prometheus::api_root;
using prometheus::authorization;
using prometheus::check_options;
using prometheus::seconds_text;
using ::testing::HasSubstr;
using ::testing::Not;

PrometheusOptions at(const std::string& url) {
    PrometheusOptions options;
    options.url = url;
    return options;
}

TEST(PrometheusRequest, TheApiIsBelowThePathPrefix) {
    EXPECT_EQ(api_root(PrometheusOptions{}), "http://127.0.0.1:9090/api/v1");
    EXPECT_EQ(api_root(at("https://mon.example/prometheus")),
              "https://mon.example/prometheus/api/v1");
    EXPECT_EQ(api_root(at("http://mon:9090//")), "http://mon:9090/api/v1");
}

TEST(PrometheusRequest, TimesAreSecondsWithThreeDecimals) {
    EXPECT_EQ(seconds_text(Duration(1'700'000'000'250)), "1700000000.250");
    EXPECT_EQ(seconds_text(Duration(15'000)), "15.000");
    EXPECT_EQ(seconds_text(Duration(7)), "0.007");
    EXPECT_EQ(seconds_text(Duration(-7)), "-0.007");
    EXPECT_EQ(seconds_text(Duration(-1'500)), "-1.500");
}

TEST(PrometheusRequest, AFormKeepsEveryCharacter) {
    const std::string query = "sum by (instance) (rate(cpu{mode!=\"idle\"}[5m])) + 100% & ü\n";
    const std::string form = prometheus::form({{"query", query}, {"timeout", "5.000"}});
    EXPECT_THAT(form, Not(HasSubstr(" ")));
    const auto read = test::web_form(form);
    EXPECT_EQ(read.at("query"), query);
    EXPECT_EQ(read.at("timeout"), "5.000");
}

TEST(PrometheusRequest, ShowsUserAndPasswordOrToken) {
    PrometheusOptions options;
    EXPECT_EQ(authorization(options), "");
    options.username = "Aladdin";
    options.password = config::Secret("open sesame");
    EXPECT_EQ(authorization(options), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") << "RFC 7617";
    options.password = config::Secret("");
    EXPECT_EQ(authorization(options), "Basic QWxhZGRpbjo=");
    options.username.clear();
    options.token = config::Secret("t0ken");
    EXPECT_EQ(authorization(options), "Bearer t0ken");
}

TEST(PrometheusRequest, WrongOptionsAreNamedAndNoSecretIsShown) {
    EXPECT_TRUE(check_options(PrometheusOptions{}));
    const auto why = [](const PrometheusOptions& options) {
        const auto checked = check_options(options);
        if (checked) return std::string("it is taken");
        EXPECT_EQ(checked.error().code, Errc::bad_input);
        EXPECT_THAT(checked.error().what, Not(HasSubstr("s3cret")));
        return checked.error().what;
    };
    EXPECT_THAT(why(at("")), HasSubstr("oversubscription.prometheus.url"));
    EXPECT_THAT(why(at("mon:9090")), HasSubstr("http://"));
    EXPECT_THAT(why(at("ftp://mon")), HasSubstr("http://"));
    EXPECT_THAT(why(at("http://u:s3cret@mon")), HasSubstr("user or a password"));
    EXPECT_THAT(why(at("http://mon/?x=1")), HasSubstr("?query"));
    PrometheusOptions options;
    options.password = config::Secret("s3cret");
    EXPECT_THAT(why(options), HasSubstr("prometheus.username: is missing"));
    options.username = "a:b";
    EXPECT_THAT(why(options), HasSubstr("colon"));
    options.username = "a";
    EXPECT_EQ(why(options), "it is taken");
    options.token = config::Secret("s3cret");
    EXPECT_THAT(why(options), HasSubstr("can't be both set"));
    options = {};
    options.timeout = Duration(0);
    EXPECT_THAT(why(options), HasSubstr("timeout"));
}

}  // namespace
}  // namespace reaper::prometheus_request_test
