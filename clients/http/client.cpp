#include "clients/http/client.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstdio>
#include <random>
#include <utility>

#include "clients/http/failure.hpp"
#include "clients/http/transport.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::http {

namespace {

/// `req-` and a random UUID (version 4), the form that OpenStack takes over from a caller.
std::string make_request_id(std::mt19937_64& random) {
    const std::uint64_t high = (random() & ~0xF000ULL) | 0x4000ULL;
    const std::uint64_t low = (random() & ~(3ULL << 62U)) | (2ULL << 62U);
    std::array<char, 41> text{};
    std::snprintf(text.data(), text.size(), "req-%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32U), static_cast<unsigned>(high >> 16U & 0xFFFFU),
                  static_cast<unsigned>(high & 0xFFFFU), static_cast<unsigned>(low >> 48U),
                  static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
    return text.data();
}

namespace asio = boost::asio;

bool has_line_break(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

Result<void> check_headers(const Request& request) {
    for (const Header& header : request.headers)
        if (has_line_break(header.name) || has_line_break(header.value))
            return Error{Errc::bad_input,
                         "header " + one_line(header.name, 60) + " has a line break in it"};
    return {};
}

bool was_sent(const Transport::Try& outcome) {
    const auto* failure = std::get_if<Failure>(&outcome);
    return failure == nullptr || failure->sent;
}

/// One call, from its first try to its last.
struct Call {
    Outgoing out;
    TimeLimit limit;
    int tries = 0;
    std::optional<Transport::Try> former;  ///< the last try that may have been heard

    std::string where() const {
        return std::string(to_string(out.request.method)) + ' ' + to_string(out.url.endpoint) +
               shown_target(out.url);
    }
    std::string after_tries() const {
        return tries > 1 ? " (" + std::to_string(tries) + " tries)" : "";
    }
};

class Core {
public:
    Core(std::shared_ptr<Transport> transport, Options options, Clock& clock)
        : transport_(std::move(transport)),
          options_(std::move(options)),
          clock_(clock),
          random_(std::random_device{}()) {}

    ResultTask<Response> call(Request request);

private:
    using Try = Transport::Try;

    Result<Call> prepare(Request request);
    ResultTask<Response> run(Call& call);
    /// The pause before the next try; none if this was the last.
    std::optional<Duration> next_pause(const Call& call, const Try& outcome);
    Result<Response> conclude(Call& call, Try outcome) const;
    void log_try(const Call& call, const Try& outcome, TimeLimit start) const;
    Duration left(const Call& call) const {
        return std::chrono::floor<Duration>(call.limit - transport_->now());
    }
    double random();

    std::shared_ptr<Transport> transport_;
    Options options_;
    Clock& clock_;
    std::mt19937_64 random_;
};

double Core::random() {
    if (options_.random) return options_.random();
    return std::uniform_real_distribution<double>(0, 1)(random_);
}

Result<Call> Core::prepare(Request request) {
    auto url = parse_url(request.url);
    if (!url) return url.error();
    if (auto checked = check_headers(request); !checked) return checked.error();
    const Duration allowed = request.deadline.value_or(options_.call_timeout);
    Outgoing out{std::move(request), std::move(*url), make_request_id(random_), allowed};
    return Call{std::move(out), transport_->now() + allowed, 0, std::nullopt};
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
        const auto start = transport_->now();
        Try outcome = co_await transport_->exchange(call.out, call.limit);
        log_try(call, outcome, start);
        const auto pause = next_pause(call, outcome);
        if (!pause) co_return conclude(call, std::move(outcome));
        if (was_sent(outcome)) {
            call.former = std::move(outcome);
            call.out.may_be_heard = true;
        }
        co_await clock_.sleep(*pause);
    }
}

std::optional<Duration> Core::next_pause(const Call& call, const Try& outcome) {
    if (call.tries > options_.max_retries || !is_repeatable(call.out.request)) return std::nullopt;
    Duration pause = backoff_pause(options_.backoff, options_.backoff_max, call.tries, random());
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
        if (!failure->retryable) return std::nullopt;
    } else {
        const Response& response = std::get<Response>(outcome);
        if (!is_retryable(call.out.request, response.status)) return std::nullopt;
        const auto asked = retry_after(response.header("retry-after"), clock_.now());
        if (asked) pause = std::max(pause, *asked);
    }
    if (pause >= left(call)) return std::nullopt;
    return pause;
}

Result<Response> Core::conclude(Call& call, Try outcome) const {
    const auto* refused = std::get_if<Failure>(&outcome);
    const bool repeated = refused != nullptr && refused->unwanted && call.former;
    if (repeated) outcome = std::move(*call.former);
    if (auto* response = std::get_if<Response>(&outcome)) {
        response->repeated = response->repeated || call.out.may_be_heard;
        return std::move(*response);
    }
    const Failure& failure = std::get<Failure>(outcome);
    std::string cause = failure.cause;
    if (failure.code == Errc::timeout && left(call) <= Duration(0) && failure.retryable)
        cause = "no answer within " + format_duration(call.out.allowed);
    if (repeated) cause += "; not sent again: it is no longer wanted";
    return Error{failure.code, call.where() + ": " + cause + call.after_tries()};
}

void Core::log_try(const Call& call, const Try& outcome, TimeLimit start) const {
    if (!spdlog::should_log(spdlog::level::debug)) return;
    const auto took = std::chrono::floor<Duration>(transport_->now() - start).count();
    const auto& request = call.out.request;
    const std::string what = std::string(to_string(request.method)) + ' ' + request.service + ' ' +
                             shown_target(call.out.url);
    if (const auto* response = std::get_if<Response>(&outcome)) {
        const std::string id = one_line(response->request_id(), 60);
        spdlog::debug("{} {} in {} ms ({})", what, response->status, took,
                      id.empty() ? call.out.our_id : id);
    } else {
        spdlog::debug("{} failed in {} ms: {} ({})", what, took, std::get<Failure>(outcome).cause,
                      call.out.our_id);
    }
}

class RetryingClient final : public Client {
public:
    explicit RetryingClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}
    ResultTask<Response> call(Request request) override {
        return keeping(core_, core_->call(std::move(request)));
    }

private:
    std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<Client> make_client(std::shared_ptr<Transport> transport, Options options,
                                    Clock& clock) {
    auto core = std::make_shared<Core>(std::move(transport), std::move(options), clock);
    return std::make_unique<RetryingClient>(std::move(core));
}

Result<std::unique_ptr<Client>> make_client(boost::asio::any_io_executor executor, Options options,
                                            Clock& clock) {
    auto transport = make_pooled_transport(std::move(executor), options);
    if (!transport) return transport.error();
    if (options.on_try) *transport = observed(std::move(*transport), options.on_try);
    return make_client(std::move(*transport), std::move(options), clock);
}

}  // namespace reaper::http
