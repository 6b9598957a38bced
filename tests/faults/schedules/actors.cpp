#include "faults/schedules/actors.hpp"

#include <algorithm>
#include <utility>

namespace reaper::faults {

using namespace cloudsim;
using std::chrono::milliseconds;
using std::chrono::seconds;

Actors::Actors(Timeline& timeline, Site& site, Trace& trace, FaultCounts& counts, Micros reclaim,
               std::function<void()> changed)
    : timeline_(timeline),
      site_(site),
      trace_(trace),
      counts_(counts),
      reclaim_(reclaim),
      changed_(std::move(changed)) {}

void Actors::later(Duration delay, std::function<void()> action) {
    ++pending_;
    timeline_.after(delay, [this, action = std::move(action)] {
        --pending_;
        action();
        changed_();
    });
}

ContextPtr Actors::user_of(const std::string& project) {
    auto context = std::make_shared<Context>();
    const User* user = world().identity.user_named("onlooker");
    context->user_id = user->id;
    context->user_name = user->name;
    const Project* found = world().identity.project_named(project);
    context->project_id = found->id;
    context->project_name = found->name;
    context->roles = {"member", "reader"};
    context->request = world().rng.uuid();
    return context;
}

ContextPtr Actors::operators() {
    auto context = std::make_shared<Context>(*user_of("service"));
    context->user_name = "admin";
    context->is_admin = true;
    context->roles = {"admin", "member", "reader"};
    return context;
}

std::vector<Server*> Actors::servers(bool revocable_only) {
    std::vector<Server*> found;
    for (Server* server : world().nova.listed())
        if (server->state == VmState::active && server->task == TaskState::none && server->host &&
            (!revocable_only || world().is_revocable(*server)))
            found.push_back(server);
    return found;
}

std::string Actors::any_flavor(Chance& chance, std::optional<bool> revocable) {
    auto flavors = world().nova.flavors;
    if (revocable && world().settings.revocable_by != RevocableBy::project)
        std::erase_if(flavors, [&](const auto& flavor) {
            return world().asks_revocable(*flavor) != *revocable;
        });
    std::erase_if(flavors, [](const auto& flavor) { return flavor->name.ends_with("-sold"); });
    return chance.any_of(flavors)->name;
}

void Actors::begin(const Item& item) {
    trace_.line("- " + describe(item));
    if (item.kind == Kind::resize) {
        resize(item);
    } else if (is_demand(item.kind)) {
        boot(item);
    } else {
        Chance chance{item.seed};
        act(item, chance);
    }
    changed_();
}

void Actors::on_effect(const Effect& effect) {
    if (effect.what == "deletion lost") count(Kind::deletion_lost);
}

void Actors::slow_down(const Item& item) {
    count(item.kind);
    auto& delays = world().settings.delays;
    if (slow_++ == 0) usual_ = delays;
    delays.list = seconds{5};
    delays.erase = seconds{15};
    later(item.length, [this] {
        if (--slow_ == 0) world().settings.delays = *usual_;
    });
}

// ---- what happens to servers and hosts ----

void Actors::act(const Item& item, Chance& chance) {
    switch (item.kind) {
        case Kind::lock: lock(item, chance); break;
        case Kind::user_delete: delete_some(item, chance); break;
        case Kind::migrate: migrate(chance); break;
        case Kind::retag: retag(chance); break;
        case Kind::protect: protect(chance); break;
        case Kind::power_off: {
            auto all = servers(true);
            if (all.empty()) break;
            site_.lifecycle().stop(*chance.any_of(all), operators());
            count(item.kind);
            break;
        }
        case Kind::regular_takes_room:
        case Kind::revocable_takes_room: {
            Wish wish;
            wish.project = item.kind == Kind::regular_takes_room ? "regular2" : "spot2";
            wish.flavor = chance.pick({"tiny", "small"});
            if (item.kind == Kind::revocable_takes_room &&
                world().settings.revocable_by != RevocableBy::project)
                wish.flavor += "-spot";
            wish.chance = Chance{item.seed};
            boot(std::move(wish));
            count(item.kind);
            break;
        }
        case Kind::evacuation: evacuate(item, chance); break;
        case Kind::unshelving: unshelve(chance); break;
        case Kind::requester_deleted: delete_requester(chance); break;
        case Kind::orphan_allocation: orphan(chance); break;
        case Kind::allocation_missing: lose_allocation(chance); break;
        case Kind::class_lost: lose_class(chance); break;
        case Kind::reservation_touched: touch_reservation(chance); break;
        case Kind::compute_down:
        case Kind::host_disabled:
        case Kind::deletion_held: trouble_of_host(item, chance); break;
        case Kind::deletion_lost: lose_deletions(item); break;
        case Kind::slow_nova: slow_down(item); break;
        case Kind::tenant_loops: loop(item); break;
        default: break;
    }
}

/// Its owner; or an administrator, from another project.
void Actors::lock(const Item& item, Chance& chance) {
    auto all = servers(true);
    const int most = chance.between(1, 4);
    for (int i = 0; i < most && !all.empty(); ++i) {
        const auto which = chance.below(all.size());
        Server& server = *all[which];
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
        const auto owner =
            user_of(world().identity.project(world().names.text(server.project))->name);
        if (server.locked && chance.percent(50))
            (void)site_.lifecycle().unlock(server, operators());
        else
            site_.lifecycle().lock(server, "", chance.percent(50) ? owner : operators());
        count(item.kind);
        trace_.line(std::string{server.locked ? "locked " : "unlocked "} + server.id.text() +
                    (server.locked_by_admin ? " by an administrator" : ""));
    }
}

/// By a tag or by metadata, some with a value that means no; or removes the protection.
void Actors::protect(Chance& chance) {
    auto all = servers(true);
    const int most = chance.between(1, 4);
    for (int i = 0; i < most && !all.empty(); ++i) {
        const auto which = chance.below(all.size());
        ServerExtras& more = all[which]->more();
        const bool was =
            more.tags.erase("reaper-protected") + more.metadata.erase("reaper:protected") > 0;
        if (!was && chance.percent(50))
            more.tags.insert("reaper-protected");
        else if (!was)
            more.metadata["reaper:protected"] = chance.pick({"true", "yes", "", "no"});
        count(Kind::protect);
        trace_.line((was ? "unprotected " : "protected ") + all[which]->id.text());
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
    }
}

void Actors::delete_some(const Item& item, Chance& chance) {
    auto all = servers(chance.percent(70));
    const int most = chance.between(1, 3);
    for (int i = 0; i < most && !all.empty(); ++i) {
        const auto which = chance.below(all.size());
        Server& server = *all[which];
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
        trace_.line("its user deletes " + server.id.text());
        const auto how = reclaim_.count() > 0 ? DeleteKind::soft : DeleteKind::normal;
        site_.lifecycle().remove(server, how, reclaim_, operators());
        count(item.kind);
    }
}

void Actors::migrate(Chance& chance) {
    auto all = servers(true);
    if (all.empty()) return;
    Server& server = *chance.any_of(all);
    const auto flavor =
        chance.percent(50) ? server.flavor : world().nova.find_flavor_name(any_flavor(chance));
    trace_.line("migrate or resize " + server.id.text());
    if (site_.lifecycle().resize(server, flavor, operators())) return;
    count(Kind::migrate);
    const Uuid id = server.id;
    const bool back = chance.percent(30);
    later(seconds{chance.between(2, 30)}, [this, id, back] {
        Server* moved = world().nova.find_server(id);
        if (!moved || moved->state != VmState::resized) return;
        if (back)
            site_.lifecycle().revert_resize(*moved, operators());
        else
            site_.lifecycle().confirm_resize(*moved, operators());
    });
}

void Actors::retag(Chance& chance) {
    const std::string name = chance.pick({"spot", "spot", "spot2", "regular2"});
    const auto toggle = [this, name] {
        auto& tags = world().identity.project_named(name)->tags;
        if (std::erase(tags, "preemptible") == 0) tags.emplace_back("preemptible");
        trace_.line("project " + name + (tags.empty() ? " is regular" : " is revocable"));
    };
    toggle();
    count(Kind::retag);
    if (chance.percent(70)) later(milliseconds{chance.between(500, 60'000)}, toggle);
}

void Actors::delete_requester(Chance& chance) {
    std::vector<std::string> requests;
    for (const auto& [id, wish] : wishes_) requests.push_back(id);
    if (requests.empty()) return;
    const std::string id = chance.any_of(requests);
    const auto wish = wishes_.extract(id);
    for (const Uuid& server_id : waiting_[id])
        if (Server* server = world().nova.find_server(server_id)) {
            trace_.line("requester " + server_id.text() + " is deleted");
            site_.lifecycle().remove(*server, DeleteKind::normal, {},
                                     user_of(wish.mapped().project));
        }
    count(Kind::requester_deleted);
}

void Actors::orphan(Chance& chance) {
    auto& hosts = world().nova.hosts;
    Host& host = *chance.any_of(hosts);
    Claim claim;
    claim.consumer = world().rng.uuid();
    claim.project = world().names.id(world().identity.project_named("regular")->id);
    claim.user = claim.project;
    claim.type = world().names.id("unknown");
    claim.held = {{host.provider, world().names.id("VCPU"), chance.between(1, 2)},
                  {host.provider, world().names.id("MEMORY_MB"), 2'048}};
    if (world().placement.claim({claim})) return;  // no room
    count(Kind::orphan_allocation);
    trace_.line("orphan allocation " + claim.consumer.text() + " on " + host.name);
    const Uuid id = claim.consumer;
    later(seconds{chance.between(10, 90)}, [this, id] { world().placement.remove_consumer(id); });
}

void Actors::lose_allocation(Chance& chance) {
    auto all = servers(chance.percent(60));
    if (all.empty()) return;
    const Server& server = *chance.any_of(all);
    if (!world().placement.remove_consumer(server.id)) return;
    count(Kind::allocation_missing);
    trace_.line("allocation of " + server.id.text() + " is missing");
}

/// An operator makes revocable servers regular: they hold the class no more.
void Actors::lose_class(Chance& chance) {
    auto all = servers(true);
    const auto revocable = world().names.id(world().settings.revocable_class);
    for (int left = chance.between(1, 6); left > 0 && !all.empty(); --left) {
        const auto which = chance.below(all.size());
        const Server& server = *all[which];
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
        const Consumer* consumer = world().placement.find_consumer(server.id);
        if (!world().holds_revocable(server.id)) continue;
        Claim claim;
        claim.consumer = consumer->uuid;
        claim.project = consumer->project;
        claim.user = consumer->user;
        claim.type = consumer->type;
        claim.held = consumer->held;
        std::erase_if(claim.held,
                      [&](const Held& held) { return held.resource_class == revocable; });
        if (world().placement.claim({claim})) continue;
        count(Kind::class_lost);
        trace_.line(server.id.text() + " holds " + world().settings.revocable_class + " no more");
    }
}

/// An operator writes a reservation as it is: its generation is another one.
void Actors::touch_reservation(Chance& chance) {
    std::vector<Uuid> all;
    for (const auto& entry : world().placement.consumers())
        if (world().names.text(entry.second->project).starts_with("reservation:"))
            all.push_back(entry.first);
    if (all.empty()) return;
    std::sort(all.begin(), all.end());
    const Consumer* const consumer = world().placement.find_consumer(chance.any_of(all));
    Claim claim;
    claim.consumer = consumer->uuid;
    claim.project = consumer->project;
    claim.user = consumer->user;
    claim.type = consumer->type;
    claim.held = consumer->held;
    if (world().placement.claim({claim})) return;
    count(Kind::reservation_touched);
    trace_.line("reservation " + claim.consumer.text() + " is touched");
}

void Actors::trouble_of_host(const Item& item, Chance& chance) {
    Host* const host = chance.any_of(world().nova.hosts).get();
    count(item.kind);
    trace_.line("host " + host->name);
    switch (item.kind) {
        case Kind::compute_down:
            host->agent_down = true;
            later(item.length, [host] { host->agent_down = false; });
            break;
        case Kind::host_disabled:
            site_.lifecycle().set_service(*host, true, "maintenance", operators());
            later(item.length,
                  [this, host] { site_.lifecycle().set_service(*host, false, {}, operators()); });
            break;
        default:
            site_.lifecycle().hold(*host);
            later(item.length, [this, host] { site_.lifecycle().release(*host); });
            break;
    }
}

/// An operator finds what hangs in `deleting`, much later.
void Actors::lose_deletions(const Item& item) {
    world().deletions_to_lose += static_cast<std::uint64_t>(item.amount);
    later(seconds{600}, [this] {
        world().deletions_to_lose = 0;
        std::vector<Server*> stuck;
        for (Server* server : world().nova.listed())
            if (server->task == TaskState::deleting) stuck.push_back(server);
        for (Server* server : stuck) site_.lifecycle().reset_state(*server, true, operators());
    });
}

}  // namespace reaper::faults
