#include "tests/cloudsim/core/seeding.hpp"

#include <algorithm>

namespace reaper::cloudsim {

namespace {

constexpr int standard_traits = 10;  // the first of Placement's list: what the lab's hosts have

ContextPtr no_user(World& world) {
    auto context = std::make_shared<Context>();
    context->is_admin = true;
    context->roles = {"admin", "member", "reader"};
    const User* admin = world.identity.user_named("admin");
    const Project* service = world.identity.project_named("service");
    if (admin) context->user_id = admin->id, context->user_name = admin->name;
    if (service) context->project_id = service->id, context->project_name = service->name;
    context->request = world.rng.uuid();
    return context;
}

Inventory inventory(std::int64_t total, double ratio, std::int64_t reserved = 0) {
    Inventory made;
    made.total = total;
    made.max_unit = total;
    made.allocation_ratio = ratio;
    made.reserved = reserved;
    return made;
}

void seed_host(World& world, int number, const std::vector<NameId>& traits) {
    const HostShape& shape = world.settings.host;
    const std::string name = shape.name + std::to_string(number);
    Names& names = world.names;
    Placement& placement = world.placement;
    const Uuid id = world.rng.uuid();
    placement.create_provider(id, name, nullptr);
    Provider& root = *placement.find(id);
    std::map<NameId, Inventory> inventories{
        {names.id("VCPU"), inventory(shape.vcpus, shape.cpu_ratio)},
        {names.id("MEMORY_MB"),
         inventory(shape.memory_mb, shape.memory_ratio, shape.reserved_memory_mb)},
        {names.id("DISK_GB"), inventory(shape.disk_gb, shape.disk_ratio)}};
    for (const auto& [resource_class, total] : shape.classes)
        inventories[names.id(resource_class)] = inventory(total, 1.0);
    placement.set_inventories(root, inventories, 0);
    std::vector<NameId> own = traits;
    for (const auto& [trait, hosts] : world.settings.traits)
        if (std::find(hosts.begin(), hosts.end(), name) != hosts.end())
            own.push_back(names.id(trait));
    placement.set_traits(root, own);
    for (const auto& [resource_class, total] : world.settings.nested) {
        const Uuid child_id = world.rng.uuid();
        std::string suffix = resource_class;
        if (suffix.starts_with("CUSTOM_")) suffix.erase(0, 7);
        std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        placement.create_provider(child_id, name + "_" + suffix, &root);
        Inventory nested;
        nested.total = total;
        placement.set_inventories(*placement.find(child_id), {{names.id(resource_class), nested}},
                                  0);
    }
    world.nova.add_host(name, root, world.rng.uuid());
}

void seed_hosts(World& world) {
    std::vector<NameId> traits;
    for (int at = 0; at < standard_traits; ++at)
        traits.push_back(world.names.id(world.placement.traits()[static_cast<std::size_t>(at)]));
    for (const std::string& name : world.settings.host.traits) {
        world.placement.add_trait(name);
        traits.push_back(world.names.id(name));
    }
    for (const auto& [name, hosts] : world.settings.traits) world.placement.add_trait(name);
    for (const auto& [name, total] : world.settings.nested) world.placement.add_class(name);
    for (const auto& [name, total] : world.settings.host.classes) world.placement.add_class(name);
    for (int number = 1; number <= world.settings.hosts; ++number) seed_host(world, number, traits);
}

std::string seed_aggregates(World& world, Lifecycle& lifecycle) {
    const ContextPtr by = no_user(world);
    auto entries = world.settings.aggregates;
    for (const auto& [zone, hosts] : world.settings.zones)
        entries[zone] = {hosts, {{"availability_zone", zone}}};
    for (const auto& [name, entry] : entries) {
        Aggregate& aggregate = lifecycle.create_aggregate(name, "", by);
        aggregate.metadata = entry.metadata;
        for (const std::string& host_name : entry.hosts) {
            Host* host = world.nova.find_host(host_name);
            if (!host) return "aggregate or zone " + name + ": there is no host " + host_name;
            lifecycle.add_to_aggregate(aggregate, *host, by);
        }
    }
    return {};
}

/// Puts servers of one project on a host.
class Filler {
public:
    Filler(World& world, Lifecycle& lifecycle) : world_(world), lifecycle_(lifecycle) {
        all_ = world.nova.flavors;
        std::stable_sort(all_.begin(), all_.end(),
                         [](const auto& a, const auto& b) { return a->vcpus < b->vcpus; });
        flavors_ = all_;
        const User* admin = world.identity.user_named("admin");
        user_ = world.names.id(admin ? admin->id : "");
    }

    std::int64_t smallest() const { return flavors_.front()->vcpus; }
    /// From now on, flavors of that kind only.
    void choose(bool revocable) {
        flavors_ = all_;
        if (world_.settings.revocable_by != RevocableBy::project)
            std::erase_if(flavors_, [&](const auto& flavor) {
                return world_.asks_revocable(*flavor) != revocable;
            });
    }
    /// Whose the next server is.
    const Project& owner(const Project& usual) {
        const auto& mixed = world_.settings.mixed_projects;
        if (mixed.empty()) return usual;
        return *world_.identity.project_named(mixed[world_.rng.below(mixed.size())]);
    }

    /// One server of at most so many VCPU; what it took, 0 if nothing fits.
    std::int64_t put(Host& host, const Project& project, std::int64_t most) {
        std::size_t fitting = 0;
        while (fitting < flavors_.size() && flavors_[fitting]->vcpus <= most) ++fitting;
        if (fitting == 0) return 0;
        const auto& flavor = flavors_[world_.rng.below(fitting)];
        auto server = std::make_unique<Server>();
        server->id = world_.rng.uuid();
        server->name = project.name + "-" + flavor->name + "-" + std::to_string(++count_);
        server->project = world_.names.id(project.id);
        server->user = user_;
        server->flavor = flavor;
        server->image = world_.nova.images.front().get();
        server->state = VmState::active;
        server->reservation = "r-" + world_.rng.letters(8);
        constexpr std::uint64_t month_s = 30 * 24 * 3600;
        const auto age = std::chrono::seconds(world_.rng.below(month_s) + 60);
        server->created = to_seconds(world_.clock.now()) - age;
        server->launched = server->created + std::chrono::seconds(world_.rng.below(20) + 1);
        server->updated = server->launched;
        server->actions.push_back(
            {"create", world_.rng.uuid(), user_, server->project, server->created});
        return lifecycle_.put(std::move(server), host) ? flavor->vcpus : 0;
    }

private:
    World& world_;
    Lifecycle& lifecycle_;
    std::vector<std::shared_ptr<const Flavor>> all_;      ///< the smallest first
    std::vector<std::shared_ptr<const Flavor>> flavors_;  ///< of these, those to choose from
    NameId user_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace

std::string seed_identity(World& world) {
    for (const char* role : {"admin", "member", "reader"}) world.identity.add_role(role);
    for (const auto& [name, tags] : world.settings.projects) world.identity.add_project(name, tags);
    for (const auto& [name, entry] : world.settings.users) {
        Project* project = world.identity.project_named(entry.project);
        if (!project)
            return "users." + name + ".project: there is no project " + entry.project +
                   "; add it under projects";
        User& user = world.identity.add_user(name, entry.password);
        user.default_project = project->id;
        for (const std::string& role : entry.roles) {
            world.identity.add_role(role);
            user.grants.insert({project->id, role});
        }
    }
    // The administrator makes servers in all projects, as the lab's does.
    if (User* admin = world.identity.user_named("admin"))
        for (const auto& project : world.identity.projects)
            admin->grants.insert({project->id, "admin"});
    User* reaper = world.identity.user_named("reaper");
    if (reaper)
        world.identity.credentials.push_back(std::make_unique<ApplicationCredential>(
            ApplicationCredential{world.identity.new_id(), "reaper", world.rng.letters(40),
                                  reaper->id, reaper->default_project, "the reaper's login"}));
    return {};
}

void seed_catalogue(World& world) {
    for (const auto& [name, entry] : world.settings.flavors) {
        Flavor flavor;
        flavor.id = world.rng.uuid().text();
        flavor.name = name;
        flavor.vcpus = entry.vcpus;
        flavor.memory_mb = entry.memory_mb;
        flavor.root_gb = entry.disk_gb;
        flavor.ephemeral_gb = entry.ephemeral_gb;
        flavor.swap_mb = entry.swap_mb;
        flavor.extra_specs = entry.extra_specs;
        world.nova.flavors.push_back(std::make_shared<const Flavor>(std::move(flavor)));
    }
    auto image = std::make_unique<Image>();
    image->id = world.rng.uuid();
    image->name = "tiny";
    image->created = to_seconds(world.clock.now());
    if (const Project* service = world.identity.project_named("service"))
        image->owner = service->id;
    world.nova.images.push_back(std::move(image));
}

std::string seed_servers(World& world, Lifecycle& lifecycle) {
    const Settings& settings = world.settings;
    if (settings.fill <= 0 && settings.revocable_per_host.value_or(0) == 0) return {};
    const Project* spot = world.identity.project_named("spot");
    const Project* regular = world.identity.project_named("regular");
    Filler filler(world, lifecycle);
    for (const auto& host : world.nova.hosts) {
        const Room* room = host->provider->room(world.names.id("VCPU"));
        const std::int64_t capacity = room->inventory.capacity();
        const auto target =
            static_cast<std::int64_t>(static_cast<double>(capacity) * settings.fill);
        const auto share =
            static_cast<std::int64_t>(static_cast<double>(target) * settings.revocable);
        filler.choose(true);
        if (const auto wanted = settings.revocable_per_host) {
            for (int left = *wanted; left > 0; --left) {
                const std::int64_t budget = std::max(share, *wanted * filler.smallest());
                const std::int64_t spare = budget - room->used - (left - 1) * filler.smallest();
                if (filler.put(*host, *spot, spare) == 0)
                    return "revocable_per_host: " + std::to_string(*wanted) +
                           " servers do not fit on a host; use larger hosts or smaller flavors";
            }
        } else {
            while (filler.put(*host, filler.owner(*spot), share - room->used) > 0) {
            }
        }
        filler.choose(false);
        while (filler.put(*host, filler.owner(*regular), target - room->used) > 0) {
        }
    }
    return {};
}

std::string set_cells(World& world, const std::map<std::string, std::vector<std::string>>& cells,
                      const std::vector<std::string>& disabled) {
    std::map<std::string, std::string> cell_of;
    for (const auto& [cell, hosts] : cells)
        for (const std::string& name : hosts) {
            if (!world.nova.find_host(name)) return "cell " + cell + ": there is no host " + name;
            cell_of[name] = cell;
        }
    std::map<std::string, int> numbers;
    for (const auto& host : world.nova.hosts) {
        host->cell = cell_of[host->name];
        host->number = ++numbers[host->cell];
        host->cell_disabled =
            std::find(disabled.begin(), disabled.end(), host->cell) != disabled.end();
    }
    return {};
}

std::string seed(World& world, Lifecycle& lifecycle) {
    if (std::string wrong = seed_identity(world); !wrong.empty()) return wrong;
    seed_catalogue(world);
    seed_hosts(world);
    const Settings& settings = world.settings;
    if (std::string wrong = set_cells(world, settings.cells, settings.disabled_cells);
        !wrong.empty())
        return wrong;
    if (std::string wrong = seed_aggregates(world, lifecycle); !wrong.empty()) return wrong;
    return seed_servers(world, lifecycle);
}

}  // namespace reaper::cloudsim
