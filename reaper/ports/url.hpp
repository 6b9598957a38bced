// Addresses: taking a URL apart, putting parts of one together, and showing one to people.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"

namespace reaper::http {

/// Where connections go.
struct Endpoint {
    bool tls = false;
    std::string host;  ///< a name or an address; IPv6 without brackets
    std::uint16_t port = 0;

    friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// `https://host:5000`, with the port even if it is the usual one.
std::string to_string(const Endpoint& endpoint);
/// What goes into the Host header: without the port if it is the usual one.
std::string host_header(const Endpoint& endpoint);

struct Url {
    Endpoint endpoint;
    std::string path;   ///< starts with '/', still encoded
    std::string query;  ///< without '?', still encoded; empty if none

    std::string target() const { return query.empty() ? path : path + '?' + query; }
};

/// `bad_input` unless it is an absolute http or https URL without user, password and fragment.
/// The error never repeats a URL that holds a password.
Result<Url> parse_url(std::string_view text);

/// For logs and errors: path and query, the values of keys such as `token` or `password` hidden.
std::string shown_target(const Url& url);

/// Percent-encodes everything but letters, digits and `-._~`: safe in a path segment and in a
/// query value.
std::string escape(std::string_view text);

}  // namespace reaper::http
