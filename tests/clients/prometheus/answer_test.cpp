#include "clients/prometheus/answer.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace reaper::prometheus_answer_test {
namespace {

using prometheus::read_samples;
using prometheus::read_series;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::size_t many = 1'000;

std::string success(const std::string& type, const std::string& result,
                    const std::string& more = "") {
    return R"({"status": "success", "data": {"resultType": ")" + type + R"(", "result": )" +
           result + "}" + more + "}";
}

std::string sample(const std::string& value, const std::string& time = "1700000000.25") {
    return R"({"metric": {"instance": "a:9100"}, "value": [)" + time + ", " + value + "]}";
}

std::string series(const std::string& values) {
    return R"({"metric": {"instance": "a:9100"}, "values": )" + values + "}";
}

TEST(PrometheusAnswer, AVectorIsSamplesWithLabelsValuesAndTimes) {
    const auto found = read_samples(
        success("vector", "[" + sample("\"0.5\"") + R"(, {"metric": {}, "value": [-1, "2"]}])"),
        many);
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->rows.size(), 2U);
    EXPECT_THAT(found->rows[0].labels, ElementsAre(Pair("instance", "a:9100")));
    EXPECT_EQ(found->rows[0].value, 0.5);
    EXPECT_EQ(found->rows[0].at, TimePoint(Duration(1'700'000'000'250)));
    EXPECT_TRUE(found->rows[1].labels.empty());
    EXPECT_EQ(found->rows[1].at, TimePoint(Duration(-1'000)));
    EXPECT_TRUE(found->remarks.empty());
}

TEST(PrometheusAnswer, AnEmptyVectorIsNoSample) {
    const auto found = read_samples(success("vector", "[]"), many);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_TRUE(found->rows.empty());
}

TEST(PrometheusAnswer, AScalarIsOneSampleWithoutLabels) {
    const auto found = read_samples(success("scalar", R"([1700000000, "1e+09"])"), many);
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->rows.size(), 1U);
    EXPECT_TRUE(found->rows[0].labels.empty());
    EXPECT_EQ(found->rows[0].value, 1e9);
    EXPECT_EQ(found->rows[0].at, TimePoint(std::chrono::seconds(1'700'000'000)));
}

TEST(PrometheusAnswer, ValuesAreNumbersAsGoWritesThem) {
    const auto value = [](const std::string& text) {
        const auto found =
            read_samples(success("vector", "[" + sample('"' + text + '"') + "]"), many);
        return found ? found->rows.at(0).value : -42;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(value("1e9"), 1e9);
    EXPECT_EQ(value("1.5e-07"), 1.5e-7);
    EXPECT_EQ(value("-0.25"), -0.25);
    EXPECT_EQ(value("17"), 17);
    EXPECT_EQ(value("+Inf"), infinity);
    EXPECT_EQ(value("-Inf"), -infinity);
    EXPECT_TRUE(std::isnan(value("NaN")));
    for (const std::string wrong :
         {"", " 1", "1 ", "1,5", "0x10", "nan", "nan(1)", "infinity", "1e999", "--1", "+1", "one"})
        EXPECT_EQ(value(wrong), -42) << wrong;
}

TEST(PrometheusAnswer, WhatIsWrongInASampleIsNamedByItsPlace) {
    const auto why = [](const std::string& result) {
        const auto found = read_samples(success("vector", result), many);
        if (found) return std::string("it is read");
        EXPECT_EQ(found.error().code, Errc::bad_answer);
        return found.error().what;
    };
    const std::string good = "[" + sample("\"1\"") + ", ";
    EXPECT_THAT(why(good + sample("\"one\"") + "]"),
                AllOf(HasSubstr("data.result[1].value"), HasSubstr("\"one\"")));
    EXPECT_THAT(why(good + sample("1") + "]"), HasSubstr("expected a text, found number"));
    EXPECT_THAT(why(good + sample("\"1\"", "\"now\"") + "]"), HasSubstr("expected a number"));
    EXPECT_THAT(why(good + sample("\"1\"", "1e300") + "]"), HasSubstr("seconds since 1970"));
    EXPECT_THAT(why(good + R"({"value": [1, "1"]}])"), HasSubstr("data.result[1].metric: missing"));
    EXPECT_THAT(why(good + R"({"metric": {"a": 1}, "value": [1, "1"]}])"),
                HasSubstr("data.result[1].metric.a: expected a text"));
    EXPECT_THAT(why(good + R"({"metric": {}, "value": [1]}])"), HasSubstr("time and value"));
    EXPECT_THAT(why(good + R"({"metric": {}, "value": [1, "1", "1"]}])"),
                HasSubstr("time and value"));
    EXPECT_THAT(why(good + R"({"metric": {}, "histogram": [1, {}]}])"),
                HasSubstr("native histogram"));
    EXPECT_THAT(why("{}"), HasSubstr("expected a list"));
    EXPECT_THAT(why("null"), HasSubstr("expected a list"));
    EXPECT_THAT(why(R"([1, "2"])"), HasSubstr("is no vector"));
    EXPECT_THAT(why(R"([1, 2, 3])"), HasSubstr("expected an object"));
}

TEST(PrometheusAnswer, AScalarIsAPairAndNothingElse) {
    for (const std::string result : {"[]", "[1]", R"([1, "2", 3])", R"([{}])", "{}", R"(["2", 1])"})
        EXPECT_FALSE(read_samples(success("scalar", result), many)) << result;
    EXPECT_FALSE(read_samples(success("scalar", "[" + sample("\"1\"") + "]"), many));
}

TEST(PrometheusAnswer, AnotherKindOfResultIsNamed) {
    const auto matrix = read_samples(success("matrix", "[" + series("[[1, \"1\"]]") + "]"), many);
    ASSERT_FALSE(matrix);
    EXPECT_EQ(matrix.error().code, Errc::bad_answer);
    EXPECT_EQ(matrix.error().what,
              "the result is a matrix, where a scalar or a vector is expected");
    const auto string = read_samples(success("string", R"([1, "hello"])"), many);
    ASSERT_FALSE(string);
    EXPECT_THAT(string.error().what, HasSubstr("the result is a string"));
    const auto vector = read_series(success("vector", "[" + sample("\"1\"") + "]"), many);
    ASSERT_FALSE(vector);
    EXPECT_EQ(vector.error().what, "the result is a vector, where a matrix is expected");
}

TEST(PrometheusAnswer, TheKindMayComeAfterTheResult) {
    const auto found = read_samples(R"({"data": {"result": [)" + sample("\"1\"") +
                                        R"(], "resultType": "vector"}, "status": "success"})",
                                    many);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->rows.size(), 1U);
}

TEST(PrometheusAnswer, AMatrixIsSeries) {
    const auto found = read_series(
        success("matrix", "[" + series(R"([[1700000000, "0"], [1700000015.5, "NaN"]])") + ", " +
                              series("[]") + "]"),
        many);
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->rows.size(), 2U);
    EXPECT_THAT(found->rows[0].labels, ElementsAre(Pair("instance", "a:9100")));
    ASSERT_EQ(found->rows[0].points.size(), 2U);
    EXPECT_EQ(found->rows[0].points[0].first, TimePoint(std::chrono::seconds(1'700'000'000)));
    EXPECT_EQ(found->rows[0].points[0].second, 0);
    EXPECT_EQ(found->rows[0].points[1].first, TimePoint(Duration(1'700'000'015'500)));
    EXPECT_TRUE(std::isnan(found->rows[0].points[1].second));
    EXPECT_TRUE(found->rows[1].points.empty());
}

TEST(PrometheusAnswer, WhatIsWrongInASeriesIsNamedByItsPlace) {
    const auto why = [](const std::string& result) {
        const auto found = read_series(success("matrix", result), many);
        return found ? std::string("it is read") : found.error().what;
    };
    EXPECT_THAT(why("[" + series(R"([[1, "1"], [2, "x"]])") + "]"),
                HasSubstr("data.result[0].values[1]"));
    EXPECT_THAT(why("[" + series(R"([[2, "1"], [1, "1"]])") + "]"),
                HasSubstr("values[1]: is not later"));
    EXPECT_THAT(why("[" + series(R"([[2, "1"], [2, "1"]])") + "]"), HasSubstr("is not later"));
    EXPECT_THAT(why("[" + sample("\"1\"") + "]"), HasSubstr("data.result[0].values: missing"));
    EXPECT_THAT(why(R"([{"metric": {}, "histograms": []}])"), HasSubstr("native histogram"));
    EXPECT_THAT(why("[1]"), HasSubstr("expected an object"));
}

TEST(PrometheusAnswer, MoreValuesThanAllowedAreAnError) {
    const std::string three = success(
        "vector", "[" + sample("\"1\"") + "," + sample("\"2\"") + "," + sample("\"3\"") + "]");
    EXPECT_TRUE(read_samples(three, 6)) << "a value and a label each";
    const auto found = read_samples(three, 5);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::bad_answer);
    EXPECT_EQ(found.error().what, "more than 5 values and labels; ask for less at a time");
    const std::string values = success("matrix", "[" + series(R"([[1, "1"], [2, "1"]])") + "]");
    EXPECT_TRUE(read_series(values, 3));
    EXPECT_FALSE(read_series(values, 2));
}

TEST(PrometheusAnswer, ALongAnswerIsReadWhole) {
    std::string values;
    for (int i = 0; i < 11'000; ++i)
        values += (i == 0 ? "[" : ",[") + std::to_string(1'700'000'000 + i) + ",\"1\"]";
    const auto found =
        read_series(success("matrix", "[" + series("[" + values + "]") + "]"), 20'000);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->rows[0].points.size(), 11'000U);
}

TEST(PrometheusAnswer, RemarksAreKeptWithinReason) {
    std::string warnings = R"("first\nline")";
    for (int i = 0; i < 100; ++i) warnings += ", \"w\"";
    const auto found = read_samples(
        success("vector", "[]", R"(, "infos": ["i"], "warnings": [)" + warnings + "]"), many);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->remarks.size(), 20U);
    EXPECT_EQ(found->remarks.front(), "first line");
    const auto infos = read_series(success("matrix", "[]", R"(, "infos": ["i"])"), many);
    ASSERT_TRUE(infos) << infos.error().what;
    EXPECT_THAT(infos->remarks, ElementsAre("i"));
}

TEST(PrometheusAnswer, WhatIsNotPrometheusIsReportedInOneLine) {
    for (const std::string body :
         {"<html><body><h1>Grafana</h1>\nlog in</body></html>", "", "null", "[]", "{}", "17",
          "{\"status\": \"success\"}", "\x1f\x8b\x08", "{\"status\": \"success\", \"data\": 1}"}) {
        const auto found = read_samples(body, many);
        ASSERT_FALSE(found) << body;
        EXPECT_EQ(found.error().code, Errc::bad_answer);
        EXPECT_THAT(found.error().what,
                    AllOf(HasSubstr("no answer of Prometheus"), Not(HasSubstr("\n")),
                          HasSubstr("is oversubscription.prometheus.url the address")))
            << body;
    }
    EXPECT_THAT(read_samples("<html><h1>Grafana</h1>\nlog in</html>", many).error().what,
                HasSubstr("\"Grafana log in\""));
}

TEST(PrometheusAnswer, AnAnswerThatIsCutOrDoubledIsAnError) {
    const std::string whole = success("vector", "[" + sample("\"1\"") + "]");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_samples(whole.substr(0, size), many)) << size;
    EXPECT_FALSE(read_samples(whole + whole, many));
    EXPECT_FALSE(read_samples(success("vector", "[]", R"(, "status": "success")"), many));
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += '[';
    EXPECT_FALSE(read_samples(deep, many));
}

TEST(PrometheusAnswer, AnErrorThatComesAs200IsAnError) {
    const auto found = read_samples(
        R"({"status": "error", "errorType": "execution", "error": "too many samples"})", many);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what, HasSubstr("too many samples"));
}

Error refused(int status, std::string body) {
    http::Response response;
    response.status = status;
    response.body = std::move(body);
    return prometheus::refusal(response);
}

std::string error_body(const std::string& type) {
    return R"({"status": "error", "errorType": ")" + type + R"(", "error": "its\nwords"})";
}

TEST(PrometheusRefusal, IsInPrometheusWords) {
    const Error error = refused(400, error_body("bad_data"));
    EXPECT_EQ(error.code, Errc::rejected);
    EXPECT_EQ(error.what, "400: bad_data: its words");
    EXPECT_EQ(refused(422, error_body("execution")).code, Errc::rejected);
    EXPECT_EQ(refused(503, error_body("timeout")).code, Errc::timeout);
    EXPECT_EQ(refused(503, error_body("canceled")).code, Errc::server_error);
    EXPECT_EQ(refused(500, error_body("internal")).code, Errc::server_error);
    EXPECT_EQ(refused(404, error_body("not_found")).what, "404: not_found: its words");
}

TEST(PrometheusRefusal, OfAnothersIsTheBeginningOfItsBodyAndWhatToDo) {
    EXPECT_EQ(refused(502, "<html><h1>Bad Gateway</h1></html>").what, "502: Bad Gateway");
    EXPECT_EQ(refused(503, "").what, "503");
    EXPECT_EQ(refused(401, "Unauthorized").code, Errc::unauthorized);
    EXPECT_THAT(refused(401, "Unauthorized").what,
                HasSubstr("set oversubscription.prometheus.username and password, or token"));
    EXPECT_EQ(refused(403, "").code, Errc::forbidden);
    EXPECT_EQ(refused(404, "404 page not found").code, Errc::not_found);
    EXPECT_THAT(refused(404, "404 page not found").what, HasSubstr("path prefix"));
    EXPECT_EQ(refused(429, "slow down").code, Errc::server_error);
    EXPECT_EQ(refused(204, "").code, Errc::bad_answer);
    EXPECT_LT(refused(500, std::string(100'000, 'x')).what.size(), 400U);
    EXPECT_EQ(refused(500, "{\"status\": 1, \"error\": [[[{}]]]}").code, Errc::server_error);
}

}  // namespace
}  // namespace reaper::prometheus_answer_test
