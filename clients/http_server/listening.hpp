// The socket that a server listens on.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "clients/http_server/address.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// Binds and listens.
boost::system::error_code open_acceptor(boost::asio::ip::tcp::acceptor& acceptor,
                                        const TcpEndpoint& endpoint);
/// The same, for its owner alone or for its group too; a file that a dead process left is replaced.
boost::system::error_code open_acceptor(boost::asio::local::stream_protocol::acceptor& acceptor,
                                        const UnixEndpoint& endpoint, bool group_too);

/// After an accept that failed: no file descriptor is left, or the like; a moment later there may
/// be one. `name`: the server, for the log.
Task<void> wait_after_failed_accept(boost::asio::any_io_executor executor, std::string name,
                                    boost::system::error_code why);

}  // namespace reaper
