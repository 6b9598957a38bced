#include "clients/http/transport.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <list>
#include <map>
#include <optional>

#include "clients/http/dial.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/wire.hpp"

namespace reaper::http {

// A transport that reports each try: how many calls there are, and how long they take.

namespace {

class ObservedTransport final : public Transport {
public:
    ObservedTransport(std::shared_ptr<Transport> inner, CallObserver observer)
        : inner_(std::move(inner)), observer_(std::move(observer)) {}

    TimeLimit now() const override { return inner_->now(); }

    Task<Try> exchange(const Outgoing& call, TimeLimit limit) override {
        const TimeLimit start = inner_->now();
        Try outcome = co_await inner_->exchange(call, limit);
        tell(call, outcome, inner_->now() - start);
        co_return outcome;
    }

private:
    void tell(const Outgoing& call, const Try& outcome, std::chrono::duration<double> took) const {
        CallSeen seen;
        seen.service = call.request.service;
        seen.method = call.request.method;
        seen.url = call.request.url;
        seen.took = took;
        if (const auto* failure = std::get_if<Failure>(&outcome)) {
            if (failure->unwanted) return;
            seen.failure = failure->code;
        } else {
            const auto& answer = std::get<Response>(outcome);
            seen.status = answer.status;
            seen.date = http_date(answer.header("date"));
        }
        observer_(seen);
    }

    std::shared_ptr<Transport> inner_;
    CallObserver observer_;
};

}  // namespace

std::shared_ptr<Transport> observed(std::shared_ptr<Transport> inner, CallObserver observer) {
    return std::make_shared<ObservedTransport>(std::move(inner), std::move(observer));
}

// The transport with sockets: keep-alive connections with or without TLS, pooled per endpoint.

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;
using Parser = wire::response_parser<wire::string_body>;

constexpr std::uint32_t max_header_bytes = 64 * 1024;
constexpr int max_interim_answers = 8;  // 1xx before the real one

/// An answer, and whether the connection can take another call.
struct Exchange {
    Response response;
    bool reusable = false;
};

/// One connection to one endpoint: opened once, used for one call after another.
class Connection {
public:
    /// `tls` may be null for an endpoint without TLS.
    Connection(const asio::any_io_executor& executor, Endpoint endpoint,
               std::shared_ptr<TlsContext> tls)
        : endpoint_(std::move(endpoint)),
          context_(std::move(tls)),
          stream_(executor, endpoint_.tls ? ssl_of(context_) : nullptr) {}

    /// Looks the name up, connects, and shakes hands. Once.
    Task<std::optional<Failure>> open(TimeLimit limit) {
        static const TlsOptions none;
        return dial(stream_, endpoint_, context_ ? context_->options : none, limit);
    }
    /// Sends the request and reads all of the answer. After a failure the connection is of no use.
    Task<std::variant<Exchange, Failure>> exchange(const WireRequest& request,
                                                   std::uint64_t max_body_bytes, TimeLimit limit);
    /// False if the server closed it, or sent something unasked, since the last call.
    bool looks_alive() { return stream_.looks_alive(); }

private:
    Endpoint endpoint_;
    std::shared_ptr<TlsContext> context_;
    SocketStream stream_;
    boost::beast::flat_buffer buffer_;
};

Failure failed_reading(const error_code& error, const Parser& parser,
                       std::uint64_t max_body_bytes) {
    Failure failure = explain(error, Stage::reading, max_body_bytes);
    failure.answer_began = parser.got_some();
    if (failure.answer_began && failure.code == Errc::unreachable)
        failure.cause = "the answer broke off in the middle";
    return failure;
}

Exchange finish(Parser& parser, bool clean) {
    auto message = parser.release();
    Exchange exchange;
    exchange.reusable = clean && message.keep_alive() && !message.need_eof();
    exchange.response.status = static_cast<int>(message.result_int());
    for (const auto& field : message)
        exchange.response.headers.push_back(
            {std::string(field.name_string()), std::string(field.value())});
    exchange.response.body = std::move(message.body());
    return exchange;
}

Task<std::variant<Exchange, Failure>> Connection::exchange(const WireRequest& request,
                                                           std::uint64_t max_body_bytes,
                                                           TimeLimit limit) {
    stream_.expires_at(limit);
    const std::string head = head_of(request);
    error_code error = co_await write_message(stream_, head, request.body());
    if (error) co_return explain(error, Stage::sending, max_body_bytes);

    for (int interim = 0; interim <= max_interim_answers; ++interim) {
        Parser parser;
        parser.header_limit(max_header_bytes);
        parser.body_limit(max_body_bytes);
        parser.skip(request.method() == wire::verb::head);
        error = co_await read_message(stream_, buffer_, parser, Until::header);
        if (error) co_return failed_reading(error, parser, max_body_bytes);
        if (parser.get().result_int() < 200) continue;
        error = co_await read_message(stream_, buffer_, parser, Until::end);
        if (error) co_return failed_reading(error, parser, max_body_bytes);
        co_return finish(parser, buffer_.size() == 0);
    }
    co_return Failure{Errc::bad_answer, "only interim answers (1xx)", false, true};
}

class Pool;

/// The right to use one connection of the pool; returned by the destructor.
class Lease {
public:
    explicit Lease(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    /// The most recently used connection that still looks alive; null if there is none.
    std::unique_ptr<Connection> take_idle();
    void put_back(std::unique_ptr<Connection> connection);

private:
    std::shared_ptr<Pool> pool_;
};

struct PoolLimits {
    std::size_t max_connections = 8;
    std::size_t max_waiting = 65'536;
    Duration idle_timeout{30'000};
};

/// The connections to one endpoint: a limit on how many work at a time, a queue of calls that wait
/// for one, first come first served, and idle ones kept for the next call.
class Pool : public std::enable_shared_from_this<Pool> {
public:
    Pool(asio::any_io_executor executor, PoolLimits limits);

    /// Waits its turn; a Failure at the limit, or at once if too many wait. An urgent call waits
    /// for none: it counts, and the next ones wait longer.
    Task<std::variant<Lease, Failure>> acquire(TimeLimit limit, bool urgent);

private:
    friend class Lease;
    struct Waiter;
    class Place;

    void release();

    asio::any_io_executor executor_;
    PoolLimits limits_;
    std::size_t active_ = 0;
    std::list<Waiter*> waiting_;
    IdleConnections<std::unique_ptr<Connection>> idle_;
};

struct Pool::Waiter {
    asio::steady_timer turn_or_late;
    bool granted = false;
};

/// A place in the queue. Leaves it in its destructor; a turn that was granted but never taken
/// (its coroutine was cancelled meanwhile) goes to the next.
class Pool::Place {
public:
    Place(Pool& pool, Waiter& waiter) : pool_(pool), waiter_(waiter) {
        at_ = pool.waiting_.insert(pool.waiting_.end(), &waiter);
    }
    Place& operator=(Place&&) = delete;
    ~Place() {
        if (!waiter_.granted)
            pool_.waiting_.erase(at_);
        else if (!taken_)
            pool_.release();
    }
    void take() { taken_ = true; }

private:
    Pool& pool_;
    Waiter& waiter_;
    std::list<Waiter*>::iterator at_;
    bool taken_ = false;
};

Lease::~Lease() {
    if (pool_) pool_->release();
}

std::unique_ptr<Connection> Lease::take_idle() {
    return pool_->idle_.take();
}

void Lease::put_back(std::unique_ptr<Connection> connection) {
    pool_->idle_.put_back(std::move(connection));
}

Pool::Pool(asio::any_io_executor executor, PoolLimits limits)
    : executor_(std::move(executor)),
      limits_(limits),
      idle_(limits.max_connections, limits.idle_timeout) {}

Task<std::variant<Lease, Failure>> Pool::acquire(TimeLimit limit, bool urgent) {
    const auto self = shared_from_this();
    if (urgent || active_ < limits_.max_connections) {
        ++active_;
        co_return Lease(self);
    }
    if (waiting_.size() >= limits_.max_waiting)
        co_return Failure{
            Errc::unreachable,
            "too many calls wait for a connection (" + std::to_string(waiting_.size()) + ")",
            false};
    Waiter waiter{asio::steady_timer(executor_, limit)};
    Place place(*this, waiter);
    error_code ignored;
    co_await waiter.turn_or_late.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!waiter.granted)
        co_return Failure{Errc::timeout,
                          "no free connection in time (all " +
                              std::to_string(limits_.max_connections) + " were in use)",
                          false};
    place.take();
    co_return Lease(self);
}

void Pool::release() {
    if (waiting_.empty() || active_ > limits_.max_connections) {
        --active_;
        return;
    }
    Waiter* const next = waiting_.front();
    waiting_.pop_front();
    next->granted = true;
    next->turn_or_late.cancel();
}

WireRequest message_of(const Outgoing& call) {
    return wire_request(call.request, call.url.target(), host_header(call.url.endpoint),
                        {{"Accept", "application/json"}, {"X-Openstack-Request-Id", call.our_id}});
}

Failure not_sent(Failure failure) {
    failure.sent = false;
    return failure;
}

/// Why it is not to be written now; none if it is wanted.
std::optional<Failure> unwanted(const Outgoing& call, bool may_be_heard) {
    if (!call.request.still_wanted || call.request.still_wanted(may_be_heard)) return std::nullopt;
    Failure failure{Errc::cancelled, "not sent: it is no longer wanted", false};
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
    if (failure == nullptr) {
        std::get<Response>(again).repeated = true;
        return again;
    }
    failure->sent = true;
    if (!failure->unwanted) return again;
    Failure both = stale;
    both.cause += "; not sent again: it is no longer wanted";
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
    // What it rests on gets old while it waits.
    const bool urgent = static_cast<bool>(call.request.still_wanted);
    auto turn = co_await pool->acquire(limit, urgent);
    if (auto* failure = std::get_if<Failure>(&turn)) co_return not_sent(std::move(*failure));
    Lease& lease = std::get<Lease>(turn);
    const WireRequest message = message_of(call);

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
