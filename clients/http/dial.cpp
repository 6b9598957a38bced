#include "clients/http/dial.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <variant>
#include <vector>

#include "clients/http/tls.hpp"

namespace reaper::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

using Addresses = std::vector<asio::ip::tcp::endpoint>;

/// Shared with the handler, which may come long after the waiting coroutine has gone.
struct Lookup {
    Lookup(const asio::any_io_executor& executor, TimeLimit limit)
        : resolver(executor), done_or_late(executor, limit) {}

    asio::ip::tcp::resolver resolver;
    asio::steady_timer done_or_late;
    bool done = false;
    boost::system::error_code error;
    Addresses addresses;
};

/// The system's resolver can't be interrupted: at the limit its answer is no longer waited for. An
/// address needs no look-up.
Task<std::variant<Addresses, Failure>> resolve(asio::any_io_executor executor,
                                               const Endpoint& endpoint, TimeLimit limit) {
    boost::system::error_code error;
    const auto literal = asio::ip::make_address(endpoint.host, error);
    if (!error) co_return Addresses{asio::ip::tcp::endpoint(literal, endpoint.port)};

    const auto lookup = std::make_shared<Lookup>(executor, limit);
    const auto handler = [lookup](const boost::system::error_code& failed,
                                  const asio::ip::tcp::resolver::results_type& found) {
        lookup->done = true;
        lookup->error = failed;
        for (const auto& entry : found) lookup->addresses.push_back(entry.endpoint());
        lookup->done_or_late.cancel();
    };
    lookup->resolver.async_resolve(endpoint.host, std::to_string(endpoint.port),
                                   asio::ip::tcp::resolver::numeric_service, handler);
    co_await lookup->done_or_late.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (!lookup->done) {
        lookup->resolver.cancel();
        co_return Failure{Errc::timeout, "the name of the host is not resolved in time"};
    }
    if (lookup->error) co_return explain(lookup->error, Stage::connecting, 0);
    if (lookup->addresses.empty()) co_return Failure{Errc::unreachable, "no such host name"};
    co_return std::move(lookup->addresses);
}

Task<std::optional<Failure>> secure(SocketStream& stream, const Endpoint& endpoint,
                                    const TlsOptions& options, TimeLimit limit) {
    SSL* const ssl = stream.tls()->native_handle();
    if (!prepare_tls(ssl, endpoint, options.verify))
        co_return Failure{Errc::tls, "the host's name can't be checked against a certificate",
                          false};
    stream.expires_at(limit);
    const auto error = co_await stream.shake_hands(asio::ssl::stream_base::client);
    if (error == beast::error::timeout)
        co_return Failure{Errc::timeout, "no TLS handshake in time"};
    if (error) co_return explain_handshake(error, ssl, options, endpoint);
    co_return std::nullopt;
}

}  // namespace

Task<std::optional<Failure>> dial(SocketStream& stream, const Endpoint& endpoint,
                                  const TlsOptions& options, TimeLimit limit) {
    SocketStream::Plain& tcp = stream.tcp();
    auto found = co_await resolve(tcp.get_executor(), endpoint, limit);
    if (auto* failure = std::get_if<Failure>(&found)) co_return std::move(*failure);
    const Addresses& addresses = std::get<Addresses>(found);

    boost::system::error_code error;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        // An address that swallows packets must leave time for the next one.
        const auto now = std::chrono::steady_clock::now();
        const auto share = (limit - now) / static_cast<int>(addresses.size() - i);
        tcp.expires_at(now + share);
        co_await tcp.async_connect(addresses[i], asio::redirect_error(asio::use_awaitable, error));
        if (!error || error == asio::error::operation_aborted) break;
        stream.close();
    }
    if (error == beast::error::timeout) co_return Failure{Errc::timeout, "no connection in time"};
    if (error) co_return explain(error, Stage::connecting, 0);
    tcp.socket().set_option(asio::ip::tcp::no_delay(true), error);
    if (stream.tls() == nullptr) co_return std::nullopt;
    co_return co_await secure(stream, endpoint, options, limit);
}

}  // namespace reaper::http
