#include "reaper/setup/slots.hpp"

#include <algorithm>

namespace reaper {
namespace {

using Kind = SlotStep::Kind;

SlotStep step_of(Kind kind, const SlotHost& host, const ResourceClass& slot_class) {
    SlotStep step;
    step.kind = kind;
    step.host = host.name;
    step.root = host.id;
    step.name = slot_provider_name(host.name, slot_class);
    return step;
}

Amount slots_for(const SlotHost& host, const SlotCount& count) {
    if (count.fixed > 0) return count.fixed;
    const auto at = host.inventories.find(count.per);
    return at == host.inventories.end() ? 0
                                        : at->second.capacity() / std::max<Amount>(count.amount, 1);
}

Amount used_of(const ProviderState& state, const ResourceClass& slot_class) {
    Amount used = 0;
    for (const auto& [consumer, held] : state.allocations) used += held.get(slot_class);
    return used;
}

const ProviderRecord* named(const std::vector<ProviderRecord>& providers, const std::string& name) {
    const auto at = std::ranges::find(providers, name, &ProviderRecord::name);
    return at == providers.end() ? nullptr : &*at;
}

SlotStep set_up_new(const SlotView& cache, const SlotHost& host, const ResourceClass& slot_class,
                    Amount slots) {
    SlotStep step = new_provider_step(cache, host, slot_class);
    step.to = slots;
    if (step.kind != Kind::refuse && slots <= 0) {
        step.kind = Kind::refuse;
        step.why = "its capacity gives no slot";
    }
    return step;
}

SlotStep set_up_known(const SlotView& cache, const SlotHost& host, const ProviderId& provider,
                      const ResourceClass& slot_class, Amount slots) {
    SlotStep step = step_of(Kind::set_total, host, slot_class);
    step.provider = provider;
    step.to = slots;
    const auto state = cache.states.find(provider);
    if (state == cache.states.end()) {
        step.kind = Kind::refuse;
        step.why = "it went away while it was read";
        return step;
    }
    const auto inventory = state->second.inventories.find(slot_class);
    step.from = inventory == state->second.inventories.end() ? 0 : inventory->second.total;
    if (slots <= 0) {
        step.kind = Kind::refuse;
        step.why = "the host's capacity gives no slot";
        return step;
    }
    if (step.from == slots) step.kind = Kind::keep;
    const Amount used = used_of(state->second, slot_class);
    if (used > slots)
        step.why = std::to_string(used) + " are in use: no new one until these are fewer";
    return step;
}

}  // namespace

SlotStep class_step(Kind kind, const ResourceClass& slot_class, std::string why) {
    SlotStep step;
    step.kind = kind;
    step.name = slot_class.str();
    step.why = std::move(why);
    return step;
}

SlotStep new_provider_step(const SlotView& cache, const SlotHost& host,
                           const ResourceClass& slot_class) {
    SlotStep step = step_of(Kind::create_provider, host, slot_class);
    if (const auto* other = named(cache.providers, step.name)) {
        step.kind = Kind::refuse;
        step.provider = other->id;
        step.why = "there is a provider of that name elsewhere: " + other->id.str();
    }
    return step;
}

std::string why_it_stays(const ProviderState& state, const ResourceClass& slot_class) {
    if (!state.allocations.empty()) {
        std::string who;
        std::size_t shown = 0;
        for (const auto& [consumer, held] : state.allocations)
            if (shown++ < 5) who += (who.empty() ? "" : ", ") + consumer.str();
        if (state.allocations.size() > 5)
            who += " and " + std::to_string(state.allocations.size() - 5) + " more";
        return std::to_string(state.allocations.size()) +
               (state.allocations.size() == 1 ? " consumer holds" : " consumers hold") +
               " something there: " + who;
    }
    for (const auto& [other, inventory] : state.inventories)
        if (other != slot_class) return "it has an inventory of " + other.str() + " too";
    return {};
}

std::string_view to_string(SlotStep::Kind kind) {
    switch (kind) {
        case Kind::create_class: return "create-class";
        case Kind::create_provider: return "create-provider";
        case Kind::set_total: return "set-total";
        case Kind::create_flavor: return "create-flavor";
        case Kind::remove_flavor: return "remove-flavor";
        case Kind::remove_provider: return "remove-provider";
        case Kind::remove_class: return "remove-class";
        case Kind::keep: return "keep";
        case Kind::refuse: return "refuse";
    }
    return "?";
}

std::string slot_provider_name(const std::string& host, const ResourceClass& slot_class) {
    constexpr std::string_view prefix = "CUSTOM_";
    std::string word = slot_class.str();
    if (word.starts_with(prefix)) word.erase(0, prefix.size());
    for (char& c : word) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '_') c = '-';
    }
    return host + "-" + word;
}

std::map<HostId, ProviderRecord> slot_providers(const std::vector<SlotHost>& hosts,
                                                const std::vector<ProviderRecord>& providers,
                                                const ResourceClass& slot_class) {
    std::map<HostId, std::string> wanted;
    for (const auto& host : hosts) wanted[host.id] = slot_provider_name(host.name, slot_class);
    std::map<HostId, ProviderRecord> found;
    for (const auto& provider : providers) {
        const auto at = wanted.find(provider.parent);
        if (at != wanted.end() && at->second == provider.name)
            found.emplace(provider.parent, provider);
    }
    return found;
}

std::vector<SlotStep> slots_to_set_up(const SlotView& cache, const ResourceClass& slot_class,
                                      const SlotCount& count) {
    std::vector<SlotStep> steps;
    steps.push_back(class_step(cache.class_exists ? Kind::keep : Kind::create_class, slot_class));
    const auto known = slot_providers(cache.hosts, cache.providers, slot_class);
    for (const auto& host : cache.hosts) {
        const Amount slots = slots_for(host, count);
        const auto at = known.find(host.id);
        steps.push_back(at == known.end()
                            ? set_up_new(cache, host, slot_class, slots)
                            : set_up_known(cache, host, at->second.id, slot_class, slots));
    }
    return steps;
}

std::vector<SlotStep> slots_to_undo(const SlotView& cache, const ResourceClass& slot_class) {
    std::vector<SlotStep> steps;
    const auto known = slot_providers(cache.hosts, cache.providers, slot_class);
    bool all = true;
    for (const auto& host : cache.hosts) {
        const auto at = known.find(host.id);
        if (at == known.end()) continue;
        SlotStep step = step_of(Kind::remove_provider, host, slot_class);
        step.provider = at->second.id;
        if (const auto state = cache.states.find(at->second.id); state != cache.states.end()) {
            const auto inventory = state->second.inventories.find(slot_class);
            if (inventory != state->second.inventories.end()) step.from = inventory->second.total;
            step.why = why_it_stays(state->second, slot_class);
        }
        if (!step.why.empty()) {
            step.kind = Kind::refuse;
            all = false;
        }
        steps.push_back(std::move(step));
    }
    if (!cache.class_exists)
        steps.push_back(class_step(Kind::keep, slot_class));
    else if (all)
        steps.push_back(class_step(Kind::remove_class, slot_class));
    else
        steps.push_back(class_step(Kind::refuse, slot_class, "it is still in use"));
    return steps;
}

}  // namespace reaper
