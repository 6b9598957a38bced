// The rows of hosts on which something is outstanding (evictions, promises, deletions that were
// given up on), read once more as the ledger leaves them. They follow the ledger's changes and the
// index's: a decision pays for what changed since the one before it, not for what is outstanding.
// With them, a row says the same as the host for any request but those that are promised room on it
// themselves.
//
// Where many rows are touched, the others' classes are copied too (whole): a pass over all rows
// goes over one piece of memory, in order, as if nothing were outstanding.
//
// They follow one ledger at a time; another one costs a look at all that it and the one before it
// touch. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reaper/planner/consumer_rows.hpp"
#include "reaper/planner/host_row.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

class CloudIndex;

class LedgerRows {
public:
    /// The row was written, or freed. `before`: the consumers that it had.
    void changed(std::uint32_t row, const std::vector<std::uint32_t>& before, const HostRow& now);
    /// In step with both from now on.
    void follow(const CloudIndex& cloud, const Ledger& ledger);

    /// Whether the ledger touches the row: these hold in place of the index's then.
    bool touched(std::uint32_t row) const { return row < touched_.size() && touched_[row] != 0; }
    /// `classes` hold for all rows.
    bool whole() const { return whole_; }
    const ClassRow* classes(std::uint32_t row) const { return &classes_[row * stride_]; }
    const WorkCurve* curves(std::uint32_t row) const { return &curves_[row * stride_]; }
    const CandidateSketch& candidates(std::uint32_t row) const { return candidates_[row]; }

    /// Calls `visit` with each row where the server may be.
    template <class Visit>
    void each_row_of(const CloudIndex& cloud, const ServerId& server, Visit visit) {
        build_consumers(cloud);
        consumers_.each(hash_of_consumer(server), visit);
    }
    std::size_t bytes() const;

private:
    void build_consumers(const CloudIndex& cloud);
    void mark(std::uint32_t row);
    void mark_all(const CloudIndex& cloud, const Ledger& ledger);
    void read(std::uint32_t row, const CloudIndex& cloud, const Ledger& ledger);
    void make_room(std::uint32_t row, std::size_t stride);
    void copy_classes(std::uint32_t row, const CloudIndex& cloud);
    void copy_the_rest(const CloudIndex& cloud);

    ConsumerRows consumers_;
    bool consumers_built_ = false;
    ChangeLog<Ledger::Change>::Reader reader_;
    std::vector<std::uint8_t> marked_;    // by row: to be looked at
    std::vector<std::uint32_t> to_read_;  // these
    std::vector<std::uint8_t> touched_;   // by row
    std::size_t number_touched_ = 0;
    bool whole_ = false;
    // By row, as in the index: a decision that goes over all rows goes over memory in order.
    std::size_t stride_ = 0;
    std::vector<ClassRow> classes_;  // by row, then class number
    std::vector<WorkCurve> curves_;  // as above
    std::vector<CandidateSketch> candidates_;
};

}  // namespace reaper
