#include "reaper/ports/url.hpp"

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>

#include "reaper/model/text.hpp"

namespace reaper::http {

namespace {

std::string bracketed(const std::string& host) {
    return host.find(':') == std::string::npos ? host : '[' + host + ']';
}

Error bad_url(std::string_view text, std::string_view why) {
    // Whatever may hold a password is not repeated.
    const bool secret = text.find('@') != std::string_view::npos;
    const std::string shown = secret ? "URL" : "URL \"" + one_line(text, 200) + "\"";
    return {Errc::bad_input, shown + ": " + std::string(why)};
}

bool hides_value(std::string_view key) {
    static constexpr std::array words{"token", "password", "secret", "key", "credential"};
    const std::string lower = to_lower(key);
    for (const std::string_view word : words)
        if (lower.find(word) != std::string::npos) return true;
    return false;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
    return (endpoint.tls ? "https://" : "http://") + bracketed(endpoint.host) + ':' +
           std::to_string(endpoint.port);
}

std::string host_header(const Endpoint& endpoint) {
    const bool usual = endpoint.port == (endpoint.tls ? 443 : 80);
    return bracketed(endpoint.host) + (usual ? "" : ':' + std::to_string(endpoint.port));
}

Result<Url> parse_url(std::string_view text) {
    const auto parsed = boost::urls::parse_uri(text);
    if (!parsed)
        return bad_url(text, "is no URL; expected an absolute one such as https://host:port/path");
    const boost::urls::url_view& view = *parsed;
    Url url;
    if (view.scheme_id() == boost::urls::scheme::https)
        url.endpoint.tls = true;
    else if (view.scheme_id() != boost::urls::scheme::http)
        return bad_url(text, "must start with http:// or https://");
    if (view.has_userinfo()) return bad_url(text, "must not hold a user or a password");
    if (view.has_fragment()) return bad_url(text, "must not have a #fragment");
    url.endpoint.host = view.host_address();
    if (url.endpoint.host.empty()) return bad_url(text, "names no host");
    // Decoded from %-escapes: it goes into a header.
    if (one_line(url.endpoint.host, url.endpoint.host.size()) != url.endpoint.host ||
        url.endpoint.host.find(' ') != std::string::npos)
        return bad_url(text, "has a host that is not a name or address");
    url.endpoint.port = url.endpoint.tls ? 443 : 80;
    const std::string port = view.port();
    if (!port.empty()) {
        const char* const end = port.data() + port.size();
        const auto [stop, error] = std::from_chars(port.data(), end, url.endpoint.port);
        if (error != std::errc{} || stop != end || url.endpoint.port == 0)
            return bad_url(text, "has no port between 1 and 65535");
    }
    url.path = view.encoded_path();
    if (url.path.empty()) url.path = "/";
    // Boost 1.81 takes `:80)x` for port 80 and path `)x`.
    if (!url.path.starts_with('/')) return bad_url(text, "has no / after the port");
    url.query = view.encoded_query();
    return url;
}

std::string shown_target(const Url& url) {
    std::string shown = url.path;
    std::string_view rest = url.query;
    char separator = '?';
    while (!rest.empty()) {
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        const std::size_t equals = pair.find('=');
        shown += separator;
        separator = '&';
        if (equals != std::string_view::npos && hides_value(pair.substr(0, equals)))
            shown.append(pair.substr(0, equals)).append("=...");
        else
            shown.append(pair);
    }
    return one_line(shown, 300);
}

std::string escape(std::string_view text) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    std::string escaped;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
                           byte == '_' || byte == '~';
        if (plain)
            escaped += c;
        else
            escaped.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
    return escaped;
}

}  // namespace reaper::http
