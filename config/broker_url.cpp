#include "config/broker_url.hpp"

#include <algorithm>
#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/pct_string_view.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "config/values.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::string_view encode_hint =
    " (inside user, password and virtual host write % / ? # @ : as %25 %2F %3F %23 %40 %3A)";

Error bad(std::string_view why) {
    return Error{Errc::bad_input, "broker URL: " + std::string(why)};
}

/// None for a broken escape, and for NUL, which would cut the text in librabbitmq.
std::optional<std::string> decode(std::string_view text) {
    const auto encoded = boost::urls::make_pct_string_view(text);
    if (!encoded) return std::nullopt;
    std::string decoded = encoded->decode();
    if (decoded.find('\0') != std::string::npos) return std::nullopt;
    return decoded;
}

Result<void> read_scheme(std::string_view& rest, BrokerUrl& url) {
    if (rest.starts_with("amqp://")) {
        rest.remove_prefix(7);
    } else if (rest.starts_with("amqps://")) {
        url.tls = true;
        rest.remove_prefix(8);
    } else if (rest.starts_with("rabbit://")) {
        return bad(
            "rabbit:// is for oslo.messaging; write amqp:// (or amqps:// for TLS), one "
            "URL for each broker");
    } else {
        return bad("expected amqp://user:password@host:port/vhost or amqps://...");
    }
    return {};
}

/// What may be in it is more than Boost.URL takes: an @ in the password is forgiven.
Result<void> read_user(std::string_view user_info, BrokerUrl& url) {
    const auto colon = user_info.find(':');
    const auto user = decode(user_info.substr(0, colon));
    const auto password =
        decode(colon == std::string_view::npos ? std::string_view() : user_info.substr(colon + 1));
    if (!user || !password) return bad("a % escape in user or password is broken");
    if (user->empty()) return bad("the user name is empty");
    url.user = *user;
    url.password = config::Secret(*password);
    return {};
}

Result<void> read_host(std::string_view text, BrokerUrl& url) {
    if (text.empty()) return bad("the host is missing");
    if (text.find_first_of(" ,%\t") != std::string_view::npos)
        return bad("the host is not a name or address");
    if (printable(text) != text) return bad("the host is not a name or address");
    const std::string no_port =
        "the port is not a number from 1 to 65535" + std::string(encode_hint);
    const auto parsed = boost::urls::parse_authority(text);
    if (!parsed) {
        const bool lone_port = text.find(':') == text.rfind(':') && text.front() != '[';
        return bad(lone_port ? no_port : "expected host:port, an IPv6 address inside [ ]");
    }
    url.host = parsed->host_address();
    if (url.host.empty()) return bad("the host is missing");
    url.port = url.tls ? 5671 : 5672;
    if (!parsed->has_port()) return {};
    const std::string text_of_port = parsed->port();
    const auto port = config::integer_of(text_of_port);
    if (!port || *port < 1 || *port > 65535) return bad(no_port);
    url.port = static_cast<std::uint16_t>(*port);
    return {};
}

/// At the commas, as oslo.messaging does; but one that can only be in the password of one host is
/// forgiven.
Result<std::vector<std::string_view>> split_hosts(std::string_view text) {
    const auto first_at = text.find('@');
    const auto comma = text.find(',');
    const bool in_password = comma < first_at && first_at != std::string_view::npos;
    if (comma == std::string_view::npos ||
        (in_password && first_at == text.rfind('@') && text.find(',', first_at) == text.npos))
        return std::vector<std::string_view>{text};
    std::vector<std::string_view> hosts;
    std::size_t users = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const auto end = std::min(rest.find(','), rest.size());
        const std::string_view host = rest.substr(0, end);
        if (const auto at = host.rfind('@'); at != std::string_view::npos) {
            ++users;
            if (host.find(':') >= at) users = std::string_view::npos / 2;  // no host's user
        }
        hosts.push_back(host);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (text.ends_with(',')) hosts.emplace_back();
    if (users != 0 && users != hosts.size())
        return bad(
            "several hosts, of which some have no user:password@ of their own; or a , in "
            "user or password, which is written %2C");
    return hosts;
}

}  // namespace

std::string BrokerUrl::name() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (tls ? "amqps://" : "amqp://") + (v6 ? "[" + host + "]" : host) + ":" +
           std::to_string(port) + "/" + (vhost == "/" ? "" : printable(vhost));
}

Result<std::vector<BrokerUrl>> parse_broker_urls(const config::Secret& secret) {
    BrokerUrl url;
    std::string_view rest = secret.reveal();
    if (const auto scheme = read_scheme(rest, url); !scheme) return scheme.error();
    if (rest.find_first_of("?#") != std::string_view::npos)
        return bad(
            "what follows ? or # is not understood; heartbeat, timeouts and certificates "
            "are keys of `broker`" +
            std::string(encode_hint));
    const auto slash = rest.find('/');
    const auto path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    auto authorities = split_hosts(rest.substr(0, slash));
    if (!authorities) return authorities.error();
    const auto vhost = decode(path);
    if (!vhost) return bad("a % escape in the virtual host is broken");
    if (vhost->size() > 255) return bad("the virtual host is longer than 255 bytes");
    if (path.find('/') != std::string_view::npos && path != "/")
        return bad("the virtual host holds a bare /; write it as %2F");
    if (!vhost->empty()) url.vhost = *vhost;
    std::vector<BrokerUrl> urls;
    for (std::string_view authority : *authorities) {
        BrokerUrl broker = url;
        if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
            const auto user = read_user(authority.substr(0, at), broker);
            if (!user) return user.error();
            authority.remove_prefix(at + 1);
        }
        if (const auto host = read_host(authority, broker); !host) return host.error();
        urls.push_back(std::move(broker));
    }
    return urls;
}

}  // namespace reaper
