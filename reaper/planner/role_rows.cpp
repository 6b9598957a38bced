#include "reaper/planner/role_rows.hpp"

#include <algorithm>
#include <utility>

#include "reaper/planner/cloud_index.hpp"

namespace reaper {

namespace {

/// Is anything on the host otherwise for the role than for requests without one?
bool concerns(const Ledger& ledger, const Host& host, const Role& role) {
    return ledger.keeps_for(host.id, role) ||
           std::any_of(host.servers.begin(), host.servers.end(), [&](const Server& server) {
               return ledger.lender_of(server.id) != nullptr && !ledger.stays_for(server.id, role);
           });
}

}  // namespace

void RoleRows::mark(std::uint32_t row) {
    if (row >= marked_.size()) marked_.resize(row + 1, 0);
    if (std::exchange(marked_[row], 1) == 0) to_read_.push_back(row);
}

void RoleRows::follow(const CloudIndex& cloud, const Ledger& ledger) {
    const auto mark_host = [&](const HostId& host) {
        if (const auto row = cloud.row_of(host); row != CloudIndex::no_row) mark(row);
    };
    const bool known = ledger.changes().read(reader_, [&](const Ledger::Change& change) {
        if (change.server.empty())
            mark_host(change.host);
        else
            cloud.each_row_of(change.server, [&](std::uint32_t row) { mark(row); });
    });
    if (!known) {
        for (std::uint32_t row = 0; row < place_.size(); ++row)
            if (touched(row)) mark(row);
        ledger.each_reserved(mark_host);
        ledger.each_tenant([&](const ServerId& server) {
            cloud.each_row_of(server, [&](std::uint32_t row) { mark(row); });
        });
    }
    for (const std::uint32_t row : to_read_) {
        marked_[row] = 0;
        const Host* const host = cloud.row(row).host;
        if (host != nullptr && concerns(ledger, *host, role_))
            read(row, cloud, ledger);
        else
            drop(row);
    }
    to_read_.clear();
    // A class that was met for the first time makes all rows wider.
    for (ReadRow& row : read_) {
        if (row.classes.size() >= cloud.width()) continue;
        row.classes.resize(cloud.width());
        row.curves.resize(cloud.width());
    }
}

void RoleRows::read(std::uint32_t row, const CloudIndex& cloud, const Ledger& ledger) {
    if (row >= place_.size()) place_.resize(row + 1, nowhere);
    std::uint32_t& place = place_[row];
    if (place == nowhere) {
        if (free_.empty()) {
            place = static_cast<std::uint32_t>(read_.size());
            read_.emplace_back();
        } else {
            place = free_.back();
            free_.pop_back();
        }
    }
    read_[place] = cloud.read_under(row, nullptr, &ledger, &role_);
}

void RoleRows::drop(std::uint32_t row) {
    if (!touched(row)) return;
    free_.push_back(std::exchange(place_[row], nowhere));
}

std::size_t RoleRows::bytes() const {
    std::size_t sum =
        marked_.capacity() +
        (to_read_.capacity() + place_.capacity() + free_.capacity()) * sizeof(std::uint32_t) +
        read_.capacity() * sizeof(ReadRow);
    for (const ReadRow& row : read_)
        sum +=
            row.classes.capacity() * sizeof(ClassRow) + row.curves.capacity() * sizeof(WorkCurve);
    return sum;
}

}  // namespace reaper
