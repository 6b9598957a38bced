// One connection of the server. Internal to clients/http_server.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "clients/http/socket_stream.hpp"
#include "clients/http_server/server.hpp"

namespace reaper {

/// What the server knows of a connection.
struct HttpPlace {
    std::string address{};    ///< as HttpRequest::address
    bool for_probes = false;  ///< all other places are taken: all but probes are refused
    bool half_open = true;    ///< no whole request was read since
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    bool closed = false;
    std::function<void()> close{};
};

class HttpConnection {
public:
    /// `tls` is null for a server without. The others must outlive it.
    HttpConnection(http::SocketStream::Socket socket, http::SocketStream::TlsSettings tls,
                   HttpPlace& place, const HttpServerSettings& settings,
                   const HttpHandler& handler);

    /// Until the client leaves, says nothing in time, or `close`.
    Task<void> serve();
    void close() { stream_.close(); }

private:
    using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    Task<bool> shake_hands();
    /// Whether another request may follow.
    Task<bool> serve_one(bool first);
    Task<boost::system::error_code> read(Parser& parser);
    bool is_probe(std::string_view target) const;
    Task<HttpResponse> answer(HttpRequest request);
    /// Whether it was sent, and the connection is kept.
    Task<bool> send(HttpResponse response, unsigned version, bool keep);
    /// In chunks; what is older than HTTP/1.1 gets it until the connection ends.
    Task<bool> stream_out(HttpResponse response, bool chunked);
    Task<bool> write(std::string_view first, std::string_view second = "",
                     std::string_view third = "");

    http::SocketStream stream_;
    HttpPlace& place_;
    const HttpServerSettings& settings_;
    const HttpHandler& handler_;
    boost::beast::flat_buffer buffer_;
    std::string certificate_name_;  // of the client; empty: it shows none, or it has no name
};

}  // namespace reaper
