// The upstream: connections that are kept, requests that go out, answers that come in.
//
// A kept connection may have been closed by the upstream just when a request was sent on it. The
// request is sent again, on a new connection, if no byte of an answer came and nothing can have
// been done yet: not a byte of it was taken, or its method is safe (RFC 9110, 9.2.1: GET, HEAD,
// OPTIONS, TRACE) and all of it is still here. This is narrower than RFC 9110, 9.2.2 allows: a
// second PUT or DELETE of Placement is idempotent, but answered otherwise than the first. Requests
// with other methods therefore only go out on a connection that was used just before, or on a new
// one. On a new connection nothing is sent twice.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "clients/http/idle_connections.hpp"
#include "clients/http/tls.hpp"
#include "clients/http_proxy/answer_stream.hpp"
#include "clients/http_proxy/call_guard.hpp"
#include "clients/http_proxy/limits.hpp"

namespace reaper::proxy {

/// A request as it goes out. What it refers to must live until its answer's head is there.
struct Outgoing {
    std::string_view method;
    std::string head;       ///< the text
    std::string_view body;  ///< all of the body, or its beginning, framed as the head says
    bool whole = true;      ///< that is all of it
};

/// Told of answers before the answer (1xx). False: the client can't be told, and leaves.
using Interim = std::function<Task<bool>(const AnswerHead&)>;

class Upstream : public std::enable_shared_from_this<Upstream> {
public:
    Upstream(boost::asio::any_io_executor executor, std::string name, http::Endpoint endpoint,
             std::shared_ptr<http::TlsContext> tls, const HttpProxyLimits& limits);

    using Connected = std::variant<std::shared_ptr<UpstreamConnection>, http::Failure>;
    using Answered = std::variant<std::unique_ptr<AnswerStream>, http::Failure>;

    /// A whole request, and the head of its answer.
    Task<Answered> ask(const Outgoing& out, CallGuard& guard, const Interim& interim);

    /// The same in two steps, for a body that is sent piece by piece. What `receive` fails with is
    /// the caller's to note.
    /// `anew`: on no kept connection.
    Task<Connected> send(const Outgoing& out, CallGuard& guard, bool anew = false);
    Task<Answered> receive(std::shared_ptr<UpstreamConnection> connection, std::string_view method,
                           CallGuard& guard, const Interim& interim);

    /// Takes a connection for the next request.
    void keep(std::shared_ptr<UpstreamConnection> connection);
    /// No connection is kept any more.
    void forget_idle();
    const HttpProxyLimits& limits() const { return limits_; }
    /// Tells the log when the upstream stops or begins to answer.
    void note(const http::Failure& failure);

private:
    Task<Connected> connect(CallGuard& guard);
    Task<http::Moved> write(UpstreamConnection& connection, const Outgoing& out);
    Task<std::optional<http::Failure>> read_head(UpstreamConnection& connection,
                                                 AnswerReader& reader);
    void note_answer();
    void sweep();

    boost::asio::any_io_executor executor_;
    std::string name_;
    http::Endpoint endpoint_;
    std::shared_ptr<http::TlsContext> tls_;
    HttpProxyLimits limits_;
    http::IdleConnections<std::shared_ptr<UpstreamConnection>> idle_;
    boost::asio::steady_timer sweep_;
    bool sweeping_ = false;
    bool answers_ = true;
};

}  // namespace reaper::proxy
