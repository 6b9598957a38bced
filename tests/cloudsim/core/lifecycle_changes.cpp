// What changes a server that lives on: resize, lock, power, restore.
#include <algorithm>

#include "tests/cloudsim/core/lifecycle.hpp"

namespace reaper::cloudsim {

namespace {

Claim claim_of(const Consumer& consumer, const Uuid& other) {
    Claim claim;
    claim.consumer = other;
    claim.project = consumer.project;
    claim.user = consumer.user;
    claim.type = consumer.type;
    claim.held = consumer.held;
    return claim;
}

}  // namespace

void hand_over(World& world, const Uuid& from, const Uuid& to) {
    const Consumer* consumer = world.placement.find_consumer(from);
    if (!consumer) return;
    Claim taken = claim_of(*consumer, to);
    Claim emptied = taken;
    emptied.consumer = from;
    emptied.held.clear();
    world.placement.claim({emptied, taken});
}

Outcome Lifecycle::restore(Server& server, const ContextPtr& by) {
    if (server.state != VmState::soft_deleted || server.task != TaskState::none)
        return wrong_state(server, "restore");
    record(server, "restore", by);
    world_.nova.set_soft_deleted(server, false);
    set_states(server, VmState::active, TaskState::none, compute_publisher(*server.host), by);
    tell("restore.end", server, compute_publisher(*server.host), by);
    effect("restored", server, server.host);
    return {};
}

void Lifecycle::lock(Server& server, std::string reason, const ContextPtr& by) {
    // As Nova has it: a lock of its own project is the owner's, which changes no other one.
    const bool owner = world_.names.text(server.project) == by->project_id;
    if (server.locked && owner) return;
    server.locked = true;
    server.locked_by_admin = !owner;
    if (!reason.empty()) server.more().locked_reason = std::move(reason);
    record(server, "lock", by);
    tell("lock", server, api_publisher, by);
}

Outcome Lifecycle::unlock(Server& server, const ContextPtr& by) {
    if (server.locked_by_admin && !by->is_admin)
        return Refusal{403,
                       "Policy doesn't allow os_compute_api:os-lock-server:unlock:unlock_override "
                       "to be performed.",
                       ""};
    server.locked = server.locked_by_admin = false;
    if (server.extras) server.extras->locked_reason.clear();
    record(server, "unlock", by);
    tell("unlock", server, api_publisher, by);
    return {};
}

Outcome Lifecycle::stop(Server& server, const ContextPtr& by) {
    if (server.state != VmState::active || server.task != TaskState::none)
        return wrong_state(server, "stop");
    record(server, "stop", by);
    const std::string publisher = compute_publisher(*server.host);
    set_states(server, VmState::active, TaskState::powering_off, api_publisher, by);
    tell("power_off.start", server, publisher, by);
    set_states(server, VmState::stopped, TaskState::none, publisher, by);
    tell("power_off.end", server, publisher, by);
    return {};
}

Outcome Lifecycle::start(Server& server, const ContextPtr& by) {
    if (server.state != VmState::stopped || server.task != TaskState::none)
        return wrong_state(server, "start");
    record(server, "start", by);
    const std::string publisher = compute_publisher(*server.host);
    set_states(server, VmState::stopped, TaskState::powering_on, api_publisher, by);
    tell("power_on.start", server, publisher, by);
    set_states(server, VmState::active, TaskState::none, publisher, by);
    tell("power_on.end", server, publisher, by);
    return {};
}

void Lifecycle::reset_state(Server& server, bool active, const ContextPtr& by) {
    record(server, "reset-state", by);
    set_states(server, active ? VmState::active : VmState::error, TaskState::none, api_publisher,
               by);
}

Outcome Lifecycle::resize(Server& server, std::shared_ptr<const Flavor> flavor,
                          const ContextPtr& by) {
    if (server.locked && !by->is_admin)
        return Refusal{409, "Instance " + server.id.text() + " is locked", ""};
    const bool fit = server.state == VmState::active || server.state == VmState::stopped;
    if (!fit || server.task != TaskState::none || !server.host)
        return wrong_state(server, "resize");
    record(server, flavor->id == server.flavor->id ? "migrate" : "resize", by);
    server.updated = to_seconds(world_.clock.now());
    set_states(server, server.state, TaskState::resize_prep, api_publisher, by);
    const Uuid id = server.id;
    world_.clock.after(world_.settings.delays.schedule,
                       [this, id, flavor, by] { resize_scheduled(id, flavor, by); });
    return {};
}

void Lifecycle::resize_scheduled(const Uuid& id, std::shared_ptr<const Flavor> flavor,
                                 const ContextPtr& by) {
    Server* server = world_.nova.find_server(id);
    if (!server || server->task != TaskState::resize_prep) return;
    // Nova moves what the server holds to the migration, and claims again in the server's name.
    const Uuid migration = world_.rng.uuid();
    hand_over(world_, id, migration);
    Placing placing;
    placing.servers = {id};
    placing.flavor = flavor;
    placing.image = server->image;
    placing.project = server->project;
    placing.user = server->user;
    placing.ignored = server->host;
    placing.cell = server->host->cell;
    keep_wishes(world_, *server, placing);
    select_destinations(
        world_, std::move(placing), by,
        [this, id, migration, flavor, by](const Placing& asked, const Selection& selection) {
            resize_to(id, migration, flavor, asked, selection, by);
        });
}

void Lifecycle::resize_to(const Uuid& id, const Uuid& migration,
                          const std::shared_ptr<const Flavor>& flavor, const Placing& placing,
                          const Selection& selection, const ContextPtr& by) {
    Server* const server = world_.nova.find_server(id);
    const auto* const none = std::get_if<NoValidHost>(&selection);
    if (server == nullptr || server->task != TaskState::resize_prep) {
        if (none == nullptr) world_.placement.remove_consumer(id);
        world_.placement.remove_consumer(migration);
        return;
    }
    if (none != nullptr) {
        hand_over(world_, migration, id);
        resize_refused(*server, placing, none->had_candidates, by);
        return;
    }
    Host& target = *std::get<std::vector<Host*>>(selection).front();
    ServerExtras& more = server->more();
    more.migration = migration;
    more.old_flavor = server->flavor;
    more.new_flavor = flavor;
    more.old_host = server->host;
    effect("room taken", *server, &target);
    tell("resize_prep.start", *server, compute_publisher(target), by, flavor.get());
    tell("resize_prep.end", *server, compute_publisher(target), by, flavor.get());
    set_states(*server, server->state, TaskState::resize_migrating,
               compute_publisher(*server->host), by);
    tell("resize.start", *server, compute_publisher(*server->host), by);
    const std::string name = target.name;
    world_.clock.after(world_.settings.delays.resize, [this, id, name, by] {
        Server* moving = world_.nova.find_server(id);
        if (!moving || moving->task != TaskState::resize_migrating) return;
        const std::string source = compute_publisher(*moving->host);
        world_.nova.move_server(*moving, world_.nova.find_host(name));
        set_states(*moving, moving->state, TaskState::resize_finish, source, by);
        tell("resize.end", *moving, source, by);
        resize_moved(id, by);
    });
}

void Lifecycle::resize_moved(const Uuid& id, const ContextPtr& by) {
    Server& server = *world_.nova.find_server(id);
    const std::string publisher = compute_publisher(*server.host);
    server.flavor = server.more().new_flavor;
    server.more().availability_zone = server.host->zone;
    tell("resize_finish.start", server, publisher, by);
    server.updated = server.launched = to_seconds(world_.clock.now());
    set_states(server, VmState::resized, TaskState::none, publisher, by);
    end_action(server, by);
    tell("resize_finish.end", server, publisher, by);
    effect("moved", server, server.host);
}

void Lifecycle::resize_refused(Server& server, const Placing& placing, bool had_candidates,
                               const ContextPtr& by) {
    const std::string_view state = to_string(server.state);
    set_states(server, server.state, TaskState::none, "nova-conductor:ctl", by);
    end_action(server, by,
               no_valid_host(false) + (placing.flavor->id == server.flavor->id
                                           ? "No valid host found for cold migrate"
                                           : "No valid host found for resize"));
    effect("resize refused", server, server.host);
    const RefusalEvent event{"migrate_server", server.id, placing, state, had_candidates, by};
    world_.tell([&](Listener& listener) { listener.on_refusal(event); });
}

Outcome Lifecycle::confirm_resize(Server& server, const ContextPtr& by) {
    if (server.state != VmState::resized || server.task != TaskState::none)
        return wrong_state(server, "confirmResize");
    record(server, "confirmResize", by);
    ServerExtras& more = server.more();
    const Host* source = more.old_host;
    const std::string publisher = compute_publisher(source ? *source : *server.host);
    tell("resize_confirm.start", server, publisher, by);
    world_.placement.remove_consumer(more.migration);
    more.migration = {};
    more.old_flavor = more.new_flavor = nullptr;
    more.old_host = nullptr;
    set_states(server, VmState::active, TaskState::none, publisher, by);
    tell("resize_confirm.end", server, publisher, by);
    if (source) effect("room freed", server, source);
    return {};
}

Outcome Lifecycle::revert_resize(Server& server, const ContextPtr& by) {
    if (server.state != VmState::resized || server.task != TaskState::none)
        return wrong_state(server, "revertResize");
    record(server, "revertResize", by);
    ServerExtras& more = server.more();
    const std::string publisher = compute_publisher(*server.host);
    set_states(server, VmState::resized, TaskState::resize_reverting, api_publisher, by);
    tell("resize_revert.start", server, publisher, by);
    effect("room freed", server, server.host);
    hand_over(world_, more.migration, server.id);
    world_.nova.move_server(server, more.old_host);
    server.flavor = more.old_flavor;
    more.migration = {};
    more.old_flavor = more.new_flavor = nullptr;
    more.old_host = nullptr;
    set_states(server, VmState::active, TaskState::none, publisher, by);
    tell("resize_revert.end", server, compute_publisher(*server.host), by);
    effect("moved", server, server.host);
    return {};
}

}  // namespace reaper::cloudsim
