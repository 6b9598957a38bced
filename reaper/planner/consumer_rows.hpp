// On which rows a consumer is: a table of hashes, so that one who is looked for is found without a
// look at every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reaper {

class ConsumerRows {
public:
    void add(std::uint32_t hash, std::uint32_t row);
    /// Once; it must be there.
    void erase(std::uint32_t hash, std::uint32_t row);

    /// Calls `visit` with each row of such a hash, for a row that has it twice, twice.
    template <class Visit>
    void each(std::uint32_t hash, Visit visit) const {
        if (places_.empty()) return;
        for (std::size_t at = first(hash); places_[at].row != unused; at = next(at))
            if (places_[at].hash == hash && places_[at].row != erased) visit(places_[at].row);
    }
    std::size_t bytes() const { return places_.capacity() * sizeof(Place); }

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

    std::vector<Place> places_;  // a power of two
    std::size_t used_ = 0;       // those that were erased, too
    std::size_t there_ = 0;
};

}  // namespace reaper
