// The single checks of `reaper check`. Each reads, adds what it found, and never stops the others.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>

#include "clients/amqp/broker_probe.hpp"
#include "clients/openstack/openstack.hpp"
#include "config/settings.hpp"
#include "reaper/cli/check/check_list.hpp"
#include "reaper/cli/daemon/active_reaper.hpp"
#include "reaper/cloud_reader/cloud_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/ports/metrics.hpp"

namespace reaper::cli {

using Report = std::function<void(Finding)>;

/// The journal's directory and file, as the user that runs the check.
void check_journal(const config::JournalFile& journal, const Report& report);

/// Is the reaper of this machine paused?
void check_switch(const std::string& pause_file, const Report& report);

/// What the limits leave, and whether harm has a price.
void check_limits(const SafeguardSettings& safeguards, const Report& report);

/// What the probe of the broker found.
void check_broker(const config::Broker& broker, const Result<BrokerReport>& probe,
                  const Report& report);

/// What our user may do there, and whether the topics are anybody's.
void check_broker_use(const config::Broker& broker, const BrokerReport& found,
                      const Report& report);

/// Which of several reapers serves the queue.
void check_activity(const Activity& activity, const Report& report);

/// The gateway, where one is configured: asked as nova-scheduler would. False: something is wrong.
Task<bool> check_gateway(boost::asio::any_io_executor executor, Clock& clock, CloudSession& session,
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

/// Whether Nova seems to have several cells, and whether the configuration tells them.
Task<void> check_cells(CloudPorts cloud, SchedulerRules scheduler, const Report& report);

}  // namespace reaper::cli
