#include "reaper/cli/setup/setup_steps.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <set>
#include <utility>

#include "reaper/cli/arguments/commands.hpp"
#include "reaper/cli/cloud/cloud_view.hpp"
#include "reaper/cli/output/list_output.hpp"
#include "reaper/model/text.hpp"
#include "reaper/oversubscription/host_facts.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {
namespace {

using Kind = SlotStep::Kind;

/// ` with 4 slots`; nothing of the register, which has room for all, nor where there are none yet.
std::string with_units(const SlotStep& step, Amount n, const Purpose& purpose) {
    return step.root.empty() || n == 0 ? "" : " with " + reaper::counted(n, purpose.unit);
}

std::string kept(const SlotStep& step, const Purpose& purpose) {
    if (!step.flavor.empty()) return "the flavor " + step.name + " is there already";
    if (!step.host.empty() && step.from > 0)
        return step.name + " has " + reaper::counted(step.from, purpose.unit) + " already";
    if (!step.provider.empty()) return step.name + " is there already";
    return "the resource class " + step.name + " stays as it is";
}

/// `would create` or `created`.
std::string doing(const SlotStep& step, const Purpose& purpose) {
    const bool applied = purpose.apply;
    const auto verb = [&](const char* would, const char* did) {
        return std::string{applied ? did : would} + " ";
    };
    switch (step.kind) {
        case Kind::create_class:
            return verb("would create", "created") + "the resource class " + step.name;
        case Kind::create_provider:
            return verb("would create", "created") + step.name + with_units(step, step.to, purpose);
        case Kind::set_total:
            return verb("would change", "changed") + step.name + " from " +
                   std::to_string(step.from) + " to " +
                   (step.root.empty() ? std::to_string(step.to) + " units"
                                      : reaper::counted(step.to, purpose.unit));
        case Kind::create_flavor:
            return verb("would create", "created") + "the flavor " + step.name;
        case Kind::remove_flavor:
            return verb("would remove", "removed") + "the flavor " + step.name;
        case Kind::remove_provider:
            return verb("would remove", "removed") + step.name +
                   with_units(step, step.from, purpose);
        case Kind::remove_class:
            return verb("would remove", "removed") + "the resource class " + step.name +
                   (applied ? "" : ", unless others use it");
        case Kind::keep: return kept(step, purpose);
        case Kind::refuse: return (applied ? "left " : "would leave ") + step.name + " as it is";
    }
    return {};
}

std::string line_of(const SlotStep& step, const Purpose& purpose) {
    std::string line = step.host.empty() ? "" : step.host + ": ";
    line += doing(step, purpose);
    if (!step.why.empty()) line += " (" + step.why + ")";
    return report::safe(line) + "\n";
}

nlohmann::json json_of(const SlotStep& step) {
    return {{"action", std::string{to_string(step.kind)}},
            {"host", step.host.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.host)},
            {"provider",
             step.provider.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.provider.str())},
            {"flavor", step.flavor.empty() ? nlohmann::json(nullptr) : nlohmann::json(step.flavor)},
            {"name", step.name},
            {"from", step.from},
            {"to", step.to},
            {"why", step.why}};
}

bool changes(const std::vector<SlotStep>& steps) {
    return std::ranges::any_of(steps, [](const SlotStep& step) {
        return step.kind != Kind::keep && step.kind != Kind::refuse;
    });
}

bool refuses(const std::vector<SlotStep>& steps) {
    return std::ranges::any_of(steps,
                               [](const SlotStep& step) { return step.kind == Kind::refuse; });
}

std::string last_words(const Purpose& purpose, const std::vector<SlotStep>& steps) {
    if (!changes(steps)) return "There is nothing to change.\n";
    if (!purpose.apply) return "Dry run: nothing was changed; use --apply.\n";
    return purpose.next;
}

void tell(const Purpose& purpose, const std::vector<SlotStep>& steps, const Terminal& terminal) {
    if (!wants_document(terminal)) {
        for (const auto& step : steps) terminal.answer(line_of(step, purpose));
        terminal.answer(last_words(purpose, steps));
        return;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const auto& step : steps) list.push_back(json_of(step));
    const nlohmann::json document = {{"version", report::json_version},
                                     {"class", purpose.resource_class.str()},
                                     {"applied", purpose.apply},
                                     {"steps", std::move(list)}};
    answer_document(terminal, document);
}

}  // namespace

ExitCode carry_and_tell(boost::asio::io_context& io, Cloud& cloud, std::vector<SlotStep> steps,
                        const Purpose& purpose, const Terminal& terminal) {
    const Setups setup{*cloud.parts.setup, *cloud.parts.flavors};
    if (purpose.apply) {
        std::vector<SlotStep> carried;
        std::function<void(const SlotStep&)> done = [&](const SlotStep& step) {
            carried.push_back(step);
        };
        auto applied =
            run_task(io, carry_out(setup, steps, purpose.resource_class, std::move(done)));
        steps = std::move(carried);
        if (!applied) {
            tell(purpose, steps, terminal);
            terminal.complain(
                "stopped there; what is done stays, and the same command does the "
                "rest when this is fixed");
            return terminal.fail(applied.error());
        }
    }
    tell(purpose, steps, terminal);
    return purpose.apply && refuses(steps) ? ExitCode::failed : ExitCode::ok;
}

namespace {

using Kind = SlotStep::Kind;

/// The compute hosts: hypervisors with a root provider of their own.
std::vector<SlotHost> hosts_of(const std::vector<HypervisorRecord>& hypervisors,
                               const std::vector<ProviderRecord>& providers,
                               const HostChoice& choice) {
    std::set<ProviderId> roots;
    for (const auto& provider : providers)
        if (provider.parent.empty()) roots.insert(provider.id);
    std::vector<SlotHost> hosts;
    for (const auto& hypervisor : hypervisors)
        if (roots.contains(hypervisor.id) && choice.takes(hypervisor))
            hosts.push_back(SlotHost{hypervisor.id, hypervisor.name, {}});
    std::ranges::sort(hosts, [](const SlotHost& a, const SlotHost& b) {
        if (natural_less(a.name, b.name)) return true;
        return !natural_less(b.name, a.name) && a.id < b.id;
    });
    return hosts;
}

ResultTask<void> create_provider(PlacementSetup& setup, SlotStep& step, ResourceClass slot_class) {
    std::string name = step.name;
    if (step.root.empty()) {
        auto done = co_await setup.create_root(std::move(name), step.provider);
        if (!done) co_return done.error();
        co_return co_await setup.set_total(step.provider, std::move(slot_class), step.to);
    }
    HostId root = step.root;
    auto made = co_await setup.create_provider(std::move(name), std::move(root));
    if (!made) co_return made.error();
    step.provider = *made;
    if (step.to == 0) co_return Result<void>{};
    co_return co_await setup.set_total(*made, std::move(slot_class), step.to);
}

ResultTask<void> remove_provider(PlacementSetup& setup, SlotStep& step) {
    auto removed = co_await setup.remove_provider(step.provider);
    if (removed || removed.error().code != Errc::conflict) co_return removed;
    step.kind = Kind::refuse;
    step.why = "it is in use by now: " + removed.error().what;
    co_return Result<void>{};
}

ResultTask<void> remove_class(PlacementSetup& setup, SlotStep& step, ResourceClass slot_class) {
    auto removed = co_await setup.remove_class(std::move(slot_class));
    if (removed || removed.error().code != Errc::conflict) co_return removed;
    step.kind = Kind::keep;
    step.why = "others use it";
    co_return Result<void>{};
}

/// A flavor without its extra specs would sell ordinary room: it does not stay.
ResultTask<void> create_flavor(FlavorSetup& setup, SlotStep& step, ResourceClass slot_class) {
    for (const auto& wanted : example_flavors(slot_class)) {
        if (wanted.name != step.name) continue;
        Flavor numbers = wanted;
        auto made = co_await setup.create_flavor(std::move(numbers));
        if (!made) co_return made.error();
        step.flavor = *made;
        std::string id = *made;
        auto specs = wanted.extra_specs;
        auto set = co_await setup.set_extra_specs(id, std::move(specs));
        if (set) co_return set;
        auto removed = co_await setup.remove_flavor(id);
        if (!removed)
            co_return Error{set.error().code,
                            set.error().what + "; flavor " + id +
                                " is without its properties, delete it: " + removed.error().what};
        co_return set;
    }
    co_return Result<void>{};
}

ResultTask<void> carry_out(Setups setup, SlotStep& step, ResourceClass slot_class) {
    switch (step.kind) {
        case Kind::create_class:
            co_return co_await setup.placement.create_class(std::move(slot_class));
        case Kind::create_provider:
            co_return co_await create_provider(setup.placement, step, std::move(slot_class));
        case Kind::set_total:
            co_return co_await setup.placement.set_total(step.provider, std::move(slot_class),
                                                         step.to);
        case Kind::remove_provider: co_return co_await remove_provider(setup.placement, step);
        case Kind::remove_class:
            co_return co_await remove_class(setup.placement, step, std::move(slot_class));
        case Kind::create_flavor:
            co_return co_await create_flavor(setup.flavors, step, std::move(slot_class));
        case Kind::remove_flavor: co_return co_await setup.flavors.remove_flavor(step.flavor);
        case Kind::keep:
        case Kind::refuse: break;
    }
    co_return Result<void>{};
}

}  // namespace

HostChoice hosts_named(const std::string& pattern) {
    return {[pattern](const HypervisorRecord& host) {
                return ::fnmatch(pattern.c_str(), host.name.c_str(), 0) == 0;
            },
            "is called '" + printable(pattern, 100) + "'"};
}

ResultTask<SlotView> read_slots(CloudPorts cloud, PlacementSetup& setup, HostChoice choice,
                                ResourceClass slot_class, bool capacities) {
    SlotView cache;
    auto exists = co_await setup.has_class(slot_class);
    if (!exists) co_return exists.error();
    cache.class_exists = *exists;
    auto hypervisors = co_await cloud.compute.hypervisors();
    if (!hypervisors) co_return hypervisors.error();
    auto providers = co_await cloud.placement.providers();
    if (!providers) co_return providers.error();
    cache.providers = std::move(*providers);
    cache.hosts = hosts_of(*hypervisors, cache.providers, choice);
    if (cache.hosts.empty())
        co_return Error{Errc::bad_input, "none of the " + std::to_string(hypervisors->size()) +
                                             " compute hosts " + choice.words};
    std::vector<ProviderId> wanted;
    for (const auto& [host, provider] : slot_providers(cache.hosts, cache.providers, slot_class))
        wanted.push_back(provider.id);
    if (capacities)
        for (const auto& host : cache.hosts) wanted.push_back(host.id);
    std::function<void(std::size_t, std::size_t)> silent;
    auto states = co_await read_providers(cloud, std::move(wanted), std::move(silent));
    if (!states) co_return states.error();
    cache.states = std::move(*states);
    for (auto& host : cache.hosts)
        if (const auto root = cache.states.find(host.id); root != cache.states.end())
            host.inventories = root->second.inventories;
    co_return cache;
}

ResultTask<RegisterView> read_register(CloudPorts cloud, PlacementSetup& setup) {
    RegisterView view;
    ResourceClass name{reservation_register::resource_class};
    auto exists = co_await setup.has_class(std::move(name));
    if (!exists) co_return exists.error();
    view.class_exists = *exists;
    auto providers = co_await cloud.placement.providers();
    if (!providers) co_return providers.error();
    view.providers = std::move(*providers);
    const ProviderRecord* const found = find_register(view.providers);
    if (found == nullptr) co_return view;
    std::vector<ProviderId> wanted;
    wanted.push_back(found->id);
    std::function<void(std::size_t, std::size_t)> silent;
    auto states = co_await read_providers(cloud, std::move(wanted), std::move(silent));
    if (!states) co_return states.error();
    const auto state = states->find(found->id);
    if (state != states->end()) view.state = std::move(state->second);
    co_return view;
}

ResultTask<void> carry_out(Setups setup, std::vector<SlotStep> steps, ResourceClass slot_class,
                           std::function<void(const SlotStep&)> done) {
    for (auto& step : steps) {
        ResourceClass name = slot_class;
        auto carried = co_await carry_out(setup, step, std::move(name));
        if (!carried) {
            const std::string where = step.host.empty() ? step.name : printable(step.host, 100);
            co_return Error{carried.error().code, where + ": " + carried.error().what};
        }
        done(step);
    }
    co_return Result<void>{};
}

// `reaper setup oversubscription`: class, providers and example flavors for oversubscribed room.

namespace {

/// As `oversubscription.hosts` and `oversubscription.aggregates` have it.
HostChoice hosts_configured(const config::Oversubscription& settings,
                            std::vector<AggregateRecord> aggregates) {
    return {[hosts = settings.hosts, wanted = settings.aggregates,
             known = std::move(aggregates)](const HypervisorRecord& record) {
                return sells_room(facts_of(record, known), hosts, wanted);
            },
            "is one of those that oversubscription.hosts and oversubscription.aggregates name"};
}

/// What was asked for; else what is configured; all, where it is taken away.
ResultTask<HostChoice> choice_of(CloudPorts cloud, const config::Oversubscription& settings,
                                 RoomSetupCommand command) {
    if (!command.hosts.empty()) co_return hosts_named(command.hosts);
    if (command.undo) co_return hosts_named("*");
    if (settings.aggregates.empty()) co_return hosts_configured(settings, {});
    auto aggregates = co_await cloud.compute.aggregates();
    if (!aggregates) co_return aggregates.error();
    co_return hosts_configured(settings, std::move(*aggregates));
}

ResultTask<RoomView> read_room(CloudPorts cloud, PlacementSetup& setup,
                               const config::Oversubscription& settings, RoomSetupCommand command) {
    RoomView view;
    auto choice = co_await choice_of(cloud, settings, command);
    if (!choice) co_return choice.error();
    ResourceClass room_class{settings.room_class};
    auto slots =
        co_await read_slots(cloud, setup, std::move(*choice), std::move(room_class), false);
    if (!slots) co_return slots.error();
    view.slots = std::move(*slots);
    auto flavors = co_await cloud.compute.all_flavors();
    if (!flavors) co_return flavors.error();
    view.flavors = std::move(*flavors);
    if (!command.undo) co_return view;
    Compute::Progress silent;
    auto servers = co_await cloud.compute.servers(std::move(silent));
    if (!servers) co_return servers.error();
    for (const auto& record : *servers) view.in_use.insert(record.flavor.name);
    co_return view;
}

std::string after_room(const config::Oversubscription& settings, bool undo) {
    if (undo)
        return settings.enabled ? "oversubscription.enabled is true: a daemon that runs with it "
                                  "makes providers again.\n"
                                : "";
    return "Room is published there once oversubscription.enabled is true, with the tagger {name: "
           "resource, class:\n" +
           settings.room_class + "}; 'reaper estimate' tells before what would come of it.\n";
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const RoomSetupCommand& command,
                   const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(cloud.error());
    const config::Oversubscription& room = settings->oversubscription;
    terminal.progress("reading hosts, providers and flavors ...");
    auto view = run_task(io, read_room(cloud->ports(), *cloud->parts.setup, room, command));
    terminal.end_progress();
    if (!view) return terminal.fail(view.error());
    const ResourceClass room_class{room.room_class};
    const Purpose purpose{room_class, command.apply, after_room(room, command.undo), "vCPU"};
    return carry_and_tell(
        io, *cloud,
        command.undo ? room_to_undo(*view, room_class) : room_to_set_up(*view, room_class), purpose,
        terminal);
}

// `reaper setup`: slots for revocable servers in Placement, or the register of reservations.

namespace {

std::string after_slots(const SetupCommand& command) {
    if (command.undo) return {};
    return "A flavor asks for a slot with 'openstack flavor set --property resources1:" +
           command.slot_class +
           "=1 FLAVOR'; the\nreaper's configuration needs the tagger {name: resource, class: " +
           command.slot_class + "}.\n";
}

}  // namespace

ExitCode carry_out(const GlobalOptions& global, const SetupCommand& command,
                   const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(cloud.error());
    const ResourceClass slot_class{command.slot_class};
    const bool capacities = !command.undo && command.count.fixed == 0;
    terminal.progress("reading hosts and providers ...");
    auto cache = run_task(io, read_slots(cloud->ports(), *cloud->parts.setup,
                                         hosts_named(command.hosts), slot_class, capacities));
    terminal.end_progress();
    if (!cache) return terminal.fail(cache.error());
    std::vector<SlotStep> steps = command.undo ? slots_to_undo(*cache, slot_class)
                                               : slots_to_set_up(*cache, slot_class, command.count);
    const Purpose purpose{slot_class, command.apply, after_slots(command)};
    return carry_and_tell(io, *cloud, std::move(steps), purpose, terminal);
}

ExitCode carry_out(const GlobalOptions& global, const ReservationSetupCommand& command,
                   const Terminal& terminal) {
    const auto settings = settings_for_looking(global, terminal);
    if (!settings) return ExitCode::usage;
    boost::asio::io_context io{1};
    auto cloud = connect_cloud(io, *settings);
    if (!cloud) return terminal.fail(cloud.error());
    terminal.progress("reading providers ...");
    auto view = run_task(io, read_register(cloud->ports(), *cloud->parts.setup));
    terminal.end_progress();
    if (!view) return terminal.fail(view.error());
    const Purpose purpose{ResourceClass{reservation_register::resource_class}, command.apply, ""};
    return carry_and_tell(io, *cloud,
                          command.undo ? register_to_undo(*view) : register_to_set_up(*view),
                          purpose, terminal);
}

}  // namespace reaper::cli
