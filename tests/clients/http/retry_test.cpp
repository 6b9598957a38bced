#include <chrono>
#include <gtest/gtest.h>

#include "clients/http/failure.hpp"

namespace reaper::http::retry_test {
namespace {

using namespace std::chrono_literals;

Request request(Method method, Repeat repeat = Repeat::by_method) {
    Request made;
    made.method = method;
    made.repeat = repeat;
    return made;
}

TEST(Retry, OnlyReadsAreRepeatableUnlessTheCallerSaysOtherwise) {
    EXPECT_TRUE(is_repeatable(request(Method::get)));
    EXPECT_TRUE(is_repeatable(request(Method::head)));
    EXPECT_FALSE(is_repeatable(request(Method::post)));
    EXPECT_FALSE(is_repeatable(request(Method::put)));
    EXPECT_FALSE(is_repeatable(request(Method::del)));
    EXPECT_TRUE(is_repeatable(request(Method::del, Repeat::safe)));
    EXPECT_FALSE(is_repeatable(request(Method::get, Repeat::never)));
}

TEST(Retry, StatusesThatMayPassByThemselves) {
    for (const int status : {429, 502, 503, 504}) {
        EXPECT_TRUE(is_retryable(request(Method::get), status)) << status;
        EXPECT_TRUE(is_retryable(request(Method::del, Repeat::safe), status)) << status;
        EXPECT_FALSE(is_retryable(request(Method::post), status)) << status;
    }
    for (const int status : {200, 204, 301, 400, 401, 403, 404, 409, 501})
        EXPECT_FALSE(is_retryable(request(Method::get), status)) << status;
}

TEST(Retry, AnInternalErrorIsRetriedForReadsOnly) {
    EXPECT_TRUE(is_retryable(request(Method::get), 500));
    EXPECT_FALSE(is_retryable(request(Method::del, Repeat::safe), 500));
}

TEST(Retry, PausesDoubleUpToTheLimitWithFullJitter) {
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 1, 1.0), 100ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 2, 1.0), 200ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 4, 1.0), 800ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 5, 1.0), 1000ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 5000, 1.0), 1000ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 4, 0.5), 400ms);
    EXPECT_EQ(backoff_pause(100ms, 1000ms, 4, 0.0), 0ms);
}

TEST(Retry, ReadsRetryAfterAsSecondsOrDate) {
    const TimePoint now = std::chrono::sys_days(std::chrono::year(1994) / 11 / 6) + 8h + 49min;
    EXPECT_EQ(retry_after("120", now), 120s);
    EXPECT_EQ(retry_after("0", now), 0s);
    EXPECT_EQ(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), 37s);
    EXPECT_EQ(retry_after("Sun, 06 Nov 1994 08:48:00 GMT", now), 0s);
    for (const char* bad :
         {"", "-1", "soon", "12s", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 CET",
          "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"})
        EXPECT_EQ(retry_after(bad, now), std::nullopt) << bad;
}

}  // namespace
}  // namespace reaper::http::retry_test
