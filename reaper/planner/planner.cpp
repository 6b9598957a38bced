#include "reaper/planner/planner.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "reaper/model/amount.hpp"
#include "reaper/planner/explain.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/minimal.hpp"
#include "reaper/planner/rejections.hpp"
#include "reaper/planner/screen.hpp"

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

/// The selected hosts, and those with room.
Chosen chosen_of(const Problem& problem, const Selection& selection) {
    Chosen chosen;
    for (const auto& [host, on_host] : selection.hosts) chosen[host].victims = on_host.victims;
    for (std::size_t host = 0; host < problem.hosts.size(); ++host)
        if (problem.hosts.ready(host) > 0) chosen[host];
    return chosen;
}

Amount wanted_of(const Request& request, const PlanOptions& options) {
    const Amount requested = std::max(request.slots, 0);
    return std::clamp(saturating_multiply(requested, std::max(options.alternatives, 1)), requested,
                      std::max(requested, most_slots));
}

int to_int(Amount amount) {
    return static_cast<int>(std::clamp<Amount>(amount, 0, std::numeric_limits<int>::max()));
}

class Planner {
public:
    Planner(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
            const PlanOptions& options)
        : request_{request},
          requested_{request.slots},
          wanted_{wanted_of(request, options)},
          shape_{shape_of(request.resources)},
          input_{request, shape_, ledger, options.spared},
          screen_{cloud, input_, std::max<Amount>(wanted_, 1)},
          problem_{shape_,          std::min(wanted_, screen_.all_possible()),
                   requested_,      screen_,
                   options.seed,    options.now,
                   &cloud.fleets(), &cloud.tables()} {}

    Decision decide(const Strategy& strategy, std::string_view strategy_name) {
        if (screen_.all_ready() >= requested_) return room_is_there(problem_, requested_);
        if (screen_.all_possible() < requested_) return not_enough("");
        const Selection selection = strategy.select(problem_);
        check(problem_, selection);
        Chosen chosen = chosen_of(problem_, selection);
        const Amount freed = drop_needless(problem_, chosen, wanted_);
        if (freed < requested_) return not_enough(selection.note);
        return plan(selection, chosen, freed, strategy_name);
    }

    std::size_t warm_up(const Strategy& strategy, std::size_t hosts) {
        if (screen_.all_ready() >= requested_ || screen_.all_possible() < requested_) return 0;
        return strategy.warm(problem_, hosts);
    }

private:
    Decision not_enough(const std::string& note) {
        NotEnough answer;
        answer.slots_requested = to_int(requested_);
        answer.slots_possible = to_int(screen_.all_possible());
        Rejections rejections{screen_, input_};
        answer.reason = note.empty()
                            ? why_not_enough(screen_.size(), rejections.counts, requested_,
                                             screen_.all_possible())
                            : note + " (of " + std::to_string(requested_) + " requested; " +
                                  std::to_string(screen_.all_possible()) + " would be possible)";
        rejections.add_too_few(requested_);
        answer.rejected = std::move(rejections.told);
        answer.rejected_counts = std::move(rejections.counts);
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
        for (const auto& [host, on_host] : chosen)
            if (on_host.slots > 0)
                plan.hosts.push_back(explain_host(problem_, host, on_host, selection));
        Rejections rejections{screen_, input_};
        rejections.add_losers(selection, chosen);
        plan.rejected = std::move(rejections.told);
        plan.rejected_counts = std::move(rejections.counts);
        return plan;
    }

    const Request& request_;
    const Amount requested_;
    const Amount wanted_;
    const Shape shape_;
    const FilterInput input_;
    const Screen screen_;
    const Problem problem_;
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
    if (request.slots <= 0) return NothingToDo{"the request asks for no slot", {}};
    if (shape_of(request.resources).empty())
        return NothingToDo{"the request takes no resources, so no room can help it", {}};
    return Planner{request, cloud, ledger, options}.decide(strategy, strategy_name);
}

std::size_t warm_up(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                    const Strategy& strategy, const PlanOptions& options, std::size_t hosts) {
    if (request.slots <= 0 || shape_of(request.resources).empty()) return 0;
    return Planner{request, cloud, ledger, options}.warm_up(strategy, hosts);
}

Decision make_plan(const Request& request, const Snapshot& snapshot, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options) {
    PlanOptions then = options;
    if (then.now == TimePoint{}) then.now = snapshot.taken_at;
    return make_plan(request, CloudIndex{snapshot}, ledger, strategy, strategy_name, then);
}

}  // namespace reaper
