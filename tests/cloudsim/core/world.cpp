#include "tests/cloudsim/core/world.hpp"

#include <algorithm>

namespace reaper::cloudsim {

World::World(Settings with, std::function<Time()> real)
    : settings(std::move(with)),
      clock(std::move(real), settings.start),
      rng(settings.seed),
      placement(names),
      nova(names),
      identity(rng, settings.token_life),
      respawn(settings.respawn) {
    clock.set_speed(settings.speed);
}

ContextPtr World::own_context(const Server& server) {
    auto context = std::make_shared<Context>();
    context->user_id = names.text(server.user);
    context->project_id = names.text(server.project);
    if (const User* user = identity.user(context->user_id)) context->user_name = user->name;
    if (const Project* project = identity.project(context->project_id))
        context->project_name = project->name;
    context->roles = {"admin", "member", "reader"};
    context->is_admin = true;
    context->request = rng.uuid();
    return context;
}

bool World::is_revocable(const Server& server) const {
    return is_revocable(is_tagged(server.project), holds_revocable(server.id));
}

bool World::is_revocable(bool tagged, bool holds) const {
    switch (settings.revocable_by) {
        case RevocableBy::project: return tagged;
        case RevocableBy::resource: return holds;
        case RevocableBy::either: return tagged || holds;
        case RevocableBy::both: return tagged && holds;
    }
    return false;
}

bool World::is_tagged(NameId project_id) const {
    const Project* project = identity.project(names.text(project_id));
    return project && std::find(project->tags.begin(), project->tags.end(), "preemptible") !=
                          project->tags.end();
}

bool World::holds_revocable(const Uuid& id) const {
    if (settings.revocable_by == RevocableBy::project) return false;
    const Consumer* consumer = placement.find_consumer(id);
    const auto known = names.find(settings.revocable_class);
    return consumer && known &&
           std::any_of(consumer->held.begin(), consumer->held.end(), [&](const Held& held) {
               return held.resource_class == *known && held.amount > 0;
           });
}

bool World::asks_revocable(const Flavor& flavor) const {
    return flavor.extra_specs.contains("resources:" + settings.revocable_class);
}

void fill_defaults(Settings& settings) {
    if (settings.flavors.empty())
        settings.flavors = {{"tiny", {1, 2'048, 10, 0, 0, {}}},
                            {"small", {2, 4'096, 20, 0, 0, {}}},
                            {"medium", {4, 8'192, 40, 0, 0, {}}},
                            {"large", {8, 16'384, 80, 0, 0, {}}}};
    settings.projects.try_emplace("service");
    settings.projects.try_emplace("regular");
    settings.projects.try_emplace("spot", std::vector<std::string>{"preemptible"});
    settings.users.try_emplace("admin", UserEntry{"cloudsim-admin", "service", {"admin"}});
    settings.users.try_emplace("reaper", UserEntry{"cloudsim-reaper", "service", {"admin"}});
    settings.users.try_emplace("onlooker", UserEntry{"cloudsim-onlooker", "regular", {"reader"}});
}

}  // namespace reaper::cloudsim
