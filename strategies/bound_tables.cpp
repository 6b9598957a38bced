#include "strategies/bound_tables.hpp"

#include <algorithm>

namespace reaper {
namespace {

constexpr Amount most_planes = 64;

std::size_t plane_bytes_per_host(std::size_t levels) {
    return levels * sizeof(Amount) + sizeof(std::uint32_t);
}

}  // namespace

std::optional<Cost> BoundTables::Table::get(std::uint32_t row, Amount slots) const {
    if (slots < 1 || slots > static_cast<Amount>(planes.size())) return std::nullopt;
    const auto& plane = planes[static_cast<std::size_t>(slots - 1)];
    if (row >= plane.versions.size() || plane.versions[row] != owner->versions_[row])
        return std::nullopt;
    Cost cost;
    std::copy_n(plane.costs.begin() + static_cast<std::ptrdiff_t>(row * levels), levels,
                cost.level.begin());
    return cost;
}

bool BoundTables::Table::set(std::uint32_t row, Amount slots, const Cost& cost) {
    if (slots < 1 || slots > most_planes || row >= owner->versions_.size()) return false;
    const auto at = static_cast<std::size_t>(slots - 1);
    while (planes.size() <= at) {
        if (!owner->has_room_for_plane(levels, *this)) return false;
        planes.emplace_back();
    }
    auto& plane = planes[at];
    if (row >= plane.versions.size()) {
        plane.versions.resize(owner->versions_.size(), 0);
        plane.costs.resize(owner->versions_.size() * levels, 0);
    }
    plane.versions[row] = owner->versions_[row];
    std::copy_n(cost.level.begin(), levels,
                plane.costs.begin() + static_cast<std::ptrdiff_t>(row * levels));
    return true;
}

void BoundTables::changed(std::uint32_t row) {
    if (row >= versions_.size()) versions_.resize(row + 1, 1);
    if (++versions_[row] == 0) versions_[row] = 1;
}

BoundTables::Table& BoundTables::table(const std::string& key, const std::string& stamp,
                                       std::size_t levels) {
    auto at = std::find_if(tables_.begin(), tables_.end(),
                           [&](const Table& table) { return table.key == key; });
    if (at == tables_.end()) {
        at = tables_.emplace(tables_.begin());
        at->owner = this;
        at->key = key;
    }
    if (at->stamp != stamp || at->levels != levels) {
        at->stamp = stamp;
        at->levels = levels;
        at->planes.clear();
    }
    tables_.splice(tables_.begin(), tables_, at);
    return tables_.front();
}

bool BoundTables::has_room_for_plane(std::size_t levels, const Table& user) {
    const auto used = [&] {
        std::size_t sum = plane_bytes_per_host(levels);
        for (const auto& table : tables_)
            sum += table.planes.size() * plane_bytes_per_host(table.levels);
        return sum;
    };
    while (used() > bytes_per_host_ && &tables_.back() != &user) tables_.pop_back();
    return used() <= bytes_per_host_;
}

std::size_t BoundTables::bytes() const {
    std::size_t sum = versions_.capacity() * sizeof(std::uint32_t);
    for (const auto& table : tables_)
        for (const auto& plane : table.planes)
            sum += plane.versions.capacity() * sizeof(std::uint32_t) +
                   plane.costs.capacity() * sizeof(Amount);
    return sum;
}

}  // namespace reaper
