// Moves that are no resize: live migration, evacuation, shelving and back.
#include "tests/cloudsim/core/lifecycle.hpp"

namespace reaper::cloudsim {

namespace {

/// Somewhere else than now.
Placing elsewhere(World& world, const Server& server) {
    Placing placing;
    placing.servers = {server.id};
    placing.flavor = server.flavor;
    placing.image = server.image;
    placing.project = server.project;
    placing.user = server.user;
    placing.ignored = server.host;
    placing.cell = server.host ? server.host->cell : server.extra() ? server.extra()->cell : "";
    keep_wishes(world, server, placing);
    return placing;
}

}  // namespace

Outcome Lifecycle::begin_move(Server& server, const char* action, TaskState task, MoveStep step,
                              const ContextPtr& by) {
    record(server, action, by);
    server.updated = to_seconds(world_.clock.now());
    set_states(server, server.state, task, api_publisher, by);
    const Uuid id = server.id;
    world_.clock.after(world_.settings.delays.schedule, [this, id, task, step, by] {
        Server* moving = world_.nova.find_server(id);
        if (moving && moving->task == task) (this->*step)(*moving, by);
    });
    return {};
}

/// The server may be gone, or asked to do something else, when a host is found.
void Lifecycle::move(Server& server, const Uuid& migration, const ContextPtr& by, Arrival arrived) {
    const Uuid id = server.id;
    const TaskState task = server.task;
    select_destinations(world_, elsewhere(world_, server), by,
                        [this, id, task, migration, by, arrived](const Placing& placing,
                                                                 const Selection& selection) {
                            Server* const moving = world_.nova.find_server(id);
                            if (moving != nullptr && moving->task == task) {
                                (this->*arrived)(*moving, migration, placing, selection, by);
                                return;
                            }
                            if (!std::holds_alternative<NoValidHost>(selection))
                                world_.placement.remove_consumer(id);
                            world_.placement.remove_consumer(migration);
                        });
}

// ---- live migration ----

Outcome Lifecycle::live_migrate(Server& server, const ContextPtr& by) {
    if (server.state != VmState::active || server.task != TaskState::none)
        return wrong_state(server, "os-migrateLive");
    return begin_move(server, "live-migration", TaskState::migrating,
                      &Lifecycle::live_migrate_scheduled, by);
}

void Lifecycle::live_migrate_scheduled(Server& server, const ContextPtr& by) {
    const Uuid migration = world_.rng.uuid();
    hand_over(world_, server.id, migration);
    move(server, migration, by, &Lifecycle::live_migrate_to);
}

void Lifecycle::live_migrate_to(Server& server, const Uuid& migration, const Placing& placing,
                                const Selection& selection, const ContextPtr& by) {
    if (const auto* none = std::get_if<NoValidHost>(&selection)) {
        hand_over(world_, migration, server.id);
        set_states(server, server.state, TaskState::none, conductor_publisher, by);
        end_action(server, by, no_valid_host(none->had_candidates));
        effect("migration refused", server, server.host);
        const RefusalEvent event{"migrate_server",     server.id, placing, "active",
                                 none->had_candidates, by,        true};
        world_.tell([&](Listener& listener) { listener.on_refusal(event); });
        return;
    }
    Host& target = *std::get<std::vector<Host*>>(selection).front();
    effect("room taken", server, &target);
    world_.placement.remove_consumer(migration);
    arrive(server, target, "live_migration_post_dest.end", by);
}

/// The server is where it was to go.
void Lifecycle::arrive(Server& server, Host& target, std::string_view event, const ContextPtr& by) {
    if (server.host) effect("room freed", server, server.host);
    world_.nova.move_server(server, &target);
    server.more().availability_zone = target.zone;
    server.updated = server.launched = to_seconds(world_.clock.now());
    set_states(server, VmState::active, TaskState::none, compute_publisher(target), by);
    end_action(server, by);
    tell(event, server, compute_publisher(target), by);
    effect("moved", server, &target);
}

// ---- evacuation ----

Outcome Lifecycle::evacuate(Server& server, const ContextPtr& by) {
    if (!server.host || server.task != TaskState::none) return wrong_state(server, "evacuate");
    if (server.host->up())
        return Refusal{400, "Compute service of " + server.host->name + " is still in use.", ""};
    return begin_move(server, "evacuate", TaskState::rebuilding, &Lifecycle::evacuate_scheduled,
                      by);
}

void Lifecycle::evacuate_scheduled(Server& server, const ContextPtr& by) {
    move(server, {}, by, &Lifecycle::evacuate_to);
}

void Lifecycle::evacuate_to(Server& server, const Uuid&, const Placing& placing,
                            const Selection& selection, const ContextPtr& by) {
    if (const auto* none = std::get_if<NoValidHost>(&selection)) {
        set_states(server, VmState::error, TaskState::none, conductor_publisher, by);
        const std::string why = no_valid_host(none->had_candidates);
        server.more().fault = Fault{500, why, to_seconds(world_.clock.now())};
        end_action(server, by, why);
        effect("evacuation refused", server, server.host);
        const RefusalEvent event{"rebuild_server",     server.id, placing, "error",
                                 none->had_candidates, by};
        world_.tell([&](Listener& listener) { listener.on_refusal(event); });
        return;
    }
    Host& target = *std::get<std::vector<Host*>>(selection).front();
    effect("room taken", server, &target);
    arrive(server, target, "rebuild.end", by);
}

// ---- shelving ----

Outcome Lifecycle::shelve(Server& server, const ContextPtr& by) {
    const bool may = server.state == VmState::active || server.state == VmState::stopped;
    if (!may || server.task != TaskState::none) return wrong_state(server, "shelve");
    return begin_move(server, "shelve", TaskState::shelving, &Lifecycle::shelved, by);
}

/// At once off its host, as with shelved_offload_time = 0.
void Lifecycle::shelved(Server& server, const ContextPtr& by) {
    const std::string publisher = compute_publisher(*server.host);
    server.more().cell = server.host->cell;
    server.actions.back().host = server.host->name;
    world_.placement.remove_consumer(server.id);
    effect("room freed", server, server.host);
    world_.nova.move_server(server, nullptr);
    server.updated = to_seconds(world_.clock.now());
    set_states(server, VmState::shelved_offloaded, TaskState::none, publisher, by);
    tell("shelve_offload.end", server, publisher, by);
}

Outcome Lifecycle::unshelve(Server& server, const ContextPtr& by) {
    if (server.state != VmState::shelved_offloaded || server.task != TaskState::none)
        return wrong_state(server, "unshelve");
    return begin_move(server, "unshelve", TaskState::unshelving, &Lifecycle::unshelve_scheduled,
                      by);
}

void Lifecycle::unshelve_scheduled(Server& server, const ContextPtr& by) {
    move(server, {}, by, &Lifecycle::unshelve_to);
}

/// Where no host is found, Nova sends no message: only the record of actions shows it.
void Lifecycle::unshelve_to(Server& server, const Uuid&, const Placing&, const Selection& selection,
                            const ContextPtr& by) {
    server.updated = to_seconds(world_.clock.now());
    if (std::holds_alternative<NoValidHost>(selection)) {
        end_action(server, by, no_valid_host(false));
        set_states(server, server.state, TaskState::none, conductor_publisher, by);
        effect("unshelving refused", server, nullptr);
        return;
    }
    Host& target = *std::get<std::vector<Host*>>(selection).front();
    effect("room taken", server, &target);
    arrive(server, target, "unshelve.end", by);
}

}  // namespace reaper::cloudsim
