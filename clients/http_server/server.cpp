#include "clients/http_server/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/http_server/address.hpp"
#include "clients/http_server/connection.hpp"

namespace reaper {

HttpResponse refusal(int status, const std::string& why) {
    HttpResponse response;
    response.status = status;
    response.body = "{\"version\":2,\"error\":\"" + why + "\"}\n";
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
    std::optional<asio::ssl::context> tls;
    std::map<std::uint64_t, std::function<void()>> open;  ///< each with how to close it
    std::uint64_t last_number = 0;
    asio::steady_timer room;  ///< ended when a connection is
    bool stopped = false;
};

template <class Stream>
Task<void> serve(std::shared_ptr<Shared> shared, Stream stream, std::uint64_t number) {
    HttpConnection<Stream> connection{std::move(stream), shared->settings, shared->handler};
    shared->open[number] = [&connection] { connection.close(); };
    try {
        if (!shared->stopped) co_await connection.serve();
    } catch (const std::exception& wrong) {
        spdlog::error("{}: {}", shared->settings.name, wrong.what());
    }
    shared->open.erase(number);
    shared->room.cancel();
}

template <class Stream>
void spawn(const std::shared_ptr<Shared>& shared, Stream stream) {
    const std::uint64_t number = ++shared->last_number;
    shared->open[number] = [] {};
    asio::co_spawn(shared->executor, serve(shared, std::move(stream), number),
                   [shared](std::exception_ptr error) {
                       if (error) std::rethrow_exception(error);
                   });
}

void take(const std::shared_ptr<Shared>& shared, tcp::socket socket) {
    if (shared->tls)
        spawn(shared, Secure{std::move(socket), *shared->tls});
    else
        spawn(shared, beast::tcp_stream{std::move(socket)});
}

void take(const std::shared_ptr<Shared>& shared, stream_protocol::socket socket) {
    spawn(shared, Local{std::move(socket)});
}

/// No file descriptor is left, or the like: a moment later there may be one.
Task<void> wait_a_moment(std::shared_ptr<Shared> shared, error_code why) {
    spdlog::warn("{}: {}; trying again", shared->settings.name, why.message());
    asio::steady_timer pause{shared->executor, std::chrono::seconds{1}};
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
}

template <class Acceptor>
Task<void> accept(std::shared_ptr<Shared> shared, std::shared_ptr<Acceptor> acceptor) {
    while (!shared->stopped) {
        if (shared->open.size() >= shared->settings.limits.connections) {
            shared->room.expires_at(asio::steady_timer::time_point::max());
            co_await shared->room.async_wait(asio::as_tuple(asio::use_awaitable));
            continue;
        }
        auto [error, socket] = co_await acceptor->async_accept(asio::as_tuple(asio::use_awaitable));
        if (shared->stopped || error == asio::error::operation_aborted) co_return;
        if (!error)
            take(shared, std::move(socket));
        else if (error != asio::error::connection_aborted)
            co_await wait_a_moment(shared, error);
    }
}

/// A socket's file stays when its process dies; nobody answers on it then.
void remove_left_over(const UnixEndpoint& endpoint, const asio::any_io_executor& executor) {
    stream_protocol::socket probe{executor};
    error_code error;
    probe.connect(endpoint, error);
    struct stat found {};
    if (error == asio::error::connection_refused && ::lstat(endpoint.path().c_str(), &found) == 0 &&
        S_ISSOCK(found.st_mode))
        ::unlink(endpoint.path().c_str());
}

template <class Acceptor, class Endpoint>
error_code open(Acceptor& acceptor, const Endpoint& endpoint) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if constexpr (std::is_same_v<Endpoint, TcpEndpoint>) {
        if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
        if (!error) acceptor.bind(endpoint, error);
    } else if (!error) {
        remove_left_over(endpoint, acceptor.get_executor());
        const ::mode_t before = ::umask(0177);
        acceptor.bind(endpoint, error);
        ::umask(before);
    }
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    return error;
}

Result<void> set_up_tls(Shared& shared) {
    if (!shared.settings.tls) return {};
    const HttpServerTls& files = *shared.settings.tls;
    error_code error;
    std::string file = files.cert_file;
    auto& context = shared.tls.emplace(asio::ssl::context::tls_server);
    context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                            asio::ssl::context::no_tlsv1_1,
                        error);
    if (!error) context.use_certificate_chain_file(file, error);
    if (!error) {
        file = files.key_file;
        context.use_private_key_file(file, asio::ssl::context::pem, error);
    }
    if (!error && !files.client_ca_file.empty()) {
        file = files.client_ca_file;
        context.load_verify_file(file, error);
        context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    if (error)
        return Error{Errc::bad_input,
                     shared.settings.name + ": can't use " + file + " for TLS: " + error.message()};
    return {};
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
    void stop() override {
        if (std::exchange(shared_->stopped, true)) return;
        error_code ignored;
        acceptor_->close(ignored);
        if constexpr (!std::is_same_v<Endpoint, TcpEndpoint>) ::unlink(here_.path().c_str());
        shared_->room.cancel();
        const auto open = shared_->open;
        for (const auto& [number, close] : open) close();
    }

private:
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<Acceptor> acceptor_;
    Endpoint here_;
};

template <class Protocol>
Result<std::unique_ptr<HttpServer>> listen(std::shared_ptr<Shared> shared,
                                           const typename Protocol::endpoint& endpoint) {
    auto acceptor = std::make_shared<typename Protocol::acceptor>(shared->executor);
    error_code error = open(*acceptor, endpoint);
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
    if (const auto ready = set_up_tls(*shared); !ready) return ready.error();
    if (const auto* tcp_endpoint = std::get_if<TcpEndpoint>(&*endpoint))
        return listen<tcp>(std::move(shared), *tcp_endpoint);
    return listen<stream_protocol>(std::move(shared), std::get<UnixEndpoint>(*endpoint));
}

}  // namespace reaper
