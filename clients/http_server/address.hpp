// Where a server listens.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <string>
#include <variant>

#include "reaper/runtime/task.hpp"

namespace reaper {

using TcpEndpoint = boost::asio::ip::tcp::endpoint;
using UnixEndpoint = boost::asio::local::stream_protocol::endpoint;

/// `IP:PORT`, `[IPv6]:PORT`, `unix:/PATH`; none for anything else.
std::optional<std::variant<TcpEndpoint, UnixEndpoint>> endpoint_of(const std::string& text);

/// None for a Unix socket's.
std::optional<TcpEndpoint> as_tcp(const boost::asio::generic::stream_protocol::endpoint& endpoint);

std::string to_string(const TcpEndpoint& endpoint);
std::string to_string(const UnixEndpoint& endpoint);

// The socket that a server listens on.

/// Binds and listens.
boost::system::error_code open_acceptor(boost::asio::ip::tcp::acceptor& acceptor,
                                        const TcpEndpoint& endpoint);
/// The same, for its owner alone or for its group too; a file that a dead process left is replaced.
boost::system::error_code open_acceptor(boost::asio::local::stream_protocol::acceptor& acceptor,
                                        const UnixEndpoint& endpoint, bool group_too);

/// After an accept that failed: no file descriptor is left, or the like; shortly afterwards there
/// may be one. `name`: the server, for the log.
Task<void> wait_after_failed_accept(boost::asio::any_io_executor executor, std::string name,
                                    boost::system::error_code why);

}  // namespace reaper
