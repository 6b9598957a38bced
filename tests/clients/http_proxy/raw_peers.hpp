// Clients and servers that send exactly the given bytes, for tests of the proxy.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include "tests/clients/http/client_harness.hpp"

namespace reaper::test {

/// One end of a connection. It hears in the background of the io_context.
class RawPeer : public std::enable_shared_from_this<RawPeer> {
public:
    using Socket = boost::asio::ip::tcp::socket;
    explicit RawPeer(Socket socket) : socket_(std::move(socket)) {
        socket_.set_option(boost::asio::ip::tcp::no_delay(true));
    }

    void say(const std::string& text) {
        boost::system::error_code ignored;  // the other side may have left
        boost::asio::write(socket_, boost::asio::buffer(text), ignored);
    }
    /// Byte by byte, each as a packet of its own, with time for the other side in between.
    void say_bytewise(const std::string& text) {
        for (const char byte : text) {
            say(std::string(1, byte));
            auto& io = static_cast<boost::asio::io_context&>(
                boost::asio::query(socket_.get_executor(), boost::asio::execution::context));
            io.restart();
            io.poll();
        }
    }
    /// Without waiting until it is taken; one after the other.
    void say_in_background(std::string text) {
        waiting_.push_back(std::move(text));
        if (waiting_.size() == 1) say_next();
    }
    void listen() {
        socket_.async_read_some(
            boost::asio::buffer(room_),
            [self = shared_from_this()](boost::system::error_code error, std::size_t count) {
                self->heard_.append(self->room_, count);
                if (error) {
                    self->ended_ = true;
                    self->broken_ = error != boost::asio::error::eof;
                    return;
                }
                if (self->on_heard) self->on_heard(*self);
                self->listen();
            });
    }
    void end_sending() {
        boost::system::error_code ignored;
        socket_.shutdown(Socket::shutdown_send, ignored);
    }
    void close() {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }
    void reset() {
        boost::system::error_code ignored;
        socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
        close();
    }

    const std::string& heard() const { return heard_; }
    void forget() { heard_.clear(); }
    bool has_heard(const std::string& text) const { return heard_.find(text) != heard_.npos; }
    bool ended() const { return ended_; }    ///< the other side has left
    bool broken() const { return broken_; }  ///< by a reset
    std::size_t said() const { return said_; }

    std::function<void(RawPeer&)> on_heard;

private:
    void say_next() {
        boost::asio::async_write(
            socket_, boost::asio::buffer(waiting_.front()),
            [self = shared_from_this()](boost::system::error_code error, std::size_t count) {
                self->said_ += count;
                self->waiting_.pop_front();
                if (!error && !self->waiting_.empty()) self->say_next();
            });
    }

    Socket socket_;
    std::deque<std::string> waiting_;
    char room_[16 * 1024];
    std::string heard_;
    std::size_t said_ = 0;
    bool ended_ = false;
    bool broken_ = false;
};

/// Accepts all connections, reads from them, and calls `on_heard`.
class RawServer {
public:
    using Acceptor = boost::asio::ip::tcp::acceptor;

    explicit RawServer(boost::asio::io_context& io, std::uint16_t port = 0)
        : acceptor_(io, {boost::asio::ip::address_v4::loopback(), port}) {
        accept();
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::size_t accepted() const { return peers_.size(); }
    RawPeer& peer(std::size_t index = 0) { return *peers_.at(index); }
    void stop() { acceptor_.close(); }

    /// For peers that are accepted from now on.
    std::function<void(RawPeer&)> on_heard;

private:
    void accept() {
        acceptor_.async_accept([this](boost::system::error_code error, RawPeer::Socket socket) {
            if (error) return;
            auto peer = std::make_shared<RawPeer>(std::move(socket));
            peer->on_heard = on_heard;
            peer->listen();
            peers_.push_back(std::move(peer));
            accept();
        });
    }

    Acceptor acceptor_;
    std::vector<std::shared_ptr<RawPeer>> peers_;
};

inline std::shared_ptr<RawPeer> connect_to(boost::asio::io_context& io, std::uint16_t port) {
    RawPeer::Socket socket(io);
    socket.connect({boost::asio::ip::address_v4::loopback(), port});
    auto peer = std::make_shared<RawPeer>(std::move(socket));
    peer->listen();
    return peer;
}

/// Answers each request that ends with its head with the same bytes.
inline std::function<void(RawPeer&)> always(std::string answer) {
    return [answer = std::move(answer)](RawPeer& peer) {
        if (!peer.heard().ends_with("\r\n\r\n")) return;
        peer.forget();
        peer.say(answer);
    };
}

/// So many files may be open in this process, if the system allows it.
inline bool allow_files(rlim_t count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < count) return false;
    if (limit.rlim_cur < count) limit.rlim_cur = count;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace reaper::test
