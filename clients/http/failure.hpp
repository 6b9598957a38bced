// What goes wrong between us and a server, in plain words.
#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/http_client.hpp"

namespace reaper::http {

// The meaning of an unwanted answer for the caller, in plain words. Pure.

/// The kind of failure that a status is.
Errc failure_kind(int status);

/// What to do about a redirect, beginning with `; `; empty for any other answer.
std::string redirect_hint(const Response& response);

/// Proxies answer in HTML: the words between the tags, of the beginning.
std::string without_tags(std::string_view body);

/// `text` with every occurrence of `secret` taken out: a server may repeat what it was sent.
std::string without(std::string text, const std::string& secret);

/// The time when a call or a part of it is given up; the real, steady clock.
using TimeLimit = std::chrono::steady_clock::time_point;

struct Failure {
    Errc code{};
    std::string cause;      ///< without method and endpoint
    bool retryable = true;  ///< may pass by itself
    bool answer_began = false;
    bool unwanted = false;  ///< not sent: `Request::still_wanted` said no
    bool sent = true;       ///< false: surely not a byte of the request went out
};

/// The stage of a connection that failed; it changes the words.
enum class Stage { connecting, handshake, sending, reading };

Failure explain(const boost::system::error_code& error, Stage stage, std::uint64_t max_body_bytes);

// When a call is tried again, and after which pause. Pure.

/// May this request be sent a second time if the result of the first one is unknown?
bool is_repeatable(const Request& request);

/// Is an answer of this status worth another try of this request?
bool is_retryable(const Request& request, int status);

/// The pause before try number `retry + 1` (the first retry is 1): random (0 up to 1) of
/// `base * 2^(retry - 1)`, which is at most `limit`. Full jitter, as in Amazon's "Exponential
/// Backoff And Jitter".
Duration backoff_pause(Duration base, Duration limit, int retry, double random);

/// A date of RFC 9110's preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`.
std::optional<TimePoint> http_date(std::string_view text);

/// The wait that a `Retry-After` header asks for: seconds, or a date of RFC 9110's preferred form.
/// None if it is neither; never negative.
std::optional<Duration> retry_after(std::string_view value, TimePoint now);

}  // namespace reaper::http
