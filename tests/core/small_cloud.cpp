#include "core/small_cloud.hpp"

#include <algorithm>

namespace reaper::testing {
namespace {

int throw_of(SeededRng& rng, int from, int to) {
    return from + static_cast<int>(rng.below(static_cast<std::uint64_t>(to - from + 1)));
}

void add_server(Host& made, int number, bool few_sizes, SeededRng& rng) {
    static const std::vector<Resources> sizes{{{"VCPU", 1}, {"MEMORY_MB", 2}, {"DISK_GB", 1}},
                                              {{"VCPU", 2}, {"MEMORY_MB", 4}, {"DISK_GB", 1}},
                                              {{"VCPU", 4}, {"MEMORY_MB", 8}, {"DISK_GB", 2}},
                                              {{"VCPU", 2}, {"MEMORY_MB", 2}, {"DISK_GB", 2}}};
    const Resources size = few_sizes ? sizes[rng.below(sizes.size())]
                                     : Resources{{"VCPU", throw_of(rng, 1, 6)},
                                                 {"MEMORY_MB", throw_of(rng, 1, 9)},
                                                 {"DISK_GB", throw_of(rng, 1, 4)}};
    Server one = revocable(made.name + "-" + std::to_string(number), made.id, size,
                           -60 * throw_of(rng, 0, 20));
    static const std::vector<const char*> projects{"gold", "silver", "cheap"};
    one.project = ProjectId{projects[rng.below(3)]};
    if (rng.below(3) == 0)
        one.metadata.insert_or_assign("restarts", std::to_string(throw_of(rng, 0, 3)));
    if (rng.below(3) == 0)
        one.metadata.insert_or_assign("bid", std::to_string(throw_of(rng, 0, 3)));
    put(made, one);
}

/// By `extra` slots, from 1: the least over all subsets; none where there is no way.
std::vector<std::optional<Cost>> least_by_extra(const Problem& problem, const Objective& objective,
                                                std::size_t host, Amount most) {
    const auto& option = problem.hosts[host];
    std::vector<std::optional<Cost>> least(static_cast<std::size_t>(most));
    std::vector<Cost> own;
    for (const auto& candidate : option.candidates)
        own.push_back(objective.of(option.room, candidate));
    for (std::size_t set = 1; set < std::size_t{1} << own.size(); ++set) {
        Cost sum;
        ByPool room = option.room.room_now();
        for (std::size_t i = 0; i < own.size(); ++i) {
            if ((set >> i & 1U) == 0) continue;
            sum += own[i];
            for (std::size_t pool = 0; pool < room.size(); ++pool)
                room[pool] += option.candidates[i].gains[pool];
        }
        const Amount slots = option.room.slots(problem.shape, room);
        for (Amount extra = 1; extra <= std::min(most, slots - option.slots_ready); ++extra) {
            const Cost cost =
                sum + objective.base(problem.shape, option.room, option.slots_ready + extra);
            auto& best = least[static_cast<std::size_t>(extra - 1)];
            if (!best || cost < *best) best = cost;
        }
    }
    while (!least.empty() && !least.back()) least.pop_back();
    return least;
}

}  // namespace

Snapshot small_cloud(const SmallCloudSpec& spec, SeededRng& rng) {
    Snapshot cloud{at(0), {}, {}};
    for (int i = 0; i < spec.hosts; ++i) {
        Host made =
            host("h" + std::to_string(i), Resources{{"VCPU", 1}, {"MEMORY_MB", 1}, {"DISK_GB", 1}});
        const int servers = throw_of(rng, 1, spec.servers);
        for (int s = 0; s < servers; ++s) add_server(made, s, spec.few_sizes, rng);
        for (auto& [name, inventory] : made.providers[0].inventories)
            inventory.total = made.providers[0].used.get(name) + throw_of(rng, 0, 2);
        cloud.hosts.push_back(std::move(made));
    }
    return cloud;
}

Request small_request(int slots, SeededRng& rng) {
    Resources slot{{"VCPU", throw_of(rng, 1, 4)}};
    if (rng.below(4) != 0) slot.set(ResourceClass{"MEMORY_MB"}, throw_of(rng, 1, 8));
    if (rng.below(3) == 0) slot.set(ResourceClass{"DISK_GB"}, throw_of(rng, 1, 3));
    return request(slot, slots);
}

ProblemOn::ProblemOn(const Snapshot& cloud, const Request& wanted, Amount alternatives,
                     const NoticeRules* notice)
    : request_{wanted}, shape_{shape_of(wanted.resources)}, index_{cloud} {
    input_ = std::make_unique<FilterInput>(FilterInput{request_, shape_, ledger_, skipped_});
    const Amount slots = wanted.slots * alternatives;
    host_filter_ = std::make_unique<HostFilter>(index_, *input_, slots);
    problem_ = std::make_unique<Problem>(
        Problem{shape_, std::min(slots, host_filter_->all_possible()), wanted.slots, *host_filter_,
                0, cloud.taken_at, &index_.fleets(), &index_.tables(), notice, &whole_cloud_});
}

bool ProblemOn::worth_solving() const {
    return host_filter_->all_ready() < problem_->slots_least &&
           host_filter_->all_possible() >= problem_->slots_least;
}

Cost cost_on(const Problem& problem, const Objective& objective, std::size_t host,
             const std::vector<std::size_t>& victims, Amount slots) {
    if (victims.empty()) return {};
    const auto& option = problem.hosts[host];
    Cost cost = objective.base(problem.shape, option.room, slots);
    for (const std::size_t victim : victims)
        cost += objective.of(option.room, option.candidates[victim]);
    return cost;
}

std::optional<Cost> cost_of(const Problem& problem, const Objective& objective,
                            const Selection& selection) {
    // By slots, the least that the hosts so far cost when so many of theirs count.
    std::vector<std::optional<Cost>> least(static_cast<std::size_t>(problem.slots) + 1);
    least[0] = Cost{};
    for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
        const auto at = selection.hosts.find(host);
        if (at == selection.hosts.end() && problem.hosts.ready(host) == 0) continue;
        const auto& option = problem.hosts[host];
        const auto victims =
            at == selection.hosts.end() ? std::vector<std::size_t>{} : at->second.victims;
        const Amount given = option.room.slots(problem.shape, room_without(option, victims));
        auto next = least;
        for (auto& each : next) each.reset();
        for (std::size_t slots = 0; slots < least.size(); ++slots)
            for (Amount own = option.slots_ready; own <= given && least[slots]; ++own) {
                const std::size_t sum = slots + static_cast<std::size_t>(own);
                if (sum >= next.size()) break;
                const Cost cost = *least[slots] + cost_on(problem, objective, host, victims, own);
                if (!next[sum] || cost < *next[sum]) next[sum] = cost;
            }
        least = std::move(next);
    }
    return least.back();
}

Cost least_cost(const Problem& problem, const Objective& objective) {
    Amount open = problem.slots;
    for (std::size_t host = 0; host < problem.hosts.size(); ++host)
        open -= problem.hosts.ready(host);
    std::vector<std::optional<Cost>> least(static_cast<std::size_t>(open) + 1);
    least[0] = Cost{};
    for (std::size_t host = 0; host < problem.hosts.size(); ++host) {
        const auto own = least_by_extra(problem, objective, host, open);
        for (std::size_t slots = least.size(); slots-- > 1;)
            for (std::size_t extra = 1; extra <= std::min(slots, own.size()); ++extra) {
                if (!own[extra - 1] || !least[slots - extra]) continue;
                const Cost sum = *least[slots - extra] + *own[extra - 1];
                if (!least[slots] || sum < *least[slots]) least[slots] = sum;
            }
    }
    return least.back().value_or(Cost{});
}

}  // namespace reaper::testing
