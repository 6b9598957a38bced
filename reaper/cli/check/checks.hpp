// The single checks of `reaper check`. Each reads, adds what it found, and never stops the others.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/daemon/active_reaper.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/broker_console.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/ports/openstack.hpp"
#include "reaper/report/table.hpp"

namespace reaper::cli {

// The findings of `reaper check`, one line each.

enum class Verdict {
    ok,
    info,  ///< could not be tried, but is as it should be by all that is known
    warn,  ///< works, but is worth knowing, or is not visible from outside
    fail,  ///< must be fixed; the detail says how
};

/// A service (`nova`) and one of its policy rules.
using ServiceRule = std::pair<std::string, std::string>;

struct Finding {
    Verdict verdict{};
    std::string what;
    std::string detail;
    /// Shown to be ours (ok), or to be missing (fail), by what an answer holds.
    std::optional<ServiceRule> rule{};
};

/// `ok   what: detail`, `info ...`, `warn ...`, `FAIL ...`; control characters made safe.
std::string to_line(const Finding& finding, bool color);

/// {version, ok, checks: [{verdict: "ok" | "info" | "warn" | "fail", what, detail}]}
nlohmann::json to_json(const std::vector<Finding>& findings);

/// A row for each: VERDICT, WHAT, DETAIL.
report::Table findings_table(const std::vector<Finding>& findings);

bool any_failed(const std::vector<Finding>& findings);

/// `1 server`, `2 servers`.
std::string counted(std::size_t number, const char* one, const char* many);

using Report = std::function<void(Finding)>;

/// The journal's directory and file, as the user that runs the check.
void check_journal(const config::JournalSettings& journal, const Report& report);

/// Is the reaper of this machine paused?
void check_switch(const std::string& pause_file, const config::JournalSettings& journal,
                  const Report& report);

/// What the limits leave, and whether harm has a price.
void check_limits(const SafeguardSettings& safeguards, const Report& report);

/// Which servers go without a request; nothing where none do.
void check_duties(const DutySettings& duties, const Report& report);

/// What the probe of the broker found.
void check_broker(const config::Broker& broker, const Result<BrokerReport>& probe,
                  const Report& report);

/// What our user may do there, and whether any service uses the topics.
void check_broker_use(const config::Broker& broker, const BrokerReport& found,
                      const Report& report);

/// Which of several reapers serves the queue.
void check_activity(const Activity& activity, const Report& report);

/// The gateway, where one is configured: asked as nova-scheduler would. False: something is wrong.
Task<bool> check_gateway(boost::asio::io_context& io, Clock& clock, CloudSession& session,
                         const config::Settings& settings, const Report& report);

/// Reservations, where they are enabled: the register, and the projects of roles. False: something
/// is wrong.
Task<bool> check_reservations(CloudPorts cloud, const config::Reservations& settings,
                              const Report& report);

/// Oversubscription, where it is enabled or Prometheus is configured: what measures it, and what it
/// needs in the cloud. False: something is wrong.
/// `metrics` may be null: there are none.
Task<bool> check_oversubscription(CloudPorts cloud, CloudSession& session, Metrics* metrics,
                                  const config::Oversubscription& settings, const Report& report);

/// Does the token have the role that the services' default policies let do all that the reaper
/// does?
bool is_admin(const AuthInfo& who);

/// Keystone, Placement and Nova; what the policy names in the cloud. Who we are there; none if
/// Keystone does not let us in.
Task<std::optional<AuthInfo>> check_cloud(CloudPorts cloud, CloudSession& session,
                                          config::Policy policy, const Report& report);

/// Of all servers: do revocable ones wait for room, so that they may take what is freed?
/// `holds_room`: a tagger keeps new revocable servers off freed room.
Task<void> check_revocable_demand(CloudPorts cloud, TaggerInputs tagger_inputs, bool holds_room,
                                  const std::vector<ServerRecord>& servers, const Report& report);

/// How nova-scheduler is taken to be set up.
Task<void> check_scheduler(CloudPorts cloud, CloudSession& session, SchedulerRules rules,
                           const Report& report);

// What the cloud is, by the newest version that an API has, and whether the reaper was tried with
// it (reaper/model/nova_release.hpp): ok if it was, info if not, warn if it is newer than all
// known.

/// `newest`: `2.93`. `configured` decides where several releases have the same.
Finding nova_tried(std::string_view newest, std::optional<NovaRelease> configured);
/// `newest`: `1.39`.
Finding placement_tried(std::string_view newest);
/// `product`: `RabbitMQ 3.10.8`.
Finding broker_tried(std::string_view product);
/// Which settings of the scheduler do not fit this Nova.
std::vector<Finding> misfits(std::string_view newest, const SchedulerRules& rules);

/// Whether Nova seems to have several cells, and whether the configuration tells them.
Task<void> check_cells(CloudPorts cloud, SchedulerRules scheduler, const Report& report);

// The parts of `reaper check` that ask the cloud: what they share.

struct CloudCheck {
    CloudPorts cloud;
    CloudSession& session;
    const config::Policy& policy;
    const Report& report;
    ProjectId ours{};  ///< the project that the user works in, as Keystone says

    void ok(std::string what, std::string detail, std::optional<ServiceRule> rule = {}) const {
        report({Verdict::ok, std::move(what), std::move(detail), std::move(rule)});
    }
    void info(std::string what, std::string detail) const {
        report({Verdict::info, std::move(what), std::move(detail)});
    }
    void warn(std::string what, std::string detail) const {
        report({Verdict::warn, std::move(what), std::move(detail)});
    }
    void fail(std::string what, std::string detail, std::optional<ServiceRule> rule = {}) const {
        report({Verdict::fail, std::move(what), std::move(detail), std::move(rule)});
    }
};

/// Every name of the configuration, with what it leads to in the cloud.
Task<void> check_names(const CloudCheck& check);

/// Are servers of other projects seen one by one, as the list shows them?
Task<void> check_sight(const CloudCheck& check, const std::vector<ServerRecord>& servers);

/// What owners do to servers to have them protected, where that counts: how many are. A spelling
/// that differs from the configured one in its letters' case alone is reported. Where it does not
/// count: who locked those that are locked.
Task<void> check_protected(const CloudCheck& check, const std::vector<ServerRecord>& servers);

}  // namespace reaper::cli
