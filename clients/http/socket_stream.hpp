// A connection as a stream of bytes: TCP or a Unix socket, with or without TLS, whichever side
// opened it. It is one class without parameters, so what uses it is compiled once.
//
// Every operation ends by itself: it has the deadline that was set last with `expires_*` (as
// Beast's tcp_stream has it), after which the connection is closed. One reading and one writing
// operation may be under way at a time.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "clients/http/failure.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::http {

/// What came of reading or writing.
struct Moved {
    boost::system::error_code error;
    std::size_t bytes = 0;  ///< also before an error
};

class SocketStream {
public:
    using Plain = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
    using Socket = Plain::socket_type;
    using Tls = boost::asio::ssl::stream<Plain>;
    using TlsSettings = std::shared_ptr<boost::asio::ssl::context>;
    /// Written one after the other; empty ones are left out.
    using Pieces = std::array<boost::asio::const_buffer, 4>;

    /// Not connected yet. `tls` is null for a connection without.
    SocketStream(const boost::asio::any_io_executor& executor, TlsSettings tls);
    /// Connected or accepted, of TCP or a Unix socket. The handshake is still to come.
    SocketStream(Socket socket, TlsSettings tls);
    ~SocketStream();

    Plain& tcp() { return tls_ ? tls_->next_layer() : *plain_; }
    Tls* tls() { return tls_ ? &*tls_ : nullptr; }  ///< null: without TLS

    void expires_after(Duration span) { tcp().expires_after(span); }
    void expires_at(TimeLimit limit) { tcp().expires_at(limit); }
    void expires_never() { tcp().expires_never(); }

    /// Nothing to do without TLS.
    Task<boost::system::error_code> shake_hands(boost::asio::ssl::stream_base::handshake_type type);
    Task<Moved> read_some(boost::asio::mutable_buffer into);
    /// All of it. With `each_step`, each step forward has a deadline of its own. The time of each
    /// step goes to `moved_at`, if it is not null.
    Task<Moved> write(Pieces pieces, std::optional<Duration> each_step = {},
                      std::chrono::steady_clock::time_point* moved_at = nullptr);
    /// How a server ends a connection. Closed with unread bytes it would be reset, and the last
    /// answer lost with it. So this announces the end, and reads for a while what still comes.
    Task<void> leave();

    /// False if the peer closed it, or sent something unasked. For one without operations under
    /// way.
    bool looks_alive();
    /// Has the peer ended its side? Whatever it sent before may still be unread.
    bool peer_left();
    /// Would a write wait until the peer reads?
    bool is_full();
    void close();
    /// Closes so that the peer's next operation fails, whatever it has read.
    void reset();

private:
    TlsSettings context_;
    std::optional<Plain> plain_;  // one of the two
    std::optional<Tls> tls_;
};

}  // namespace reaper::http
