#include "clients/http/client.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <map>
#include <random>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/http/connection.hpp"
#include "clients/http/keeping.hpp"
#include "clients/http/pool.hpp"
#include "clients/http/request_id.hpp"
#include "clients/http/retry.hpp"
#include "clients/http/text.hpp"
#include "clients/http/tls.hpp"
#include "clients/http/url.hpp"

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

bool has_line_break(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

Result<WireRequest> wire_request(Request& request, const Url& url, const std::string& our_id) {
    WireRequest message(verb_of(request.method), url.target(), 11);
    message.set(wire::field::host, host_header(url.endpoint));
    message.set(wire::field::user_agent, "reaper");
    message.set(wire::field::accept, "application/json");
    message.set("X-Openstack-Request-Id", our_id);
    for (const Header& header : request.headers) {
        if (has_line_break(header.name) || has_line_break(header.value))
            return Error{Errc::bad_input,
                         "header " + one_line(header.name, 60) + " has a line break in it"};
        message.set(header.name, header.value);
    }
    message.body() = std::move(request.body);
    message.prepare_payload();
    return message;
}

/// One call, from its first try to its last.
struct Call {
    Request request;
    Url url;
    WireRequest wire;
    std::string our_id;
    Duration allowed{};
    TimeLimit limit;
    int tries = 0;

    Duration left() const { return std::chrono::floor<Duration>(limit - steady_clock::now()); }
    std::string where() const {
        return std::string(to_string(request.method)) + ' ' + to_string(url.endpoint) +
               shown_target(url);
    }
    std::string after_tries() const {
        return tries > 1 ? " (" + std::to_string(tries) + " tries)" : "";
    }
};

class Core {
public:
    Core(asio::any_io_executor executor, Options options, std::shared_ptr<TlsContext> tls,
         Clock& clock)
        : executor_(std::move(executor)),
          options_(std::move(options)),
          tls_(std::move(tls)),
          clock_(clock),
          random_(std::random_device{}()) {}

    ResultTask<Response> call(Request request);

private:
    using Try = std::variant<Exchange, Failure>;

    Result<Call> prepare(Request request);
    ResultTask<Response> run(Call& call);
    Task<Try> try_once(Call& call);
    Task<Try> try_on_new(Lease& lease, Call& call);
    /// The pause before the next try; none if this was the last.
    std::optional<Duration> next_pause(const Call& call, const Try& outcome);
    Result<Response> conclude(const Call& call, Try outcome) const;
    void log_try(const Call& call, const Try& outcome, steady_clock::time_point start) const;
    std::shared_ptr<Pool> pool_for(const Endpoint& endpoint);
    double random();

    asio::any_io_executor executor_;
    Options options_;
    std::shared_ptr<TlsContext> tls_;
    Clock& clock_;
    std::mt19937_64 random_;
    std::map<Endpoint, std::shared_ptr<Pool>> pools_;
};

double Core::random() {
    if (options_.random) return options_.random();
    return std::uniform_real_distribution<double>(0, 1)(random_);
}

std::shared_ptr<Pool> Core::pool_for(const Endpoint& endpoint) {
    auto& pool = pools_[endpoint];
    if (!pool) {
        const PoolLimits limits{options_.max_connections, options_.max_waiting,
                                options_.idle_timeout};
        pool = std::make_shared<Pool>(executor_, limits);
    }
    return pool;
}

Result<Call> Core::prepare(Request request) {
    auto url = parse_url(request.url);
    if (!url) return url.error();
    std::string id = make_request_id(random_);
    auto message = wire_request(request, *url, id);
    if (!message) return message.error();
    const Duration allowed = request.deadline.value_or(options_.call_timeout);
    return Call{std::move(request), std::move(*url), std::move(*message),
                std::move(id),      allowed,         steady_clock::now() + allowed};
}

ResultTask<Response> Core::call(Request request) {
    auto call = prepare(std::move(request));
    if (!call) co_return call.error();
    try {
        co_return co_await run(*call);
    } catch (const boost::system::system_error& error) {
        // Asio throws into a coroutine that is being cancelled.
        if (error.code() != asio::error::operation_aborted) throw;
        co_return Error{Errc::cancelled, call->where() + ": cancelled"};
    }
}

ResultTask<Response> Core::run(Call& call) {
    while (true) {
        ++call.tries;
        const auto start = steady_clock::now();
        Try outcome = co_await try_once(call);
        log_try(call, outcome, start);
        const auto pause = next_pause(call, outcome);
        if (!pause) co_return conclude(call, std::move(outcome));
        co_await clock_.sleep(*pause);
    }
}

Task<Core::Try> Core::try_once(Call& call) {
    const auto pool = pool_for(call.url.endpoint);
    auto turn = co_await pool->acquire(call.limit);
    if (auto* failure = std::get_if<Failure>(&turn)) co_return std::move(*failure);
    Lease& lease = std::get<Lease>(turn);

    if (auto connection = lease.take_idle()) {
        Try outcome = co_await connection->exchange(call.wire, options_.max_body_bytes, call.limit);
        const auto* failure = std::get_if<Failure>(&outcome);
        // The server may have closed it just before our request: that says nothing about the
        // service, so a new connection decides.
        const bool stale = failure != nullptr && !failure->answer_began &&
                           failure->code == Errc::unreachable && is_repeatable(call.request);
        if (!stale) {
            if (const auto* done = std::get_if<Exchange>(&outcome); done && done->reusable)
                lease.put_back(std::move(connection));
            co_return outcome;
        }
    }
    co_return co_await try_on_new(lease, call);
}

Task<Core::Try> Core::try_on_new(Lease& lease, Call& call) {
    auto connection = std::make_unique<Connection>(executor_, call.url.endpoint, tls_);
    const TimeLimit connect_limit =
        std::min(call.limit, steady_clock::now() + options_.connect_timeout);
    auto failure = co_await connection->open(connect_limit);
    if (failure) {
        if (failure->code == Errc::timeout)
            failure->cause +=
                " (" + words_for(std::min(options_.connect_timeout, call.allowed)) + " to connect)";
        co_return std::move(*failure);
    }
    Try outcome = co_await connection->exchange(call.wire, options_.max_body_bytes, call.limit);
    if (const auto* done = std::get_if<Exchange>(&outcome); done && done->reusable)
        lease.put_back(std::move(connection));
    co_return outcome;
}

std::optional<Duration> Core::next_pause(const Call& call, const Try& outcome) {
    if (call.tries > options_.max_retries || !is_repeatable(call.request)) return std::nullopt;
    Duration pause = backoff_pause(options_.backoff, options_.backoff_max, call.tries, random());
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
        if (!failure->retryable) return std::nullopt;
    } else {
        const Response& response = std::get<Exchange>(outcome).response;
        if (!is_retryable(call.request, response.status)) return std::nullopt;
        const auto asked = retry_after(response.header("retry-after"), clock_.now());
        if (asked) pause = std::max(pause, *asked);
    }
    if (pause >= call.left()) return std::nullopt;
    return pause;
}

Result<Response> Core::conclude(const Call& call, Try outcome) const {
    if (auto* done = std::get_if<Exchange>(&outcome)) return std::move(done->response);
    const Failure& failure = std::get<Failure>(outcome);
    std::string cause = failure.cause;
    if (failure.code == Errc::timeout && call.left() <= Duration(0) && failure.retryable)
        cause = "no answer within " + words_for(call.allowed);
    return Error{failure.code, call.where() + ": " + cause + call.after_tries()};
}

void Core::log_try(const Call& call, const Try& outcome, steady_clock::time_point start) const {
    if (!spdlog::should_log(spdlog::level::debug)) return;
    const auto took = std::chrono::floor<Duration>(steady_clock::now() - start).count();
    const auto& request = call.request;
    const std::string what = std::string(to_string(request.method)) + ' ' + request.service + ' ' +
                             shown_target(call.url);
    if (const auto* done = std::get_if<Exchange>(&outcome)) {
        const std::string id = one_line(done->response.request_id(), 60);
        spdlog::debug("{} {} in {} ms ({})", what, done->response.status, took,
                      id.empty() ? call.our_id : id);
    } else {
        spdlog::debug("{} failed in {} ms: {} ({})", what, took, std::get<Failure>(outcome).cause,
                      call.our_id);
    }
}

class BeastClient final : public Client {
public:
    explicit BeastClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}
    ResultTask<Response> call(Request request) override {
        return keeping(core_, core_->call(std::move(request)));
    }

private:
    std::shared_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<Client>> make_client(asio::any_io_executor executor, Options options,
                                            Clock& clock) {
    auto tls = make_tls_context(options.tls);
    if (!tls) return tls.error();
    auto core =
        std::make_shared<Core>(std::move(executor), std::move(options), std::move(*tls), clock);
    return std::make_unique<BeastClient>(std::move(core));
}

}  // namespace reaper::http
