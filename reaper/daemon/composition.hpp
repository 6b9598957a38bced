// The composition root: from the configuration to the parts that do the work, of the daemon and of
// commands. The only place that knows every implementation.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/api/backend.hpp"
#include "reaper/daemon/service.hpp"
#include "reaper/monitoring/api_counters.hpp"
#include "reaper/ports/broker_console.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/http_client.hpp"
#include "reaper/ports/http_handler.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/ports/openstack.hpp"
#include "reaper/ports/pause_switch.hpp"
#include "reaper/ports/reapers.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// What came of reading the file; without settings, `complain` has had every mistake.
struct LoadedConfig {
    std::optional<config::Settings> settings;
    /// Nothing that it says is wrong: files are missing, or can't be read as things are.
    bool unreadable = false;
};
LoadedConfig read_config(const std::string& path, const std::function<void(std::string)>& complain,
                         const std::function<void(std::string)>& warn);

/// The file's settings; none if it is wrong: then `complain` has had every mistake, one line each.
/// Warnings go to `warn`.
std::optional<config::Settings> load_config(const std::string& path,
                                            const std::function<void(std::string)>& complain,
                                            const std::function<void(std::string)>& warn);

/// The cloud, as ports over one session. Destroy it before its io_context.
struct Cloud {
    std::unique_ptr<Clock> clock;
    OpenStack parts;

    CloudPorts ports() const;
};

/// Sends nothing yet. `bad_input` if the settings can't work. `on_try` is called after each try of
/// a call, and must outlive the calls.
Result<Cloud> connect_cloud(boost::asio::io_context& io, const config::Settings& settings,
                            http::CallObserver on_try = {});

/// For other services than the cloud's, with its certificates. `clock` must outlive the calls.
Result<std::unique_ptr<http::Client>> connect_http(boost::asio::io_context& io,
                                                   const config::Cloud& cloud,
                                                   const config::Http& http, Clock& clock);

struct DaemonJournal {
    std::unique_ptr<Journal> journal;
    /// Another reaper writes it for now, and it is only read: makes us the one who writes
    /// (`conflict`: that one still is). Empty: we write.
    std::function<ResultTask<void>()> take_over{};
    /// limits.victims_per_window of these settings holds from now on, in the transaction of each
    /// deletion. Null: it is not checked there.
    std::function<void(const config::Settings&)> limit{};
};
/// The daemon's journal. A dry run that was asked for beside the service (`asked`) has one of its
/// own (config/dry_run.hpp), or, where it may not have that, one in memory, with a warning.
Result<DaemonJournal> daemon_journal(const config::Settings& settings, bool asked);
/// Those of its database, this one among them; null: it is in a file. Ended before the journal.
std::unique_ptr<Reapers> daemon_reapers(const config::Settings& settings, ReaperNote self);
/// The same once, for commands; none: the journal is in a file. Blocks.
std::optional<ReaperList> reapers_of(const config::JournalSettings& journal);
/// This process, as others know of it.
std::string reaper_name();
/// In memory, for read-only commands: nothing of it is kept.
Result<std::unique_ptr<Journal>> no_journal();
/// One that is there, also while a daemon writes it; `not_found`: it is not there yet. Destroy it
/// before the io_context of its calls.
Result<std::unique_ptr<JournalReader>> journal_to_read(const config::JournalSettings& journal);

/// The statements that a database's tables lack; runs them unless `dry_run`.
Result<std::vector<std::string>> migrate_journal(const config::JournalSettings& journal,
                                                 bool dry_run);

struct CopiedRows {
    std::string table;
    std::int64_t rows = 0;
    std::string digest;  ///< SHA-256, the same in both
};

/// All rows from one journal to another (clients/journal/copy.hpp).
Result<std::vector<CopiedRows>> copy_journal_rows(const config::JournalSettings& from,
                                                  const config::JournalSettings& to);
/// Does its directory belong to this user? What another one leaves there, such as root, the
/// service can't open.
bool may_keep_at(const std::string& path);

/// Who may pause the reaper of this machine, with a daemon or without.
struct Switches {
    std::unique_ptr<Switch> pause;    ///< the operator
    std::unique_ptr<Switch> breaker;  ///< the circuit breaker, while it is open
};
/// A journal in a database has the operator's switch for all its reapers, with which the file still
/// pauses this machine; `watched`: asked in the background, for a daemon.
Switches make_switches(const std::string& pause_file, const config::JournalSettings& journal,
                       bool watched = false);
/// Where that switch pauses: `on this machine (ctl-1)`.
std::string reach_of_switch(const config::JournalSettings& journal);

std::unique_ptr<BrokerConsole> broker_console(const config::Broker& broker);

/// What the daemon works by.
struct CompiledSettings {
    std::shared_ptr<const CompiledPolicy> policy;
    std::shared_ptr<const OversubscriptionPolicy> oversubscription;
};
/// `bad_input` names what can't be used.
Result<CompiledSettings> compile_settings(const config::Settings& settings);
LiveSettings live_settings(const config::Settings& settings, CompiledSettings compiled,
                           bool dry_run);

/// What was measured; null if oversubscription is off, or no address is given. `bad_input` names
/// the setting that can't be. `clock` must outlive it.
Result<std::shared_ptr<Metrics>> daemon_metrics(boost::asio::io_context& io,
                                                const config::Settings& settings, Clock& clock);

/// The daemon's messages; a dry run listens through a queue of its own.
std::unique_ptr<MessageSource> daemon_messages(boost::asio::io_context& io,
                                               const config::Settings& settings, bool dry_run);

/// The admin API, on a port and on a Unix socket as the settings say. `backend` and what `cloud`
/// leads to must outlive the io_context's run.
Result<std::vector<std::unique_ptr<HttpServer>>> daemon_admin(boost::asio::io_context& io,
                                                              const config::Settings& settings,
                                                              const api::Backend& backend,
                                                              const CloudPorts& cloud);

/// Where a dry run has it: it may stand beside the daemon, whose port and socket the configured
/// ones are. None: that is no such place.
std::optional<config::Admin> admin_of_dry_run(const std::string& address);

/// The port for /metrics, /healthz and /readyz alone; null if the settings have none.
Result<std::unique_ptr<HttpServer>> daemon_metrics_port(boost::asio::io_context& io,
                                                        const config::MetricsPage& settings,
                                                        const api::Backend& backend);

/// Counts each call to the cloud; `counters` must outlive the calls.
http::CallObserver counting_calls(monitoring::ApiCounters& counters);

/// Nova's INFO notifications, for the cloud cache; none if the settings do without.
std::unique_ptr<EventSource> daemon_events(boost::asio::io_context& io,
                                           const config::Settings& settings);

}  // namespace reaper
