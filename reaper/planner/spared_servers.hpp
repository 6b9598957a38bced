// The neighbours of victims: revocable servers of the same host that stay, each with the reason.
// It answers users who ask why it was their server. Bounded: the journal keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/planner/consumer_rows.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/host_row.hpp"
#include "reaper/planner/minimal.hpp"
#include "reaper/planner/victim_filter.hpp"

namespace reaper {

// Which hosts have servers that are too young to be victims (RunTimeFilter), remembered from one
// decision to the next. A host is examined again in three cases: it or its ledger entry changed, a
// rule on a workload of its young servers changed, or the first of its spared servers is old
// enough. So a decision pays for what changed, not for all young servers.
//
// For one set of rules at a time, and times that only grow; anything else costs a look at all
// hosts. One thread.

class CloudIndex;
class Ledger;

/// A host read once more: without the candidates that a victim filter keeps, under a ledger.
struct ReadRow {
    CandidateSketch candidates;
    std::vector<ClassRow> classes;  ///< by class number
    std::vector<WorkCurve> curves;  ///< as above
};

class SparedRows {
public:
    /// The row was written or freed, or what the ledger says of it changed.
    void changed(std::uint32_t row) {
        if (row < until_.size()) until_[row] = unknown;
    }
    /// In step with the filter from now on, which must be there for `of`.
    void follow(const CloudIndex& cloud, const RunTimeFilter& filter);
    /// The row without those that are kept; null if none is. `ledger`: null where it says nothing
    /// of the row. Valid until the row changes, or the next `follow`.
    const ReadRow* of(const CloudIndex& cloud, std::uint32_t row, const RunTimeFilter& filter,
                      const Ledger* ledger) {
        if (row >= until_.size() || until_[row] <= now_) look(cloud, row, filter, ledger);
        return spared_[row].get();
    }
    void clear();

private:
    static constexpr Amount unknown = std::numeric_limits<Amount>::min();
    static constexpr Amount forever = std::numeric_limits<Amount>::max();

    void look(const CloudIndex& cloud, std::uint32_t row, const RunTimeFilter& filter,
              const Ledger* ledger);
    void drop_workload(const Workload& workload);

    RunTimeRules rules_;
    Amount now_ = unknown;  // milliseconds UTC
    std::size_t width_ = 0;
    // By row.
    std::vector<Amount> until_;                      // what is known of it holds before
    std::vector<std::unique_ptr<ReadRow>> spared_;   // null: none is kept
    std::vector<std::vector<std::uint32_t>> young_;  // hashes of its young servers' workloads
    ConsumerRows rows_of_workloads_;                 // by these
};

/// Neighbours that are listed in full, of one host and of a whole plan.
constexpr std::size_t max_spared_of_host = 8;
constexpr std::size_t max_spared_of_plan = 64;

/// Counts those of a host, and lists the first ones: those that might have gone, then the others,
/// each by id. At most `left` of them. What comes free already is no neighbour. `host` is the index
/// of the plan's host in the problem.
void add_spared(HostPlan& plan, const Problem& problem, std::size_t host, const OnHost& chosen,
                const Strategy& strategy, const FilterInput& input, std::size_t left);

}  // namespace reaper
