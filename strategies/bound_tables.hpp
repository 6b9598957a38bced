// What earlier searches found out: the exact cost of so many slots on a host, kept until the host
// changes. To the next decision of the same shape and goal it is a lower bound that can't be
// beaten, so that only the winners are searched again.
//
// A table belongs to one goal and shape. Where costs grow with time, an entry of an earlier time
// still holds up to its first level that does: no set of victims has lost less work since. The
// least recently used tables go when all together take more than `bytes_per_host`. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "strategies/cost.hpp"

namespace reaper {

class BoundTables {
public:
    class Table {
    public:
        struct Known {
            Cost cost;
            std::uint32_t version = 0;  ///< of the host
            std::int64_t as_of = 0;     ///< for which it was found
        };
        /// None if it is not known, or the host has changed since. Lives until the next `set`.
        const Known* get(std::uint32_t row, Amount slots) const;
        /// False if there is no room for it.
        bool set(std::uint32_t row, Amount slots, const Cost& cost, std::int64_t as_of);

    private:
        friend class BoundTables;
        bool may_know(std::uint32_t row, std::size_t slots) const {
            return slots < bits.size() && row / 64 < bits[slots].size() &&
                   (bits[slots][row / 64] >> (row % 64) & 1) != 0;
        }

        BoundTables* owner = nullptr;
        std::string key;
        std::vector<std::vector<std::uint64_t>> bits;  // by slots, then row: is there an entry?
        std::unordered_map<std::uint64_t, Known> entries;
    };

    explicit BoundTables(std::size_t bytes_per_host = 3'000) : bytes_per_host_{bytes_per_host} {}
    BoundTables(const BoundTables&) = delete;
    BoundTables& operator=(const BoundTables&) = delete;

    /// Rows are small numbers, each of one host as long as it is there.
    void changed(std::uint32_t row);
    /// `key` identifies goal and shape. Lives until the next call.
    Table& table(const std::string& key);
    void clear() { tables_.clear(); }
    std::size_t bytes() const;

private:
    bool has_room(const Table& user);

    std::size_t bytes_per_host_;
    std::vector<std::uint32_t> versions_;  // by row
    std::list<Table> tables_;              // most recently used first
};

}  // namespace reaper
