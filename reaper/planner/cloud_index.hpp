// The planner's own view of the cloud, kept from one decision to the next: every host as a row
// of numbers (host_row.hpp), so that a decision reads some cache lines of each host and looks into
// few of them; and what earlier decisions found out (strategies/bounds.hpp).
//
// It points to the hosts and owns none: each must live, at its address and unchanged, until it is
// put again or erased. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reaper/model/change_log.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/role.hpp"
#include "reaper/planner/consumer_rows.hpp"
#include "reaper/planner/host_row.hpp"
#include "reaper/planner/spared_servers.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/protection.hpp"
#include "strategies/bounds.hpp"

namespace reaper {

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

// The rows of hosts where something is reserved for a role, read once more as any request of the
// role finds them: room that is kept for the role is room, and tenants of the role may go. They
// follow the ledger's changes and the index's, as `LedgerRows` do: a decision pays for what changed
// since the role's last one.
//
// One role, one ledger. One thread.

class CloudIndex;

class RoleRows {
public:
    explicit RoleRows(Role role) : role_{std::move(role)} {}

    const Role& role() const noexcept { return role_; }
    /// The row was written, or freed.
    void changed(std::uint32_t row) { mark(row); }
    /// In step with both from now on; `CloudIndex::under` is, already.
    void follow(const CloudIndex& cloud, const Ledger& ledger);

    /// Whether something is reserved for the role there: `of` holds in place of all else then.
    bool touched(std::uint32_t row) const { return row < place_.size() && place_[row] != nowhere; }
    const ReadRow& of(std::uint32_t row) const { return read_[place_[row]]; }

    /// When it was last requested, and the role that it serves.
    std::uint64_t used = 0;

private:
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    void mark(std::uint32_t row);
    void read(std::uint32_t row, const CloudIndex& cloud, const Ledger& ledger);
    void drop(std::uint32_t row);

    Role role_;
    ChangeLog<Ledger::Change>::Reader reader_;
    std::vector<std::uint8_t> marked_;    // by row: to be looked at
    std::vector<std::uint32_t> to_read_;  // these
    std::vector<std::uint32_t> place_;    // by row, in `read_`
    std::vector<ReadRow> read_;
    std::vector<std::uint32_t> free_;  // places
};

class CloudIndex {
public:
    CloudIndex() { by_id_.max_load_factor(0.25F); }  // a search mostly looks at one node
    /// All hosts of the snapshot, which must outlive the index.
    explicit CloudIndex(const Snapshot& snapshot, Protection protection = {});

    /// A new host, or one that changed (its name too). Some microseconds.
    void put(const Host& host);
    /// Nothing happens if it is not there.
    void erase(const HostId& host);
    void clear();

    std::size_t size() const noexcept { return by_id_.size(); }
    bool empty() const noexcept { return by_id_.empty(); }
    /// None if it is not there.
    const Host* find(const HostId& host) const;

    /// The protection from deletion; all hosts are read again if that is news.
    void protect(Protection protection);
    const Protection& protection() const noexcept { return protection_; }

    /// What Keystone calls projects, for people.
    void name_projects(ProjectNames names) { project_names_ = std::move(names); }
    const ProjectNames& project_names() const noexcept { return project_names_; }

    /// Drops what earlier decisions found out, and frees its memory.
    void forget();

    // For the planner.

    /// Filter, ledger and role may be null.
    ReadRow read_under(std::uint32_t row, const VictimFilter* victim_filter, const Ledger* ledger,
                       const Role* role = nullptr) const;
    /// What the ledger changes about the rows, until the next call.
    LedgerRows& under(const Ledger& ledger) const;
    /// What is reserved for the role, until the next call; after `under` of that ledger.
    const RoleRows& reserved_for(const Role& role, const Ledger& ledger) const;
    /// Calls `visit` with each row where the server may be.
    template <class Visit>
    void each_row_of(const ServerId& server, Visit visit) const {
        under_ledger_->each_row_of(*this, server, visit);
    }
    /// What the filter changes about the rows, until the next call.
    SparedRows& spared_by(const RunTimeFilter& filter) const;
    /// What was derived from the row, except for its own values, no longer holds.
    void forget_found(std::uint32_t row) const;

    /// Rows by host name, then id.
    const std::vector<std::uint32_t>& order() const;
    const HostRow& row(std::uint32_t row) const { return rows_[row]; }
    /// The number of its profile: the same as in the row, but close to its neighbours'.
    std::uint32_t profile(std::uint32_t row) const { return profiles_[row]; }
    /// When its newest server was created: the same as in the row, but close to its neighbours'.
    Amount newest(std::uint32_t row) const { return newest_[row]; }
    /// The classes of a row, by class number.
    const ClassRow* classes(std::uint32_t row) const { return &classes_[row * stride_]; }
    /// The curves of lost work of a row, by class number.
    const WorkCurve* curves(std::uint32_t row) const { return &curves_[row * stride_]; }
    /// Class numbers that a row has.
    std::size_t width() const { return stride_; }
    /// All candidates of a row together.
    const CandidateSketch& candidates(std::uint32_t row) const { return candidates_[row]; }
    const RowNames& names() const { return names_; }
    static constexpr std::uint32_t no_row = 0xffffffff;
    std::uint32_t row_of(const HostId& host) const;
    /// Revocable servers of each project.
    const std::map<ProjectId, Amount>& fleets() const;
    BoundTables& tables() const { return *tables_; }

    // For copies that follow its changes.

    /// Hosts that were put or erased.
    const ChangeLog<HostId>& changes() const noexcept { return changes_; }

private:
    using Key = std::pair<std::string, HostId>;
    /// As it may throw, for all that the library knows, hashes are kept beside the ids: a search
    /// then looks at one id only.
    struct KeptHash {
        std::size_t operator()(const HostId& host) const { return std::hash<HostId>{}(host); }
    };

    std::uint32_t new_row(const Host& host);
    void fetch_early(std::uint32_t row) const;
    void note_change(std::uint32_t row, const HostId& host);
    void store_classes(std::uint32_t row);
    void widen();
    void count_projects(const HostRow& row, Amount sign);

    Protection protection_;
    ProjectNames project_names_;
    mutable RowNames names_;  // a host that is read once more meets no new ones
    std::vector<HostRow> rows_;
    std::vector<std::uint32_t> profiles_;  // by row
    std::vector<Amount> newest_;           // as above
    std::vector<ClassRow> classes_;        // by row, then class number
    std::vector<WorkCurve> curves_;        // as above
    std::size_t stride_ = 0;
    std::vector<CandidateSketch> candidates_;  // by row
    std::vector<std::uint32_t> free_rows_;
    std::unordered_map<HostId, std::uint32_t, KeptHash> by_id_;
    std::map<Key, std::uint32_t> by_name_;
    std::vector<std::map<Key, std::uint32_t>::iterator> place_;  // in by_name_, by row
    std::vector<Amount> project_counts_;                         // by project number
    std::vector<ClassRow> read_;                                 // of the host that is put
    std::vector<WorkCurve> read_curves_;
    std::vector<std::uint32_t> consumers_before_;  // as above, before the change
    ChangeLog<HostId> changes_;
    std::unique_ptr<BoundTables> tables_ = std::make_unique<BoundTables>();
    std::unique_ptr<LedgerRows> under_ledger_ = std::make_unique<LedgerRows>();
    static constexpr std::size_t max_roles = 8;  ///< whose rows are kept; the oldest makes room
    mutable std::vector<RoleRows> roles_;
    mutable std::uint64_t role_uses_ = 0;
    mutable SparedRows spared_;            // by the minimum run time alone
    mutable SparedRows thrashing_spared_;  // by that of some workloads too
    mutable std::vector<std::uint32_t> order_;
    mutable bool order_is_old_ = false;
    mutable std::map<ProjectId, Amount> fleets_;
    mutable std::vector<Amount*> fleet_checker_;  // in fleets_, by project number; null: not there
    mutable bool fleets_are_old_ = false;
};

}  // namespace reaper
