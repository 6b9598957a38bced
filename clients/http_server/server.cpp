#include "clients/http_server/server.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <map>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "clients/http_server/address.hpp"
#include "clients/http_server/connection.hpp"
#include "clients/http_server/tls.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = http::SocketStream::Socket;
/// Of either kind of socket.
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using Where = std::variant<TcpEndpoint, UnixEndpoint>;

/// Lives as long as one of its coroutines.
struct Shared {
    Shared(asio::any_io_executor on, HttpServerSettings given, HttpHandler to_ask)
        : executor(std::move(on)),
          settings(std::move(given)),
          handler(std::move(to_ask)),
          room(executor) {}

    asio::any_io_executor executor;
    HttpServerSettings settings;
    HttpHandler handler;
    std::shared_ptr<ServerTls> tls;  ///< or null
    std::list<HttpPlace> open;
    asio::steady_timer room;  ///< ended when a connection is
    bool stopped = false;
};

/// As HttpRequest::address.
std::string address_of(const Socket& socket) {
    error_code gone;
    const auto endpoint = as_tcp(socket.remote_endpoint(gone));
    if (!endpoint) return "";
    const auto address = endpoint->address();
    if (address.is_v4()) return address.to_string();
    auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return asio::ip::address_v6{bytes}.to_string();
}

void close(HttpPlace& place) {
    place.closed = true;
    if (place.close) place.close();
}

/// The connection without a whole request for the longest time, of the address with the most such
/// connections; none if all are being answered.
HttpPlace* slowest(std::list<HttpPlace>& open) {
    std::map<std::string_view, std::size_t> by_address;
    for (const HttpPlace& place : open)
        if (place.half_open && !place.closed) ++by_address[place.address];
    HttpPlace* found = nullptr;
    const auto rank = [&](const HttpPlace& place) {
        return std::pair{by_address[place.address], -place.since.time_since_epoch()};
    };
    for (HttpPlace& place : open)
        if (place.half_open && !place.closed && (found == nullptr || rank(place) > rank(*found)))
            found = &place;
    return found;
}

/// A place for one more.
void take_place(Shared& shared, std::string address) {
    const HttpServerLimits& limits = shared.settings.limits;
    std::size_t taken = 0;
    std::size_t answered = 0;
    for (const HttpPlace& place : shared.open) {
        if (place.closed) continue;
        ++taken;
        if (!place.half_open) ++answered;
    }
    HttpPlace place;
    place.address = std::move(address);
    place.for_probes = answered >= limits.connections;
    if (taken >= limits.connections + (place.for_probes ? limits.for_probes : 0))
        if (HttpPlace* const leaves = slowest(shared.open)) close(*leaves);
    shared.open.push_back(std::move(place));
}

Task<void> serve(std::shared_ptr<Shared> shared, Socket socket,
                 std::list<HttpPlace>::iterator place) {
    try {
        HttpConnection connection{std::move(socket), shared->tls ? shared->tls->context() : nullptr,
                                  *place, shared->settings, shared->handler};
        place->close = [&connection] { connection.close(); };
        if (!shared->stopped && !place->closed) co_await connection.serve();
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", shared->settings.name, wrong.what());
    }
    shared->open.erase(place);
    shared->room.cancel();
}

void take(const std::shared_ptr<Shared>& shared, Socket socket) {
    take_place(*shared, address_of(socket));
    auto served = serve(shared, std::move(socket), std::prev(shared->open.end()));
    asio::co_spawn(shared->executor, std::move(served), asio::detached);
}

Task<void> accept(std::shared_ptr<Shared> shared, std::shared_ptr<Acceptor> acceptor) {
    while (!shared->stopped) {
        const HttpServerLimits& limits = shared->settings.limits;
        if (shared->open.size() >= limits.connections + limits.for_probes &&
            slowest(shared->open) == nullptr) {
            shared->room.expires_at(asio::steady_timer::time_point::max());
            co_await shared->room.async_wait(asio::as_tuple(asio::use_awaitable));
            continue;
        }
        auto [error, socket] = co_await acceptor->async_accept(asio::as_tuple(asio::use_awaitable));
        if (shared->stopped || error == asio::error::operation_aborted) co_return;
        if (!error)
            take(shared, std::move(socket));
        else if (error != asio::error::connection_aborted)
            co_await wait_after_failed_accept(shared->executor, shared->settings.name, error);
    }
}

class Server final : public HttpServer {
public:
    Server(std::shared_ptr<Shared> shared, Acceptor acceptor, Where here)
        : shared_(std::move(shared)),
          acceptor_(std::make_shared<Acceptor>(std::move(acceptor))),
          here_(std::move(here)) {
        auto accepting = accept(shared_, acceptor_);
        asio::co_spawn(shared_->executor, std::move(accepting), asio::detached);
    }
    ~Server() override { Server::stop(); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::string address() const override {
        return std::visit([](const auto& endpoint) { return to_string(endpoint); }, here_);
    }
    std::uint16_t port() const override {
        const auto* const tcp = std::get_if<TcpEndpoint>(&here_);
        return tcp != nullptr ? tcp->port() : 0;
    }
    std::optional<TimePoint> certificate_expires() const override {
        if (!shared_->tls) return std::nullopt;
        return shared_->tls->expires();
    }
    void stop() override {
        if (std::exchange(shared_->stopped, true)) return;
        error_code ignored;
        acceptor_->close(ignored);
        if (const auto* const file = std::get_if<UnixEndpoint>(&here_))
            ::unlink(file->path().c_str());
        shared_->room.cancel();
        for (HttpPlace& place : shared_->open) close(place);
    }

private:
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Acceptor> acceptor_;
    Where here_;
};

/// Listens there; a port that was left to the system is filled in.
Acceptor open_at(Where& where, const Shared& shared, error_code& error) {
    if (auto* const tcp = std::get_if<TcpEndpoint>(&where)) {
        asio::ip::tcp::acceptor acceptor{shared.executor};
        error = open_acceptor(acceptor, *tcp);
        if (!error) *tcp = acceptor.local_endpoint(error);
        return acceptor;
    }
    asio::local::stream_protocol::acceptor acceptor{shared.executor};
    error = open_acceptor(acceptor, std::get<UnixEndpoint>(where), shared.settings.group_too);
    return acceptor;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> listen_http(boost::asio::any_io_executor executor,
                                                HttpServerSettings settings, HttpHandler handler) {
    const auto endpoint = endpoint_of(settings.address);
    if (!endpoint)
        return Error{Errc::bad_input, settings.name + ": '" + settings.address +
                                          "' is no address; expected IP:PORT or unix:/PATH"};
    auto shared =
        std::make_shared<Shared>(std::move(executor), std::move(settings), std::move(handler));
    if (shared->settings.tls) {
        auto tls = ServerTls::read(*shared->settings.tls, shared->settings.name);
        if (!tls) return tls.error();
        shared->tls = std::move(*tls);
    }
    Where where = *endpoint;
    error_code error;
    Acceptor acceptor = open_at(where, *shared, error);
    if (error)
        return Error{Errc::unreachable, shared->settings.name + ": can't listen on " +
                                            shared->settings.address + ": " + error.message()};
    return std::unique_ptr<HttpServer>{
        std::make_unique<Server>(std::move(shared), std::move(acceptor), std::move(where))};
}

}  // namespace reaper
