// Packing: do the parts of so many slots fit onto the providers of one host together?
//
// Parts that have nothing to do with each other (no pool in common, no rule between them) are
// looked at apart, as *components*. Where all parts of one are alike, arithmetic decides: a
// provider with room for c of them, of which one slot may take m, serves min(c, m * slots), and k
// parts for each slot fit if these sum up to k * slots (a flow with equal shares is best, and an
// integral one is as good). Other components are searched, slot by slot, with that bound for the
// parts that are alike and a memory of what was found not to fit. Worst case exponential, so the
// steps are limited: what they don't find does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reaper/model/resources.hpp"

namespace reaper {

/// Amounts by pool of one host, in the order of its pools.
using ByPool = std::vector<Amount>;

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

    bool fits(const ByPool& room, Amount slots) const;
    /// The most that fit.
    Amount slots(const ByPool& room) const;
    /// Names of the parts that stand in the way of so many slots; empty: none do.
    std::vector<std::string> misfits(const ByPool& room, Amount slots) const;

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
    bool fits(const Component& component, const ByPool& room, Amount slots) const;
    Amount slots(const Component& component, const ByPool& room) const;

    std::vector<Part> parts_;
    std::vector<Amount> most_;
    std::uint64_t together_ = 0;
    bool hopeless_ = false;  ///< nothing brings what has to be brought
    bool narrowed_ = false;  ///< some places of a part bring less than they have to
    std::vector<Component> components_;
};

}  // namespace reaper
