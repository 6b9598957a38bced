// The transport with sockets: pooled keep-alive connections, TLS.
#include <algorithm>
#include <map>
#include <utility>

#include "clients/http/connection.hpp"
#include "clients/http/pool.hpp"
#include "clients/http/retry.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/transport.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::http {
namespace {

namespace asio = boost::asio;
namespace wire = boost::beast::http;
using std::chrono::steady_clock;

wire::verb verb_of(Method method) {
    switch (method) {
        case Method::get: return wire::verb::get;
        case Method::head: return wire::verb::head;
        case Method::post: return wire::verb::post;
        case Method::put: return wire::verb::put;
        case Method::del: return wire::verb::delete_;
    }
    return wire::verb::get;
}

WireRequest wire_request(const Outgoing& call) {
    WireRequest message(verb_of(call.request.method), call.url.target(), 11);
    message.set(wire::field::host, host_header(call.url.endpoint));
    message.set(wire::field::user_agent, "reaper");
    message.set(wire::field::accept, "application/json");
    message.set("X-Openstack-Request-Id", call.our_id);
    for (const Header& header : call.request.headers) message.set(header.name, header.value);
    message.body() = call.request.body;
    message.prepare_payload();
    return message;
}

Failure not_sent(Failure failure) {
    failure.sent = false;
    return failure;
}

/// Why it is not to be written now; none if it is wanted.
std::optional<Failure> unwanted(const Outgoing& call, bool may_be_heard) {
    if (!call.request.still_wanted || call.request.still_wanted(may_be_heard)) return std::nullopt;
    Failure failure{Errc::cancelled, "not sent: it is not wanted any more", false};
    failure.unwanted = true;
    return not_sent(std::move(failure));
}

class PooledTransport final : public Transport {
public:
    PooledTransport(asio::any_io_executor executor, const Options& options,
                    std::shared_ptr<TlsContext> tls)
        : executor_(std::move(executor)),
          limits_{options.max_connections, options.max_waiting, options.idle_timeout},
          connect_timeout_(options.connect_timeout),
          max_body_bytes_(options.max_body_bytes),
          tls_(std::move(tls)) {}

    TimeLimit now() const override { return steady_clock::now(); }
    Task<Try> exchange(const Outgoing& call, TimeLimit limit) override;

private:
    Task<Try> on_new(Lease& lease, const Outgoing& call, const WireRequest& message,
                     TimeLimit limit, bool may_be_heard);
    std::shared_ptr<Pool> pool_for(const Endpoint& endpoint);

    asio::any_io_executor executor_;
    PoolLimits limits_;
    Duration connect_timeout_;
    std::uint64_t max_body_bytes_;
    std::shared_ptr<TlsContext> tls_;
    std::map<Endpoint, std::shared_ptr<Pool>> pools_;
};

/// A connection that can take another call goes back.
Transport::Try conclude(Lease& lease, std::unique_ptr<Connection> connection,
                        std::variant<Exchange, Failure> outcome) {
    if (auto* failure = std::get_if<Failure>(&outcome)) return std::move(*failure);
    Exchange& done = std::get<Exchange>(outcome);
    if (done.reusable) lease.put_back(std::move(connection));
    return std::move(done.response);
}

/// A call that went out on a stale connection may have been heard, whatever became of the second.
Transport::Try of_both(const Failure& stale, Transport::Try again) {
    auto* failure = std::get_if<Failure>(&again);
    if (failure == nullptr) return again;
    failure->sent = true;
    if (!failure->unwanted) return again;
    Failure both = stale;
    both.cause += "; not sent again: it is not wanted any more";
    both.retryable = false;
    return both;
}

std::shared_ptr<Pool> PooledTransport::pool_for(const Endpoint& endpoint) {
    auto& pool = pools_[endpoint];
    if (!pool) pool = std::make_shared<Pool>(executor_, limits_);
    return pool;
}

Task<Transport::Try> PooledTransport::exchange(const Outgoing& call, TimeLimit limit) {
    const auto pool = pool_for(call.url.endpoint);
    auto turn = co_await pool->acquire(limit);
    if (auto* failure = std::get_if<Failure>(&turn)) co_return not_sent(std::move(*failure));
    Lease& lease = std::get<Lease>(turn);
    const WireRequest message = wire_request(call);

    if (auto connection = lease.take_idle()) {
        if (auto refused = unwanted(call, call.may_be_heard)) {
            lease.put_back(std::move(connection));
            co_return std::move(*refused);
        }
        auto outcome = co_await connection->exchange(message, max_body_bytes_, limit);
        const auto* failure = std::get_if<Failure>(&outcome);
        // The server may have closed it just before our request: that says nothing about the
        // service, so a new connection decides.
        const bool stale = failure != nullptr && !failure->answer_began &&
                           failure->code == Errc::unreachable && is_repeatable(call.request);
        if (!stale) co_return conclude(lease, std::move(connection), std::move(outcome));
        Try again = co_await on_new(lease, call, message, limit, true);
        co_return of_both(*failure, std::move(again));
    }
    co_return co_await on_new(lease, call, message, limit, call.may_be_heard);
}

Task<Transport::Try> PooledTransport::on_new(Lease& lease, const Outgoing& call,
                                             const WireRequest& message, TimeLimit limit,
                                             bool may_be_heard) {
    auto connection = std::make_unique<Connection>(executor_, call.url.endpoint, tls_);
    const TimeLimit connect_limit = std::min(limit, steady_clock::now() + connect_timeout_);
    auto failure = co_await connection->open(connect_limit);
    if (failure) {
        if (failure->code == Errc::timeout)
            failure->cause +=
                " (" + format_duration(std::min(connect_timeout_, call.allowed)) + " to connect)";
        co_return not_sent(std::move(*failure));
    }
    if (auto refused = unwanted(call, may_be_heard)) co_return std::move(*refused);
    auto outcome = co_await connection->exchange(message, max_body_bytes_, limit);
    co_return conclude(lease, std::move(connection), std::move(outcome));
}

}  // namespace

Result<std::shared_ptr<Transport>> make_pooled_transport(asio::any_io_executor executor,
                                                         const Options& options) {
    auto tls = make_tls_context(options.tls);
    if (!tls) return tls.error();
    return std::shared_ptr<Transport>(
        std::make_shared<PooledTransport>(std::move(executor), options, std::move(*tls)));
}

}  // namespace reaper::http
