#include "reaper/daemon/api_channel.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "clients/http/client.hpp"
#include "clients/http/line_stream.hpp"
#include "clients/openstack/credentials.hpp"
#include "config/environment.hpp"
#include "config/loader.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/runtime/system_clock.hpp"

namespace reaper {

bool is_this_machine(const std::string& host) {
    if (host == "localhost") return true;
    boost::system::error_code none;
    const auto address = boost::asio::ip::make_address(host, none);
    return !none && address.is_loopback();
}

namespace {

// The identity of the caller of a remote daemon: a token, never shown.

constexpr const char* what_to_do =
    "give one by OS_TOKEN or --token-file, or credentials by OS_AUTH_URL and the other OS_* "
    "variables";

/// Neither spaces nor what would end a header.
bool is_token(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (c <= ' ' || c > '~') return false;
    return true;
}

Result<config::Secret> token_in(const std::string& text, const std::string& place) {
    std::string token{trimmed(text)};
    if (!is_token(token)) return Error{Errc::bad_input, place + ": holds no token"};
    return config::Secret{std::move(token)};
}

Result<config::Secret> token_of(const http::Response& answer, const config::Credentials& who) {
    if (answer.status == 401)
        return Error{Errc::unauthorized, who.auth_url + ": Keystone refuses the credentials of " +
                                             openstack::describe(who) +
                                             "; check the OS_* variables"};
    if (!answer.ok())
        return Error{Errc::rejected, who.auth_url + ": Keystone gives no token, but answers " +
                                         std::to_string(answer.status)};
    std::string token{trimmed(answer.header("X-Subject-Token"))};
    if (!is_token(token))
        return Error{Errc::bad_answer, who.auth_url + ": Keystone's answer holds no token"};
    return config::Secret{std::move(token)};
}

/// A password may be read on its way, or told to the wrong one.
void warn_of_open_ways(const config::Cloud& cloud) {
    const std::string& url = cloud.credentials.auth_url;
    const auto parsed = http::parse_url(url);
    if (parsed && !parsed->endpoint.tls && !is_this_machine(parsed->endpoint.host))
        spdlog::warn("{}: the credentials cross the network unencrypted: use https",
                     printable(url));
    else if (parsed && parsed->endpoint.tls && !cloud.verify_tls)
        spdlog::warn("{}: its certificate is not verified, and credentials go there",
                     printable(url));
}

/// The token of --token-file, else OS_TOKEN; none: neither is given. `bad_input` if it is none.
Result<std::optional<config::Secret>> given_token(const ApiOptions& options,
                                                  const config::Environment& environment) {
    using Given = std::optional<config::Secret>;
    if (!options.token_file.empty()) {
        const auto file = environment.read_file(options.token_file);
        if (!file)
            return Error{Errc::bad_input, "--token-file: " + options.token_file +
                                              " can't be read (" + file.error().what + ")"};
        auto token = token_in(file->text, "--token-file: " + options.token_file);
        return token ? Result<Given>{std::move(*token)} : token.error();
    }
    const auto variable = environment.variable("OS_TOKEN");
    if (!variable || variable->empty()) return Given{};
    auto token = token_in(*variable, "OS_TOKEN");
    return token ? Result<Given>{std::move(*token)} : token.error();
}

/// A new one from Keystone, for the credentials of the OS_* variables. `bad_input` says what they
/// lack; `unauthorized`: Keystone refuses them.
Result<config::Secret> keystone_token(boost::asio::io_context& io, Clock& clock,
                                      const ApiOptions& options,
                                      const config::Environment& environment) {
    const auto is_set = [&](const char* name) {
        const auto value = environment.variable(name);
        return value && !value->empty();
    };
    if (!is_set("OS_AUTH_URL") && !is_set("OS_CLOUD"))
        return Error{Errc::unauthorized, "the daemon demands a token: " + std::string{what_to_do}};
    auto read = config::load_cloud_of_environment(environment);
    if (const auto* const errors = std::get_if<std::vector<config::ConfigError>>(&read))
        return Error{Errc::bad_input, "no token can be had: " + config::to_string(errors->front())};
    const auto& cloud = std::get<config::Cloud>(read);
    warn_of_open_ways(cloud);
    const auto root = openstack::keystone_root(cloud.credentials.auth_url);
    if (!root) return root.error();
    http::Options how;
    how.tls.ca_file = cloud.ca_file.empty() ? options.ca_file : cloud.ca_file;
    how.tls.cert_file = cloud.cert_file;
    how.tls.key_file = cloud.key_file;
    how.tls.verify = cloud.verify_tls;
    how.tls.ca_key = "OS_CACERT";
    how.max_retries = 0;
    auto client = http::make_client(io.get_executor(), std::move(how), clock);
    if (!client) return client.error();
    http::Request request;
    request.method = http::Method::post;
    request.url = *root + "/auth/tokens";
    request.service = "keystone";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = openstack::auth_body(cloud.credentials);
    const auto answer = run_task(io, (*client)->call(std::move(request)));
    if (!answer) return answer.error();
    return token_of(*answer, cloud.credentials);
}

constexpr std::string_view socket_scheme = "unix:";

class SocketChannel final : public ApiChannel {
public:
    SocketChannel(std::string path, bool remote) : path_(std::move(path)), remote_(remote) {}

    Result<http::LocalAnswer> ask(http::Method method, const std::string& target,
                                  const std::string& body) override {
        const Duration silence = method == http::Method::get ? longest_ : Duration{60'000};
        return http::ask_locally(path_, method, target, body, silence, heard_);
    }
    bool heard() const override { return heard_; }
    Result<http::LocalAnswer> stream(
        http::Method method, const std::string& target, const std::string& body,
        const std::function<void(const std::string&)>& on_line) override {
        return http::stream_locally(path_, method, target, body, on_line);
    }
    std::string name() const override { return path_; }
    bool remote() const override { return remote_; }

private:
    std::string path_;
    bool remote_;
    bool heard_ = true;
};

std::string advice_for(Errc code, http::Method method) {
    const bool sent = code == Errc::unreachable || code == Errc::timeout;
    if (method == http::Method::post && sent)
        return "; it may have been done anyway: look before you ask again";
    switch (code) {
        case Errc::unreachable:
            return "; is the daemon running there, and is that its admin.listen?";
        case Errc::timeout: return "; it does not answer in time: try again, or look at its log";
        default: return "";
    }
}

/// The task's result, or `cancelled` once a user pressed Ctrl-C.
Result<http::LocalAnswer> run_until_signal(boost::asio::io_context& io,
                                           ResultTask<http::LocalAnswer> task) {
    std::optional<Result<http::LocalAnswer>> result;
    std::exception_ptr failure;
    boost::asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](const boost::system::error_code& error, int) {
        if (!error) io.stop();
    });
    auto on_end = [&](std::exception_ptr thrown, Result<http::LocalAnswer> value) {
        failure = thrown;
        if (!thrown) result.emplace(std::move(value));
        io.stop();
    };
    boost::asio::co_spawn(io, std::move(task), on_end);
    io.run();
    if (failure) std::rethrow_exception(failure);
    if (result) return std::move(*result);
    return Error{Errc::cancelled, "interrupted"};
}

class NetworkChannel final : public ApiChannel {
public:
    NetworkChannel(http::Url url, ApiOptions options, config::Environment environment,
                   std::optional<config::Secret> token)
        : url_(std::move(url)),
          options_(std::move(options)),
          environment_(std::move(environment)),
          token_(std::move(token)) {}

    Result<void> open() {
        http::Options how;
        tls_.ca_file = options_.ca_file;
        tls_.ca_key = "--ca-file";
        tls_.cert_file = options_.cert_file;
        tls_.key_file = options_.key_file;
        how.tls = tls_;
        how.call_timeout = longest_;
        how.max_retries = 0;
        auto client = http::make_client(io_.get_executor(), std::move(how), *clock_);
        if (!client) return client.error();
        client_ = std::move(*client);
        return {};
    }

    Result<http::LocalAnswer> ask(http::Method method, const std::string& target,
                                  const std::string& body) override {
        return with_token([&] { return once(method, target, body); });
    }
    Result<http::LocalAnswer> stream(
        http::Method method, const std::string& target, const std::string& body,
        const std::function<void(const std::string&)>& on_line) override {
        return with_token([&] { return stream_once(method, target, body, on_line); });
    }
    std::string name() const override { return http::to_string(url_.endpoint); }

private:
    Result<void> may_get_a_token() const {
        if (url_.endpoint.tls || is_this_machine(url_.endpoint.host)) return {};
        return Error{Errc::bad_input,
                     name() + ": a token would cross the network unencrypted: use https"};
    }

    /// Once more with a token of Keystone, if that is what is missing.
    template <class Ask>
    Result<http::LocalAnswer> with_token(const Ask& ask) {
        auto answer = ask();
        if (!answer || answer->status != 401 || token_) return answer;
        if (const auto fits = may_get_a_token(); !fits) return fits.error();
        auto token = keystone_token(io_, *clock_, options_, environment_);
        if (!token) return Error{token.error().code, name() + ": " + token.error().what};
        *options_.fetched = std::move(*token);
        return ask();
    }

    /// `bad_input`: it would send a token unencrypted.
    Result<http::Request> request_of(http::Method method, const std::string& target,
                                     const std::string& body) const {
        http::Request request;
        request.method = method;
        request.url = name() + url_.path + target;
        request.service = "reaper";
        if (method == http::Method::get) request.deadline = longest_;
        const config::Secret& token = token_ ? *token_ : *options_.fetched;
        if (!token.empty()) {
            if (const auto fits = may_get_a_token(); !fits) return fits.error();
            request.headers.push_back({"X-Auth-Token", token.reveal()});
        }
        if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
        request.body = body;
        return request;
    }

    static Error advised(const Error& error, http::Method method) {
        return Error{error.code, error.what + advice_for(error.code, method)};
    }

    Result<http::LocalAnswer> once(http::Method method, const std::string& target,
                                   const std::string& body) {
        auto request = request_of(method, target, body);
        if (!request) return request.error();
        auto answer = run_task(io_, client_->call(std::move(*request)));
        if (answer) return http::LocalAnswer{answer->status, std::move(answer->body)};
        return advised(answer.error(), method);
    }

    /// On an executor of its own: `on_line` may ask for more.
    Result<http::LocalAnswer> stream_once(http::Method method, const std::string& target,
                                          const std::string& body,
                                          const std::function<void(const std::string&)>& on_line) {
        auto request = request_of(method, target, body);
        if (!request) return request.error();
        http::StreamOptions how;
        how.tls = tls_;
        boost::asio::io_context io{1};
        auto answer = run_until_signal(io, http::stream_lines(io.get_executor(), std::move(how),
                                                              std::move(*request), on_line));
        if (!answer) return advised(answer.error(), method);
        return answer;
    }

    http::Url url_;  ///< its path without a slash at the end
    ApiOptions options_;
    config::Environment environment_;
    std::optional<config::Secret> token_;
    http::TlsOptions tls_{};
    boost::asio::io_context io_{1};
    std::unique_ptr<Clock> clock_ = make_system_clock(io_.get_executor());
    std::unique_ptr<http::Client> client_;
};

}  // namespace

std::unique_ptr<ApiChannel> socket_channel(const std::string& path) {
    return std::make_unique<SocketChannel>(path, false);
}

Result<std::unique_ptr<ApiChannel>> api_channel(const ApiOptions& options,
                                                const config::Environment& environment) {
    using Channel = std::unique_ptr<ApiChannel>;
    const std::string& written = options.url;
    if (written.starts_with(socket_scheme)) {
        std::string path = written.substr(socket_scheme.size());
        if (path.starts_with('/')) return Channel{new SocketChannel{std::move(path), true}};
        return Error{Errc::bad_input, "--api: expected unix:/PATH of the daemon's admin.socket"};
    }
    auto url = http::parse_url(written);
    if (!url) return Error{Errc::bad_input, "--api: " + url.error().what};
    if (!url->query.empty())
        return Error{Errc::bad_input, "--api: expected an address without a ?query"};
    for (const std::string_view end : {"/", "/v1"})
        if (url->path.ends_with(end)) url->path.resize(url->path.size() - end.size());
    auto token = given_token(options, environment);
    if (!token) return token.error();
    auto channel =
        std::make_unique<NetworkChannel>(std::move(*url), options, environment, std::move(*token));
    if (const auto opened = channel->open(); !opened)
        return Error{Errc::bad_input, "--api: " + opened.error().what};
    return Channel{std::move(channel)};
}

}  // namespace reaper
