// Checks of the cloud, through the ports that the daemon uses.
#include <algorithm>
#include <set>

#include "reaper/cli/check/cloud_check.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "tagging/flavor.hpp"

namespace reaper::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::size_t at_most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(words.size(), at_most); ++i)
        text += (i == 0 ? "" : ", ") + words[i];
    if (words.size() > at_most) text += " and " + std::to_string(words.size() - at_most) + " more";
    return text;
}

/// What the delete right rests on: it is the one thing that can't be tried.
void tell_delete_right(const CloudCheck& check, const AuthInfo& who) {
    if (is_admin(who))
        check.info("right to delete",
                   "not tried; role admin is there, and Nova's default policy lets it delete any "
                   "server");
    else
        check.warn("right to delete",
                   "not tried; no role admin: the policies os_compute_api:servers:delete and "
                   "os_compute_api:os-deferred-delete:force must allow it for all projects");
}

Task<std::optional<AuthInfo>> check_keystone(CloudCheck& check) {
    auto who = co_await check.session.authenticate();
    if (!who) {
        check.fail("keystone", who.error().what);
        co_return std::nullopt;
    }
    check.ok("keystone", "user " + who->user_name + " (" + who->user_domain + ") in project " +
                             who->project_name + " (" + who->project_domain + "), roles " +
                             joined(who->roles, 10) + "; token until " + iso_time(who->expires));
    tell_delete_right(check, *who);
    check.ours = ProjectId{who->project_id};
    co_return std::move(*who);
}

Task<bool> check_endpoint(const CloudCheck& check, CloudService service) {
    const std::string what{to_string(service)};
    auto found = co_await check.session.endpoint(service);
    if (!found) {
        check.fail(what, found.error().what);
        co_return false;
    }
    std::string detail = found->url + ", version " + found->version;
    if (!found->service_version.empty() && found->service_version != found->version)
        detail += " (it has " + found->service_version + ")";
    check.ok(what, detail);
    co_return true;
}

/// A cloud may have none.
Task<void> check_images(const CloudCheck& check) {
    auto found = co_await check.session.endpoint(CloudService::image);
    if (!found && found.error().code == Errc::bad_input) {
        check.warn("image", found.error().what +
                                ": traits and a res-type that only an image asks for do not count");
        co_return;
    }
    if (!found) {
        check.fail("image", found.error().what);
        co_return;
    }
    auto none = co_await check.cloud.images.image("00000000-0000-0000-0000-000000000000");
    if (none)
        check.ok("image", found->url + ", version " + found->version);
    else if (none.error().code == Errc::forbidden)
        check.warn("image", none.error().what +
                                ": traits and a res-type that only an image asks for do not count");
    else
        check.fail("image",
                   none.error().what + ": while it lasts, requests for servers with an image wait");
}

Task<void> check_placement_rights(const CloudCheck& check) {
    auto providers = co_await check.cloud.placement.providers();
    if (!providers) {
        check.fail("resource providers", providers.error().what);
        co_return;
    }
    if (providers->empty()) {
        check.fail("resource providers", "Placement has none: does nova-compute run anywhere?");
        co_return;
    }
    check.ok("resource providers", std::to_string(providers->size()));
    const ProviderId first = providers->front().id;
    auto state = co_await check.cloud.placement.provider(first);
    if (!state)
        check.fail("allocations", state.error().what);
    else
        check.ok("allocations", "readable (" + providers->front().name + ": " +
                                    counted(state->allocations.size(), "consumer", "consumers") +
                                    ")");
}

/// Servers tell their flavors; a flavor that none of them has makes no difference now.
void tell_flavors(const CloudCheck& check, const TaggerInputs& tagger_inputs,
                  const std::vector<ServerRecord>& servers) {
    for (const auto& [key, value] : tagger_inputs.flavor_specs) {
        const std::string spec = printable(key + "=" + value);
        std::set<std::string> flavors;
        std::size_t carriers = 0;
        for (const ServerRecord& record : servers)
            if (has_extra_spec(record.flavor.extra_specs, key, value)) {
                ++carriers;
                flavors.insert(printable(record.flavor.name));
            }
        if (carriers == 0)
            check.warn("flavors with " + spec,
                       "no server has one: none is revocable by its flavor; give one "
                       "'openstack flavor set --property " +
                           spec + " FLAVOR' (servers that are there keep what they have)");
        else
            check.ok("flavors with " + spec, joined({flavors.begin(), flavors.end()}, 10) +
                                                 ", of " + counted(carriers, "server", "servers"));
    }
}

Task<void> check_servers(const CloudCheck& check, TaggerInputs tagger_inputs, bool holds_room) {
    Compute::Progress silent;
    auto servers = co_await check.cloud.compute.servers(std::move(silent));
    if (!servers) {
        check.fail("servers of all projects", servers.error().what);
        co_return;
    }
    tell_flavors(check, tagger_inputs, *servers);
    co_await check_protected(check, *servers);
    co_await check_revocable_demand(check.cloud, tagger_inputs, holds_room, *servers, check.report);
    std::set<ProjectId> projects;
    std::size_t unplaced = 0;
    for (const ServerRecord& record : *servers) {
        projects.insert(record.server.project);
        if (record.server.host.empty() && record.server.status == "ACTIVE") ++unplaced;
    }
    const std::string detail = counted(servers->size(), "server", "servers") + " of " +
                               counted(projects.size(), "project", "projects");
    const ServiceRule see_hosts{"nova", "os_compute_api:os-extended-server-attributes"};
    if (unplaced > 0)
        check.fail("servers of all projects",
                   detail + ", but not the host of " + std::to_string(unplaced) + ": the right " +
                       see_hosts.second + " is missing (the admin role has it)",
                   see_hosts);
    else if (projects.size() < 2)
        check.warn("servers of all projects",
                   detail + ": whether those of other projects would be seen can't be told");
    else
        check.ok("servers of all projects", detail, see_hosts);
    if (projects.size() >= 2) co_await check_sight(check, *servers);
}

/// Nova's scheduler can't use them, and its list of hypervisors leaves them out.
void tell_undiscovered(const CloudCheck& check, const std::vector<HypervisorRecord>& hypervisors,
                       const std::vector<ComputeServiceRecord>& services) {
    std::set<std::string> discovered;
    for (const HypervisorRecord& hypervisor : hypervisors)
        discovered.insert(hypervisor.service_host);
    std::vector<std::string> missing;
    for (const ComputeServiceRecord& service : services)
        if (!discovered.contains(service.host)) missing.push_back(service.host);
    if (!missing.empty())
        check.warn("compute services",
                   counted(missing.size(), "host is", "hosts are") +
                       " not among the hypervisors: " + joined(missing, 10) +
                       "; discover new ones with 'nova-manage cell_v2 discover_hosts', and delete "
                       "the services of those that are gone");
}

Task<void> check_compute_hosts(const CloudCheck& check) {
    auto hypervisors = co_await check.cloud.compute.hypervisors();
    if (!hypervisors)
        check.fail("hypervisors", hypervisors.error().what);
    else if (hypervisors->empty())
        check.fail("hypervisors",
                   "Nova has none: does nova-compute run, and are the hosts "
                   "discovered ('nova-manage cell_v2 discover_hosts')?");
    else
        check.ok("hypervisors", std::to_string(hypervisors->size()));

    auto services = co_await check.cloud.compute.compute_services();
    if (!services) {
        check.fail("compute services", services.error().what);
    } else {
        std::size_t usable = 0;
        for (const ComputeServiceRecord& service : *services)
            if (service.up && service.enabled) ++usable;
        const std::string detail =
            std::to_string(usable) + " of " + std::to_string(services->size()) + " up and enabled";
        if (usable == 0)
            check.fail("compute services", detail + ": no host could take a server");
        else
            check.ok("compute services", detail);
        if (hypervisors) tell_undiscovered(check, *hypervisors, *services);
    }

    auto aggregates = co_await check.cloud.compute.aggregates();
    if (!aggregates)
        check.fail("aggregates", aggregates.error().what);
    else
        check.ok("aggregates", std::to_string(aggregates->size()));
}

}  // namespace

bool is_admin(const AuthInfo& who) {
    return std::find(who.roles.begin(), who.roles.end(), "admin") != who.roles.end();
}

Task<std::optional<AuthInfo>> check_cloud(CloudPorts cloud, CloudSession& session,
                                          config::Policy policy, const Report& report) {
    CloudCheck check{cloud, session, policy, report};
    TaggerInputs tagger_inputs;
    SchedulerRules scheduler;
    bool holds_room = false;
    if (const auto compiled = compile_policy(policy)) {
        tagger_inputs = (*compiled)->tagger_inputs();
        scheduler = (*compiled)->scheduler;
        holds_room = !(*compiled)->held_classes().empty();
    }
    auto who = co_await check_keystone(check);
    if (!who) {
        check.fail("placement, nova", "not asked: Keystone must let us in first");
        co_return who;
    }
    const bool identity = co_await check_endpoint(check, CloudService::identity);
    const bool placement = co_await check_endpoint(check, CloudService::placement);
    if (placement) co_await check_placement_rights(check);
    const bool compute = co_await check_endpoint(check, CloudService::compute);
    co_await check_images(check);
    if (compute) {
        co_await check_servers(check, tagger_inputs, holds_room);
        co_await check_compute_hosts(check);
        co_await check_scheduler(cloud, session, scheduler, report);
        co_await check_cells(cloud, scheduler, report);
    }
    if (identity) co_await check_names(check);
    co_return who;
}

}  // namespace reaper::cli
