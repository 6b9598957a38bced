// Texts of the configuration as values: numbers, durations, URLs; and words for messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reaper::config {

/// A decimal number with an optional minus; none for anything else or beyond 64 bits.
std::optional<std::int64_t> integer_of(std::string_view text);

/// A decimal number without an exponent; none for anything else.
std::optional<double> fraction_of(std::string_view text);
/// The inverse, as short as it can be.
std::string fraction_text(double fraction);

/// `500ms`, `10s`, `5min`, `2h`: digits and a unit, nothing else; at most 10 years.
std::optional<std::chrono::milliseconds> duration_of(std::string_view text);

/// The inverse, in the largest unit that is exact.
std::string duration_text(std::chrono::milliseconds duration);

/// What is wrong with a URL of a service, without showing it (it may carry a password); none if
/// nothing. Accepts no more and no less than http::parse_url (clients/http/url.hpp), which later
/// takes it apart: a test compares the two.
std::optional<std::string> url_problem(std::string_view url,
                                       const std::vector<std::string_view>& schemes);

/// For messages: in quotes, control characters as `?`, cut after 60 bytes.
std::string shown(std::string_view text);

/// `a, b, c`
std::string joined(const std::vector<std::string>& words);

/// Text without newlines at its end.
std::string without_newline(std::string text);

}  // namespace reaper::config
