// Users who want room: boots, alone and in groups, and resizes; who give up or try again.
#include <algorithm>
#include <utility>

#include "faults/schedules/actors.hpp"

namespace reaper::faults {

using cloudsim::ContextPtr;
using cloudsim::CreateRequest;
using cloudsim::DeleteKind;
using cloudsim::Project;
using cloudsim::RefusalEvent;
using cloudsim::Server;
using cloudsim::ServerGroup;
using cloudsim::Uuid;
using cloudsim::VmState;
using std::chrono::milliseconds;
using std::chrono::seconds;

void Actors::boot(const Item& item) {
    Wish wish;
    wish.chance = Chance{item.seed};
    const bool by_spot = item.kind == Kind::boot_revocable || item.kind == Kind::boot_by_spot ||
                         item.kind == Kind::boot_sold;
    wish.project = by_spot ? "spot" : wish.chance.percent(70) ? "regular" : "regular2";
    const bool revocable = item.kind == Kind::boot_revocable || item.kind == Kind::boot_preemptible;
    wish.flavor = item.kind == Kind::boot_sold ? wish.chance.pick({"tiny-sold", "small-sold"})
                                               : any_flavor(wish.chance, revocable);
    wish.kind = item.kind == Kind::boot && item.amount > 1 ? Kind::boot_many : item.kind;
    if (!world().settings.zones.empty() && wish.chance.percent(40)) wish.zone = "east";
    wish.servers = item.amount;
    wish.tries_left = wish.chance.between(0, 2);
    if (item.kind == Kind::boot_group) join_group(wish);
    if (item.kind == Kind::boot_hinted) hint(wish);
    boot(std::move(wish));
}

/// A group of its own, in which some servers may be already.
void Actors::join_group(Wish& wish) {
    Chance& chance = wish.chance;
    auto group = std::make_unique<ServerGroup>();
    group->id = world().rng.uuid();
    group->name = "group-" + std::to_string(world().nova.groups.size() + 1);
    group->policy = chance.pick({"anti-affinity", "anti-affinity", "affinity"});
    if (group->policy == "anti-affinity") group->max_on_a_host = chance.pick({1, 1, 2});
    group->project_id = world().identity.project_named(wish.project)->id;
    auto all = servers(false);
    for (int left = chance.pick({0, 1, 1, 2}); left > 0 && !all.empty(); --left) {
        Server& member = *chance.any_of(all);
        if (member.more().group) continue;
        member.more().group = group->id;
        group->members.push_back(member.id);
    }
    trace_.line(group->name + " " + group->id.text() + ", " + group->policy + " " +
                std::to_string(group->max_on_a_host) + ", has " +
                std::to_string(group->members.size()));
    for (const Uuid& member : group->members) trace_.line("  with " + member.text());
    wish.group = group.get();
    world().nova.groups.push_back(std::move(group));
}

void Actors::hint(Wish& wish) {
    auto all = servers(false);
    if (all.empty()) return;
    auto& hinted = wish.chance.percent(50) ? wish.same_host : wish.different_host;
    for (int left = wish.chance.between(1, 2); left > 0; --left)
        hinted.push_back(wish.chance.any_of(all)->id);
}

void Actors::boot(Wish wish) {
    CreateRequest request;
    request.name = "wanted";
    request.flavor = world().nova.find_flavor_name(wish.flavor);
    request.image = world().nova.images.front().get();
    request.count = static_cast<std::size_t>(wish.servers);
    request.zone = wish.zone;
    request.group = wish.group;
    request.same_host = wish.same_host;
    request.different_host = wish.different_host;
    const ContextPtr by = user_of(wish.project);
    const std::string id = by->request_id();
    trace_.line("boot " + std::to_string(wish.servers) + " x " + wish.flavor + " for " +
                wish.project + " " + wish.zone + " as " + id);
    for (const Uuid& other : wish.same_host) trace_.line("  with " + other.text());
    for (const Uuid& other : wish.different_host) trace_.line("  apart from " + other.text());
    std::vector<Uuid> ids;
    for (const Server* server : site_.lifecycle().create(std::move(request), by))
        ids.push_back(server->id);
    count(wish.kind);
    waiting_[id] = ids;
    wishes_.emplace(id, std::move(wish));
}

void Actors::on_refusal(const RefusalEvent& event) {
    if (auto growth = growths_.extract(event.by->request_id());
        !growth.empty() && growth.mapped().tries_left-- > 0)
        later(milliseconds{growth.mapped().chance.between(500, 15'000)},
              [this, again = growth.mapped()] { resize(again); });
    const auto wish = wishes_.find(event.by->request_id());
    if (wish == wishes_.end() || event.server != event.placing.servers.front()) return;
    const Duration patience = milliseconds{wish->second.chance.between(2'000, 60'000)};
    const std::string id = wish->first;
    later(patience, [this, id] { give_up_or_try_again(id, waiting_[id]); });
}

/// Users delete what failed; most try again.
void Actors::give_up_or_try_again(std::string request, std::vector<Uuid> ids) {
    const auto node = wishes_.extract(request);
    if (node.empty()) return;
    Wish& wish = node.mapped();
    if (wish.chance.percent(20)) return;  // leave it in ERROR
    for (const Uuid& id : ids)
        if (Server* server = world().nova.find_server(id))
            site_.lifecycle().remove(*server, DeleteKind::normal, {}, user_of(wish.project));
    if (wish.tries_left-- > 0) boot(std::move(wish));
}

/// Who never keeps what it gets.
void Actors::loop(const Item& item) {
    Chance chance{item.seed};
    std::string flavor = any_flavor(chance, false);
    loop(std::move(flavor), item.amount, timeline_.true_now() + item.length, chance);
}

void Actors::loop(std::string flavor, int servers, TimePoint until, Chance chance) {
    if (timeline_.true_now() >= until) return;
    CreateRequest request;
    request.name = "loop";
    request.flavor = world().nova.find_flavor_name(flavor);
    request.image = world().nova.images.front().get();
    request.count = static_cast<std::size_t>(servers);
    const ContextPtr by = user_of("regular2");
    trace_.line("boot in a loop " + std::to_string(servers) + " x " + flavor + " as " +
                by->request_id());
    std::vector<Uuid> ids;
    for (const Server* server : site_.lifecycle().create(std::move(request), by))
        ids.push_back(server->id);
    count(Kind::tenant_loops);
    later(milliseconds{chance.between(500, 8'000)}, [this, ids, flavor, servers, until, chance] {
        for (const Uuid& id : ids)
            if (Server* server = world().nova.find_server(id))
                site_.lifecycle().remove(*server, DeleteKind::normal, {}, user_of("regular2"));
        loop(flavor, servers, until, chance);
    });
}

void Actors::resize(const Item& item) {
    Chance chance{item.seed};
    auto all = servers(false);
    std::erase_if(all, [&](const Server* server) { return world().is_revocable(*server); });
    if (all.empty()) return;
    Growth growth;
    growth.server = chance.any_of(all)->id;
    growth.flavor = world().nova.find_flavor_name("large");
    if (!growth.flavor) growth.flavor = world().nova.find_flavor_name("small");
    growth.tries_left = chance.between(0, 2);
    growth.chance = chance;
    resize(std::move(growth));
}

/// What Nova refused can be asked for again: a further request of the same server.
void Actors::resize(Growth growth) {
    Server* const server = world().nova.find_server(growth.server);
    if (server == nullptr || server->flavor->id == growth.flavor->id) return;
    const Project* project = world().identity.project(world().names.text(server->project));
    const ContextPtr by = user_of(project->name);
    count(Kind::resize);
    const Uuid id = server->id;
    const Duration patience = seconds{growth.chance.between(5, 30)};
    trace_.line("resize " + id.text() + " to " + growth.flavor->name + " as " + by->request_id());
    const auto flavor = growth.flavor;
    growths_.emplace(by->request_id(), std::move(growth));
    if (site_.lifecycle().resize(*server, flavor, by)) return;
    later(patience, [this, id] {
        Server* moved = world().nova.find_server(id);
        if (moved && moved->state == VmState::resized)
            site_.lifecycle().confirm_resize(*moved, operators());
    });
}

/// Its host is down for a while, and its neighbours may move with it.
void Actors::evacuate(const Item& item, Chance& chance) {
    auto all = servers(false);
    std::erase_if(all, [&](const Server* server) {
        return world().is_revocable(*server) || !server->host->up();
    });
    if (all.empty()) return;
    cloudsim::Host* const host = chance.any_of(all)->host;
    host->agent_down = true;
    trace_.line("host " + host->name + " is down, and evacuated");
    later(item.length, [host] { host->agent_down = false; });
    int left = chance.between(1, 2);
    for (Server* const server : all) {
        if (server->host != host || left == 0) continue;
        --left;
        const Uuid id = server->id;
        later(milliseconds{chance.between(100, 2'000)}, [this, id] {
            Server* const moved = world().nova.find_server(id);
            if (moved == nullptr) return;
            const ContextPtr by = operators();
            trace_.line("evacuate " + id.text() + " as " + by->request_id());
            if (!site_.lifecycle().evacuate(*moved, by)) count(Kind::evacuation);
        });
    }
}

void Actors::unshelve(Chance& chance) {
    auto all = servers(false);
    std::erase_if(all, [&](const Server* server) { return world().is_revocable(*server); });
    if (all.empty()) return;
    Server& server = *chance.any_of(all);
    trace_.line("shelve " + server.id.text());
    if (site_.lifecycle().shelve(server, operators())) return;
    const Uuid id = server.id;
    const int tries_left = chance.between(0, 2);
    later(seconds{chance.between(3, 20)}, [this, id, tries_left] { unshelve(id, tries_left); });
}

/// Nova sends no message that it failed; its user sees it, and tries again.
void Actors::unshelve(Uuid id, int tries_left) {
    Server* const server = world().nova.find_server(id);
    if (server == nullptr || server->state != VmState::shelved_offloaded) return;
    const ContextPtr by = operators();
    trace_.line("unshelve " + id.text() + " as " + by->request_id());
    if (!site_.lifecycle().unshelve(*server, by)) count(Kind::unshelving);
    if (tries_left > 0)
        later(seconds{25}, [this, id, tries_left] { unshelve(id, tries_left - 1); });
}

}  // namespace reaper::faults
