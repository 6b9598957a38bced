// The judgement on held room: `reserved` of the revocable class changes only as the journal said
// before, and is in the end what it was in the beginning.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "faults/schedules/checker.hpp"

namespace reaper::faults {

bool Checker::sets_reserved(const cloudsim::Request& request) {
    const auto& path = request.path;
    return request.method == "PUT" && path.size() == 5 && path[0] == "placement" &&
           path[1] == "resource_providers" && path[3] == "inventories";
}

/// The cloud has worked on it.
void Checker::judge_hold(const Exchange& call) {
    const auto& path = call.request.path;
    const std::string what = path[4] + " of provider " + path[2];
    const auto body = nlohmann::json::parse(call.request.body, nullptr, false);
    const auto reserved = body.is_object() ? body.value("reserved", std::int64_t{-1}) : -1;
    trace_.line("reserved of " + what + " is to be " + std::to_string(reserved) + ": " +
                std::to_string(call.response.status));
    if (!plan_.holds_room || path[4] != site_.world().settings.revocable_class)
        blame("held-room", "the reaper may not set reserved of " + what);
    if (call.response.status >= 300) return;
    ++tally_.reserved;
    const auto says = [&](const InventoryHold& hold) {
        return hold.provider.str() == path[2] && hold.resource_class.str() == path[4] &&
               (hold.set == reserved || hold.before == reserved);
    };
    const bool told = std::any_of(journals_.begin(), journals_.end(), [&](const auto* one) {
        return std::any_of(one->open_holds.begin(), one->open_holds.end(), says) ||
               std::any_of(one->ended_holds.begin(), one->ended_holds.end(),
                           [&](const auto& ended) { return says(ended.first); });
    });
    if (!told)
        blame("held-room", "reserved of " + what + " is set to " + std::to_string(reserved) +
                               ", and no journal has such a hold");
}

/// A clock that was set back keeps promises, and with them holds, for longer than we look.
bool Checker::awaits_end_of_hold() const {
    return !plan_.has(Kind::clock_step) && !journal().open_holds.empty();
}

/// By a machine that is gone: no other one has the journal. Or because Placement's answer lacked
/// the class, which says that nothing is reserved of it.
bool Checker::left_held(const std::string& provider) const {
    const auto& other = journals_[1 - machine_]->open_holds;
    const auto& ended = journal().ended_holds;
    const auto of_it = [&](const InventoryHold& hold) { return hold.provider.str() == provider; };
    return std::any_of(other.begin(), other.end(), of_it) ||
           (plan_.has(Kind::missing_field) &&
            std::any_of(ended.begin(), ended.end(), [&](const auto& hold) {
                return of_it(hold.first) && hold.second.kind == InventoryHoldEndKind::gone;
            }));
}

void Checker::judge_holds_left() {
    if (!plan_.holds_room || plan_.has(Kind::clock_step)) return;
    const auto& world = site_.world();
    const auto revocable = world.names.find(world.settings.revocable_class);
    for (const auto* provider : world.placement.providers()) {
        const auto* room = provider->room(*revocable);
        if (room == nullptr || room->inventory.reserved == 0) continue;
        if (left_held(provider->uuid.text())) continue;
        blame("held-room", "on " + provider->name + " " + std::to_string(room->inventory.reserved) +
                               " are still reserved");
    }
}

}  // namespace reaper::faults
