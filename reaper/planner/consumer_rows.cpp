#include "reaper/planner/consumer_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace reaper {

/// To half full at most, without those that were erased.
void ConsumerRows::grow() {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(64, 3 * (there_ + 1)));
    const auto old = std::exchange(places_, std::vector<Place>(size));
    used_ = there_ = 0;
    for (const Place& place : old)
        if (place.row < erased) put(place.hash, place.row);
}

void ConsumerRows::add(std::uint32_t hash, std::uint32_t row) {
    if (const auto common = common_.find(hash); common != common_.end()) {
        ++common->second[row];
        return;
    }
    if (2 * (used_ + 1) > places_.size()) grow();
    std::size_t alike = 0;
    for (std::size_t at = first(hash); places_[at].row != unused; at = next(at))
        if (places_[at].hash == hash && places_[at].row != erased) ++alike;
    if (alike < max_alike) return put(hash, row);
    auto& rows = common_[hash];
    for (std::size_t at = first(hash); places_[at].row != unused; at = next(at)) {
        if (places_[at].hash != hash || places_[at].row == erased) continue;
        ++rows[places_[at].row];
        places_[at].row = erased;
        --there_;
    }
    ++rows[row];
}

void ConsumerRows::put(std::uint32_t hash, std::uint32_t row) {
    std::size_t at = first(hash);
    while (places_[at].row < erased) at = next(at);
    if (places_[at].row == unused) ++used_;
    places_[at] = Place{hash, row};
    ++there_;
}

void ConsumerRows::erase(std::uint32_t hash, std::uint32_t row) {
    if (const auto common = common_.find(hash); common != common_.end()) {
        const auto place = common->second.find(row);
        if (place != common->second.end() && --place->second == 0) common->second.erase(place);
        if (common->second.empty()) common_.erase(common);
        return;
    }
    std::size_t at = first(hash);
    while (places_[at].row != unused && (places_[at].hash != hash || places_[at].row != row))
        at = next(at);
    if (places_[at].row == unused) return;
    places_[at].row = erased;
    --there_;
}

}  // namespace reaper
