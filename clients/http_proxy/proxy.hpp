// The HTTP proxy: everything that clients ask goes to one upstream, and its answers go back, as
// they are. A handler (reaper/ports/proxy_handler.hpp) may decide some of the requests.
//
// Faithful: the message stays the same: method, target, status, reason, headers (names, order,
// duplicates, values) and body, Host included, so that links lead back to us. Only what belongs to
// one connection is ours: Connection and what it names, Keep-Alive, TE, Trailer, Transfer-Encoding,
// Upgrade, Proxy-*. Bodies stream in both directions through bounded buffers; chunks may be cut
// elsewhere, and trailers and extensions of chunks are dropped. Expect: 100-continue is the
// upstream's to answer; for what the handler decides, ours. Clients of HTTP/1.0 get what has no
// length until the connection ends.
//
// Strict: a request that two readers could understand in two ways is answered with 400, and its
// connection closed (message.hpp).
//
// Bounded: connections, heads (64 KiB), memory for each, and time for each step. A client that
// leaves, or ends its side of the connection, has its call at the upstream given up. An answer that
// breaks off has its client's connection closed, so that it never looks whole. When an upstream's
// kept connection turns out closed, upstream.hpp says what is sent again.
//
// One thread, that of the executor. Tokens and bodies are never logged.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "clients/http/client.hpp"
#include "clients/http_proxy/message.hpp"
#include "clients/http_server/server.hpp"
#include "reaper/model/error.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/ports/url.hpp"

namespace reaper {

struct HttpProxySettings {
    std::string name;     ///< for messages: `gateway`
    std::string address;  ///< `IP:PORT`, IPv6 in brackets, port 0: any
    std::optional<HttpServerTls> tls{};
    http::Url upstream;  ///< without a query
    http::TlsOptions upstream_tls{};
    /// The path under which clients ask; absent: the upstream's.
    std::optional<std::string> path_prefix{};
    HttpProxyLimits limits{};
};

struct HttpProxyState {
    std::size_t connections = 0;  ///< of clients, open now
    std::size_t calls = 0;        ///< under way now
    std::uint64_t served = 0;     ///< calls that ended
};

class HttpProxy {
public:
    virtual ~HttpProxy() = default;
    /// `127.0.0.1:8788`, with the port that the system chose where 0 was asked for.
    virtual std::string address() const = 0;
    virtual std::uint16_t port() const = 0;
    virtual HttpProxyState state() const = 0;
    /// When the certificate expires that the next client is shown; none: it speaks no TLS.
    virtual std::optional<TimePoint> certificate_expires() const = 0;
    /// Takes no new connections, lets calls under way end, and closes what is left after `most`.
    virtual Task<void> drain(Duration most) = 0;
    /// Closes everything at once. The destructor does so too.
    virtual void stop() = 0;
};

/// Listens at once. `bad_input` if an address, a file or the upstream's URL can't be used,
/// `unreachable` if it can't be listened on. `handler`, if any, lives until the last call that it
/// decides has ended.
Result<std::unique_ptr<HttpProxy>> listen_proxy(boost::asio::any_io_executor executor,
                                                HttpProxySettings settings,
                                                std::shared_ptr<ProxyHandler> handler = nullptr);

}  // namespace reaper
