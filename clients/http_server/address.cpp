#include "clients/http_server/address.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "reaper/runtime/log.hpp"

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

namespace asio = boost::asio;
using asio::local::stream_protocol;
using boost::system::error_code;

namespace {

/// A socket's file stays when its process dies; then no process answers on it.
void remove_left_over(const UnixEndpoint& endpoint, const asio::any_io_executor& executor) {
    stream_protocol::socket probe{executor};
    error_code error;
    probe.connect(endpoint, error);
    struct stat found {};
    if (error == asio::error::connection_refused && ::lstat(endpoint.path().c_str(), &found) == 0 &&
        S_ISSOCK(found.st_mode))
        ::unlink(endpoint.path().c_str());
}

template <class Acceptor>
void start_listening(Acceptor& acceptor, error_code& error) {
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

}  // namespace

error_code open_acceptor(asio::ip::tcp::acceptor& acceptor, const TcpEndpoint& endpoint) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    start_listening(acceptor, error);
    return error;
}

error_code open_acceptor(stream_protocol::acceptor& acceptor, const UnixEndpoint& endpoint,
                         bool group_too) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) {
        remove_left_over(endpoint, acceptor.get_executor());
        const ::mode_t before = ::umask(group_too ? 0117 : 0177);
        acceptor.bind(endpoint, error);
        ::umask(before);
    }
    start_listening(acceptor, error);
    return error;
}

Task<void> wait_after_failed_accept(asio::any_io_executor executor, std::string name,
                                    error_code why) {
    spdlog::warn("{}: {}; trying again", name, why.message());
    asio::steady_timer pause{executor, std::chrono::seconds{1}};
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace reaper
