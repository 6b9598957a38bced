#include "clients/prometheus/prometheus.hpp"

#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "clients/http/keeping.hpp"
#include "clients/http/refusal.hpp"
#include "clients/http/url.hpp"
#include "clients/prometheus/answer.hpp"
#include "clients/prometheus/request.hpp"
#include "reaper/model/text.hpp"

namespace reaper {

namespace prometheus {

namespace {

class Prometheus final : public Metrics, public std::enable_shared_from_this<Prometheus> {
public:
    Prometheus(const PrometheusOptions& options, std::unique_ptr<http::Client> client)
        : options_(options),
          root_(api_root(options)),
          authorization_(authorization(options)),
          client_(std::move(client)) {}

    ResultTask<std::vector<Sample>> query(std::string expression) override {
        return http::keeping(shared_from_this(), ask(std::move(expression)));
    }
    ResultTask<std::vector<SampleSeries>> query_range(std::string expression, TimePoint from,
                                                      TimePoint to, Duration step) override {
        return http::keeping(shared_from_this(), ask_range(std::move(expression), from, to, step));
    }

private:
    struct Call {
        std::string path;
        std::string expression;
        std::vector<std::pair<std::string_view, std::string>> fields;
    };

    ResultTask<std::vector<Sample>> ask(std::string expression) {
        Call call{"/query", std::move(expression), {}};
        auto body = co_await post(call);
        if (!body) co_return body.error();
        co_return rows_of(read_samples(*body, options_.max_samples), call);
    }

    ResultTask<std::vector<SampleSeries>> ask_range(std::string expression, TimePoint from,
                                                    TimePoint to, Duration step) {
        Call call{"/query_range", std::move(expression), {}};
        if (from > to || step <= Duration(0))
            co_return Error{Errc::bad_input,
                            name(call) + ": from must not be after to, and step must be positive"};
        call.fields = {{"start", seconds_text(from.time_since_epoch())},
                       {"end", seconds_text(to.time_since_epoch())},
                       {"step", seconds_text(step)}};
        auto body = co_await post(call);
        if (!body) co_return body.error();
        co_return rows_of(read_series(*body, options_.max_samples), call);
    }

    /// `prometheus http://host:9090/api/v1/query of 'up'`
    std::string name(const Call& call) const {
        return "prometheus " + root_ + call.path + " of " + in_quotes(call.expression);
    }

    http::Request request_for(Call& call) const {
        call.fields.emplace_back("query", call.expression);
        call.fields.emplace_back("timeout", seconds_text(options_.timeout));
        http::Request request;
        request.method = http::Method::post;
        request.url = root_ + call.path;
        request.service = "prometheus";
        request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                           {"Accept", "application/json"}};
        if (!authorization_.empty()) request.headers.push_back({"Authorization", authorization_});
        request.body = form(call.fields);
        request.repeat = http::Repeat::safe;
        request.deadline = options_.timeout;
        return request;
    }

    /// The body of an answer that is 200.
    ResultTask<std::string> post(Call& call) {
        if (trimmed(call.expression).empty())
            co_return Error{Errc::bad_input, name(call) + ": there is no expression"};
        http::Request request = request_for(call);
        auto response = co_await client_->call(std::move(request));
        if (!response) co_return response.error();
        if (response->status != 200) co_return told(refusal(*response), call);
        co_return std::move(response->body);
    }

    template <class Row>
    Result<std::vector<Row>> rows_of(Result<Found<Row>> found, const Call& call) {
        if (!found) return told(found.error(), call);
        for (const std::string& remark : found->remarks) log_once(remark, call);
        return std::move(found->rows);
    }

    /// With the call that it is about, and without what must not be seen.
    Error told(Error error, const Call& call) const {
        error.what = http::without(std::move(error.what), authorization_);
        error.what = http::without(std::move(error.what), options_.token.reveal());
        error.what = http::without(std::move(error.what), options_.password.reveal());
        error.what = name(call) + ": " + error.what;
        return error;
    }

    void log_once(const std::string& remark, const Call& call) {
        constexpr std::size_t most = 100;
        if (logged_.size() >= most || !logged_.insert(remark).second) return;
        spdlog::warn("{}: {}", name(call), remark);
        if (logged_.size() == most) spdlog::warn("prometheus: further remarks are not logged");
    }

    PrometheusOptions options_;
    std::string root_;
    std::string authorization_;
    std::unique_ptr<http::Client> client_;
    std::set<std::string> logged_;
};

http::Options http_options(const PrometheusOptions& options) {
    http::Options wanted;
    wanted.tls.ca_file = options.ca_file;
    wanted.tls.verify = options.verify_tls;
    wanted.tls.ca_key = std::string(settings_name) + ".ca_file";
    wanted.call_timeout = options.timeout;
    wanted.connect_timeout = std::min(wanted.connect_timeout, options.timeout);
    wanted.max_retries = 0;
    wanted.max_connections = 4;
    wanted.max_waiting = 1'000;
    wanted.max_body_bytes = options.max_body_bytes;
    return wanted;
}

}  // namespace

}  // namespace prometheus

Result<std::shared_ptr<Metrics>> connect_prometheus(const PrometheusOptions& options,
                                                    std::unique_ptr<http::Client> client) {
    if (auto checked = prometheus::check_options(options); !checked) return checked.error();
    return std::make_shared<prometheus::Prometheus>(options, std::move(client));
}

Result<std::shared_ptr<Metrics>> connect_prometheus(boost::asio::any_io_executor executor,
                                                    const PrometheusOptions& options,
                                                    Clock& clock) {
    if (auto checked = prometheus::check_options(options); !checked) return checked.error();
    auto client = http::make_client(std::move(executor), prometheus::http_options(options), clock);
    if (!client) return client.error();
    return connect_prometheus(options, std::move(*client));
}

}  // namespace reaper
