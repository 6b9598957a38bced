#include "clients/http/socket_stream.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace reaper::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t tls_record_bytes = 16 * 1024;

void consume(SocketStream::Pieces& pieces, std::size_t bytes) {
    for (asio::const_buffer& piece : pieces) {
        const std::size_t step = std::min(bytes, piece.size());
        piece += step;
        bytes -= step;
    }
}

}  // namespace

SocketStream::SocketStream(const asio::any_io_executor& executor, TlsSettings tls)
    : context_(std::move(tls)) {
    if (context_)
        tls_.emplace(executor, *context_);
    else
        plain_.emplace(executor);
}

SocketStream::SocketStream(Socket socket, TlsSettings tls) : context_(std::move(tls)) {
    if (context_)
        tls_.emplace(std::move(socket), *context_);
    else
        plain_.emplace(std::move(socket));
}

SocketStream::~SocketStream() = default;

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

Task<Moved> SocketStream::write(Pieces pieces, std::optional<Duration> each_step,
                                std::chrono::steady_clock::time_point* moved_at) {
    Moved moved;
    std::string record;  // TLS: small pieces share one
    for (auto left = asio::buffer_size(pieces); !moved.error && left > 0;) {
        if (each_step) expires_after(*each_step);
        std::size_t step = 0;
        if (tls_) {
            record.resize(std::min(left, tls_record_bytes));
            asio::buffer_copy(asio::buffer(record), pieces);
            const asio::const_buffer bytes = asio::buffer(record);
            step = co_await tls_->async_write_some(
                bytes, asio::redirect_error(asio::use_awaitable, moved.error));
        } else {
            step = co_await plain_->async_write_some(
                pieces, asio::redirect_error(asio::use_awaitable, moved.error));
        }
        if (step == 0 && !moved.error) moved.error = asio::error::broken_pipe;
        if (step > 0 && moved_at != nullptr) *moved_at = std::chrono::steady_clock::now();
        moved.bytes += step;
        left -= step;
        consume(pieces, step);
    }
    co_return moved;
}

Task<void> SocketStream::leave() {
    constexpr std::size_t max_left_over = 64 * 1024;
    constexpr Duration linger{1'000};
    if (!tcp().socket().is_open()) co_return;
    error_code error;
    expires_after(linger);
    if (tls_) co_await tls_->async_shutdown(asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    tcp().socket().shutdown(asio::socket_base::shutdown_send, error);
    expires_after(linger);
    std::array<char, 4096> rest{};
    std::size_t taken = 0;
    while (taken < max_left_over) {
        const auto into = asio::buffer(rest);
        const std::size_t count =
            co_await tcp().async_read_some(into, asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;
        taken += count;
    }
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

bool SocketStream::is_full() {
    if (!tcp().socket().is_open()) return false;
    pollfd polled{tcp().socket().native_handle(), POLLOUT, 0};
    return ::poll(&polled, 1, 0) == 0;
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
