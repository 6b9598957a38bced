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
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "clients/http/failure.hpp"
#include "clients/http/socket_stream.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/transport.hpp"
#include "clients/http_proxy/message.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper::proxy {

class Upstream;

/// One connection to the upstream, with what was read of it ahead.
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

/// Whether a call is still waited for, and what to close if not.
class CallGuard {
public:
    bool gone() const { return gone_; }
    /// The client no longer waits: what is under way at the upstream is given up.
    void give_up() {
        if (std::exchange(gone_, true)) return;
        const auto connection = active_.lock();
        if (connection && connection->calls == call_) connection->stream.close();
        if (const auto told = std::exchange(on_gone_, nullptr)) told();
    }
    /// The connection that works for the call now.
    void works_on(const std::shared_ptr<UpstreamConnection>& connection) {
        active_ = connection;
        call_ = connection->calls;
    }
    void on_gone(std::function<void()> told) {
        on_gone_ = std::move(told);
        if (!gone_) return;
        if (const auto now = std::exchange(on_gone_, nullptr)) now();
    }
    /// The function's owner is gone: it is not called.
    void forget() { on_gone_ = nullptr; }

private:
    bool gone_ = false;
    std::weak_ptr<UpstreamConnection> active_;
    std::uint64_t call_ = 0;  ///< the connection may work for another one since
    std::function<void()> on_gone_;
};

/// What the answers that are read whole take together.
struct HeldBytes {
    std::size_t most;
    std::size_t now = 0;
};

/// One answer's part of it.
class HeldPart {
public:
    explicit HeldPart(HeldBytes& all) : all_(all) {}
    HeldPart& operator=(HeldPart&&) = delete;
    ~HeldPart() { all_.now -= bytes_; }
    /// Whether the answer may grow. A short one always may.
    bool hold(std::size_t bytes) {
        all_.now += bytes - std::exchange(bytes_, bytes);
        return bytes <= short_answer || all_.now <= all_.most;
    }

private:
    static constexpr std::size_t short_answer = std::size_t{64} * 1024;

    HeldBytes& all_;
    std::size_t bytes_ = 0;
};

/// An answer of the upstream whose body comes piece by piece.
class AnswerStream final : public UpstreamAnswer {
public:
    /// A run of bytes of the body.
    struct Piece {
        std::string_view bytes;  ///< until the next call
        bool last = false;       ///< nothing follows
        bool broken = false;     ///< it is not whole, and never will be
    };

    AnswerStream(std::shared_ptr<Upstream> upstream, std::shared_ptr<UpstreamConnection> connection,
                 std::unique_ptr<AnswerReader> reader);
    /// A connection whose answer was read to its end goes back.
    ~AnswerStream() override;
    AnswerStream& operator=(AnswerStream&&) = delete;

    int status() const override { return reader_->head().status; }
    const std::string& reason() const override { return reader_->head().reason; }
    const HttpHeaders& headers() const override { return reader_->head().headers; }
    ResultTask<BodyRead> read_all(std::size_t most) override;
    const std::string& body() const override { return read_; }
    /// What is read of it counts as held, and ends with `too_large` when too much is.
    void count_in(HeldBytes& all) { held_.emplace(all); }
    /// The call that the rest is for.
    void work_for(CallGuard& guard) const { guard.works_on(connection_); }

    const Framing& framing() const { return reader_->framing(); }
    /// What is here already; may be empty without being the last. First of all comes what was read.
    Piece ready();
    /// The next one, when it comes.
    Task<Piece> next();

private:
    Piece decode();
    Task<std::optional<http::Failure>> read_more();

    std::shared_ptr<Upstream> upstream_;
    std::shared_ptr<UpstreamConnection> connection_;
    std::unique_ptr<AnswerReader> reader_;  ///< its head has only what goes through
    std::string read_;
    std::optional<HeldPart> held_;
    bool read_given_ = false;
    bool broken_ = false;
    bool reusable_;
};

/// A request as it goes out. What it refers to must live until its answer's head is there.
struct Outgoing {
    std::string_view method;
    std::string head;       ///< the text
    std::string_view body;  ///< all of the body, or its beginning, framed as the head says
    bool whole = true;      ///< that is all of it
};

/// Called for interim answers (1xx). False: the client can't be reached, and leaves.
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
    /// the caller's to note. `new_connection`: on no kept connection.
    Task<Connected> send(const Outgoing& out, CallGuard& guard, bool new_connection = false);
    Task<Answered> receive(std::shared_ptr<UpstreamConnection> connection, std::string_view method,
                           CallGuard& guard, const Interim& interim);

    /// Takes a connection for the next request.
    void keep(std::shared_ptr<UpstreamConnection> connection);
    /// Closes all kept connections.
    void forget_idle();
    const HttpProxyLimits& limits() const { return limits_; }
    /// Logs when the upstream stops or begins to answer.
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
