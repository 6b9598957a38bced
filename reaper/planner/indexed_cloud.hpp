// All hosts of the index, for what a strategy counts over the whole cloud.
#pragma once

#include <cstdint>
#include <functional>

#include "reaper/planner/cloud_index.hpp"
#include "reaper/rooms/ledger.hpp"
#include "strategies/fair_share.hpp"

namespace reaper {

/// The index and what the ledger says of it; both must outlive this.
class IndexedCloud : public WholeCloud {
public:
    IndexedCloud(const CloudIndex& index, const Ledger& ledger) : index_{index}, ledger_{ledger} {}
    void each_host(
        const std::function<void(const Host&, std::uint32_t row)>& visit) const override {
        for (const std::uint32_t row : index_.order()) visit(*index_.row(row).host, row);
    }
    bool leaves(const ServerId& server) const override { return ledger_.evicting(server); }

private:
    const CloudIndex& index_;
    const Ledger& ledger_;
};

}  // namespace reaper
