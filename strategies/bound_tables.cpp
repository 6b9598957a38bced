#include "strategies/bound_tables.hpp"

#include <algorithm>

namespace reaper {
namespace {

constexpr std::size_t max_table_slots = 64;
constexpr std::size_t entry_bytes = 32 + sizeof(BoundTables::Table::Known);  // with its node

std::uint64_t key_of(std::uint32_t row, std::size_t slots) {
    return std::uint64_t{row} * max_table_slots + slots;
}

}  // namespace

const BoundTables::Table::Known* BoundTables::Table::get(std::uint32_t row, Amount slots) const {
    const auto number = static_cast<std::size_t>(slots);
    if (!may_know(row, number)) return nullptr;
    const auto at = entries.find(key_of(row, number));
    return at != entries.end() && at->second.version == owner->versions_[row] ? &at->second
                                                                              : nullptr;
}

bool BoundTables::Table::set(std::uint32_t row, Amount slots, const Cost& cost,
                             std::int64_t as_of) {
    const auto number = static_cast<std::size_t>(slots);
    if (slots < 1 || number >= max_table_slots || row >= owner->versions_.size()) return false;
    if (!may_know(row, number)) {
        if (!owner->has_room(*this)) return false;
        if (bits.size() <= number) bits.resize(number + 1);
        if (bits[number].size() <= row / 64) bits[number].resize(owner->versions_.size() / 64 + 1);
        bits[number][row / 64] |= std::uint64_t{1} << (row % 64);
    }
    entries[key_of(row, number)] = Known{cost, owner->versions_[row], as_of};
    return true;
}

void BoundTables::changed(std::uint32_t row) {
    if (row >= versions_.size()) versions_.resize(row + 1, 0);
    ++versions_[row];
}

BoundTables::Table& BoundTables::table(const std::string& key) {
    auto at = std::find_if(tables_.begin(), tables_.end(),
                           [&](const Table& table) { return table.key == key; });
    if (at == tables_.end()) {
        at = tables_.emplace(tables_.begin());
        at->owner = this;
        at->key = key;
    }
    tables_.splice(tables_.begin(), tables_, at);
    return tables_.front();
}

bool BoundTables::has_room(const Table& user) {
    const std::size_t most = bytes_per_host_ * versions_.size();
    const auto used = [&] {
        std::size_t entries = 1;
        for (const auto& table : tables_) entries += table.entries.size();
        return entries * entry_bytes;
    };
    while (used() > most && &tables_.back() != &user) tables_.pop_back();
    return used() <= most;
}

std::size_t BoundTables::bytes() const {
    std::size_t sum = versions_.capacity() * sizeof(std::uint32_t);
    for (const auto& table : tables_) {
        sum += table.entries.size() * entry_bytes + table.entries.bucket_count() * sizeof(void*);
        for (const auto& bits : table.bits) sum += bits.capacity() * sizeof(std::uint64_t);
    }
    return sum;
}

}  // namespace reaper
