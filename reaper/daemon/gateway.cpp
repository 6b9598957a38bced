#include "reaper/daemon/gateway.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/resource.h>
#include <utility>

#include "clients/http_proxy/proxy.hpp"
#include "clients/openstack/openstack.hpp"
#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper {

namespace asio = boost::asio;

namespace {

/// The longest time that calls under way may take after a stop.
constexpr Duration longest_drain{30'000};
constexpr Duration between_looks{1'000};
constexpr Duration first_pause{1'000};
constexpr Duration longest_pause{30'000};

/// Two connections for each client, and what else the program has open.
void allow_open_files(std::size_t clients) {
    const rlim_t wanted = 2 * clients + 256;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted)
        spdlog::warn(
            "gateway: only {} files may be open, {} are needed for {} clients (LimitNOFILE)",
            limit.rlim_cur, wanted, clients);
}

/// What the proxy is made with. `bad_input` if the URL can't be used.
Result<HttpProxySettings> proxy_settings(const Gateway::Settings& of,
                                         const std::string& placement_url) {
    const config::Gateway& gateway = of.gateway;
    auto url = http::parse_url(placement_url);
    if (!url) return Error{Errc::bad_input, "gateway: " + url.error().what};
    HttpProxySettings settings;
    settings.name = "gateway";
    settings.address = gateway.listen;
    if (!gateway.cert_file.empty())
        settings.tls = HttpServerTls{gateway.cert_file, gateway.key_file, gateway.client_ca_file};
    settings.upstream = std::move(*url);
    settings.upstream_tls = http_options(of.cloud, of.http).tls;
    if (!gateway.path_prefix.empty()) settings.path_prefix = gateway.path_prefix;
    settings.limits.connections = static_cast<std::size_t>(gateway.max_connections);
    settings.limits.upstream = gateway.upstream_timeout;
    settings.limits.connect = of.http.connect_timeout;
    return settings;
}

}  // namespace

std::string known_placement_url(const config::Gateway& gateway, const config::Cloud& cloud) {
    if (!gateway.placement_url.empty()) return gateway.placement_url;
    const auto endpoint = cloud.endpoint_overrides.find("placement");
    return endpoint == cloud.endpoint_overrides.end() ? "" : endpoint->second;
}

std::string advertised_url(const config::Gateway& gateway) {
    if (gateway.listen.empty()) return "";
    const std::size_t port = gateway.listen.rfind(':');
    std::string host = gateway.listen.substr(0, port);
    if (host == "0.0.0.0" || host == "[::]") host = machine_name();
    return (gateway.cert_file.empty() ? "http://" : "https://") + host +
           gateway.listen.substr(port);
}

Gateway::Gateway(asio::io_context& io, Settings settings, CloudSession* session,
                 std::function<void(ServiceStatus)> on_status,
                 std::shared_ptr<ProxyHandler> handler)
    : io_(io),
      settings_(std::move(settings)),
      session_(session),
      on_status_(std::move(on_status)),
      handler_(std::move(handler)),
      timer_(io) {}

Gateway::~Gateway() = default;

Result<void> Gateway::listen() {
    const std::string url = known_placement_url(settings_.gateway, settings_.cloud);
    if (url.empty()) return {};
    return listen_for(url);
}

Result<void> Gateway::listen_for(const std::string& placement_url) {
    auto settings = proxy_settings(settings_, placement_url);
    if (!settings) return settings.error();
    allow_open_files(settings->limits.connections);
    const std::string upstream = to_string(settings->upstream.endpoint) + settings->upstream.path;
    const bool secure = settings->tls.has_value();
    auto made = listen_proxy(io_.get_executor(), std::move(*settings), handler_);
    if (!made) return made.error();
    proxy_ = std::move(*made);
    spdlog::info("gateway: {}://{} leads to Placement at {}", secure ? "https" : "http",
                 proxy_->address(), upstream);
    return {};
}

/// Until Keystone answers, and we listen.
Task<void> Gateway::find_placement() {
    Duration pause = first_pause;
    while (!stopping_ && proxy_ == nullptr) {
        auto found = co_await session_->endpoint(CloudService::placement);
        if (stopping_) co_return;
        const auto listening = found ? listen_for(found->url) : Result<void>{found.error()};
        if (listening) co_return;
        const std::string why = listening.error().what;
        if (why != waits_for_) spdlog::error("gateway: not listening yet: {}", why);
        waits_for_ = why;
        report();
        co_await sleep(pause);
        pause = std::min(2 * pause, longest_pause);
    }
}

ResultTask<void> Gateway::run() {
    if (proxy_ == nullptr && !known_placement_url(settings_.gateway, settings_.cloud).empty()) {
        const auto listening = listen();
        if (!listening) co_return listening.error();
    }
    if (proxy_ == nullptr) co_await find_placement();
    while (!stopping_) {
        report();
        if (proxy_ != nullptr) proxy_->certificate_expires();  // logs files that changed
        co_await sleep(between_looks);
    }
    if (proxy_ != nullptr) co_await proxy_->drain(longest_drain);
    co_return Result<void>{};
}

Task<void> Gateway::sleep(Duration span) {
    if (stopping_) co_return;
    timer_.expires_after(span);
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void Gateway::stop() {
    stopping_ = true;
    timer_.cancel();
}

bool Gateway::may_be_cut_off() const {
    return proxy_ == nullptr || proxy_->state().calls == 0;
}

std::string Gateway::line() const {
    if (proxy_ == nullptr)
        return "gateway: not listening yet" +
               (waits_for_.empty() ? std::string{} : ": " + printable(waits_for_));
    const std::size_t calls = proxy_->state().calls;
    const std::string decided = handler_ ? handler_->line() : std::string{};
    return "gateway: " + proxy_->address() + ", " + std::to_string(calls) +
           (calls == 1 ? " call" : " calls") + (decided.empty() ? "" : ", ") + decided;
}

std::optional<TimePoint> Gateway::certificate_expires() const {
    if (proxy_ == nullptr) return std::nullopt;
    return proxy_->certificate_expires();
}

void Gateway::report() {
    ServiceStatus status;
    status.line = line();
    status.ready = proxy_ != nullptr;
    if (!on_status_ || status.line == reported_) return;
    reported_ = status.line;
    on_status_(std::move(status));
}

ResultTask<void> WithGateway::run() {
    asio::experimental::channel<void(boost::system::error_code)> ended(io_, 1);
    std::optional<Error> failed;
    auto on_end = [&](std::exception_ptr thrown, Result<void> result) {
        if (!thrown && !result) failed = result.error();
        ended.try_send(boost::system::error_code{});
        if (thrown) std::rethrow_exception(thrown);
    };
    asio::co_spawn(io_, gateway_.run(), on_end);
    auto served = co_await service_.run();
    gateway_.stop();
    co_await ended.async_receive(asio::use_awaitable);
    if (served && failed) co_return *failed;
    co_return served;
}

}  // namespace reaper
