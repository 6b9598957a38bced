// What comes in over HTTP, and what goes out: a server knows no more of its handlers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
    std::string method;  ///< `GET`, as on the wire
    std::string target;  ///< path and query, as on the wire
    HttpHeaders headers{};
    std::string body{};
    /// The client, by the certificate that the server demanded: its subject's common name, or
    /// empty.
    std::string certificate_name{};
    /// Where from: an IPv4 address, or the first 64 bits of an IPv6 address; empty: a Unix socket.
    std::string address{};
};

struct HttpResponse {
    int status = 200;
    std::string body{};
    std::string content_type = "application/json";
    HttpHeaders headers{};
    /// What follows `body`, piece by piece, each sent at once; none: that was all. Empty: nothing
    /// follows. It is destroyed when no client listens any longer.
    std::function<Task<std::optional<std::string>>()> more{};
};

/// Answers a request. It must end by itself, and let others run occasionally.
using HttpHandler = std::function<Task<HttpResponse>(HttpRequest)>;

/// Listens, and answers with its handler.
class HttpServer {
public:
    virtual ~HttpServer() = default;
    /// `127.0.0.1:8787`, with the port that the system chose where 0 was asked for; `unix:/PATH`.
    virtual std::string address() const = 0;
    virtual std::uint16_t port() const = 0;  ///< 0: a Unix socket
    /// When the certificate expires that the next client is shown; none: it speaks no TLS.
    virtual std::optional<TimePoint> certificate_expires() const = 0;
    /// Closes the port and every connection. The destructor does so too.
    virtual void stop() = 0;
};

}  // namespace reaper
