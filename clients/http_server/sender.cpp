#include "clients/http_server/sender.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>

#include "clients/http_server/refusal.hpp"

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

bool is_of_the_same_site(const std::string& origin, const std::string& host) {
    return iequals(origin, "http://" + host) || iequals(origin, "https://" + host);
}

}  // namespace

std::optional<HttpResponse> refusal_of_sender(const HttpHeaders& headers,
                                              const std::optional<address>& here,
                                              const std::vector<std::string>& names) {
    const auto hosts = values_of(headers, "Host");
    if (hosts.size() > 1) return refusal(400, "the request has several Host headers");
    if (here && !hosts.empty() && !is_own(host_of(hosts.front()), *here, names))
        return refusal(421, "the Host header names another server; ask for the address itself");
    for (const std::string& origin : values_of(headers, "Origin"))
        if (hosts.empty() || !is_of_the_same_site(origin, hosts.front()))
            return refusal(403, "the Origin header names another site");
    for (const std::string& site : values_of(headers, "Sec-Fetch-Site"))
        if (!iequals(site, "same-origin") && !iequals(site, "none"))
            return refusal(403, "a page of another site asked (Sec-Fetch-Site)");
    return std::nullopt;
}

}  // namespace reaper
