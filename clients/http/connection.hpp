// One connection to one endpoint: opened once, used for one call after another.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <variant>

#include "clients/http/failure.hpp"
#include "clients/http/message.hpp"
#include "clients/http/socket_stream.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/url.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

using WireRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// An answer, and whether the connection can take another call.
struct Exchange {
    Response response;
    bool reusable = false;
};

class Connection {
public:
    /// `tls` may be null for an endpoint without TLS.
    Connection(const boost::asio::any_io_executor& executor, Endpoint endpoint,
               std::shared_ptr<TlsContext> tls);

    /// Looks the name up, connects, and shakes hands. Once.
    Task<std::optional<Failure>> open(TimeLimit limit);

    /// Sends the request and reads all of the answer. After a failure the connection is of no use.
    Task<std::variant<Exchange, Failure>> exchange(const WireRequest& request,
                                                   std::uint64_t max_body_bytes, TimeLimit limit);

    /// False if the server closed it, or sent something that nobody asked for, since the last call.
    bool looks_alive() { return stream_.looks_alive(); }

private:
    Endpoint endpoint_;
    std::shared_ptr<TlsContext> context_;
    SocketStream stream_;
    boost::beast::flat_buffer buffer_;
};

}  // namespace reaper::http
