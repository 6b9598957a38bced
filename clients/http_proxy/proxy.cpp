#include "clients/http_proxy/proxy.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <list>
#include <utility>
#include <variant>

#include "clients/http_proxy/client_connection.hpp"
#include "clients/http_proxy/upstream.hpp"
#include "clients/http_server/address.hpp"
#include "clients/http_server/tls.hpp"

namespace reaper {
namespace proxy {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Waits until a client waits in the kernel's queue. It has a request, so the connection that has
/// been idle for the longest is closed, or else the one that has been in the middle of a head for
/// the longest. False if no more clients are accepted.
Task<bool> make_room(std::shared_ptr<Shared> shared, std::shared_ptr<tcp::acceptor> acceptor) {
    const auto told = asio::as_tuple(asio::use_awaitable);
    const auto [error] = co_await acceptor->async_wait(tcp::acceptor::wait_read, told);
    if (error) co_return false;
    while (!shared->draining && shared->open.size() >= shared->settings.limits.connections) {
        if (!shared->idle.empty())
            close_client(*shared->idle.front());
        else if (!shared->heads.empty())
            close_client(*shared->heads.front());
        shared->room.expires_at(asio::steady_timer::time_point::max());
        co_await shared->room.async_wait(told);
    }
    co_return !shared->draining;
}

Task<void> accept_clients(std::shared_ptr<Shared> shared, std::shared_ptr<tcp::acceptor> acceptor) {
    const auto told = asio::as_tuple(asio::use_awaitable);
    while (!shared->draining) {
        if (shared->open.size() >= shared->settings.limits.connections) {
            const bool has_room = co_await make_room(shared, acceptor);
            if (!has_room) co_return;
            continue;
        }
        auto [error, socket] = co_await acceptor->async_accept(told);
        if (shared->draining || error == asio::error::operation_aborted) co_return;
        if (!error)
            take_client(shared, std::move(socket));
        else if (error != asio::error::connection_aborted)
            co_await wait_after_failed_accept(shared->executor, shared->settings.name, error);
    }
}

void close_all(std::list<ClientConnection*> connections) {
    for (ClientConnection* const connection : connections) close_client(*connection);
}

void forget_upstreams(Shared& shared) {
    shared.upstream->forget_idle();
    if (shared.other != nullptr) shared.other->forget_idle();
}

Task<void> wait_for_clients(std::shared_ptr<Shared> shared, Duration most) {
    const auto limit = std::chrono::steady_clock::now() + most;
    while (!shared->open.empty() && std::chrono::steady_clock::now() < limit) {
        shared->room.expires_at(limit);
        co_await shared->room.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    close_all(shared->open);
    forget_upstreams(*shared);
}

class Proxy final : public HttpProxy {
public:
    Proxy(std::shared_ptr<Shared> shared, std::shared_ptr<tcp::acceptor> acceptor, TcpEndpoint here)
        : shared_(std::move(shared)), acceptor_(std::move(acceptor)), here_(std::move(here)) {
        auto accepting = accept_clients(shared_, acceptor_);
        asio::co_spawn(shared_->executor, std::move(accepting), asio::detached);
    }
    ~Proxy() override { Proxy::stop(); }
    Proxy& operator=(Proxy&&) = delete;

    std::string address() const override { return to_string(here_); }
    std::uint16_t port() const override { return here_.port(); }
    std::optional<TimePoint> certificate_expires() const override {
        if (!shared_->tls) return std::nullopt;
        return shared_->tls->expires();
    }
    HttpProxyState state() const override {
        HttpProxyState state = shared_->state;
        state.connections = shared_->open.size();
        return state;
    }
    Task<void> drain(Duration most) override {
        stop_listening();
        close_all(shared_->idle);
        return wait_for_clients(shared_, most);
    }
    void stop() override {
        stop_listening();
        close_all(shared_->open);
        forget_upstreams(*shared_);
    }

private:
    void stop_listening() {
        shared_->draining = true;
        error_code ignored;
        acceptor_->close(ignored);
        shared_->room.cancel();
    }

    std::shared_ptr<Shared> shared_;
    std::shared_ptr<tcp::acceptor> acceptor_;
    TcpEndpoint here_;
};

Result<void> prepare(Shared& shared) {
    const HttpProxySettings& settings = shared.settings;
    const http::Endpoint& endpoint = settings.upstream.endpoint;
    if (!settings.upstream.query.empty())
        return Error{Errc::bad_input, settings.name + ": the upstream's URL has a query"};
    shared.prefixes.upstream = path_prefix(settings.upstream.path);
    shared.prefixes.ours =
        settings.path_prefix ? path_prefix(*settings.path_prefix) : shared.prefixes.upstream;
    shared.authority = http::host_header(endpoint);
    if (settings.tls) {
        auto tls = ServerTls::read(*settings.tls, settings.name);
        if (!tls) return tls.error();
        shared.tls = std::move(*tls);
    }
    std::shared_ptr<http::TlsContext> upstream_tls;
    if (endpoint.tls) {
        auto tls = http::make_tls_context(settings.upstream_tls);
        if (!tls) return tls.error();
        upstream_tls = std::move(*tls);
    }
    shared.upstream = std::make_shared<Upstream>(shared.executor, settings.name, endpoint,
                                                 std::move(upstream_tls), settings.limits);
    return {};
}

}  // namespace
}  // namespace proxy

Result<std::unique_ptr<HttpProxy>> listen_proxy(boost::asio::any_io_executor executor,
                                                HttpProxySettings settings,
                                                std::shared_ptr<ProxyHandler> handler) {
    const auto address = endpoint_of(settings.address);
    const auto* const endpoint = address ? std::get_if<TcpEndpoint>(&*address) : nullptr;
    if (endpoint == nullptr)
        return Error{Errc::bad_input, settings.name + ": '" + settings.address +
                                          "' is no address; expected IP:PORT"};
    auto shared = std::make_shared<proxy::Shared>(std::move(executor), std::move(settings),
                                                  std::move(handler));
    if (const auto ready = proxy::prepare(*shared); !ready) return ready.error();
    auto acceptor = std::make_shared<boost::asio::ip::tcp::acceptor>(shared->executor);
    boost::system::error_code error = open_acceptor(*acceptor, *endpoint);
    TcpEndpoint here = *endpoint;
    if (!error) here = acceptor->local_endpoint(error);
    if (error)
        return Error{Errc::unreachable, shared->settings.name + ": can't listen on " +
                                            shared->settings.address + ": " + error.message()};
    return std::unique_ptr<HttpProxy>{
        std::make_unique<proxy::Proxy>(std::move(shared), std::move(acceptor), here)};
}

}  // namespace reaper
