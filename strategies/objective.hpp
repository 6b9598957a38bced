// Objectives: what "better" means, as data over one solver. A strategy of this kind is a *goal*
// (names and weights, as configured); for one request it becomes an *objective*.
//
// An objective has levels. Each level is a weighted sum of measures; costs are compared level by
// level. Every measure is additive over victims (waste: plus a constant of the host and the number
// of slots, less what only fills up an overfull provider) and never negative for a victim. After
// the goal's levels comes the number of victims, so that a needless victim never comes for free;
// then, where all waste counts, what they hold of classes that are not requested, and, where the
// tie rule is about time, the sum of their ages or starts. Ways on one host that are equal even so
// are ordered by their servers, in the order of the tie rule, hosts by name and id: the best is
// always one and the same.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strategies/cost.hpp"
#include "strategies/fair_share.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

enum class Measure {
    waste,       ///< free + victims - requested, of one class, on hosts where servers are deleted
    victims,     ///< their number
    lost_work,   ///< size times running time; minutes times units of `Goal::work_classes`
    priority,    ///< what the configuration says that the server's project or flavor is worth
    restarts,    ///< what the server's metadata say that it has suffered already
    share,       ///< of the project's revocable servers that one is, in millionths
    fair_share,  ///< what its project's share is below the largest at its turn, in millionths
    bid,         ///< what its flavor, or else its metadata, says that its owner pays, in millionths
    age,         ///< minutes since its creation
    start,       ///< its creation: minutes UTC
    notice,      ///< seconds of notice that it is still to have
    price,       ///< what it takes of scarce budgets (the planner's, never configured)
    unasked,     ///< what it holds of a class that is not requested (a tie rule, never configured)
};

std::string_view to_string(Measure measure);

/// Those in which Placement counts processors, shared and dedicated.
const std::vector<ResourceClass>& cpu_classes();

/// Which of two servers goes first when the costs are equal.
enum class Tie { id, newest, oldest };

/// What a victim costs of budgets that are scarce: the sum of what applies to it.
struct VictimPrices {
    Amount each = 0;
    std::map<ProjectId, Amount> projects;
    std::map<std::string, Amount, std::less<>> hosts;  ///< by service host

    Amount of(const Server& server) const;
};

/// As configured; says nothing of the request.
struct Goal {
    struct Term {
        Measure measure{};
        Amount weight = 1;
        /// Of waste: the class. None, alone in its level: each class of the request is a level.
        std::optional<ResourceClass> resource_class;
    };
    std::vector<std::vector<Term>> levels;
    std::vector<ResourceClass> waste_order;  ///< the request's other classes follow by name
    Tie tie = Tie::id;
    std::vector<ResourceClass> work_classes = cpu_classes();  ///< the size in lost work: their sum
    /// By project id or flavor name; the larger of both counts.
    std::map<std::string, Amount, std::less<>> priorities;
    Amount standard_priority = 0;
    std::string restarts_key;    ///< of the metadata
    std::string bid_key;         ///< of the flavor's properties and the metadata
    FairTurns::Weights weights;  ///< of projects in the measure `fair_share`
    VictimPrices prices;         ///< of the measure `price`

    bool uses(Measure measure) const;
    /// What servers cost by it changes with every other one: nothing that is found out lasts.
    bool counts_shares() const { return uses(Measure::share) || uses(Measure::fair_share); }
    /// Everything that decides what one server costs, as one text: the same for equal goals.
    std::string fingerprint() const;
};

/// A goal for one request.
struct Objective {
    struct Term {
        Measure measure{};
        Amount weight = 1;
        std::size_t need = 0;  ///< of waste: index into the shape; of unasked: into `waste_order`
    };
    std::vector<std::vector<Term>> levels;
    const Goal* goal = nullptr;  ///< never null; outlives this
    std::size_t victims_level = 0;
    bool merged = false;  ///< it has too many levels: the last before the victims' are one
    TimePoint now{};
    /// Revocable servers of each project; none counts as 1.
    const std::map<ProjectId, Amount>* fleets = nullptr;
    const NoticeRules* notice = nullptr;     ///< null: no server has notice
    std::shared_ptr<const FairTurns> turns;  ///< null: no level has `fair_share`

    /// What the host costs with `slots` slots before any victim; its waste may be negative.
    Cost base(const Shape& shape, const HostRoom& room, Amount slots) const;
    /// What one victim adds, waste included. Never negative.
    Cost of(const HostRoom& room, const Candidate& candidate) const;
    /// Of that, the waste that does not count: what fills up providers that are overfull, with
    /// `before` as the pools' room.
    Cost filled_up(const HostRoom& room, const ByPool& before, const Candidate& candidate) const;
    /// Without weight.
    Amount value(Measure measure, const Server& server) const;
    /// No server has less.
    Amount least_value(Measure measure) const;
    /// Whether a level has measures of victims (not waste).
    bool counts_victims(std::size_t level) const;
    bool uses(Measure measure) const;

    /// Places servers of different hosts in the tie rule's order (lower goes first); 0 where only
    /// the id decides.
    Amount place(const Server& server) const;
    /// Indices of the candidates (which are in the order of their ids), first to go first.
    std::vector<std::size_t> ranking(const std::vector<Candidate>& candidates) const;

    /// For people: one level of a cost.
    /// `victims`: how many go with it, where that is certain.
    std::string level_words(const Shape& shape, std::size_t level, Amount amount,
                            std::optional<Amount> victims = std::nullopt) const;
    /// For people: `VCPU=4 unused with 1 victim`; with `least` as a lower bound.
    std::string words(const Shape& shape, const Cost& cost, bool least = false) const;
};

/// `goal` must outlive the result.
Objective objective_for(const Goal& goal, const Problem& problem);

// Goals as text, as the configuration writes them: a list of levels, each a sum of measures.
//
//     objective: ["priority", "lost_work + 60 victims", "waste:MEMORY_MB", "waste"]

/// Largest weight of a measure or project, and largest priority.
constexpr Amount largest_weight = 1'000'000;

/// One level: `term + term ...`, a term being `[weight] measure`, and `waste:CLASS` for one class.
/// `waste` alone, without a class, stands for a level for each class. Or what is wrong with it.
std::variant<std::vector<Goal::Term>, std::string> level_of(const std::string& text);

/// One of `name=number`; or what is wrong with it.
std::variant<std::pair<std::string, Amount>, std::string> value_of(const std::string& text);

}  // namespace reaper
