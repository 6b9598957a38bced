// The shape of a slot: what one server takes of each class, and what of it has to come from one
// resource provider.
//
// Placement's rules: a class that is in no granular group comes from one provider of the host,
// whichever has it, and these providers together have the required traits while none of them has a
// forbidden one; a granular group comes from one provider, which has the group's own traits; with
// `group_policy=isolate` no two groups of a slot come from the same one.
// Source: placement/objects/allocation_candidate.py.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/request.hpp"

namespace reaper {

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

}  // namespace reaper
