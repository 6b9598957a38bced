// Packing: do the parts of so many slots fit onto the providers of one host together?
//
// Parts that have nothing to do with each other (no pool in common, no rule between them) are
// looked at apart, as *components*. Where all parts of one are alike, arithmetic decides: a
// provider with room for c of them, of which one slot may take m, serves min(c, m * slots), and k
// parts for each slot fit if these sum up to k * slots (a flow with equal shares is best, and an
// integral one is as good). Other components are searched, slot by slot, with that bound for the
// parts that are alike and a memory of what was found not to fit. Worst case exponential, so the
// steps are limited: whether what they don't find would fit is not known (PackingWork).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/request.hpp"
#include "reaper/model/resources.hpp"

namespace reaper {

// The shape of a slot: what one server takes of each class, and what of it has to come from one
// resource provider.
//
// Placement's rules: a class that is in no granular group comes from one provider of the host,
// whichever has it, and these providers together have the required traits while none of them has a
// forbidden one; a granular group comes from one provider, which has the group's own traits; with
// `group_policy=isolate` no two groups of a slot come from the same one.
// Source: placement/objects/allocation_candidate.py.

/// What one slot takes of one class; the amount is positive.
struct Need {
    ResourceClass resource_class;
    Amount amount = 0;
};

/// So much of one need.
struct Take {
    std::size_t need = 0;  ///< index into the shape
    Amount amount = 0;

    friend bool operator==(const Take&, const Take&) = default;
};

/// What one provider gives alone.
struct SlotPart {
    std::string suffix;  ///< of its group; empty: a class that is in no group
    std::vector<Take> takes;
    std::set<Trait> required;  ///< the provider has them all
    std::set<Trait> forbidden;
    std::vector<std::set<std::string>> aggregates;
    ProviderId in_tree;

    bool grouped() const { return !suffix.empty(); }
};

struct SlotParts {
    std::vector<SlotPart> parts;  ///< groups, then what is in none, by need
    bool isolate = false;         ///< groups of one slot come from different providers
    std::set<Trait> together;     ///< what providers of the classes in no group have together
};

/// The needs of one slot by class name, each class once: groups included.
class Shape {
public:
    Shape() = default;
    explicit Shape(std::vector<Need> needs, std::shared_ptr<const SlotParts> parts = nullptr)
        : needs_{std::move(needs)}, parts_{std::move(parts)} {}

    std::size_t size() const noexcept { return needs_.size(); }
    bool empty() const noexcept { return needs_.empty(); }
    const Need& operator[](std::size_t need) const { return needs_[need]; }
    auto begin() const noexcept { return needs_.begin(); }
    auto end() const noexcept { return needs_.end(); }

    /// Null: any provider that has a class will do for it.
    const SlotParts* parts() const noexcept { return parts_.get(); }
    /// The smallest amount of the class that one provider gives alone.
    Amount least_part(std::size_t need) const;

private:
    std::vector<Need> needs_;
    std::shared_ptr<const SlotParts> parts_;
};

/// The needs of a slot that takes these, from whichever providers; amounts of 0 or less are left
/// out.
Shape shape_of(const Resources& resources);

/// A slot of the request, with its groups and traits.
Shape shape_of(const Request& request);

/// For people: `VGPU=1 (group 1)`.
std::string to_string(const SlotPart& part, const Shape& shape);

/// Amounts by pool of one host, in the order of its pools.
using ByPool = std::vector<Amount>;

/// More than there is of anything.
constexpr Amount max_amount = std::numeric_limits<Amount>::max();

/// What questions about packings have cost; their answers add to it.
struct PackingWork {
    std::int64_t steps = 0;  ///< of searches; arithmetic is free
    bool cut = false;        ///< a search came to its limit: what it did not find may fit

    PackingWork& operator+=(const PackingWork& other) {
        steps += other.steps;
        cut = cut || other.cut;
        return *this;
    }
};

class Packing {
public:
    /// So much from one pool.
    struct Draw {
        std::size_t pool = 0;
        Amount amount = 0;
        friend bool operator==(const Draw&, const Draw&) = default;
    };
    /// A provider that may give a part.
    struct Place {
        std::size_t provider = 0;  ///< equal for equal providers
        std::vector<Draw> draws;   ///< by pool
        std::uint64_t brings =
            0;  ///< of what the places of a slot have to bring together, a bit each
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct Part {
        std::vector<Place> places;
        bool apart = false;  ///< of one slot, no two such parts come from one provider
        std::string name;    ///< for people
    };

    /// `most`: by pool, what one slot may take of it at most. `together`: the bits that the places
    /// of a slot's parts have to bring.
    Packing(std::vector<Part> parts, std::vector<Amount> most, std::uint64_t together);

    /// Each part by itself, whatever the others do: then sums over pools tell the same.
    bool loose() const;
    /// Slots that are lost to others at worst, by need; the sum over those of a component counts.
    void lose(const std::vector<Amount>& lost, const std::vector<std::size_t>& need_of_pool);

    bool fits(const ByPool& room, Amount slots, PackingWork* work = nullptr) const;
    /// The most that fit; a search for them ends at `most`.
    Amount slots(const ByPool& room, Amount most, PackingWork* work = nullptr) const;
    /// Names of the parts that stand in the way of so many slots; empty: none do.
    std::vector<std::string> misfits(const ByPool& room, Amount slots,
                                     PackingWork* work = nullptr) const;

    /// More slots than this are never found where parts differ.
    static constexpr Amount most_searched = 64;

private:
    /// Equal parts of one component.
    struct Likes {
        std::vector<std::size_t> parts;
        std::vector<Amount> most;  ///< by place: of them in one slot
    };
    struct Component {
        std::vector<std::size_t> parts;
        std::vector<Likes> likes;
        std::vector<std::size_t> pools;
        std::uint64_t together = 0;
        Amount lost = 0;
        bool searched() const { return likes.size() > 1 || together != 0; }
    };
    class Search;

    void settle_traits();
    void split();
    Likes likes_of(const std::vector<std::size_t>& parts) const;
    /// Could as many be there, were they alone?
    bool fits(const Likes& likes, const ByPool& room, Amount slots) const;
    Amount slots(const Likes& likes, const ByPool& room) const;
    bool fits(const Component& component, const ByPool& room, Amount slots,
              PackingWork& work) const;
    Amount slots(const Component& component, const ByPool& room, Amount most,
                 PackingWork& work) const;

    std::vector<Part> parts_;
    std::vector<Amount> most_;
    std::uint64_t together_ = 0;
    bool hopeless_ = false;              ///< nothing brings what has to be brought
    bool narrowed_ = false;              ///< some places of a part bring less than they have to
    std::vector<Component> components_;  ///< those that are not searched first
};

}  // namespace reaper
