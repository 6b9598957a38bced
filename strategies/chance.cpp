// chance: a random host, random victims on it. Aardvark's strategy of that name, but a host that
// has no further slot to give is not drawn again, so it finds a way whenever there is one. The
// planner spares the victims that turn out needless. O(hosts + draws).
#include <map>
#include <utility>

#include "strategies/seeded_rng.hpp"
#include "strategies/strategy_table.hpp"

namespace reaper {
namespace {

/// What was drawn on one host.
struct Drawn {
    std::vector<std::size_t> victims;
    std::vector<std::size_t> left;  // candidates not drawn
    ByPool room;
    Amount slots = 0;
};

Drawn nothing_drawn(const HostOption& option) {
    Drawn drawn{{}, {}, option.room.room_now(), option.slots_ready};
    for (std::size_t i = 0; i < option.candidates.size(); ++i) drawn.left.push_back(i);
    return drawn;
}

/// Draws victims one by one until the host has a slot more.
void draw_slot(const Problem& problem, const HostOption& option, Drawn& drawn, SeededRng& rng) {
    const Amount before = drawn.slots;
    while (drawn.slots == before && !drawn.left.empty()) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(drawn.left.size()));
        const std::size_t victim = drawn.left[static_cast<std::size_t>(at)];
        drawn.left.erase(drawn.left.begin() + at);
        drawn.victims.push_back(victim);
        for (std::size_t pool = 0; pool < drawn.room.size(); ++pool)
            drawn.room[pool] += option.candidates[victim].gains[pool];
        drawn.slots = std::min(option.max_slots,
                               option.room.slots(problem.shape, drawn.room, option.slots_possible));
    }
}

class Chance : public Strategy {
public:
    Selection select(const Problem& problem) const override {
        SeededRng rng{problem.seed};
        std::vector<std::size_t> able;  // hosts with a further slot to give
        Amount slots = 0;
        for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
            slots += problem.hosts.ready(host);
            if (problem.hosts.possible(host) > problem.hosts.ready(host)) able.push_back(host);
        }
        std::map<std::size_t, Drawn> drawn;
        while (slots < problem.slots && !able.empty()) {
            const std::size_t at = rng.below(able.size());
            const auto& option = problem.hosts[able[at]];
            auto& on_host = drawn.try_emplace(able[at], nothing_drawn(option)).first->second;
            const Amount before = on_host.slots;
            draw_slot(problem, option, on_host, rng);
            slots += on_host.slots - before;
            if (on_host.left.empty() || on_host.slots >= option.slots_possible) {
                std::swap(able[at], able.back());
                able.pop_back();
            }
        }
        return tell(problem, drawn);
    }

private:
    static Selection tell(const Problem& problem, std::map<std::size_t, Drawn>& drawn) {
        Selection selection;
        for (auto& [host, on_host] : drawn)
            selection.hosts.emplace(
                host, Selection::OnHost{std::move(on_host.victims), "drawn at random"});
        for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
            if (selection.passed.size() == passed_in_full) break;
            if (!selection.hosts.contains(host)) selection.passed.push_back({host, "not drawn"});
        }
        return selection;
    }
};

std::variant<std::unique_ptr<Strategy>, ParameterError> make_chance(const Parameters&) {
    return std::make_unique<Chance>();
}

}  // namespace

StrategyInfo chance_strategy() {
    return {"chance",
            "draws a host at random, and servers on it at random until they free a slot",
            {},
            make_chance};
}

}  // namespace reaper
