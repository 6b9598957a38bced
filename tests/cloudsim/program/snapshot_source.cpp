#include "tests/cloudsim/program/snapshot_source.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "reaper/report/snapshot_file.hpp"
#include "tests/cloudsim/core/seeding.hpp"

namespace reaper::cloudsim {

namespace {

using reaper::report::SnapshotFile;

Uuid id_of(const std::string& text, const std::string& what) {
    const auto id = Uuid::parse(text);
    if (!id) throw std::runtime_error(what + " " + text + " has an id that is no UUID");
    return *id;
}

VmState state_of(const std::string& status) {
    static const std::map<std::string, VmState> states{
        {"SHUTOFF", VmState::stopped},       {"VERIFY_RESIZE", VmState::resized},
        {"ERROR", VmState::error},           {"SOFT_DELETED", VmState::soft_deleted},
        {"REVERT_RESIZE", VmState::resized},
    };
    const auto known = states.find(status);
    return known == states.end() ? VmState::active : known->second;
}

/// Copies one file into one world.
class Copier {
public:
    Copier(World& world, Lifecycle& lifecycle, const SnapshotFile& file)
        : world_(world), lifecycle_(lifecycle), file_(file) {
        const Time then = std::chrono::time_point_cast<Micros>(file.snapshot.taken_at);
        shift_ = world.clock.now() - then;
        if (const User* admin = world.identity.user_named("admin"))
            admin_ = world.names.id(admin->id);
    }

    void run() {
        copy_projects();
        for (const reaper::Host& host : file_.snapshot.hosts) copy_host(host);
        for (const reaper::Host& host : file_.snapshot.hosts) copy_groups(host);
        for (const reaper::Host& host : file_.snapshot.hosts)
            for (const reaper::Server& server : host.servers) copy_server(host, server);
        for (const reaper::Host& host : file_.snapshot.hosts)
            for (const reaper::Provider& provider : host.providers) hold_the_rest(provider);
    }

private:
    void copy_projects() {
        std::set<std::string> ids;
        for (const reaper::Host& host : file_.snapshot.hosts)
            for (const reaper::Server& server : host.servers) ids.insert(server.project.str());
        for (const auto& [tag, projects] : file_.tag_data.projects_by_tag)
            for (const auto& id : projects) ids.insert(id.str());
        for (const std::string& id : ids) {
            Project& project = world_.identity.add_project("project-" + id.substr(0, 8));
            project.id = id;
            for (const auto& [tag, projects] : file_.tag_data.projects_by_tag)
                if (projects.contains(ProjectId(id))) project.tags.push_back(tag);
        }
        if (User* admin = world_.identity.user_named("admin"))
            for (const std::string& id : ids) admin->grants.insert({id, "admin"});
    }

    void copy_host(const reaper::Host& host) {
        std::vector<const reaper::Provider*> left;
        for (const reaper::Provider& provider : host.providers) left.push_back(&provider);
        // Parents first, however the file has them.
        while (!left.empty()) {
            const std::size_t before = left.size();
            std::erase_if(left, [&](const auto* provider) { return copy_provider(*provider); });
            if (left.size() == before)
                throw std::runtime_error("host " + host.name + ": its providers are no tree");
        }
        Provider& root = *world_.placement.find(id_of(host.id.str(), "host"));
        Host& made = world_.nova.add_host(host.service_host, root, world_.rng.uuid());
        made.disabled = !host.enabled;
        if (!host.why_unavailable.empty()) made.disabled_reason = host.why_unavailable;
        made.forced_down = !host.up;
    }

    /// False if its parent is not there yet.
    bool copy_provider(const reaper::Provider& provider) {
        Placement& placement = world_.placement;
        reaper::cloudsim::Provider* parent = nullptr;
        if (!provider.parent.empty()) {
            parent = placement.find(id_of(provider.parent.str(), "provider"));
            if (!parent) return false;
        }
        const Uuid id = id_of(provider.id.str(), "provider");
        // Placement knows no two of one name; files may be without.
        const bool own = !provider.name.empty() && !placement.find_name(provider.name);
        const std::string name = own ? provider.name : provider.name + id.text();
        if (const auto refused = placement.create_provider(id, name, parent))
            throw std::runtime_error(refused->detail);
        auto& made = *placement.find(id);
        std::map<NameId, Inventory> rooms;
        for (const auto& [resource_class, inventory] : provider.inventories) {
            placement.add_class(resource_class.str());
            rooms[world_.names.id(resource_class.str())] = {
                inventory.total,    inventory.reserved,  inventory.min_unit,
                inventory.max_unit, inventory.step_size, inventory.allocation_ratio};
        }
        placement.set_inventories(made, rooms, made.generation);
        std::vector<NameId> traits;
        for (const auto& trait : provider.traits) {
            placement.add_trait(trait.str());
            traits.push_back(world_.names.id(trait.str()));
        }
        placement.set_traits(made, std::move(traits));
        for (const auto& [consumer, resources] : provider.other_consumers)
            add_held(id_of(consumer.str(), "consumer"), made, resources);
        return true;
    }

    /// Migrations hold something of several providers: what is said of each is put together.
    void add_held(const Uuid& consumer, reaper::cloudsim::Provider& provider,
                  const Resources& resources) {
        Claim claim;
        claim.consumer = consumer;
        claim.type = world_.names.id("unknown");
        claim.user = admin_;
        if (const Consumer* known = world_.placement.find_consumer(consumer))
            claim.held = known->held;
        append(claim, provider, resources);
        world_.placement.set_held({claim});
    }

    /// What is used, but by no server in the file.
    void hold_the_rest(const reaper::Provider& provider) {
        auto& ours = *world_.placement.find(id_of(provider.id.str(), "provider"));
        Resources rest;
        for (const auto& [name, amount] : provider.used) {
            const Room* room = ours.room(world_.names.id(name.str()));
            if (room && room->used < amount) rest.set(name, amount - room->used);
        }
        if (rest.begin() != rest.end()) add_held(world_.rng.uuid(), ours, rest);
    }

    void append(Claim& claim, reaper::cloudsim::Provider& provider, const Resources& resources) {
        for (const auto& [name, amount] : resources)
            claim.held.push_back({&provider, world_.names.id(name.str()), amount});
    }

    void copy_groups(const reaper::Host& host) {
        const auto no_user = std::make_shared<const Context>();
        Host& ours = *world_.nova.find_host(host.service_host);
        for (const std::string& name : host.aggregates)
            lifecycle_.add_to_aggregate(aggregate(name, ""), ours, no_user);
        const std::string& zone = host.availability_zone;
        if (!zone.empty() && zone != "nova" && ours.zone != zone)
            lifecycle_.add_to_aggregate(aggregate("zone " + zone, zone), ours, no_user);
    }

    Aggregate& aggregate(const std::string& name, const std::string& zone) {
        for (const auto& each : world_.nova.aggregates)
            if (each->name == name) return *each;
        return lifecycle_.create_aggregate(name, zone, std::make_shared<const Context>());
    }

    std::shared_ptr<const Flavor> flavor_of(const reaper::Host& host,
                                            const reaper::Server& server) {
        const auto held = server.allocations.find(ProviderId(host.id.str()));
        auto amount = [&](const char* name) -> std::int64_t {
            if (held == server.allocations.end()) return 0;
            return held->second.get(ResourceClass(name));
        };
        const auto key = std::tuple(server.flavor_name, server.flavor_extra_specs, amount("VCPU"),
                                    amount("MEMORY_MB"), amount("DISK_GB"));
        auto& flavor = flavors_[key];
        if (flavor) return flavor;
        Flavor made;
        made.id = world_.rng.uuid().text();
        made.name = server.flavor_name;
        made.extra_specs = server.flavor_extra_specs;
        made.vcpus = amount("VCPU");
        made.memory_mb = amount("MEMORY_MB");
        made.root_gb = amount("DISK_GB");
        flavor = std::make_shared<const Flavor>(std::move(made));
        if (!world_.nova.find_flavor_name(flavor->name)) world_.nova.flavors.push_back(flavor);
        return flavor;
    }

    void copy_server(const reaper::Host& host, const reaper::Server& server) {
        auto made = std::make_unique<Server>();
        made->id = id_of(server.id.str(), "server");
        made->name = server.name;
        made->project = world_.names.id(server.project.str());
        made->user = admin_;
        made->flavor = flavor_of(host, server);
        made->image = world_.nova.images.front().get();
        made->host = world_.nova.find_host(host.service_host);
        made->number = world_.nova.next_number();
        made->state = state_of(server.status);
        made->locked = server.locked;
        made->reservation = "r-" + world_.rng.letters(8);
        made->created = here(server.created);
        if (server.launched) made->launched = made->updated = here(*server.launched);
        if (!server.metadata.empty()) made->more().metadata = server.metadata;
        if (!server.tags.empty()) made->more().tags = server.tags;
        made->actions.push_back(
            {"create", world_.rng.uuid(), admin_, made->project, made->created});
        Claim claim;
        claim.consumer = made->id;
        claim.project = made->project;
        claim.user = admin_;
        claim.type = world_.names.id("unknown");
        for (const auto& [provider, resources] : server.allocations) {
            auto* known = world_.placement.find(id_of(provider.str(), "provider"));
            if (!known)
                throw std::runtime_error("server " + server.id.str() + " holds room of " +
                                         provider.str() + ", which is no provider of the file");
            append(claim, *known, resources);
        }
        if (!claim.held.empty()) world_.placement.set_held({claim});
        Server& added = world_.nova.add_server(std::move(made));
        if (server.task_state == "deleting")
            lifecycle_.remove(added, DeleteKind::normal, Micros(0), world_.own_context(added));
    }

    Time here(TimePoint time) const {
        return to_seconds(std::chrono::time_point_cast<Micros>(time) + shift_);
    }

    World& world_;
    Lifecycle& lifecycle_;
    const SnapshotFile& file_;
    Micros shift_{};
    NameId admin_ = 0;
    std::map<std::tuple<std::string, std::map<std::string, std::string>, std::int64_t, std::int64_t,
                        std::int64_t>,
             std::shared_ptr<const Flavor>>
        flavors_;
};

}  // namespace

Site::Seeder snapshot_seeder(const std::string& text, const std::string& where) {
    auto file = reaper::report::read_snapshot(text);
    if (!file) throw std::runtime_error(where + ": " + file.error().what);
    const auto kept = std::make_shared<const SnapshotFile>(std::move(*file));
    return [kept, where](World& world, Lifecycle& lifecycle) -> std::string {
        if (std::string wrong = seed_identity(world); !wrong.empty()) return wrong;
        seed_catalogue(world);
        try {
            Copier(world, lifecycle, *kept).run();
        } catch (const std::runtime_error& wrong) {
            return where + ": " + wrong.what();
        }
        return {};
    };
}

}  // namespace reaper::cloudsim
