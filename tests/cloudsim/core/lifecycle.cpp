// Birth and death of servers.
#include "tests/cloudsim/core/lifecycle.hpp"

#include <algorithm>

namespace reaper::cloudsim {

namespace {

Placing placing_of(const World& world, const std::vector<Uuid>& ids, const CreateRequest& request,
                   const Server& first) {
    Placing placing;
    placing.servers = ids;
    placing.flavor = request.flavor;
    placing.image = request.image;
    placing.project = first.project;
    placing.user = first.user;
    placing.zone = request.zone;
    placing.forced = request.forced_host;
    placing.host = request.host;
    placing.group = request.group;
    placing.same_host = request.same_host;
    placing.different_host = request.different_host;
    (void)world;
    return placing;
}

/// As recorded: the parts of what may fail for want of a host.
std::vector<const char*> events_of(std::string_view action) {
    if (action == "create") return {"conductor_schedule_and_build_instances"};
    if (action == "resize" || action == "migrate")
        return {"cold_migrate", "conductor_migrate_server"};
    if (action == "live-migration") return {"conductor_live_migrate_instance"};
    if (action == "evacuate") return {"rebuild_server"};
    if (action == "unshelve") return {"schedule_instances"};
    return {};
}

}  // namespace

std::string no_valid_host(bool had_candidates) {
    return std::string("No valid host was found. ") +
           (had_candidates ? "There are not enough hosts available." : "");
}

std::string compute_publisher(const Host& host) {
    return "nova-compute:" + host.name;
}

void Lifecycle::tell(std::string_view name, const Server& server, const std::string& publisher,
                     const ContextPtr& by, const Flavor* new_flavor, bool deleted) {
    const ServerEvent event{name,         server,      by,         publisher,
                            server.state, server.task, new_flavor, deleted};
    world_.tell([&](Listener& listener) { listener.on_server(event); });
}

void Lifecycle::set_states(Server& server, VmState state, TaskState task,
                           const std::string& publisher, const ContextPtr& by) {
    const VmState old_state = server.state;
    const TaskState old_task = server.task;
    server.state = state;
    server.task = task;
    if (old_state == state && old_task == task) return;
    const ServerEvent event{"update", server, by, publisher, old_state, old_task, nullptr, false};
    world_.tell([&](Listener& listener) { listener.on_server(event); });
}

void Lifecycle::effect(std::string_view what, const Server& server, const Host* host) {
    const Effect effect{what, server.id, host ? host->name : "", world_.names.text(server.project)};
    world_.tell([&](Listener& listener) { listener.on_effect(effect); });
}

void Lifecycle::record(Server& server, const char* action, const ContextPtr& by) {
    const Time now = world_.clock.now();
    Action made{action,
                by->request,
                world_.names.id(by->user_id),
                world_.names.id(by->project_id),
                now,
                false,
                "",
                {}};
    for (const char* event : events_of(action)) made.events.push_back({event, now, std::nullopt});
    server.actions.push_back(std::move(made));
}

void Lifecycle::end_action(Server& server, const ContextPtr& by, const std::string& why_failed) {
    for (Action& action : server.actions) {
        if (action.request != by->request) continue;
        action.failed = !why_failed.empty();
        action.details = why_failed;
        for (ActionEvent& event : action.events) event.finish = world_.clock.now();
    }
}

Outcome Lifecycle::wrong_state(const Server& server, const char* method) const {
    const bool by_task = server.task != TaskState::none;
    return Refusal{409,
                   std::string("Cannot '") + method + "' instance " + server.id.text() +
                       " while it is in " +
                       (by_task ? std::string("task_state ") + to_string(server.task)
                                : std::string("vm_state ") + to_string(server.state)),
                   ""};
}

std::vector<Server*> Lifecycle::create(CreateRequest request, ContextPtr by) {
    const Time now = to_seconds(world_.clock.now());
    const std::string reservation = "r-" + world_.rng.letters(8);
    std::vector<Server*> made;
    std::vector<Uuid> ids;
    for (std::size_t at = 0; at < request.count; ++at) {
        auto server = std::make_unique<Server>();
        server->id = world_.rng.uuid();
        server->name =
            request.count == 1 ? request.name : request.name + "-" + std::to_string(at + 1);
        server->project = world_.names.id(by->project_id);
        server->user = world_.names.id(by->user_id);
        server->flavor = request.flavor;
        server->image = request.image;
        server->number = world_.nova.next_number();
        server->launch_index = static_cast<std::uint32_t>(at);
        server->task = TaskState::scheduling;
        server->reservation = reservation;
        server->created = now;
        if (!request.metadata.empty()) server->more().metadata = request.metadata;
        if (!request.tags.empty()) server->more().tags = request.tags;
        if (!request.zone.empty())
            server->more().availability_zone = server->more().pinned_zone = request.zone;
        if (!request.same_host.empty()) server->more().same_host = request.same_host;
        if (!request.different_host.empty()) server->more().different_host = request.different_host;
        if (!request.forced_host.empty()) server->more().forced_host = request.forced_host;
        if (request.group) {
            server->more().group = request.group->id;
            request.group->members.push_back(server->id);
        }
        record(*server, "create", by);
        ids.push_back(server->id);
        made.push_back(&world_.nova.add_server(std::move(server)));
    }
    world_.clock.after(world_.settings.delays.schedule,
                       [this, ids, request, by] { schedule(ids, request, by); });
    return made;
}

void Lifecycle::schedule(std::vector<Uuid> ids, CreateRequest request, const ContextPtr& by) {
    // Deleted by the user meanwhile.
    std::erase_if(ids, [&](const Uuid& id) { return !world_.nova.find_server(id); });
    if (ids.empty()) return;
    // The group may have gone.
    Server& first = *world_.nova.find_server(ids.front());
    if (request.group)
        request.group = first.extra() && first.extra()->group
                            ? world_.nova.find_group(*first.extra()->group)
                            : nullptr;
    select_destinations(world_, placing_of(world_, ids, request, first), by,
                        [this, by](const Placing& placing, const Selection& selection) {
                            scheduled(placing, selection, by);
                        });
}

void Lifecycle::scheduled(const Placing& placing, const Selection& selection,
                          const ContextPtr& by) {
    if (const auto* none = std::get_if<NoValidHost>(&selection)) {
        refuse(placing.servers, placing, none->had_candidates, by);
        return;
    }
    const auto& chosen = std::get<std::vector<Host*>>(selection);
    for (std::size_t at = 0; at < chosen.size(); ++at) {
        Server* const server = world_.nova.find_server(placing.servers[at]);
        if (server != nullptr && server->task == TaskState::scheduling)
            build(*server, *chosen[at], by);
        else
            world_.placement.remove_consumer(placing.servers[at]);
    }
}

void Lifecycle::refuse(const std::vector<Uuid>& ids, const Placing& placing, bool had_candidates,
                       const ContextPtr& by) {
    const Time now = world_.clock.now();
    for (const Uuid& id : ids) {
        Server* const waiting = world_.nova.find_server(id);
        if (waiting == nullptr || waiting->task != TaskState::scheduling) continue;
        Server& server = *waiting;
        server.updated = to_seconds(now);
        set_states(server, VmState::error, TaskState::none, conductor_publisher, by);
        server.more().fault = Fault{500, no_valid_host(had_candidates), to_seconds(now)};
        end_action(server, by, no_valid_host(had_candidates));
        effect("refused", server, nullptr);
        const RefusalEvent event{"build_instances", id, placing, "error", had_candidates, by};
        world_.tell([&](Listener& listener) { listener.on_refusal(event); });
    }
}

void Lifecycle::build(Server& server, Host& host, const ContextPtr& by) {
    server.more().availability_zone = host.zone;
    // As recorded: nothing changes yet but the zone.
    tell("update", server, conductor_publisher, by);
    const std::string publisher = compute_publisher(host);
    server.task = TaskState::none;
    tell("create.start", server, publisher, by);
    effect("room taken", server, &host);
    world_.nova.move_server(server, &host);
    server.updated = to_seconds(world_.clock.now());
    set_states(server, VmState::building, TaskState::spawning, publisher, by);
    const Uuid id = server.id;
    world_.clock.after(world_.settings.delays.build, [this, id, by] { activate(id, by); });
}

void Lifecycle::activate(const Uuid& id, const ContextPtr& by) {
    Server* server = world_.nova.find_server(id);
    if (!server || server->state != VmState::building || server->task != TaskState::spawning)
        return;
    server->launched = to_seconds(world_.clock.now());
    server->updated = server->launched;
    const std::string publisher = compute_publisher(*server->host);
    set_states(*server, VmState::active, TaskState::none, publisher, by);
    end_action(*server, by);
    tell("create.end", *server, publisher, by);
    effect("created", *server, server->host);
}

Outcome Lifecycle::remove(Server& server, DeleteKind kind, Micros reclaim, const ContextPtr& by) {
    if (server.locked && !by->is_admin)
        return Refusal{409, "Instance " + server.id.text() + " is locked", ""};
    const bool going =
        server.task == TaskState::deleting || server.task == TaskState::soft_deleting;
    if (kind == DeleteKind::forced && server.task != TaskState::none)
        return wrong_state(server, "forceDelete");
    record(server, "delete", by);
    if (!server.host || !server.host->up()) {
        server.task = TaskState::deleting;
        erase(server, api_publisher, by);
        return {};
    }
    if (going || server.state == VmState::deleted) return {};
    const bool soft = kind == DeleteKind::soft && server.state != VmState::soft_deleted &&
                      server.launched.has_value();
    set_states(server, server.state, soft ? TaskState::soft_deleting : TaskState::deleting,
               api_publisher, by);
    if (world_.deletions_to_lose > 0) {
        --world_.deletions_to_lose;
        effect("deletion lost", server, server.host);
        return {};
    }
    const Uuid id = server.id;
    if (soft)
        world_.clock.after(world_.settings.delays.erase,
                           [this, id, reclaim, by] { soft_delete_on_host(id, reclaim, by); });
    else
        world_.clock.after(world_.settings.delays.erase, [this, id, by] { erase_on_host(id, by); });
    return {};
}

void Lifecycle::erase_on_host(const Uuid& id, const ContextPtr& by) {
    Server* server = world_.nova.find_server(id);
    if (!server || server->task != TaskState::deleting || !server->host) return;
    if (server->host->held) {
        server->host->held_back.push_back(id);
        return;
    }
    // As nova-compute does it: the state is saved before the room leaves Placement's books, and the
    // server is forgotten after that.
    mark_deleted(*server, compute_publisher(*server->host), by);
    world_.clock.after(world_.settings.delays.forget, [this, id, by] {
        Server* left = world_.nova.find_server(id);
        if (left) forget(*left, compute_publisher(*left->host), by);
    });
}

void Lifecycle::erase(Server& server, const std::string& publisher, const ContextPtr& by) {
    mark_deleted(server, publisher, by);
    forget(server, publisher, by);
}

void Lifecycle::mark_deleted(Server& server, const std::string& publisher, const ContextPtr& by) {
    tell("delete.start", server, publisher, by);
    const Time now = to_seconds(world_.clock.now());
    server.terminated = now;
    server.updated = now;
    set_states(server, VmState::deleted, TaskState::none, publisher, by);
}

void Lifecycle::forget(Server& server, const std::string& publisher, const ContextPtr& by) {
    const bool again = world_.respawn && server.host && world_.is_revocable(server);
    const bool held_room = world_.placement.remove_consumer(server.id);
    if (server.extra() && !server.extra()->migration.empty())
        world_.placement.remove_consumer(server.extra()->migration);
    tell("delete.end", server, publisher, by, nullptr, true);
    effect("deleted", server, server.host);
    if (held_room) effect("room freed", server, server.host);
    if (server.extra() && server.extra()->group)
        if (ServerGroup* group = world_.nova.find_group(*server.extra()->group))
            std::erase(group->members, server.id);
    if (again) respawn(server, *server.host);
    world_.nova.remove_server(server);
}

void Lifecycle::soft_delete_on_host(const Uuid& id, Micros reclaim, const ContextPtr& by) {
    Server* server = world_.nova.find_server(id);
    if (!server || server->task != TaskState::soft_deleting || !server->host) return;
    const std::string publisher = compute_publisher(*server->host);
    tell("soft_delete.start", *server, publisher, by);
    world_.nova.set_soft_deleted(*server, true);
    server->updated = to_seconds(world_.clock.now());
    set_states(*server, VmState::soft_deleted, TaskState::none, publisher, by);
    tell("soft_delete.end", *server, publisher, by);
    effect("soft deleted", *server, server->host);
    world_.clock.after(reclaim, [this, id, by] {
        Server* left = world_.nova.find_server(id);
        if (!left || left->state != VmState::soft_deleted || left->task != TaskState::none) return;
        left->task = TaskState::deleting;
        erase_on_host(id, by);
    });
}

void Lifecycle::respawn(Server& like, Host& host) {
    auto server = std::make_unique<Server>();
    server->id = world_.rng.uuid();
    server->name = like.name;
    server->project = like.project;
    server->user = like.user;
    server->flavor = like.flavor;
    server->image = like.image;
    server->state = VmState::active;
    server->reservation = "r-" + world_.rng.letters(8);
    server->created = to_seconds(world_.clock.now());
    server->updated = server->launched = server->created;
    if (like.extra()) {
        server->more().metadata = like.extra()->metadata;
        server->more().tags = like.extra()->tags;
    }
    const ContextPtr by = world_.own_context(*server);
    record(*server, "create", by);
    if (Server* made = put(std::move(server), host)) {
        tell("create.end", *made, compute_publisher(host), by);
        effect("created", *made, &host);
    }
}

Server* Lifecycle::put(std::unique_ptr<Server> server, Host& host) {
    Claim claim;
    claim.consumer = server->id;
    claim.project = server->project;
    claim.user = server->user;
    claim.type = world_.names.id("unknown");
    CandidateQuery query;
    query.limit = 1;
    for (const auto& [suffix, amounts] : resources_of(*server->flavor, server->image == nullptr))
        for (const auto& [name, amount] : amounts)
            query.groups[suffix].resources.emplace_back(world_.names.id(name), amount);
    query.groups[""].in_tree = host.provider->uuid;
    const Candidates found = find_candidates(world_.placement, query);
    if (found.requests.empty()) return nullptr;
    claim.held = found.requests.front().held;
    if (world_.placement.claim({claim})) return nullptr;
    server->host = &host;
    server->number = world_.nova.next_number();
    return &world_.nova.add_server(std::move(server));
}

void Lifecycle::clear_servers() {
    world_.clock.clear();
    world_.placement.clear_consumers();
    world_.nova.clear_servers();
}

}  // namespace reaper::cloudsim
