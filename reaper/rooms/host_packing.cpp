#include "reaper/rooms/host_packing.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace reaper {
namespace {

/// Is the host in one of these aggregates? Of nested providers nothing is known: none of them is.
bool in_aggregates(const Host& host, const Provider& provider,
                   const std::vector<std::set<std::string>>& wanted) {
    if (wanted.empty()) return true;
    if (&provider != &host.root()) return false;
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::set<std::string>& any) {
        return std::any_of(any.begin(), any.end(), [&](const std::string& uuid) {
            return host.placement_aggregates ? host.placement_aggregates->contains(uuid)
                                             : host.member_of.contains(uuid);
        });
    });
}

bool has_provider(const Host& host, const ProviderId& id) {
    return std::any_of(host.providers.begin(), host.providers.end(),
                       [&](const Provider& provider) { return provider.id == id; });
}

/// May the provider, were it empty, give the part?
Unfit why_unfit(const Host& host, const Provider& provider, const Shape& shape,
                const SlotPart& part) {
    bool units = true;
    for (const auto& take : part.takes) {
        const auto at = provider.inventories.find(shape[take.need].resource_class);
        if (at == provider.inventories.end()) return Unfit::no_such_class;
        units = units && units_allow(at->second, take.amount);
    }
    if (!units) return Unfit::units;
    for (const auto& trait : part.forbidden)
        if (provider.traits.contains(trait)) return Unfit::forbidden_trait;
    for (const auto& trait : part.required)
        if (!provider.traits.contains(trait)) return Unfit::required_trait;
    const bool there = part.in_tree.empty() || has_provider(host, part.in_tree);
    return there && in_aggregates(host, provider, part.aggregates) ? Unfit::fits : Unfit::elsewhere;
}

/// How the parts of slots fit onto the pools.
class PackingBuilder {
public:
    PackingBuilder(const Host& host, const Shape& shape, const std::vector<Pool>& pools)
        : host_{host}, shape_{shape}, pools_{pools}, parts_{*shape.parts()} {
        for (const auto& trait : parts_.together) together_.push_back(trait);
    }

    std::optional<Packing> build() {
        if (together_.size() > max_traits) return std::nullopt;
        std::vector<Packing::Part> parts;
        for (const auto& part : parts_.parts) parts.push_back(part_of(part));
        const std::uint64_t all =
            together_.empty() ? 0 : ~std::uint64_t{0} >> (max_traits - together_.size());
        return Packing{std::move(parts), most(), all};
    }
    static constexpr std::size_t max_traits = 64;

private:
    Packing::Part part_of(const SlotPart& part) const {
        Packing::Part packed;
        packed.apart = parts_.isolate && part.grouped();
        packed.name = to_string(part, shape_);
        for (std::size_t i = 0; i < host_.providers.size(); ++i) {
            const Provider& provider = host_.providers[i];
            if (why_unfit(host_, provider, shape_, part) != Unfit::fits) continue;
            Packing::Place place;
            place.provider = i;
            for (const auto& take : part.takes)
                place.draws.push_back({pool_of(provider.id, take.need), take.amount});
            if (!part.grouped())
                for (std::size_t trait = 0; trait < together_.size(); ++trait)
                    if (provider.traits.contains(together_[trait]))
                        place.brings |= std::uint64_t{1} << trait;
            packed.places.push_back(std::move(place));
        }
        return packed;
    }
    std::size_t pool_of(const ProviderId& provider, std::size_t need) const {
        const auto at = std::find_if(pools_.begin(), pools_.end(), [&](const Pool& pool) {
            return pool.need == need && pool.provider == provider;
        });
        return static_cast<std::size_t>(at - pools_.begin());
    }
    std::vector<Amount> most() const {
        std::vector<Amount> most;
        for (const auto& pool : pools_)
            for (const auto& provider : host_.providers)
                if (provider.id == pool.provider)
                    most.push_back(
                        provider.inventories.at(shape_[pool.need].resource_class).max_unit);
        return most;
    }

    const Host& host_;
    const Shape& shape_;
    const std::vector<Pool>& pools_;
    const SlotParts& parts_;
    std::vector<Trait> together_;
};

}  // namespace

Unfit why_unfit(const Host& host, const Shape& shape, const SlotPart& part) {
    Unfit nearest = Unfit::no_such_class;
    for (const auto& provider : host.providers) {
        const Unfit why = why_unfit(host, provider, shape, part);
        if (why == Unfit::fits) return why;
        nearest = std::max(nearest, why);
    }
    return nearest;
}

bool may_give(const Host& host, const Provider& provider, const Shape& shape, std::size_t need) {
    const auto& parts = shape.parts()->parts;
    return std::any_of(parts.begin(), parts.end(), [&](const SlotPart& part) {
        return std::any_of(part.takes.begin(), part.takes.end(),
                           [&](const Take& take) { return take.need == need; }) &&
               why_unfit(host, provider, shape, part) == Unfit::fits;
    });
}

std::shared_ptr<const Packing> packing_of(const Host& host, const Shape& shape,
                                          const HostRoom& room) {
    auto packing = PackingBuilder{host, shape, room.pools}.build();
    // More traits than any request asks for: no such slot is found.
    if (!packing)
        return std::make_shared<const Packing>(std::vector<Packing::Part>{}, std::vector<Amount>{},
                                               1);
    if (shape.parts()->parts.size() == shape.size() && packing->loose()) return nullptr;
    std::vector<std::size_t> needs;
    for (const auto& pool : room.pools) needs.push_back(pool.need);
    packing->lose(room.promised_slots, needs);
    return std::make_shared<const Packing>(std::move(*packing));
}

}  // namespace reaper
