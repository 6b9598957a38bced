// cloudsim: a simulated OpenStack for tests, benchmarks and a first look.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/cloudsim/api/json_writer.hpp"
#include "tests/cloudsim/messages/notifications.hpp"
#include "tests/cloudsim/program/http_server.hpp"
#include "tests/cloudsim/program/publisher.hpp"
#include "tests/cloudsim/program/settings_file.hpp"
#include "tests/cloudsim/program/snapshot_source.hpp"

namespace {

using namespace reaper::cloudsim;

struct Options {
    std::string config;
    std::uint16_t port = 0;
    std::string amqp;
    std::string snapshot;
    std::string ready_file;
    std::optional<int> hosts;
    std::optional<double> fill;
    std::optional<double> revocable;
    std::optional<int> revocable_per_host;
    std::optional<std::uint64_t> seed;
};

Time real_now() {
    return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + ": can't be read");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Site::Seeder seeder_of(const Options& options) {
    if (options.snapshot.empty()) return nullptr;
    return snapshot_seeder(content_of(options.snapshot), options.snapshot);
}

Settings settings_of(const Options& options) {
    Settings settings;
    if (!options.config.empty())
        read_settings(content_of(options.config), options.config, settings);
    if (options.hosts) settings.hosts = *options.hosts;
    if (options.fill) settings.fill = *options.fill;
    if (options.revocable) settings.revocable = *options.revocable;
    if (options.revocable_per_host) settings.revocable_per_host = *options.revocable_per_host;
    if (options.seed) settings.seed = *options.seed;
    read_settings("", "command line", settings);
    fill_defaults(settings);
    return settings;
}

std::string ready_line(Site& site, std::uint16_t port) {
    const World& world = site.world();
    JsonWriter json;
    json.open_object().member("url", site.root()).member("port", port);
    json.member("auth_url", site.root() + "/identity/v3");
    json.member("admin_url", site.root() + "/admin");
    json.open_object("users");
    for (const auto& [name, entry] : world.settings.users)
        json.open_object(name)
            .member("name", name)
            .member("password", entry.password)
            .member("project", entry.project)
            .close_object();
    json.close_object().open_object("projects");
    for (const auto& project : world.identity.projects) json.member(project->name, project->id);
    json.close_object().open_object("flavors");
    for (const auto& flavor : world.nova.flavors) json.member(flavor->name, flavor->id);
    json.close_object().member("image", world.nova.images.front()->id.text());
    json.member("hosts", world.nova.hosts.size()).member("servers", world.nova.server_count());
    if (!world.identity.credentials.empty()) {
        const auto& credential = *world.identity.credentials.front();
        json.open_object("application_credential").member("id", credential.id);
        json.member("name", credential.name).member("secret", credential.secret).close_object();
    }
    json.close_object();
    return json.take();
}

NotifierControl control_of(Publisher& publisher) {
    NotifierControl control;
    control.publish = [&publisher](const std::string& body, const std::string& key) {
        return publisher.send({key, body});
    };
    control.pause = [&publisher](bool paused) { publisher.pause(paused); };
    control.state_json = [&publisher] { return publisher.state_json(); };
    return control;
}

void write_ready(const std::string& path, const std::string& line) {
    if (path.empty()) return;
    // Written aside and moved, so that no reader sees half of it.
    const std::string aside = path + ".new";
    std::ofstream(aside) << line << '\n';
    if (std::rename(aside.c_str(), path.c_str()) != 0)
        throw std::runtime_error(path + ": can't be written");
}

int run(const Options& options) {
    Site site(settings_of(options), real_now, seeder_of(options));
    std::unique_ptr<Publisher> publisher;
    std::unique_ptr<Notifications> notifications;
    if (const std::string wrong = site.fill(); !wrong.empty()) throw std::runtime_error(wrong);
    if (!options.amqp.empty()) {
        publisher = std::make_unique<Publisher>(
            PublisherOptions{options.amqp, site.world().settings.default_queues, 1'000'000});
        const std::string trouble = publisher->wait_connected(std::chrono::seconds(30));
        if (!trouble.empty()) throw std::runtime_error("--amqp: " + trouble);
        notifications = std::make_unique<Notifications>(
            [&site]() -> World& { return site.world(); },
            [&publisher](Message message) { publisher->send(std::move(message)); });
        site.listen(*notifications);
        site.set_notifier(control_of(*publisher));
    }
    boost::asio::io_context io(1);
    HttpServer server(io, site, options.port);
    site.set_root("http://127.0.0.1:" + std::to_string(server.port()));
    boost::asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code, int) {
        server.stop();
        io.stop();
    });
    const std::string line = ready_line(site, server.port());
    write_ready(options.ready_file, line);
    std::cout << line << std::endl;
    io.run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("A simulated OpenStack: Keystone, Placement and Nova on one loopback port.");
    app.add_option("--config", options.config, "YAML file of the cloud");
    app.add_option("--port", options.port, "port on 127.0.0.1; 0 (default): any that is free");
    app.add_option("--amqp", options.amqp, "broker for Nova's notifications: amqp://user:pw@host");
    app.add_option("--snapshot", options.snapshot,
                   "a file of `reaper snapshot`: its hosts and servers, in place of the YAML's");
    app.add_option("--ready-file", options.ready_file, "written when it is ready");
    app.add_option("--hosts", options.hosts, "number of hosts");
    app.add_option("--fill", options.fill, "share of each host's VCPU that is used");
    app.add_option("--revocable", options.revocable, "share of that which is revocable");
    app.add_option("--revocable-per-host", options.revocable_per_host, "number of servers instead");
    app.add_option("--seed", options.seed, "the same seed gives the same cloud");
    CLI11_PARSE(app, argc, argv);
    try {
        return run(options);
    } catch (const std::exception& wrong) {
        std::cerr << "cloudsim: " << wrong.what() << '\n';
        return 1;
    }
}
