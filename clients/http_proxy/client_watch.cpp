#include "clients/http_proxy/client_watch.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace reaper::proxy {

namespace asio = boost::asio;
using boost::system::error_code;

struct ClientWatch::State : std::enable_shared_from_this<ClientWatch::State> {
    State(http::SocketStream& watched, std::function<void()> told)
        : stream(watched), on_left(std::move(told)), later(watched.tcp().get_executor()) {}

    void watch() {
        auto handler = [self = shared_from_this()](error_code error) {
            if (!error) self->look();
        };
        stream.tcp().socket().async_wait(
            asio::ip::tcp::socket::wait_read,
            asio::bind_cancellation_slot(stop.slot(), std::move(handler)));
    }
    void look() {
        if (!active) return;
        if (stream.peer_left()) {
            active = false;
            on_left();
            return;
        }
        // There is something to read, and stays there: asked again at once, it would be told again
        // at once.
        later.expires_after(std::chrono::seconds{1});
        auto handler = [self = shared_from_this()](error_code error) {
            if (!error) self->look();
        };
        later.async_wait(std::move(handler));
    }

    http::SocketStream& stream;
    std::function<void()> on_left;
    asio::steady_timer later;
    asio::cancellation_signal stop;
    bool active = true;
};

ClientWatch::ClientWatch(http::SocketStream& stream, std::function<void()> on_left)
    : state_(std::make_shared<State>(stream, std::move(on_left))) {
    if (stream.tcp().socket().is_open()) state_->watch();
}

ClientWatch::~ClientWatch() {
    state_->active = false;
    state_->stop.emit(asio::cancellation_type::all);
    state_->later.cancel();
}

}  // namespace reaper::proxy
