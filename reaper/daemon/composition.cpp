#include "reaper/daemon/composition.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "clients/amqp/amqp_events.hpp"
#include "clients/amqp/amqp_source.hpp"
#include "clients/http/system_clock.hpp"
#include "clients/journal/sqlite_journal.hpp"
#include "config/loader.hpp"
#include "reaper/api/routes.hpp"

namespace reaper::cli {

std::optional<config::Settings> load_config(const std::string& path,
                                            const std::function<void(std::string)>& complain,
                                            const std::function<void(std::string)>& warn) {
    std::vector<config::ConfigError> warnings;
    auto loaded = config::load_settings(path, config::system_environment(), &warnings);
    for (const auto& warning : warnings) warn(config::to_string(warning));
    if (auto* settings = std::get_if<config::Settings>(&loaded)) return std::move(*settings);
    for (const auto& error : std::get<std::vector<config::ConfigError>>(loaded))
        complain(config::to_string(error));
    return std::nullopt;
}

CloudPorts Cloud::ports() const {
    return {*parts.identity, *parts.compute, *parts.placement, *parts.images, *clock};
}

Result<Cloud> connect_cloud(boost::asio::io_context& io, const config::Settings& settings) {
    Cloud cloud;
    cloud.clock = make_system_clock(io.get_executor());
    auto parts = connect_openstack(io.get_executor(), settings.cloud, settings.http, *cloud.clock);
    if (!parts) return parts.error();
    cloud.parts = std::move(*parts);
    return cloud;
}

Result<std::unique_ptr<Journal>> daemon_journal(const config::Settings& settings, bool dry_run) {
    return open_journal(dry_run ? ":memory:" : settings.journal.path);
}

std::unique_ptr<MessageSource> daemon_messages(boost::asio::io_context& io,
                                               const config::Settings& settings, bool dry_run) {
    config::Broker broker = settings.broker;
    broker.temporary_queue = dry_run;
    return make_amqp_source(io.get_executor(), broker);
}

Result<std::unique_ptr<Listener>> daemon_admin(boost::asio::io_context& io,
                                               const config::Settings& settings,
                                               const Service& service) {
    if (settings.admin.listen.empty()) return std::unique_ptr<Listener>{};
    Answerer answerer = [&service](std::string target) {
        return admin::answer(service, std::move(target));
    };
    return listen_for_questions(io.get_executor(), settings.admin.listen, std::move(answerer));
}

std::unique_ptr<EventSource> daemon_events(boost::asio::io_context& io,
                                           const config::Settings& settings) {
    if (!settings.picture.events) return nullptr;
    return make_amqp_events(io.get_executor(), settings.broker);
}

}  // namespace reaper::cli
