#include "clients/http_server/address.hpp"

#include <charconv>
#include <cstring>
#include <string_view>
#include <sys/un.h>

namespace reaper {
namespace {

constexpr std::string_view unix_prefix = "unix:";

std::optional<TcpEndpoint> tcp_endpoint_of(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string ip = text.substr(0, colon);
    if (ip.size() > 2 && ip.front() == '[' && ip.back() == ']')
        ip = ip.substr(1, ip.size() - 2);
    else if (ip.find(':') != std::string::npos)
        return std::nullopt;
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, port);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    boost::system::error_code wrong;
    const auto address = boost::asio::ip::make_address(ip, wrong);
    if (wrong) return std::nullopt;
    return TcpEndpoint{address, port};
}

}  // namespace

std::optional<std::variant<TcpEndpoint, UnixEndpoint>> endpoint_of(const std::string& text) {
    if (text.starts_with(unix_prefix)) {
        const std::string path = text.substr(unix_prefix.size());
        if (path.empty() || path.front() != '/' || path.size() >= sizeof(sockaddr_un::sun_path))
            return std::nullopt;
        return UnixEndpoint{path};
    }
    if (const auto endpoint = tcp_endpoint_of(text)) return *endpoint;
    return std::nullopt;
}

std::optional<TcpEndpoint> as_tcp(const boost::asio::generic::stream_protocol::endpoint& endpoint) {
    const int family = endpoint.protocol().family();
    TcpEndpoint found;
    if ((family != AF_INET && family != AF_INET6) || endpoint.size() > found.capacity())
        return std::nullopt;
    std::memcpy(found.data(), endpoint.data(), endpoint.size());
    found.resize(endpoint.size());
    return found;
}

std::string to_string(const TcpEndpoint& endpoint) {
    const std::string ip = endpoint.address().to_string();
    return (endpoint.address().is_v6() ? "[" + ip + "]" : ip) + ":" +
           std::to_string(endpoint.port());
}

std::string to_string(const UnixEndpoint& endpoint) {
    return std::string{unix_prefix} + endpoint.path();
}

}  // namespace reaper
