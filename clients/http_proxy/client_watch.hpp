// Notices that a client leaves while it waits for its answer. Nothing is read: what it sent ahead
// (pipelined requests) stays where it is.
#pragma once

#include <functional>
#include <memory>

#include "clients/http/socket_stream.hpp"

namespace reaper::proxy {

/// A client that ends its side of the connection has left, as nginx and others see it, too.
class ClientWatch {
public:
    /// From now on; told at most once, never in the destructor. The stream must outlive the watch.
    ClientWatch(http::SocketStream& stream, std::function<void()> on_left);
    ~ClientWatch();
    ClientWatch(const ClientWatch&) = delete;
    ClientWatch& operator=(const ClientWatch&) = delete;

private:
    struct State;
    std::shared_ptr<State> state_;  ///< shared with handlers that come late
};

}  // namespace reaper::proxy
