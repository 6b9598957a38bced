#include "reaper/planner/planner.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "reaper/model/amount.hpp"
#include "reaper/planner/explain.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/minimal.hpp"

namespace reaper {
namespace {

/// Slots of a plan at most, whatever is asked.
constexpr Amount most_slots = 1'000'000;

/// Every index a real one, none twice, or the strategy is broken.
void check(const Problem& problem, const Selection& selection) {
    for (const auto& [host, on_host] : selection.hosts) {
        auto victims = on_host.victims;
        std::sort(victims.begin(), victims.end());
        if (host >= problem.hosts.size() ||
            std::adjacent_find(victims.begin(), victims.end()) != victims.end() ||
            (!victims.empty() && victims.back() >= problem.hosts[host].candidates.size()))
            throw std::logic_error("a strategy selected servers that were not offered");
    }
}

Chosen chosen_of(const Problem& problem, const Selection& selection) {
    Chosen chosen(problem.hosts.size());
    for (const auto& [host, on_host] : selection.hosts) chosen[host].victims = on_host.victims;
    return chosen;
}

class Planner {
public:
    Planner(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
            const PlanOptions& options)
        : request_{request}, requested_{request.slots} {
        problem_.shape = shape_of(request.resources);
        problem_.seed = options.seed;
        wanted_ = std::clamp(saturating_multiply(requested_, std::max(options.alternatives, 1)),
                             requested_, std::max(requested_, most_slots));
        if (problem_.shape.empty()) return;
        const FilterInput input{request, problem_.shape, ledger, options.spared};
        for (const auto& [name, host] : cloud.hosts()) {
            auto filtered = filter_host(*host, input);
            if (auto* rejection = std::get_if<Rejection>(&filtered)) {
                rejected_.push_back(std::move(*rejection));
                continue;
            }
            auto& option = std::get<HostOption>(filtered);
            ready_ = saturating_add(ready_, option.slots_ready);
            possible_ = saturating_add(possible_, option.slots_possible);
            problem_.hosts.push_back(std::move(option));
        }
    }

    Decision decide(const Strategy& strategy, std::string_view strategy_name) {
        if (requested_ <= 0) return NothingToDo{"the request asks for no slot", {}};
        if (problem_.shape.empty())
            return NothingToDo{"the request takes no resources, so no room can help it", {}};
        if (ready_ >= requested_) return room_is_there(problem_, requested_);
        if (possible_ < requested_) return not_enough("");
        problem_.slots = std::min(wanted_, possible_);
        const Selection selection = strategy.select(problem_);
        check(problem_, selection);
        Chosen chosen = chosen_of(problem_, selection);
        const Amount freed = drop_needless(problem_, chosen, wanted_);
        if (freed < requested_) return not_enough(selection.note);
        return plan(selection, chosen, freed, strategy_name);
    }

private:
    static int to_int(Amount amount) {
        return static_cast<int>(std::clamp<Amount>(amount, 0, std::numeric_limits<int>::max()));
    }

    Decision not_enough(const std::string& note) {
        NotEnough answer;
        answer.slots_requested = to_int(requested_);
        answer.slots_possible = to_int(possible_);
        answer.reason = note.empty()
                            ? why_not_enough(problem_, rejected_, requested_, possible_)
                            : note + " (of " + std::to_string(requested_) + " requested; " +
                                  std::to_string(possible_) + " would be possible)";
        answer.rejected = std::move(rejected_);
        for (const auto& option : problem_.hosts)
            answer.rejected.push_back(too_few_slots(option, requested_));
        sort_by_name(answer.rejected);
        return answer;
    }

    Decision plan(const Selection& selection, const Chosen& chosen, Amount freed,
                  std::string_view strategy_name) {
        Plan plan;
        plan.request = request_.id;
        plan.strategy = strategy_name;
        plan.slots_requested = to_int(requested_);
        plan.slots_wanted = to_int(wanted_);
        plan.slots_freed = to_int(freed);
        plan.note = selection.note;
        plan.rejected = std::move(rejected_);
        for (std::size_t host = 0; host < chosen.size(); ++host) {
            if (chosen[host].slots > 0)
                plan.hosts.push_back(explain_host(problem_, host, chosen[host], selection));
            else
                plan.rejected.push_back(ranked_lower(problem_.hosts[host], selection, host));
        }
        sort_by_name(plan.rejected);
        return plan;
    }

    const Request& request_;
    const Amount requested_;
    Amount wanted_ = 0;
    Amount ready_ = 0;
    Amount possible_ = 0;
    Problem problem_;
    std::vector<Rejection> rejected_;
};

}  // namespace

std::uint64_t seed_of(const RequestId& request) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : request.str())
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

Decision make_plan(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options) {
    return Planner{request, cloud, ledger, options}.decide(strategy, strategy_name);
}

Decision make_plan(const Request& request, const Snapshot& snapshot, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options) {
    return make_plan(request, CloudIndex{snapshot}, ledger, strategy, strategy_name, options);
}

}  // namespace reaper
