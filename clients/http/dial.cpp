#include "clients/http/dial.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "clients/http/resolve.hpp"
#include "clients/http/tls.hpp"

namespace reaper::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

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
