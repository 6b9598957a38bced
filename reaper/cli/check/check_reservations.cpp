// Checks of reservations: where they are kept, and for whom.
#include "reaper/cli/check/checks.hpp"
#include "reaper/controllers/reservations/project_roles.hpp"
#include "reaper/controllers/reservations/reservation_register.hpp"

namespace reaper::cli {

Task<bool> check_reservations(CloudPorts cloud, const config::Reservations& settings,
                              const Report& report) {
    if (!settings.enabled) co_return true;
    const std::string what = "reservations";
    auto reading = co_await read_register(cloud.placement);
    if (!reading) {
        report({Verdict::fail, what, reading.error().what});
        co_return false;
    }
    if (!reading->set_up) {
        report({Verdict::fail, what,
                "Placement has no register of them, nothing is kept: make it with 'reaper setup "
                "reservations --apply'"});
        co_return false;
    }
    for (const std::string& remark : reading->remarks) report({Verdict::warn, what, remark});
    report({Verdict::ok, what,
            counted(reading->reservations.size(), "reservation", "reservations") +
                " in Placement's register"});
    ProjectRoles roles{cloud, settings};
    std::set<ProjectId> of_nobody;
    const auto learned = co_await roles.learn(std::move(of_nobody));
    if (!learned) {
        report({Verdict::fail, "roles", learned.error().what});
        co_return false;
    }
    for (const std::string& line : roles.not_found()) report({Verdict::fail, "roles", line});
    if (roles.not_found().empty() && !settings.roles.empty())
        report(
            {Verdict::ok, "roles",
             "the projects of " + counted(settings.roles.size(), "role", "roles") + " are known"});
    else if (settings.roles.empty() && !settings.roles_by_hierarchy)
        report({Verdict::warn, "roles",
                "no project has one: nobody may use what is reserved (reservations.roles, "
                "reservations.roles_by_hierarchy)"});
    co_return roles.not_found().empty();
}

}  // namespace reaper::cli
