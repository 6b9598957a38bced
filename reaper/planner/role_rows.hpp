// The rows of hosts where something is reserved for a role, read once more as any request of the
// role finds them: room that is kept for the role is room, and tenants of the role may go. They
// follow the ledger's changes and the index's, as ledger_rows.hpp: a decision pays for what changed
// since the role's last one.
//
// One role, one ledger. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "reaper/model/role.hpp"
#include "reaper/planner/spared_rows.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

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
    std::size_t bytes() const;

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

}  // namespace reaper
