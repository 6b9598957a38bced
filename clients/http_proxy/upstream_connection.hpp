// One connection to the upstream, with what was read of it ahead.
#pragma once

#include <cstdint>
#include <utility>

#include "clients/http/socket_stream.hpp"
#include "clients/http_proxy/message.hpp"

namespace reaper::proxy {

struct UpstreamConnection {
    UpstreamConnection(const boost::asio::any_io_executor& executor,
                       http::SocketStream::TlsSettings tls)
        : stream(executor, std::move(tls)) {}

    bool looks_alive() { return stream.looks_alive(); }

    http::SocketStream stream;
    Input input;
    std::uint64_t calls = 0;    ///< that it was taken for
    bool request_sent = false;  ///< all of the last one
};

}  // namespace reaper::proxy
