// Which hosts can give slots to a request, out of all hosts of the cloud, from their
// rows alone where these are exact (tens of nanoseconds a host; what is outstanding is in them, see
// cloud_index.hpp), from the host itself where they are not: several providers of a class, groups,
// room that is promised to the request itself, skipped servers. Where a victim filter keeps some
// servers, the host is read once more without them: some microseconds, once for those that are kept
// for their run time (spared_servers.hpp), else for each such host and decision.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/filter.hpp"

namespace reaper {

class HostFilter final : public HostList {
public:
    /// The arguments must outlive this. No host counts more than `wanted` slots.
    HostFilter(const CloudIndex& cloud, const FilterInput& input, Amount wanted);
    HostFilter& operator=(HostFilter&&) = delete;

    const HostOption& operator[](std::size_t host) const override;
    bool sketch(std::size_t host, HostSketch& sketch) const override;

    /// May the request go to the host of this row, whatever is free there? Yes too for a forbidden
    /// trait, which may be that of a provider that it does not take from.
    bool suits(std::uint32_t row) const {
        const auto code = judge_profile_of(row);
        return !code || *code == RejectionCode::forbidden_trait;
    }

    const Host& host(std::size_t host) const { return *cloud_.row(hosts_[host].row).host; }

    /// False: a search for slots came to its limit, and there may be more of them.
    bool all_found() const { return !cut_; }
    Amount all_ready() const { return all_ready_; }
    Amount all_possible() const { return all_possible_; }

    /// Hosts that can't give a slot, by code, each in the order of names.
    struct Refused {
        std::size_t hosts = 0;
        std::vector<const Host*> first;  ///< at most `listed_per_code`
    };
    const std::map<RejectionCode, Refused>& refused() const { return refused_; }
    static constexpr std::size_t listed_per_code = 20;

private:
    struct Entry {
        std::uint32_t row = 0;
        bool exact = false;     // its row is not: there is no sketch
        bool filtered = false;  // some of its candidates are kept: nothing known lasts
    };
    struct NeedView {
        std::uint32_t number = RowNames::none;  // of the class
        Amount amount = 0;
        std::vector<std::uint8_t> allowed;  // by number of limits
    };

    void prepare();
    void flag_special();
    void judge(std::uint32_t row);
    std::optional<RejectionCode> judge_profile(const Profile& profile) const;
    std::optional<RejectionCode> judge_profile_of(std::uint32_t row) const;
    /// False if the row does not say exactly: the host must be asked.
    bool judge_row(std::uint32_t row, Slots& slots, std::optional<RejectionCode>& code) const;
    bool knows_parts(std::uint32_t row) const;
    std::optional<RejectionCode> hopeless_in_parts(std::uint32_t row) const;
    bool take_off_kept(std::uint32_t row, Slots& slots) const;
    std::optional<RejectionCode> judge_host(std::uint32_t row, Slots& slots);
    bool excluded(const HostRow& row) const;
    Amount max_slots(std::uint32_t row) const;

    /// Is the row read as the request's role finds it?
    bool reserved(std::uint32_t row) const {
        return role_rows_ != nullptr && role_rows_->touched(row);
    }
    const ClassRow* classes(std::uint32_t row) const {
        if (reserved(row)) return role_rows_->of(row).classes.data();
        return whole_ || ledger_rows_.touched(row) ? ledger_rows_.classes(row)
                                                   : cloud_.classes(row);
    }
    const Ledger* ledger_of(std::uint32_t row) const {
        return ledger_rows_.touched(row) || reserved(row) ? &input_.ledger : nullptr;
    }
    bool has_kept(std::uint32_t row) const;
    const ReadRow* spared(std::uint32_t row) const;
    const ReadRow& filtered(std::uint32_t row) const;

    const CloudIndex& cloud_;
    FilterInput input_;
    mutable bool cut_ = false;  // also by options that are made later
    LedgerRows& ledger_rows_;
    const bool whole_;                     // as these are
    const Role* role_ = nullptr;           // the request's only right; null: it has others, or none
    const RoleRows* role_rows_ = nullptr;  // with that role
    SparedRows* spared_rows_ = nullptr;    // null: what is known of the victim filter does not last
    Amount wanted_;
    std::vector<NeedView> needs_;
    KindGains kinds_;
    std::set<Trait> required_;            // by any part of a slot
    bool grouped_ = false;                // some of it has to come from one provider
    std::vector<std::int16_t> profiles_;  // by number: code, or -1
    std::vector<std::uint64_t> excluded_;
    std::vector<std::uint32_t> in_cooldown_;  // rows, sorted
    bool same_protection_ = true;             // as the rows were read with
    std::vector<std::uint8_t> special_;       // by row, to its request; empty if none is
    std::vector<Entry> hosts_;
    std::map<RejectionCode, Refused> refused_;
    Amount all_ready_ = 0;
    Amount all_possible_ = 0;
    mutable std::unordered_map<std::size_t, std::unique_ptr<HostOption>> options_;  // by host
    mutable std::unordered_map<std::uint32_t, ReadRow> filtered_;                   // by row
};

}  // namespace reaper
