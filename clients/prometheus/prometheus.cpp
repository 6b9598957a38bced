#include "clients/prometheus/prometheus.hpp"

#include <algorithm>
#include <cstdlib>
#include <openssl/evp.h>
#include <set>

#include "clients/http/failure.hpp"
#include "clients/http/transport.hpp"
#include "clients/prometheus/answer.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::prometheus {

namespace {

std::string setting(std::string_view name) {
    return std::string(settings_name) + '.' + std::string(name);
}

Error wrong_setting(std::string_view name, std::string_view why) {
    return {Errc::bad_input, setting(name) + ": " + std::string(why)};
}

std::string base64(const std::string& text) {
    std::string encoded(4 * ((text.size() + 2) / 3) + 1, '\0');  // and a null byte
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    encoded.resize(static_cast<std::size_t>(size));
    return encoded;
}

}  // namespace

Result<void> check_options(const PrometheusOptions& options) {
    const auto url = http::parse_url(options.url);
    if (!url) return wrong_setting("url", url.error().what);
    if (options.url.find('?') != std::string::npos)
        return wrong_setting("url", "must not have a ?query");
    if (options.username.find(':') != std::string::npos)
        return wrong_setting("username", "must not have a colon in it");
    if (options.username.empty() && !options.password.empty())
        return wrong_setting("username", "is missing, beside the password");
    if (!options.username.empty() && !options.token.empty())
        return wrong_setting("token", "and username can't be both set");
    if (options.timeout <= Duration(0)) return wrong_setting("timeout", "must be positive");
    return {};
}

std::string api_root(const PrometheusOptions& options) {
    std::string root = options.url;
    while (root.ends_with('/')) root.pop_back();
    return root + "/api/v1";
}

std::string authorization(const PrometheusOptions& options) {
    if (!options.token.empty()) return "Bearer " + options.token.reveal();
    if (options.username.empty()) return {};
    return "Basic " + base64(options.username + ':' + options.password.reveal());
}

std::string form(const std::vector<std::pair<std::string_view, std::string>>& fields) {
    std::string text;
    for (const auto& [name, value] : fields) {
        if (!text.empty()) text += '&';
        text.append(name).append("=").append(http::escape(value));
    }
    return text;
}

std::string seconds_text(Duration duration) {
    const auto [whole, thousandths] = std::lldiv(duration.count(), 1000);
    const std::string decimals = std::to_string(1000 + std::llabs(thousandths)).substr(1);
    const bool minus = whole == 0 && thousandths < 0;
    return (minus ? "-" : "") + std::to_string(whole) + '.' + decimals;
}

}  // namespace reaper::prometheus

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
