// chance: a random host, random victims on it. Aardvark's strategy of that name; the planner spares
// the victims that turn out needless.
#include <optional>

#include "strategies/builtin.hpp"
#include "strategies/dice.hpp"

namespace reaper {
namespace {

constexpr std::int64_t most_attempts = 1'000'000;

/// What was drawn on one host.
struct Drawn {
    std::vector<std::size_t> victims;
    std::vector<std::size_t> left;  // candidates not drawn
    ByPool room;
    Amount slots = 0;
};

/// Draws victims one by one until the host has a slot more, as it can.
void draw_slot(const Problem& problem, const HostOption& option, Drawn& drawn, Dice& dice) {
    const Amount before = drawn.slots;
    while (drawn.slots == before && !drawn.left.empty()) {
        const auto at = static_cast<std::ptrdiff_t>(dice.below(drawn.left.size()));
        const std::size_t victim = drawn.left[static_cast<std::size_t>(at)];
        drawn.left.erase(drawn.left.begin() + at);
        drawn.victims.push_back(victim);
        for (std::size_t pool = 0; pool < drawn.room.size(); ++pool)
            drawn.room[pool] += option.candidates[victim].gains[pool];
        drawn.slots = option.room.slots(problem.shape, drawn.room);
    }
}

class Chance : public Strategy {
public:
    explicit Chance(std::int64_t max_attempts) : max_attempts_{max_attempts} {}

    Selection select(const Problem& problem) const override {
        Dice dice{problem.seed};
        std::vector<Drawn> hosts;
        Amount slots = 0;
        for (const auto& option : problem.hosts) {
            hosts.push_back(Drawn{{}, {}, option.room.room_now(), option.slots_ready});
            for (std::size_t i = 0; i < option.candidates.size(); ++i)
                hosts.back().left.push_back(i);
            slots += option.slots_ready;
        }
        Selection selection;
        while (slots < problem.slots && !problem.hosts.empty()) {
            const auto host = draw_host(problem, hosts, dice);
            if (!host) {
                selection.note = "chance gave up: " + std::to_string(max_attempts_) +
                                 " draws in a row found no host with room for slot " +
                                 std::to_string(slots + 1);
                break;
            }
            Drawn& drawn = hosts[*host];
            const Amount before = drawn.slots;
            draw_slot(problem, problem.hosts[*host], drawn, dice);
            slots += drawn.slots - before;
        }
        return tell(hosts, std::move(selection));
    }

private:
    /// A host that has another slot to give; none if the attempts ran out on hosts that have not.
    std::optional<std::size_t> draw_host(const Problem& problem, const std::vector<Drawn>& hosts,
                                         Dice& dice) const {
        for (std::int64_t attempt = 0; attempt < max_attempts_; ++attempt) {
            const auto host = static_cast<std::size_t>(dice.below(hosts.size()));
            if (hosts[host].slots < problem.hosts[host].slots_possible) return host;
        }
        return std::nullopt;
    }

    static Selection tell(std::vector<Drawn>& hosts, Selection selection) {
        for (std::size_t host = 0; host < hosts.size(); ++host)
            if (hosts[host].victims.empty())
                selection.passed.emplace(host, "not drawn");
            else
                selection.hosts.emplace(
                    host, Selection::OnHost{std::move(hosts[host].victims), "drawn at random"});
        return selection;
    }

    std::int64_t max_attempts_;
};

std::variant<std::unique_ptr<Strategy>, ParameterError> make(const Parameters& parameters) {
    const auto max_attempts = std::get<std::int64_t>(parameters.at("max_attempts"));
    if (max_attempts < 1 || max_attempts > most_attempts)
        return ParameterError{"max_attempts", "a number from 1 to 1000000"};
    return std::make_unique<Chance>(max_attempts);
}

}  // namespace

StrategyInfo chance_strategy() {
    return {
        "chance",
        "draws a host at random, and servers on it at random until they free a slot",
        {{"max_attempts", ParameterKind::integer, std::int64_t{100},
          "draws for each slot at most, 1 to 1000000; a draw of a host that has no further slot "
          "to give fails"}},
        make};
}

}  // namespace reaper
