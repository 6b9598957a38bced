// What earlier searches found out: the exact cost of so many slots on a host, kept until the host
// changes. To the next decision of the same shape and goal it is a lower bound that can't be
// beaten, so that only the winners are searched again.
//
// A table belongs to one goal and shape, and to one moment where the cost depends on it. The least
// recently used ones go when the tables together take more than `bytes_per_host`. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "strategies/cost.hpp"

namespace reaper {

class BoundTables {
public:
    class Table {
    public:
        /// None if it is not known, or the host has changed since.
        std::optional<Cost> get(std::uint32_t row, Amount slots) const;
        /// False if there is no room for it.
        bool set(std::uint32_t row, Amount slots, const Cost& cost);

    private:
        friend class BoundTables;
        struct Plane {
            std::vector<std::uint32_t> versions;
            std::vector<Amount> costs;  // by row, then level
        };

        BoundTables* owner = nullptr;
        std::string key;
        std::string stamp;
        std::size_t levels = 0;
        std::vector<Plane> planes;  // by slots - 1
    };

    explicit BoundTables(std::size_t bytes_per_host = 3'000) : bytes_per_host_{bytes_per_host} {}
    BoundTables(const BoundTables&) = delete;
    BoundTables& operator=(const BoundTables&) = delete;

    /// Rows are small numbers, each of one host as long as it is there.
    void changed(std::uint32_t row);

    /// `key` tells goal and shape, `stamp` what else the costs depend on: with another stamp than
    /// before, the table is emptied. Lives until the next call.
    Table& table(const std::string& key, const std::string& stamp, std::size_t levels);

    void clear() { tables_.clear(); }
    std::size_t bytes() const;

private:
    bool has_room_for_plane(std::size_t levels, const Table& user);

    std::size_t bytes_per_host_;
    std::vector<std::uint32_t> versions_;  // by row; never 0
    std::list<Table> tables_;              // most recently used first
};

}  // namespace reaper
