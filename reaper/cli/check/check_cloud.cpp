// Checks of the cloud, through the ports that the daemon uses.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "reaper/cli/check/checks.hpp"
#include "reaper/cloud/cache/cells_seen.hpp"
#include "reaper/cloud/cache/host_parts.hpp"
#include "reaper/cloud/reader/cloud_directory.hpp"
#include "reaper/cloud/reader/lock_holders.hpp"
#include "reaper/cloud/reader/sight.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/cells.hpp"
#include "reaper/request_spec/admitted_room.hpp"
#include "tagging/flavor.hpp"

namespace reaper::cli {
namespace {

std::string some_of(const std::vector<std::string>& words, std::size_t at_most) {
    std::string text = joined(std::span{words}.first(std::min(words.size(), at_most)));
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
                             some_of(who->roles, 10) + "; token until " + iso_time(who->expires));
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
    if (service == CloudService::placement) check.report(placement_tried(found->service_version));
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
            check.ok("flavors with " + spec, some_of({flavors.begin(), flavors.end()}, 10) +
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
                   detail + ": whether those of other projects are visible is not known");
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
                       " not among the hypervisors: " + some_of(missing, 10) +
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
    return std::ranges::find(who.roles, "admin") != who.roles.end();
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

// Are Nova's cells told, and told right?

namespace {

constexpr const char* how_to_learn =
    "'nova-manage cell_v2 list_hosts' tells which host is in which, and 'list_cells' which are "
    "disabled";

class CellCheck {
public:
    CellCheck(const std::vector<Cell>& cells, const Report& report)
        : cells_{cells}, report_{report} {}

    void add(const HypervisorRecord& hypervisor, const std::vector<AggregateRecord>& aggregates) {
        Host host;
        host.name = hypervisor.name;
        host.service_host = hypervisor.service_host;
        in_allowed_aggregates(host, aggregates);
        const auto found = cell_of(host, cells_);
        if (const auto* const why = std::get_if<std::string>(&found)) {
            lost_.push_back(in_quotes(host.name) + " " + *why);
            return;
        }
        const std::string& name = std::get<const Cell*>(found)->name;
        ++hosts_[name];
        by_service_.emplace(host.service_host, name);
        by_name_.emplace(host.name, name);
    }

    void tell(const HostNumbers& numbers, const std::vector<AggregateRecord>& aggregates) const {
        for (const auto& cell : cells_) tell(cell, aggregates);
        if (!lost_.empty()) {
            std::string some;
            for (std::size_t i = 0; i < std::min<std::size_t>(lost_.size(), 5); ++i)
                some += (i == 0 ? "" : "; ") + lost_[i];
            report_({Verdict::fail, "cells",
                     counted(lost_.size(), "host", "hosts") +
                         " in no known cell, so that no room is "
                         "freed there for servers that are moved (" +
                         some + "); " + how_to_learn});
        }
        tell_contradiction(numbers.services, by_service_);
        tell_contradiction(numbers.hypervisors, by_name_);
    }

private:
    void tell(const Cell& cell, const std::vector<AggregateRecord>& aggregates) const {
        for (const auto& wanted : cell.aggregates)
            if (std::ranges::none_of(aggregates, [&](const auto& aggregate) {
                    return aggregate.name == wanted || aggregate.uuid == wanted;
                }))
                report_({Verdict::fail, "cells",
                         "Nova has no aggregate " + in_quotes(wanted) + " (cell " +
                             in_quotes(cell.name) + ")"});
        const auto at = hosts_.find(cell.name);
        const std::string detail = in_quotes(cell.name) + ": " +
                                   counted(at == hosts_.end() ? 0 : at->second, "host", "hosts") +
                                   (cell.disabled ? ", disabled: builds skip it" : "");
        report_({at == hosts_.end() ? Verdict::warn : Verdict::ok, "cells", detail});
    }

    /// A cell gives each number once.
    void tell_contradiction(const std::vector<HostNumbers::Numbered>& numbered,
                            const std::map<std::string, std::string>& cells) const {
        std::map<std::pair<std::string, std::int64_t>, std::string> seen;
        for (const auto& each : numbered) {
            const auto cell = cells.find(each.host);
            if (cell == cells.end()) continue;
            const auto [at, is_new] = seen.emplace(std::pair(cell->second, each.number), each.host);
            if (is_new || at->second == each.host) continue;
            report_({Verdict::fail, "cells",
                     in_quotes(at->second) + " and " + in_quotes(each.host) +
                         " can't both be in cell " + in_quotes(cell->second) +
                         ": Nova gave them the same number; " + how_to_learn});
            return;
        }
    }

    const std::vector<Cell>& cells_;
    const Report& report_;
    std::vector<std::string> lost_;
    std::map<std::string, std::size_t> hosts_;       // by cell
    std::map<std::string, std::string> by_service_;  // cells by service host, ...
    std::map<std::string, std::string> by_name_;     // ... and by hypervisor
};

void tell_untold(const HostNumbers& numbers, const Report& report) {
    const auto why = why_several_cells(numbers);
    if (!why)
        return report(
            {Verdict::ok, "cells",
             "nothing shows more than one (Nova's API can't tell that there is only one)"});
    report(
        {Verdict::warn, "cells",
         "Nova has several (" + *why +
             "), and scheduler.cells does not tell which host is in which: a server that is moved "
             "stays in its cell, so room may be freed for it in the wrong one; once that happened, "
             "no more is for a while. " +
             how_to_learn});
}

}  // namespace

Task<void> check_cells(CloudPorts cloud, SchedulerRules scheduler, const Report& report) {
    auto numbers = co_await cloud.compute.host_numbers();
    if (!numbers) {
        report({Verdict::warn, "cells",
                "whether Nova has several is not known: " + numbers.error().what});
        numbers = HostNumbers{};
        if (scheduler.cells.empty()) co_return;
    }
    if (scheduler.cells.empty()) {
        tell_untold(*numbers, report);
        co_return;
    }
    auto hypervisors = co_await cloud.compute.hypervisors();
    auto aggregates = co_await cloud.compute.aggregates();
    if (!hypervisors || !aggregates) co_return;  // told already
    CellCheck check{scheduler.cells, report};
    for (const auto& hypervisor : *hypervisors) check.add(hypervisor, *aggregates);
    check.tell(*numbers, *aggregates);
}

// Checks of what the configuration names, and of what the user may see.

namespace {

/// Of so many, at most, Nova is asked who locked them.
constexpr std::size_t locks_asked = 200;

/// How many servers carry each word of one kind: a tag, or a key of the metadata.
using Carriers = std::map<std::string, std::size_t>;

void tell_mark(const CloudCheck& check, const std::string& key, const std::string& word,
               const Carriers& carriers) {
    const std::string what = key + " " + in_quotes(word);
    const auto exact = carriers.find(word);
    const std::size_t count = exact == carriers.end() ? 0 : exact->second;
    for (const auto& [other, number] : carriers)
        if (other != word && to_lower(other) == to_lower(word))
            check.warn(what, "does not protect the " + reaper::counted(number, "server") +
                                 " with " + in_quotes(other) + ": names are case-sensitive");
    check.ok(what, reaper::counted(count, "server") + (count == 1 ? " carries it" : " carry it"));
}

}  // namespace

Task<void> check_names(const CloudCheck& check) {
    auto names = names_in(check.policy);
    auto directory = co_await read_directory(check.cloud, std::move(names));
    if (!directory) {
        check.fail("protect.projects",
                   "could not be looked up: " + directory.error().what +
                       "; no server is deleted until it is known who is protected");
        co_return;
    }
    for (auto& finding : resolve(check.policy, *directory).findings) {
        if (finding.level == NameFinding::Level::found)
            check.ok(finding.what, finding.detail);
        else if (finding.level == NameFinding::Level::doubtful)
            check.warn(finding.what, finding.detail);
        else
            check.fail(finding.what, finding.detail);
    }
}

Task<void> check_sight(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    std::vector<ListedServer> listed;
    for (const ServerRecord& record : servers)
        listed.push_back({record.server.id, record.server.project});
    const std::string what = "servers of other projects";
    ProjectId ours = check.ours;
    auto sight = co_await try_sight(check.cloud.compute, std::move(listed), std::move(ours));
    if (!sight)
        check.fail(what, sight.error().what);
    else if (sight->kind == Sight::Kind::blocked)
        check.fail(what, sight->detail + "; no server is deleted while it is so");
    else if (sight->kind == Sight::Kind::untold)
        check.warn(what, sight->detail + " whether they are seen one by one, as the list has them");
    else
        check.ok(what, "seen one by one, as the list has them (" + printable(sight->detail) + ")",
                 ServiceRule{"nova", "context_is_admin"});
}

namespace {

/// Who locked what: an administrator's lock keeps a server, its owner's does not.
Task<void> check_locks(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    std::vector<Server> locked;
    for (const ServerRecord& record : servers)
        if (record.server.locked && locked.size() < locks_asked) locked.push_back(record.server);
    if (locked.empty()) co_return;
    std::size_t untold = 0;
    std::size_t administrators = 0;
    for (const Server& server : locked) {
        Server asked = server;
        const auto holder = co_await ask_lock_holder(check.cloud, std::move(asked));
        untold += !holder || *holder == LockHolder::unknown;
        administrators += holder && *holder == LockHolder::administrator;
    }
    const std::string detail = counted(locked.size(), "server", "servers") + ", " +
                               std::to_string(administrators) + " by an administrator";
    if (untold == 0) {
        check.ok("locked servers", detail);
        co_return;
    }
    check.warn("locked servers", detail + "; of " + std::to_string(untold) +
                                     " Nova does not tell who locked them (its record of actions): "
                                     "they are taken to be administrators' locks, and stay");
}

}  // namespace

Task<void> check_protected(const CloudCheck& check, const std::vector<ServerRecord>& servers) {
    const ProtectSettings& protect = check.policy.safeguards.protect;
    if (!protect.owners) co_return co_await check_locks(check, servers);
    check.warn("protect.owners",
               "true: the owner of a revocable server can refuse its eviction, by a lock, a tag or "
               "metadata");
    Carriers tags;
    Carriers keys;
    for (const ServerRecord& record : servers) {
        for (const auto& tag : record.server.tags.get()) ++tags[tag];
        for (const auto& [key, value] : record.server.metadata.get()) ++keys[key];
    }
    for (const auto& tag : protect.tags) tell_mark(check, "protect.tags", tag, tags);
    for (const auto& key : protect.metadata) tell_mark(check, "protect.metadata", key, keys);
}

// How nova-scheduler is set up can't be read: what the reaper takes it to be is shown, to be
// compared with its nova.conf, and what in the cloud speaks against it.

namespace {

constexpr const char* subject = "scheduler";

std::string_view on_or_off(bool on) {
    return on ? "on" : "off";
}

std::string_view word_of(SchedulerRules::OwnAggregates own) {
    using Own = SchedulerRules::OwnAggregates;
    if (own == Own::off) return "off";
    return own == Own::limit ? "limit" : "required";
}

std::string options_of(const SchedulerRules& rules) {
    std::string text = "own_aggregates " + std::string{word_of(rules.own_aggregates)};
    const std::pair<const char*, bool> flags[] = {
        {"tenant_filter", rules.tenant_filter},
        {"trait_isolation", rules.trait_isolation},
        {"extra_specs_filter", rules.extra_specs_filter},
        {"image_type_filter", rules.image_type_filter},
        {"image_metadata_filter", rules.image_metadata_filter},
        {"pcpu_fallback", rules.pcpu_fallback},
        {"pci_in_placement", rules.pci_in_placement}};
    for (const auto& [name, on] : flags)
        text += std::string{", "} + name + " " + std::string{on_or_off(on)};
    return text;
}

/// An aggregate whose metadata has such a key (and value); none if there is none.
const AggregateRecord* marked(const std::vector<AggregateRecord>& aggregates, std::string_view key,
                              std::string_view value) {
    for (const auto& aggregate : aggregates)
        for (const auto& [own_key, own_value] : aggregate.metadata)
            if (own_key.starts_with(key) && (value.empty() || own_value == value))
                return &aggregate;
    return nullptr;
}

/// Metadata that means nothing to the scheduler that is configured, and hardly is there for
/// nothing.
void tell_marked(const SchedulerRules& rules, const std::vector<AggregateRecord>& aggregates,
                 const Report& report) {
    const AggregateRecord* const tenants = marked(aggregates, "filter_tenant_id", "");
    if (tenants != nullptr && !rules.tenant_filter &&
        rules.own_aggregates == SchedulerRules::OwnAggregates::off)
        report({Verdict::warn, subject,
                "aggregate " + in_quotes(tenants->name) +
                    " has filter_tenant_id, and neither scheduler.tenant_filter nor "
                    "scheduler.own_aggregates is on: if nova-scheduler goes by it, servers are "
                    "deleted for nothing"});
    const AggregateRecord* const isolated = marked(aggregates, "trait:", "required");
    if (isolated != nullptr && !rules.trait_isolation)
        report({Verdict::warn, subject,
                "aggregate " + in_quotes(isolated->name) +
                    " has trait:...=required, and scheduler.trait_isolation is off: if "
                    "nova-scheduler goes by it, servers are deleted for nothing"});
}

/// Flavors whose res-type admits no room: no server of them gets any.
Task<void> tell_flavors(CloudPorts cloud, const SchedulerRules& rules, const Report& report) {
    auto flavors = co_await cloud.compute.all_flavors();
    if (!flavors) {
        report({Verdict::fail, "flavors", flavors.error().what});
        co_return;
    }
    for (const auto& [id, flavor] : *flavors) {
        const auto admitted = admitted_room({}, flavor.extra_specs, {}, rules.res_type_traits);
        if (const auto* const refused = std::get_if<Refused>(&admitted))
            report({Verdict::warn, "flavors",
                    "no server of " + in_quotes(flavor.name) +
                        " is helped, and where the gateway " +
                        "is asked none boots: " + refused->reason});
    }
}

Task<void> tell_release(CloudPorts cloud, CloudSession& session, SchedulerRules rules,
                        const Report& report) {
    auto endpoint = co_await session.endpoint(CloudService::compute);
    const std::string version = endpoint ? endpoint->service_version : "an unknown version";
    if (rules.release) {
        report({Verdict::ok, subject,
                "Nova " + std::string{to_string(*rules.release)} + ", as configured"});
    } else {
        auto release = co_await cloud.compute.release();
        if (!release) {
            report({Verdict::fail, subject, release.error().what});
            co_return;
        }
        report({Verdict::ok, subject,
                "Nova " + std::string{to_string(*release)} + ", as its API has " + version +
                    "; if it is another release, set scheduler.nova_release"});
    }
    report(nova_tried(version, rules.release));
    for (Finding& finding : misfits(version, rules)) report(std::move(finding));
}

}  // namespace

Task<void> check_scheduler(CloudPorts cloud, CloudSession& session, SchedulerRules rules,
                           const Report& report) {
    SchedulerRules told = rules;
    co_await tell_release(cloud, session, std::move(told), report);
    report(
        {Verdict::ok, subject, options_of(rules) + ": compare with nova.conf of nova-scheduler"});
    auto aggregates = co_await cloud.compute.aggregates();
    if (aggregates) tell_marked(rules, *aggregates, report);
    co_await tell_flavors(cloud, rules, report);
}

}  // namespace reaper::cli
