#include "reaper/daemon/composition.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <variant>

#include "clients/amqp/amqp_console.hpp"
#include "clients/amqp/amqp_events.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/http/client.hpp"
#include "clients/http_server/address.hpp"
#include "clients/http_server/server.hpp"
#include "clients/journal/copy.hpp"
#include "clients/journal/mariadb_journal.hpp"
#include "clients/journal/mariadb_reapers.hpp"
#include "clients/journal/mariadb_switch.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "clients/openstack/openstack.hpp"
#include "clients/pause/pause_file.hpp"
#include "config/dry_run.hpp"
#include "config/journal_url.hpp"
#include "config/loader.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/daemon/metrics_source.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"
#include "reaper/runtime/system_clock.hpp"

namespace reaper {

LoadedConfig read_config(const std::string& path, const std::function<void(std::string)>& complain,
                         const std::function<void(std::string)>& warn) {
    std::vector<config::ConfigError> warnings;
    auto loaded = config::load_settings(path, config::system_environment(), &warnings);
    for (const auto& warning : warnings) warn(config::to_string(warning));
    if (auto* settings = std::get_if<config::Settings>(&loaded))
        return {std::move(*settings), false};
    const auto& errors = std::get<std::vector<config::ConfigError>>(loaded);
    for (const auto& error : errors) complain(config::to_string(error));
    return {std::nullopt, config::only_unreadable(errors)};
}

std::optional<config::Settings> load_config(const std::string& path,
                                            const std::function<void(std::string)>& complain,
                                            const std::function<void(std::string)>& warn) {
    return read_config(path, complain, warn).settings;
}

CloudPorts Cloud::ports() const {
    return {*parts.identity, *parts.compute, *parts.placement, *parts.images, *clock};
}

Result<Cloud> connect_cloud(boost::asio::io_context& io, const config::Settings& settings,
                            http::CallObserver on_try) {
    Cloud cloud;
    cloud.clock = make_system_clock(io.get_executor());
    auto parts = connect_openstack(io.get_executor(), settings.cloud, settings.http, *cloud.clock,
                                   std::move(on_try));
    if (!parts) return parts.error();
    cloud.parts = std::move(*parts);
    return cloud;
}

Result<std::unique_ptr<http::Client>> connect_http(boost::asio::io_context& io,
                                                   const config::Cloud& cloud,
                                                   const config::Http& http, Clock& clock) {
    return http::make_client(io.get_executor(), http_options(cloud, http), clock);
}

Result<std::unique_ptr<Journal>> no_journal() {
    return open_journal(":memory:");
}

namespace {

/// The URL was checked when it was read.
Result<MariadbAddress> address_of(const config::JournalSettings& journal) {
    auto url = config::parse_journal_url(journal.url);
    if (!url) return Error{Errc::bad_input, "journal.url: " + url.error().what};
    MariadbAddress address;
    for (auto& host : url->hosts) address.hosts.push_back({std::move(host.name), host.port});
    address.socket = std::move(url->socket);
    address.user = std::move(url->user);
    address.database = std::move(url->database);
    address.password_file = journal.password_file;
    address.ca_file = journal.ca_file;
    address.tls = journal.tls;
    address.timeout = journal.timeout;
    return address;
}

Result<JournalPlace> place_of(const config::JournalSettings& journal) {
    if (journal.in_file()) return JournalPlace{journal.path};
    auto address = address_of(journal);
    if (!address) return address.error();
    return JournalPlace{std::move(*address)};
}

}  // namespace

Result<std::unique_ptr<JournalReader>> journal_to_read(const config::JournalSettings& journal) {
    if (journal.in_file()) return open_journal_for_reading(journal.path);
    const auto address = address_of(journal);
    if (!address) return address.error();
    return open_mariadb_journal_for_reading(*address);
}

Result<std::vector<std::string>> migrate_journal(const config::JournalSettings& journal,
                                                 bool dry_run) {
    const auto address = address_of(journal);
    if (!address) return address.error();
    return migrate_mariadb_journal(*address, dry_run);
}

Result<std::vector<CopiedRows>> copy_journal_rows(const config::JournalSettings& from,
                                                  const config::JournalSettings& to) {
    const auto source = place_of(from);
    if (!source) return source.error();
    const auto target = place_of(to);
    if (!target) return target.error();
    auto copied = copy_journal(*source, *target);
    if (!copied) return copied.error();
    std::vector<CopiedRows> rows;
    for (CopiedTable& table : *copied)
        rows.push_back({std::move(table.name), table.rows, std::move(table.digest)});
    return rows;
}

bool may_keep_at(const std::string& path) {
    const auto directory = std::filesystem::absolute(path).parent_path();
    struct stat found {};
    return ::stat(directory.c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

std::string reaper_name() {
    return machine_name() + ", process " + std::to_string(::getpid());
}

namespace {

Result<DaemonJournal> ours_alone(Result<std::unique_ptr<Journal>> journal) {
    if (!journal) return journal.error();
    return DaemonJournal{std::move(*journal)};
}

}  // namespace

Result<DaemonJournal> daemon_journal(const config::Settings& settings, bool asked) {
    if (!asked && !settings.journal.in_file()) {
        const auto address = address_of(settings.journal);
        if (!address) return address.error();
        const auto limit = std::make_shared<DeletionLimit>();
        const auto set = [limit](const config::Settings& now) {
            const auto& limits = now.policy.safeguards.limits;
            limit->window_ms = limits.window.count();
            limit->most = limits.victims_per_window;
        };
        set(settings);
        JournalOptions options;
        options.limit = limit;
        auto shared = open_or_follow_mariadb_journal(*address, reaper_name(), options);
        if (!shared) return shared.error();
        return DaemonJournal{std::move(shared->journal), std::move(shared->take_over), set};
    }
    if (!asked) {
        JournalOptions options;
        if (!settings.dry_run)
            options.on_protections_lost = [&settings](const std::string& why) {
                return PauseFile{settings.pause_file}.pause("reaper", why);
            };
        return ours_alone(open_journal(settings.journal.path, std::move(options)));
    }
    const std::string path = config::kept_by_dry_run(settings.journal, {}).journal.path;
    std::string why_not = "the directory of " + path + " is another user's";
    if (may_keep_at(path)) {
        auto journal = open_journal(path);
        if (journal) return ours_alone(std::move(journal));
        why_not = journal.error().what;
    }
    spdlog::warn("nothing is kept for 'reaper history' and 'reaper explain': {}", why_not);
    return ours_alone(no_journal());
}

std::unique_ptr<Reapers> daemon_reapers(const config::Settings& settings, ReaperNote self) {
    if (settings.journal.in_file()) return nullptr;
    return make_reapers(address_of(settings.journal).value(), std::move(self));
}

std::optional<ReaperList> reapers_of(const config::JournalSettings& journal) {
    if (journal.in_file()) return std::nullopt;
    return reapers_now(address_of(journal).value());
}

Switches make_switches(const std::string& pause_file, const config::JournalSettings& journal,
                       bool watched) {
    Switches switches{std::make_unique<PauseFile>(pause_file),
                      std::make_unique<PauseFile>(breaker_file(pause_file))};
    if (journal.in_file()) return switches;
    // Its URL was checked when it was read.
    const MariadbAddress address = address_of(journal).value();
    switches.pause = make_shared_switch(address, std::move(switches.pause),
                                        watched ? SwitchUse::watched : SwitchUse::once);
    return switches;
}

std::string reach_of_switch(const config::JournalSettings& journal) {
    return journal.in_file() ? "on this machine (" + machine_name() + ")"
                             : "for all reapers of " + journal.url;
}

std::unique_ptr<BrokerConsole> broker_console(const config::Broker& broker) {
    return std::make_unique<AmqpConsole>(broker);
}

Result<CompiledSettings> compile_settings(const config::Settings& settings) {
    auto policy = compile_policy(settings.policy);
    if (!policy) return policy.error();
    auto oversubscription = compile_oversubscription(settings.oversubscription);
    if (!oversubscription) return oversubscription.error();
    return CompiledSettings{std::move(*policy), std::move(*oversubscription)};
}

LiveSettings live_settings(const config::Settings& settings, CompiledSettings compiled,
                           bool dry_run) {
    return {std::move(compiled.policy),
            settings.cull,
            settings.trigger,
            settings.cache,
            settings.labels,
            settings.gateway,
            settings.reservations,
            std::move(compiled.oversubscription),
            dry_run};
}

Result<std::shared_ptr<Metrics>> daemon_metrics(boost::asio::io_context& io,
                                                const config::Settings& settings, Clock& clock) {
    const config::Prometheus& prometheus = settings.oversubscription.prometheus;
    if (!settings.oversubscription.enabled || prometheus.url.empty())
        return std::shared_ptr<Metrics>{};
    return connect_metrics(io.get_executor(), prometheus, clock);
}

std::unique_ptr<MessageSource> daemon_messages(boost::asio::io_context& io,
                                               const config::Settings& settings, bool dry_run) {
    config::Broker broker = settings.broker;
    broker.temporary_queue = dry_run;
    broker.journal = settings.journal.place();
    return make_amqp_source(io.get_executor(), broker);
}

namespace {

api::CallerRules port_callers(const config::Settings& settings) {
    api::CallerRules rules;
    rules.tokens = settings.admin.auth == "keystone";
    rules.certificates = settings.admin.auth == "certificate";
    rules.roles = settings.admin.roles;
    rules.read_roles = settings.admin.read_roles;
    rules.owners = settings.admin.owners;
    rules.principals = settings.admin.principals;
    rules.keystone_url = settings.cloud.credentials.auth_url;
    return rules;
}

Task<HttpResponse> answer_caller(const api::Backend& backend, std::shared_ptr<api::Callers> callers,
                                 HttpRequest request) {
    if (api::is_open(request)) {
        api::Caller anonymous;
        co_return co_await api::answer(backend, std::move(anonymous), std::move(request));
    }
    HttpRequest asked = request;
    auto caller = co_await callers->identify(std::move(asked));
    if (auto* const refused = std::get_if<HttpResponse>(&caller)) co_return std::move(*refused);
    co_return co_await api::answer(backend, std::move(std::get<api::Caller>(caller)),
                                   std::move(request));
}

}  // namespace

Result<std::vector<std::unique_ptr<HttpServer>>> daemon_admin(boost::asio::io_context& io,
                                                              const config::Settings& settings,
                                                              const api::Backend& backend,
                                                              const CloudPorts& cloud) {
    const config::Admin& admin = settings.admin;
    api::CallerRules socket_callers;
    socket_callers.unknown = api::Access::act;  // its owner's
    const auto on_socket = [](const std::string& path) {
        return path.empty() ? path : "unix:" + path;
    };
    const std::pair<std::string, api::CallerRules> places[] = {
        {admin.listen, port_callers(settings)},
        {on_socket(admin.socket), socket_callers},
        {on_socket(admin.look_socket), api::CallerRules{}},
    };
    std::vector<std::unique_ptr<HttpServer>> servers;
    for (const auto& [address, rules] : places) {
        if (address.empty()) continue;
        HttpServerSettings wanted;
        wanted.name = "admin API";
        wanted.address = address;
        wanted.group_too = address == on_socket(admin.look_socket);
        wanted.names = admin.names;
        wanted.limits.connections = 64;         // streams of requests, and of events, keep theirs
        wanted.limits.body_bytes = 512 * 1024;  // of vendordata: user data and metadata
        if (address == admin.listen && !admin.cert_file.empty())
            wanted.tls = HttpServerTls{admin.cert_file, admin.key_file, admin.client_ca_file};
        auto callers = std::make_shared<api::Callers>(rules, cloud.identity, cloud.clock);
        HttpHandler handler = [&backend, callers](HttpRequest request) {
            return answer_caller(backend, callers, std::move(request));
        };
        auto server = listen_http(io.get_executor(), std::move(wanted), std::move(handler));
        if (!server) return server.error();
        servers.push_back(std::move(*server));
    }
    return servers;
}

std::optional<config::Admin> admin_of_dry_run(const std::string& address) {
    config::Admin admin;
    if (address.empty()) return admin;
    const auto endpoint = endpoint_of(address);
    if (!endpoint) return std::nullopt;
    if (const auto* const local = std::get_if<UnixEndpoint>(&*endpoint)) {
        admin.socket = local->path();
        return admin;
    }
    if (!std::get<TcpEndpoint>(*endpoint).address().is_loopback()) return std::nullopt;
    admin.listen = address;
    return admin;
}

Result<std::unique_ptr<HttpServer>> daemon_metrics_port(boost::asio::io_context& io,
                                                        const config::MetricsPage& settings,
                                                        const api::Backend& backend) {
    if (settings.listen.empty()) return std::unique_ptr<HttpServer>{};
    HttpServerSettings wanted;
    wanted.name = "metrics";
    wanted.address = settings.listen;
    wanted.names = settings.names;
    HttpHandler handler = [&backend](HttpRequest request) {
        api::Caller caller{api::Access::watch};
        return api::answer(backend, std::move(caller), std::move(request));
    };
    return listen_http(io.get_executor(), std::move(wanted), std::move(handler));
}

http::CallObserver counting_calls(monitoring::ApiCounters& counters) {
    return [&counters](const http::CallSeen& seen) {
        std::string code =
            seen.status != 0 ? std::to_string(seen.status) : std::string{to_string(seen.failure)};
        std::replace(code.begin(), code.end(), ' ', '-');
        counters.tried(seen.service, http::to_string(seen.method), code, seen.took);
        const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
        if (seen.date) counters.dated(seen.service, *seen.date, now);
    };
}

std::unique_ptr<EventSource> daemon_events(boost::asio::io_context& io,
                                           const config::Settings& settings) {
    if (!settings.cache.events) return nullptr;
    return make_amqp_events(io.get_executor(), settings.broker);
}

}  // namespace reaper
