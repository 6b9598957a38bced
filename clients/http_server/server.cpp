#include "clients/http_server/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <map>
#include <string_view>
#include <unistd.h>

#include "clients/http_server/address.hpp"
#include "clients/http_server/connection.hpp"
#include "clients/http_server/listening.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper {

HttpResponse refusal(int status, const std::string& why) {
    HttpResponse response;
    response.status = status;
    const std::string_view title =
        beast_http::obsolete_reason(beast_http::int_to_status(static_cast<unsigned>(status)));
    response.body = "{\"error\":{\"code\":" + std::to_string(status) + ",\"message\":\"" + why +
                    "\",\"title\":\"" + std::string{title} + "\"},\"version\":2}\n";
    return response;
}

std::optional<HttpResponse> refusal_of(const boost::system::error_code& error) {
    if (error == beast_http::error::header_limit) return refusal(431, "the header is too long");
    if (error == beast_http::error::body_limit) return refusal(413, "the body is too long");
    if (error.category() == beast_http::make_error_code(beast_http::error::bad_method).category() &&
        error != beast_http::error::end_of_stream && error != beast_http::error::partial_message)
        return refusal(400, "this is no HTTP request");
    return std::nullopt;
}

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;
using Secure = beast::ssl_stream<beast::tcp_stream>;
using Local = beast::basic_stream<stream_protocol>;

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

std::string address_of(const tcp::socket& socket) {
    error_code gone;
    const auto address = socket.remote_endpoint(gone).address();
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

/// Who has not said a whole request for the longest time, of the address with the most such
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

template <class Stream>
Task<void> serve(std::shared_ptr<Shared> shared, Stream stream,
                 std::list<HttpPlace>::iterator place) {
    HttpConnection<Stream> connection{std::move(stream), *place, shared->settings, shared->handler};
    place->close = [&connection] { connection.close(); };
    try {
        if (!shared->stopped && !place->closed) co_await connection.serve();
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", shared->settings.name, wrong.what());
    }
    shared->open.erase(place);
    shared->room.cancel();
}

template <class Stream>
void spawn(const std::shared_ptr<Shared>& shared, Stream stream, std::string address) {
    take_place(*shared, std::move(address));
    asio::co_spawn(shared->executor,
                   serve(shared, std::move(stream), std::prev(shared->open.end())),
                   [shared](std::exception_ptr error) {
                       if (error) std::rethrow_exception(error);
                   });
}

void take(const std::shared_ptr<Shared>& shared, tcp::socket socket) {
    std::string address = address_of(socket);
    if (shared->tls)
        spawn(shared, Secure{std::move(socket), *shared->tls->context()}, std::move(address));
    else
        spawn(shared, beast::tcp_stream{std::move(socket)}, std::move(address));
}

void take(const std::shared_ptr<Shared>& shared, stream_protocol::socket socket) {
    spawn(shared, Local{std::move(socket)}, "");
}

template <class Acceptor>
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

template <class Protocol>
class Server final : public HttpServer {
public:
    using Acceptor = typename Protocol::acceptor;
    using Endpoint = typename Protocol::endpoint;

    Server(std::shared_ptr<Shared> shared, std::shared_ptr<Acceptor> acceptor, Endpoint here)
        : shared_(std::move(shared)), acceptor_(std::move(acceptor)), here_(std::move(here)) {
        asio::co_spawn(shared_->executor, accept(shared_, acceptor_), asio::detached);
    }
    ~Server() override { Server::stop(); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::string address() const override { return to_string(here_); }
    std::uint16_t port() const override {
        if constexpr (std::is_same_v<Endpoint, TcpEndpoint>) return here_.port();
        return 0;
    }
    std::optional<TimePoint> certificate_expires() const override {
        if (!shared_->tls) return std::nullopt;
        return shared_->tls->expires();
    }
    void stop() override {
        if (std::exchange(shared_->stopped, true)) return;
        error_code ignored;
        acceptor_->close(ignored);
        if constexpr (!std::is_same_v<Endpoint, TcpEndpoint>) ::unlink(here_.path().c_str());
        shared_->room.cancel();
        for (HttpPlace& place : shared_->open) close(place);
    }

private:
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Acceptor> acceptor_;
    Endpoint here_;
};

error_code open_for(tcp::acceptor& acceptor, const TcpEndpoint& endpoint,
                    const HttpServerSettings&) {
    return open_acceptor(acceptor, endpoint);
}

error_code open_for(stream_protocol::acceptor& acceptor, const UnixEndpoint& endpoint,
                    const HttpServerSettings& settings) {
    return open_acceptor(acceptor, endpoint, settings.group_too);
}

template <class Protocol>
Result<std::unique_ptr<HttpServer>> listen(std::shared_ptr<Shared> shared,
                                           const typename Protocol::endpoint& endpoint) {
    auto acceptor = std::make_shared<typename Protocol::acceptor>(shared->executor);
    error_code error = open_for(*acceptor, endpoint, shared->settings);
    auto here = endpoint;
    if (!error) here = acceptor->local_endpoint(error);
    if (error)
        return Error{Errc::unreachable, shared->settings.name + ": can't listen on " +
                                            shared->settings.address + ": " + error.message()};
    return std::unique_ptr<HttpServer>{
        std::make_unique<Server<Protocol>>(std::move(shared), std::move(acceptor), here)};
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
    if (const auto* tcp_endpoint = std::get_if<TcpEndpoint>(&*endpoint))
        return listen<tcp>(std::move(shared), *tcp_endpoint);
    return listen<stream_protocol>(std::move(shared), std::get<UnixEndpoint>(*endpoint));
}

}  // namespace reaper
