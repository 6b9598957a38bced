#include "clients/http_server/sender.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>

namespace reaper {
namespace {

using boost::asio::ip::address;
using boost::beast::iequals;

std::vector<std::string> values_of(const HttpHeaders& headers, std::string_view name) {
    std::vector<std::string> values;
    for (const auto& [key, value] : headers)
        if (iequals(key, name)) values.push_back(value);
    return values;
}

bool is_only(const HttpHeaders& headers, std::string_view name, std::string_view value) {
    const auto values = values_of(headers, name);
    return values.size() == 1 && iequals(values.front(), value);
}

/// `localhost` of `localhost:8787`, `::1` of `[::1]:8787`.
std::string host_of(const std::string& authority) {
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        return end == std::string::npos ? "" : authority.substr(1, end - 1);
    }
    std::string host = authority.substr(0, authority.find(':'));
    if (host.ends_with('.')) host.pop_back();
    return host;
}

bool is_own(const std::string& host, address here, const std::vector<std::string>& names) {
    const auto same = [&](const std::string& name) { return iequals(host, name); };
    if (std::any_of(names.begin(), names.end(), same)) return true;
    if (here.is_v6() && here.to_v6().is_v4_mapped())
        here = make_address_v4(boost::asio::ip::v4_mapped, here.to_v6());
    if (here.is_loopback() && same("localhost")) return true;
    boost::system::error_code wrong;
    const address asked = boost::asio::ip::make_address(host, wrong);
    return !wrong && asked == here;
}

/// Of a Unix socket, which browsers reach through a tunnel that ends on loopback.
bool is_at_a_tunnel(const std::string& origin, const std::vector<std::string>& names) {
    const std::size_t scheme = origin.find("://");
    if (scheme == std::string::npos) return false;
    const std::string host = host_of(origin.substr(scheme + 3));
    const auto same = [&](const std::string& name) { return iequals(host, name); };
    boost::system::error_code wrong;
    const address asked = boost::asio::ip::make_address(host, wrong);
    return same("localhost") || (!wrong && asked.is_loopback()) ||
           std::any_of(names.begin(), names.end(), same);
}

bool is_of_the_same_site(const std::string& origin, const std::string& host) {
    return iequals(origin, "http://" + host) || iequals(origin, "https://" + host);
}

}  // namespace

HttpResponse refusal(int status, const std::string& why) {
    HttpResponse response;
    response.status = status;
    const std::string_view title = boost::beast::http::obsolete_reason(
        boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    response.body = "{\"error\":{\"code\":" + std::to_string(status) + ",\"message\":\"" + why +
                    "\",\"title\":\"" + std::string{title} + "\"},\"version\":2}\n";
    return response;
}

std::optional<HttpResponse> refusal_of_sender(const HttpHeaders& headers,
                                              const std::optional<address>& here,
                                              const std::vector<std::string>& names) {
    const auto hosts = values_of(headers, "Host");
    if (hosts.size() > 1) return refusal(400, "the request has several Host headers");
    if (here && !hosts.empty() && !is_own(host_of(hosts.front()), *here, names))
        return refusal(421, "the Host header names another server; ask for the address itself");
    for (const std::string& origin : values_of(headers, "Origin")) {
        if (hosts.empty() || !is_of_the_same_site(origin, hosts.front()))
            return refusal(403, "the Origin header names another site");
        if (!here && !is_at_a_tunnel(origin, names))
            return refusal(403, "the Origin header names no address of this machine");
    }
    // Who follows a link sees the answer himself, and the other page does not.
    const bool follows_link = is_only(headers, "Sec-Fetch-Mode", "navigate") &&
                              is_only(headers, "Sec-Fetch-Dest", "document");
    for (const std::string& site : values_of(headers, "Sec-Fetch-Site"))
        if (!follows_link && !iequals(site, "same-origin") && !iequals(site, "none"))
            return refusal(403, "a page of another site asked (Sec-Fetch-Site)");
    return std::nullopt;
}

}  // namespace reaper
