// Port: requests that pass through an HTTP proxy and are decided by the program instead.
//
// The proxy streams every request to its upstream (Placement) and the answer back. A handler may
// take some of them over: it asks the upstream itself, as often as it wants, and says what the
// client is answered: an answer of the upstream as it came, or one of its own.
//
// One thread: all of it runs on the proxy's executor.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "reaper/ports/http_handler.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// What came of reading a body.
enum class BodyRead { whole, too_large };

/// An answer of the upstream: its head, and a body that is still on its way.
class UpstreamAnswer {
public:
    virtual ~UpstreamAnswer() = default;  ///< of one that was not read: closes its connection

    virtual int status() const = 0;
    virtual const std::string& reason() const = 0;
    /// Without those of the connection (Transfer-Encoding and the like).
    virtual const HttpHeaders& headers() const = 0;

    /// Reads the body, at most so many bytes of it. The answer may still be given to the client,
    /// whatever the result: what was read and what is still to come go out then.
    /// `unreachable` if it broke off, `timeout`, `bad_answer`, `cancelled` if the client left.
    virtual ResultTask<BodyRead> read_all(std::size_t most) = 0;
    /// What was read of it so far, as on the wire (Content-Encoding is not undone).
    virtual const std::string& body() const = 0;
};

/// An answer of the handler's own.
struct OwnAnswer {
    int status = 200;
    std::string reason{};  ///< empty: the usual one
    /// Content-Length is the proxy's to say.
    HttpHeaders headers{};
    std::string body{};
};

/// What the client gets. For an Error: what the proxy says when it can't reach the upstream (502,
/// 503 or 504).
using ProxyAnswer = std::variant<std::unique_ptr<UpstreamAnswer>, OwnAnswer, Error>;

/// One request under way: the upstream that may be asked for it, and the client that waits.
class ProxyCall {
public:
    virtual ~ProxyCall() = default;

    /// Sends a request and reads the head of its answer. The target is the client's, with the
    /// proxy's own prefix; headers may be the client's. Content-Length follows from the body.
    /// One at a time. `unreachable`, `timeout`, `tls`, `bad_answer`, `bad_input` (a target outside
    /// of the prefix, a header with a line break), `cancelled` (the client left, or we are
    /// stopping).
    virtual ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) = 0;

    /// The same of another proxy like this one, at the URL's host and port, and the answer is
    /// whole, unless it is very large or too many bytes are held. It is given up when the client
    /// leaves, or as soon as `lost` (asked several times a second) says so. `unreachable`: nothing
    /// of the request was sent there; after any other error it may have been done.
    virtual ResultTask<std::unique_ptr<UpstreamAnswer>> ask_other(std::string, HttpRequest,
                                                                  std::function<bool()>) {
        co_return Error{Errc::unreachable, "this proxy knows no others"};
    }

    /// No client waits for the answer any longer: the client closed the connection, or the proxy
    /// stops.
    virtual bool client_gone() const = 0;
    /// Called once, when that happens, also if it already has. Replaces the one before; an empty
    /// one receives nothing. Dropped when `handle` returns.
    virtual void on_client_gone(std::function<void()> told) = 0;
};

class ProxyHandler {
public:
    virtual ~ProxyHandler() = default;
    /// Does the handler decide this one? Asked for every request; all others stream. `target` is as
    /// on the wire.
    virtual bool wants(std::string_view method, std::string_view target) const = 0;
    /// Is it a target of the handler's own, which need not be under the upstream's prefix? It wants
    /// that.
    virtual bool owns(std::string_view) const { return false; }
    /// How it is, for the status line: a clause; empty: nothing to report.
    virtual std::string line() const { return {}; }
    /// Called with the whole request. It must end by itself, and soon after the client has gone;
    /// what it returns then goes nowhere. `call` lives until then. An exception becomes a 500.
    virtual Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) = 0;
};

}  // namespace reaper
