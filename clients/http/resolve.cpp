#include "clients/http/resolve.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

namespace reaper::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Shared with the handler, which may come long after the waiting coroutine has gone.
struct Lookup {
    Lookup(const asio::any_io_executor& executor, TimeLimit limit)
        : resolver(executor), done_or_late(executor, limit) {}

    tcp::resolver resolver;
    asio::steady_timer done_or_late;
    bool done = false;
    boost::system::error_code error;
    Addresses addresses;
};

}  // namespace

Task<std::variant<Addresses, Failure>> resolve(asio::any_io_executor executor,
                                               const Endpoint& endpoint, TimeLimit limit) {
    boost::system::error_code error;
    const auto literal = asio::ip::make_address(endpoint.host, error);
    if (!error) co_return Addresses{tcp::endpoint(literal, endpoint.port)};

    const auto lookup = std::make_shared<Lookup>(executor, limit);
    const auto handler = [lookup](const boost::system::error_code& failed,
                                  const tcp::resolver::results_type& found) {
        lookup->done = true;
        lookup->error = failed;
        for (const auto& entry : found) lookup->addresses.push_back(entry.endpoint());
        lookup->done_or_late.cancel();
    };
    lookup->resolver.async_resolve(endpoint.host, std::to_string(endpoint.port),
                                   tcp::resolver::numeric_service, handler);
    co_await lookup->done_or_late.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (!lookup->done) {
        lookup->resolver.cancel();
        co_return Failure{Errc::timeout, "the name of the host is not resolved in time"};
    }
    if (lookup->error) co_return explain(lookup->error, Stage::connecting, 0);
    if (lookup->addresses.empty()) co_return Failure{Errc::unreachable, "no such host name"};
    co_return std::move(lookup->addresses);
}

}  // namespace reaper::http
