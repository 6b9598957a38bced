// `reaper run`: puts the daemon together.
#include "reaper/cli/daemon/run_command.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <variant>

#include "config/dry_run.hpp"
#include "config/loader.hpp"
#include "reaper/api/events.hpp"
#include "reaper/cli/arguments/commands.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/daemon_shell.hpp"
#include "reaper/daemon/gateway.hpp"
#include "reaper/daemon/known_reapers.hpp"
#include "reaper/daemon/logging.hpp"
#include "reaper/daemon/standby.hpp"
#include "reaper/gateway/standby_gateway.hpp"
#include "reaper/model/text.hpp"
#include "reaper/modules/loaded_modules.hpp"
#include "reaper/monitoring/monitor.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render.hpp"
#include "reaper/requests/observed_journal.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/machine.hpp"

namespace reaper::cli {
namespace {

recording::RecorderSettings settings_of(const config::Record& record, bool dry_run) {
    recording::RecorderSettings settings;
    settings.directory = record.directory;
    settings.max_bytes = record.max_bytes;
    settings.max_age = record.max_age;
    settings.anonymous = record.anonymous;
    settings.dry_run = dry_run;
    settings.version = REAPER_VERSION;
    settings.as_text = [](const config::Policy& policy) { return config::to_yaml(policy); };
    return settings;
}

void tell(recording::Recorder& recorder, const Request& request, const RecordEvent& event) {
    std::visit(
        [&](const auto& each) {
            using Event = std::remove_cvref_t<decltype(each)>;
            if constexpr (std::is_same_v<Event, PlanEntry>) recorder.on_plan(request, each);
            if constexpr (std::is_same_v<Event, StepEntry>) recorder.on_step(request, each);
            if constexpr (std::is_same_v<Event, Outcome>) recorder.on_outcome(request, each);
        },
        event);
}

}  // namespace

Result<std::unique_ptr<RecordingDaemon>> recorder_of(const config::Settings& settings,
                                                     RecordFeed& feed, bool dry_run) {
    config::Record record = settings.record;
    const bool wanted = !record.directory.empty();
    if (dry_run) record = config::kept_by_dry_run(settings.journal, settings.record).record;
    if (record.directory.empty()) return std::unique_ptr<RecordingDaemon>{};
    if (!wanted && !may_keep_at(record.directory)) {
        spdlog::warn("nothing is kept for 'reaper report': the directory of {} is another user's",
                     record.directory);
        return std::unique_ptr<RecordingDaemon>{};
    }
    const auto prepared = recording::RecordingWriter::prepare(record.directory);
    if (!prepared && wanted) return prepared.error();
    if (!prepared) {
        spdlog::warn("nothing is kept for 'reaper report': {}", prepared.error().what);
        return std::unique_ptr<RecordingDaemon>{};
    }
    auto lock = recording::DirectoryLock::take(record.directory);
    if (!lock) {
        spdlog::warn("nothing is recorded: another reaper records in {} (record.directory)",
                     record.directory);
        return std::unique_ptr<RecordingDaemon>{};
    }
    auto daemon = std::make_unique<RecordingDaemon>(std::move(lock), settings_of(record, dry_run));
    recording::Recorder* const recorder = &daemon->recorder;
    daemon->listening = feed.listen([recorder](const Request& request, const RecordEvent& event) {
        tell(*recorder, request, event);
    });
    feed.listen_to_freed_room([recorder](const RequestId& id, const FreedRoomResult& result) {
        recorder->on_freed_room(id, result);
    });
    spdlog::info("recording decisions in {}{}", record.directory,
                 record.anonymous ? ", anonymous" : "");
    return daemon;
}

namespace {

/// What a dry run prints of a plan: text, or one line of JSON.
RecordFeed::Listener reporter(const Terminal& terminal) {
    return [&terminal](const Request& request, const RecordEvent& event) {
        const auto* const plan = std::get_if<PlanEntry>(&event);
        if (plan == nullptr) return;
        if (!terminal.json()) {
            terminal.answer(report::render_decision(plan->decision, request,
                                                    terminal.render_options(plan->at)) +
                            "\n");
            return;
        }
        const nlohmann::json line = {{"version", report::json_version},
                                     {"request", report::to_json(request)},
                                     {"decision", report::to_json(plan->decision)}};
        terminal.answer(report::dump(line) + "\n");
    };
}

/// A Unix socket's address says what it is.
std::string_view scheme_of(const HttpServer& server, const config::Admin& admin) {
    if (server.port() == 0) return "";
    return admin.cert_file.empty() ? "http://" : "https://";
}

ReaperNote note_of(const config::Settings& settings) {
    ReaperNote note;
    note.name = reaper_name();
    note.machine = machine_name();
    note.version = REAPER_VERSION;
    note.gateway = advertised_url(settings.gateway);
    note.configuration = configuration_digest(settings);
    note.sections = digests_of_sections(settings);
    return note;
}

ResultTask<std::vector<api::KnownReaper>> listed(ReaperList list, std::string journal) {
    if (list.all.empty() && !list.trouble.empty()) co_return Error{Errc::unreachable, list.trouble};
    co_return KnownReapers::of_journal(list, journal);
}

/// A thread may wait for a broker or a database that does not answer: it ends with the process.
ExitCode run_shell(DaemonShell& shell, DaemonWork& work, const Standby& standby, bool dry_run) {
    static constexpr std::chrono::milliseconds end_of_threads{1'000};
    const ExitCode code = shell.run(work, dry_run);
    if (!shell.cut_off() && !standby.stands_by()) return code;
    std::thread([code] {
        std::this_thread::sleep_for(end_of_threads);
        ::_exit(static_cast<int>(code));
    }).detach();
    return code;
}

ExitCode leave(ExitCode code, const std::string& why) {
    spdlog::error("{}", why);
    return code;
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const RunCommand& command,
                   const Terminal& terminal) {
    std::signal(SIGPIPE, SIG_IGN);  // the reader of our output may leave; the culls go on
    auto loaded = read_config(global.config_file, daemon_lines(terminal, spdlog::level::err),
                              daemon_lines(terminal, spdlog::level::warn));
    // What is missing now may be there later: systemd tries again.
    if (!loaded.settings) return loaded.unreadable ? ExitCode::failed : ExitCode::usage;
    auto& settings = loaded.settings;
    const bool dry_run = command.dry_run || settings->dry_run;
    set_up_logging(daemon_log(settings->log, global.log_level.value_or(settings->log.level),
                              terminal.error_color()));

    const auto dry_admin = admin_of_dry_run(command.admin);
    if (!dry_admin)
        return leave(ExitCode::usage,
                     "--admin: expected IP:PORT on loopback or unix:/PATH, found " +
                         in_quotes(command.admin));
    auto compiled = compile_settings(*settings);
    if (!compiled) return leave(ExitCode::usage, global.config_file + ": " + compiled.error().what);
    const auto started_at =
        std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    monitoring::Monitor monitor({REAPER_VERSION, started_at, settings->metrics.per_host});
    RecordFeed feed;
    boost::asio::io_context io{1};  // outlives the journal's thread, which posts to it
    auto stored = daemon_journal(*settings, command.dry_run);
    if (!stored) return leave(ExitCode::failed, stored.error().what);
    if (dry_run) settings->gateway = {};
    const auto shared = command.dry_run ? nullptr : daemon_reapers(*settings, note_of(*settings));

    const auto journal = observed_journal(*stored->journal, {&monitor.journal(), &feed});
    auto cloud = connect_cloud(io, *settings, counting_calls(monitor.api()));
    if (!cloud) return leave(ExitCode::usage, cloud.error().what);
    const auto messages = daemon_messages(io, *settings, dry_run);
    const auto events = daemon_events(io, *settings);
    const auto metrics = daemon_metrics(io, *settings, *cloud->clock);
    if (!metrics) return leave(ExitCode::usage, metrics.error().what);
    const auto started = cloud->clock->now().time_since_epoch().count();
    api::EventHub news{feed, std::to_string(started)};
    const auto printed = dry_run ? feed.listen(reporter(terminal)) : nullptr;

    const auto recorder = recorder_of(*settings, feed, dry_run);
    if (!recorder) return leave(ExitCode::failed, recorder.error().what);
    if (*recorder) (*recorder)->recorder.note_policy(*compiled->policy);

    DaemonShell::Reload reload{global.config_file, global.log_level.has_value()};
    reload.done = [&shared, &stored](const config::Settings& now) {
        if (stored->limit) stored->limit(now);
        if (shared) shared->configured(configuration_digest(now), digests_of_sections(now));
    };
    DaemonShell shell(io, *settings, std::move(reload));
    const Switches switches = make_switches(settings->pause_file, settings->journal, true);
    const ServicePorts ports{cloud->ports(),
                             *journal,
                             *messages,
                             events.get(),
                             *switches.pause,
                             *switches.breaker,
                             metrics->get(),
                             *recorder ? &(*recorder)->recorder : nullptr,
                             [&monitor] { return monitor.api().clock_ahead(); },
                             !settings->journal.in_file(),
                             [&shared] { return shared && shared->list().another_stands_by(); },
                             [&shared](ReaperState state) {
                                 if (shared) shared->note_state(state);
                             }};
    // A dry run may stand beside the daemon, whose ports and socket they are.
    if (command.dry_run) {
        settings->admin = *dry_admin;
        settings->metrics.listen.clear();
    }
    std::optional<Gateway> gateway;
    ServiceStatus status;  // of the service, as it last reported
    const auto tell = [&] {
        ServiceStatus told = status;
        if (gateway) told.beside = gateway->line();
        if (dry_run) told.beside = "dry run: nothing is deleted";
        shell.on_status(told);
    };
    const auto on_status = [&](ServiceStatus now) {
        status = std::move(now);
        tell();
    };
    const auto service =
        make_service(ports, live_settings(*settings, std::move(*compiled), dry_run), on_status);
    Standby standby(io, *service, std::move(stored->take_over), shared.get(), on_status);
    if (!settings->gateway.listen.empty()) {
        StandbyGateway::Ports decides{service->gateway(),
                                      [&standby] { return standby.stands_by(); },
                                      [&standby, ours = advertised_url(settings->gateway)] {
                                          return standby.active_gateway(ours);
                                      }};
        gateway.emplace(
            io, Gateway::Settings{settings->gateway, settings->cloud, settings->http},
            cloud->parts.session.get(), [&](const ServiceStatus&) { tell(); },
            std::make_shared<StandbyGateway>(std::move(decides)));
        const auto listening = gateway->listen();
        if (!listening) return leave(ExitCode::failed, listening.error().what);
    }
    KnownReapers reapers{settings->broker, settings->journal.place(), *messages, *cloud->clock,
                         dry_run};
    const CloudPorts of_cloud = cloud->ports();
    monitor.watch([&service] { return service->state(); });
    monitor.watch_standby([&standby] { return standby.health(); });
    api::Backend backend{*service, *journal, feed, &monitor};
    backend.compute = &of_cloud.compute;
    backend.identity = &of_cloud.identity;
    backend.clock = &of_cloud.clock;
    backend.pause = switches.pause.get();
    backend.breaker = switches.breaker.get();
    backend.events = &news;
    backend.standby = [&standby] { return standby.line(); };
    backend.reapers = [&reapers] { return reapers.list(); };
    if (shared)
        backend.reapers = [&shared, journal = settings->journal.place()] {
            return listed(shared->list(), journal);
        };
    backend.program_version = REAPER_VERSION;
    const auto admin = daemon_admin(io, *settings, backend, cloud->ports());
    if (!admin) return leave(ExitCode::failed, admin.error().what);
    for (const auto& server : *admin)
        spdlog::info("admin API: {}{}/v1", scheme_of(*server, settings->admin), server->address());
    const auto metrics_port = daemon_metrics_port(io, settings->metrics, backend);
    if (!metrics_port) return leave(ExitCode::failed, metrics_port.error().what);
    if (*metrics_port) spdlog::info("metrics: http://{}/metrics", (*metrics_port)->address());
    for (const auto& server : *admin)
        if (server->certificate_expires())
            monitor.watch_certificate("admin", [&server] { return server->certificate_expires(); });
    if (gateway)
        monitor.watch_certificate("gateway", [&gateway] { return gateway->certificate_expires(); });
    for (const LoadedModule& module : loaded_modules())
        spdlog::info("module {} ({}, SHA-256 {}) is loaded, with all rights of the reaper: {}",
                     module.title(), module.path, module.sha256, module.parts);
    spdlog::info("reaper {} starts{}, configuration {}", REAPER_VERSION,
                 dry_run ? " (dry run: nothing is deleted)" : "", global.config_file);
    if (!gateway) return run_shell(shell, standby, standby, dry_run);
    WithGateway both(io, standby, *gateway);
    return run_shell(shell, both, standby, dry_run);
}

}  // namespace reaper::cli
