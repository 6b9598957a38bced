// Small random clouds and what one host's slots cost on them, by enumeration: for comparing whole
// plans with other arithmetic.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/cloud_builder.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/indexed_cloud.hpp"
#include "strategies/objective.hpp"
#include "strategies/seeded_rng.hpp"

namespace reaper::testing {

struct SmallCloudSpec {
    int hosts = 3;
    int servers = 6;  ///< on a host at most
    bool few_sizes = false;
};

/// Full hosts of revocable servers of random sizes, ages, projects, flavors and restarts.
Snapshot small_cloud(const SmallCloudSpec& spec, SeededRng& rng);

/// Of one to three classes.
Request small_request(int slots, SeededRng& rng);

/// A problem with what it refers to.
class ProblemOn {
public:
    ProblemOn(const Snapshot& cloud, const Request& wanted, Amount alternatives = 1,
              const NoticeRules* notice = nullptr);

    const Problem& problem() const { return *problem_; }
    const HostFilter& hosts() const { return *host_filter_; }
    /// Whether a plan is needed and possible.
    bool worth_solving() const;
    /// Slots that are not there yet.
    Amount open() const { return problem_->slots - host_filter_->all_ready(); }

private:
    Request request_;
    Shape shape_;
    Ledger ledger_;
    std::map<ServerId, std::string> skipped_;
    CloudIndex index_;
    IndexedCloud whole_cloud_{index_, ledger_};
    std::unique_ptr<FilterInput> input_;
    std::unique_ptr<HostFilter> host_filter_;
    std::unique_ptr<Problem> problem_;
};

/// What `victims` on a host cost, counted for `slots` slots; nothing where no servers deleted.
Cost cost_on(const Problem& problem, const Objective& objective, std::size_t host,
             const std::vector<std::size_t>& victims, Amount slots);

/// What the selection costs in all, its further slots counted as they cost least; none if it does
/// not give all slots of the problem.
std::optional<Cost> cost_of(const Problem& problem, const Objective& objective,
                            const Selection& selection);

/// The least that the problem's slots cost, over all subsets on all hosts and all ways to share
/// the slots out.
Cost least_cost(const Problem& problem, const Objective& objective);

}  // namespace reaper::testing
