// When a call is tried again, and after which pause. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "clients/http/message.hpp"
#include "reaper/model/time.hpp"

namespace reaper::http {

/// May this request be sent a second time without knowing what became of the first?
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
