// On which rows a consumer is: a table of hashes, so that a consumer is found without a
// look at every host. Few have one in common; what many have is kept apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace reaper {

class ConsumerRows {
public:
    void add(std::uint32_t hash, std::uint32_t row);
    /// Once; it must be there.
    void erase(std::uint32_t hash, std::uint32_t row);

    /// Calls `visit` with each row of such a hash, maybe twice with a row that has it twice.
    template <class Visit>
    void each(std::uint32_t hash, Visit visit) const {
        if (!common_.empty())
            if (const auto common = common_.find(hash); common != common_.end())
                for (const auto& [row, times] : common->second) visit(row);
        if (places_.empty()) return;
        for (std::size_t at = first(hash); places_[at].row != unused; at = next(at))
            if (places_[at].hash == hash && places_[at].row != erased) visit(places_[at].row);
    }

private:
    static constexpr std::uint32_t unused = 0xffffffff;
    static constexpr std::uint32_t erased = 0xfffffffe;
    struct Place {
        std::uint32_t hash = 0;
        std::uint32_t row = unused;
    };

    std::size_t first(std::uint32_t hash) const { return hash & (places_.size() - 1); }
    std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }
    void grow();
    void put(std::uint32_t hash, std::uint32_t row);

    /// More rows than these have it in common.
    static constexpr std::size_t max_alike = 32;
    std::vector<Place> places_;  // a power of two
    std::size_t used_ = 0;       // those that were erased, too
    std::size_t there_ = 0;
    /// By hash: rows, and how often each was added.
    std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, int>> common_;
};

}  // namespace reaper
