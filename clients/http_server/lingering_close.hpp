// How a server leaves a connection. Closed with unread bytes it would be reset, and the last answer
// lost with it: so the end is announced first, and what the client still sends is read for a while.
#pragma once

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>

#include "reaper/runtime/task.hpp"

namespace reaper {

/// A stream with TLS, which has to be ended by itself.
template <class Stream>
concept SecureStream = requires(Stream& stream) {
    stream.handshake(boost::asio::ssl::stream_base::server);
};

/// `Stream`: beast's tcp_stream, basic_stream, ssl_stream.
template <class Stream>
Task<void> lingering_close(Stream& stream) {
    constexpr std::size_t max_left_over = 64 * 1024;
    constexpr std::chrono::seconds linger{1};
    const auto told = boost::asio::as_tuple(boost::asio::use_awaitable);
    auto& lowest = boost::beast::get_lowest_layer(stream);
    boost::system::error_code ignored;
    if constexpr (SecureStream<Stream>) {
        lowest.expires_after(linger);
        const auto [gone] = co_await stream.async_shutdown(told);
        if (gone) co_return;
    }
    lowest.socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
    lowest.expires_after(linger);
    std::array<char, 4096> rest{};
    std::size_t taken = 0;
    while (taken < max_left_over) {
        const auto into = boost::asio::buffer(rest);
        const auto [error, count] = co_await lowest.async_read_some(into, told);
        if (error) co_return;
        taken += count;
    }
}

}  // namespace reaper
