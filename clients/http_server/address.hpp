// Where a server listens.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <string>
#include <variant>

namespace reaper {

using TcpEndpoint = boost::asio::ip::tcp::endpoint;
using UnixEndpoint = boost::asio::local::stream_protocol::endpoint;

/// `IP:PORT`, `[IPv6]:PORT`, `unix:/PATH`; none for anything else.
std::optional<std::variant<TcpEndpoint, UnixEndpoint>> endpoint_of(const std::string& text);

/// None for a Unix socket's.
std::optional<TcpEndpoint> as_tcp(const boost::asio::generic::stream_protocol::endpoint& endpoint);

std::string to_string(const TcpEndpoint& endpoint);
std::string to_string(const UnixEndpoint& endpoint);

}  // namespace reaper
