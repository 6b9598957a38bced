#include "clients/http/socket_stream.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace reaper::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

SocketStream::SocketStream(const asio::any_io_executor& executor, TlsSettings tls)
    : context_(std::move(tls)) {
    if (context_)
        tls_.emplace(executor, *context_);
    else
        plain_.emplace(executor);
}

SocketStream::SocketStream(asio::ip::tcp::socket socket, TlsSettings tls)
    : context_(std::move(tls)) {
    if (context_)
        tls_.emplace(std::move(socket), *context_);
    else
        plain_.emplace(std::move(socket));
}

Task<error_code> SocketStream::shake_hands(asio::ssl::stream_base::handshake_type type) {
    error_code error;
    if (tls_)
        co_await tls_->async_handshake(type, asio::redirect_error(asio::use_awaitable, error));
    co_return error;
}

Task<Moved> SocketStream::read_some(asio::mutable_buffer into) {
    Moved moved;
    if (tls_)
        moved.bytes = co_await tls_->async_read_some(
            into, asio::redirect_error(asio::use_awaitable, moved.error));
    else
        moved.bytes = co_await plain_->async_read_some(
            into, asio::redirect_error(asio::use_awaitable, moved.error));
    co_return moved;
}

Task<Moved> SocketStream::write(Pieces pieces, Duration each_step) {
    Moved moved;
    // TLS would write nothing, for ever, as long as the first one is empty.
    std::stable_partition(pieces.begin(), pieces.end(),
                          [](const asio::const_buffer& piece) { return piece.size() > 0; });
    beast::buffers_suffix<Pieces> rest{pieces};
    while (!moved.error && beast::buffer_bytes(rest) > 0) {
        expires_after(each_step);
        std::size_t step = 0;
        if (tls_)
            step = co_await tls_->async_write_some(
                rest, asio::redirect_error(asio::use_awaitable, moved.error));
        else
            step = co_await plain_->async_write_some(
                rest, asio::redirect_error(asio::use_awaitable, moved.error));
        if (step == 0 && !moved.error) moved.error = asio::error::broken_pipe;
        moved.bytes += step;
        rest.consume(step);
    }
    co_return moved;
}

bool SocketStream::looks_alive() {
    if (!tcp().socket().is_open()) return false;
    char byte = 0;
    const auto got = ::recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // Nothing to read is the only good news: 0 is the end, data is an alert or an orphan answer.
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool SocketStream::peer_left() {
    if (!tcp().socket().is_open()) return true;
    pollfd polled{tcp().socket().native_handle(), POLLRDHUP, 0};
    return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void SocketStream::close() {
    error_code ignored;
    tcp().socket().close(ignored);
}

void SocketStream::reset() {
    error_code ignored;
    tcp().socket().set_option(asio::socket_base::linger(true, 0), ignored);
    close();
}

}  // namespace reaper::http
