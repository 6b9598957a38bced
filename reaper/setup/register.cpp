#include "reaper/setup/register.hpp"

#include <algorithm>

#include "reaper/model/resources_text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

using Kind = SlotStep::Kind;

ResourceClass register_class() {
    return ResourceClass{reservation_register::resource_class};
}

Amount total_of(const std::optional<ProviderState>& state) {
    if (!state) return 0;
    const auto inventory = state->inventories.find(register_class());
    return inventory == state->inventories.end() ? 0 : inventory->second.total;
}

SlotStep register_step(Kind kind, const RegisterView& view) {
    SlotStep step;
    step.kind = kind;
    step.provider = ProviderId{reservation_register::provider_id};
    step.name = reservation_register::provider_name;
    step.from = total_of(view.state);
    return step;
}

SlotStep refused(SlotStep step, std::string why) {
    step.kind = Kind::refuse;
    step.why = std::move(why);
    return step;
}

const ProviderRecord* of_its_name(const std::vector<ProviderRecord>& providers) {
    const auto at =
        std::ranges::find(providers, reservation_register::provider_name, &ProviderRecord::name);
    return at == providers.end() ? nullptr : &*at;
}

SlotStep step_to_set_up(const RegisterView& view) {
    SlotStep step = register_step(Kind::keep, view);
    step.to = max_placement_amount;
    if (find_register(view.providers) == nullptr) {
        if (const auto* const other = of_its_name(view.providers))
            return refused(std::move(step),
                           "there is a provider of that name with another id: " + other->id.str());
        step.kind = Kind::create_provider;
        return step;
    }
    if (!view.state) return refused(std::move(step), "it went away while it was read");
    if (step.from != step.to) step.kind = Kind::set_total;
    return step;
}

}  // namespace

const ProviderRecord* find_register(const std::vector<ProviderRecord>& providers) {
    const ProviderId id{reservation_register::provider_id};
    const auto at = std::ranges::find(providers, id, &ProviderRecord::id);
    return at == providers.end() ? nullptr : &*at;
}

std::vector<SlotStep> register_to_set_up(const RegisterView& view) {
    return {class_step(view.class_exists ? Kind::keep : Kind::create_class, register_class()),
            step_to_set_up(view)};
}

std::vector<SlotStep> register_to_undo(const RegisterView& view) {
    std::vector<SlotStep> steps;
    bool in_use = false;
    if (find_register(view.providers) != nullptr) {
        SlotStep step = register_step(Kind::remove_provider, view);
        std::string why = view.state ? why_it_stays(*view.state, register_class()) : "";
        in_use = !why.empty();
        if (in_use) step = refused(std::move(step), "there are reservations: " + why);
        steps.push_back(std::move(step));
    }
    if (!view.class_exists)
        steps.push_back(class_step(Kind::keep, register_class()));
    else if (in_use)
        steps.push_back(class_step(Kind::refuse, register_class(), "it is still in use"));
    else
        steps.push_back(class_step(Kind::remove_class, register_class()));
    return steps;
}

}  // namespace reaper
