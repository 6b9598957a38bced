#include "reaper/planner/host_filter.hpp"

#include <algorithm>
#include <stdexcept>

#include "reaper/model/res_type.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper {
namespace {

/// a / b rounded down, at most `most`; b > 0. By doubles up to 2^50, where these are exact enough.
Amount quotient(Amount a, Amount b, Amount most) {
    if (a < b) return 0;
    if (most == 1) return 1;
    if (a > Amount{1} << 50) return std::min(a / b, most);
    return std::min(static_cast<Amount>(static_cast<double>(a) / static_cast<double>(b)), most);
}

}  // namespace

HostFilter::HostFilter(const CloudIndex& cloud, const FilterInput& input, Amount wanted)
    : cloud_{cloud},
      input_{input},
      ledger_rows_{cloud.under(input.ledger)},
      whole_{ledger_rows_.whole()},
      wanted_{wanted} {
    input_.wanted = wanted;
    input_.cut = &cut_;
    if (input_.victim_filter != nullptr && input_.victim_filter->by_run_time() != nullptr)
        spared_rows_ = &cloud_.spared_by(*input_.victim_filter->by_run_time());
    role_ = input_.ledger.reserved().sole_role_of(input_.request.id);
    if (role_ != nullptr) role_rows_ = &cloud_.reserved_for(*role_, input_.ledger);
    prepare();
    flag_special();
    const auto& order = cloud.order();
    hosts_.reserve(order.size());
    slots_.reserve(order.size());
    for (const std::uint32_t row : order) judge(row);
}

void HostFilter::prepare() {
    for (const auto& need : input_.shape) {
        NeedView view{cloud_.names().find_class(need.resource_class), need.amount, {}};
        for (const auto& limits : cloud_.names().limits()) {
            Inventory inventory;
            inventory.min_unit = limits.min_unit;
            inventory.max_unit = limits.max_unit;
            inventory.step_size = limits.step_size;
            view.allowed.push_back(units_allow(inventory, need.amount) ? 1 : 0);
        }
        needs_.push_back(std::move(view));
    }
    std::vector<Amount> gains;
    for (const auto& kind : cloud_.names().kinds())
        for (const auto& need : needs_) {
            const auto at = std::find_if(kind.begin(), kind.end(), [&](const auto& gain) {
                return gain.first == need.number;
            });
            gains.push_back(at == kind.end() ? 0 : at->second);
        }
    std::vector<Amount> slot;
    for (const auto& need : needs_) slot.push_back(need.amount);
    kinds_ = KindGains{std::move(gains), slot};
    required_ = all_required_traits(input_.request);
    if (const auto* const parts = input_.shape.parts())
        grouped_ = std::any_of(parts->parts.begin(), parts->parts.end(),
                               [](const SlotPart& part) { return part.grouped(); });
    for (const auto& profile : cloud_.names().profiles()) {
        const auto code = judge_profile(profile);
        profiles_.push_back(static_cast<std::int16_t>(code ? static_cast<int>(*code) : -1));
    }
    for (const auto& [host, why] : input_.request.excluded_hosts)
        excluded_.push_back(hash_of(host));
    if (input_.in_cooldown != nullptr)
        for (const auto& [host, why] : *input_.in_cooldown)
            if (const auto row = cloud_.row_of(host); row != CloudIndex::no_row)
                in_cooldown_.push_back(row);
    std::sort(in_cooldown_.begin(), in_cooldown_.end());
    same_protection_ = input_.protection != nullptr ? *input_.protection == cloud_.protection()
                                                    : cloud_.protection().empty();
}

/// Rows where a skipped server may be, or one that has to stay, or room is promised to this
/// request, or reserved for it in a way that no other request shares. All of them if only certain
/// servers may go.
void HostFilter::flag_special() {
    static const std::set<ServerId> no_servers;
    const auto& company = input_.checker != nullptr ? input_.checker->company() : no_servers;
    const auto promises = input_.ledger.promises_of(input_.request.id);
    const RequestId& id = input_.request.id;
    std::vector<HostId> reserved;
    std::vector<ServerId> tenants;
    if (role_rows_ == nullptr) {
        const ReservedRoom& room = input_.ledger.reserved();
        reserved = room.hosts_kept_for(id);
        if (!room.role_of(id).empty())
            room.each_tenant([&](const ServerId& server) {
                if (!room.stays_for(server, id)) tenants.push_back(server);
            });
    }
    // A loan that ends: no other server on any host is deleted.
    const bool among = !input_.request.victims_among.empty();
    if (promises.empty() && reserved.empty() && tenants.empty() && input_.skipped.empty() &&
        company.empty() && !among)
        return;
    std::uint32_t rows = 0;
    for (const std::uint32_t row : cloud_.order()) rows = std::max(rows, row + 1);
    special_.assign(rows, among ? 1 : 0);
    if (among) return;
    const auto flag = [&](std::uint32_t row) { special_[row] = 1; };
    for (const auto& [server, why] : input_.skipped) ledger_rows_.each_row_of(cloud_, server, flag);
    for (const auto& server : company) ledger_rows_.each_row_of(cloud_, server, flag);
    for (const auto& server : tenants) ledger_rows_.each_row_of(cloud_, server, flag);
    const auto flag_host = [&](const HostId& host) {
        if (const auto row = cloud_.row_of(host); row != CloudIndex::no_row) flag(row);
    };
    for (const auto* const promise : promises) flag_host(promise->host);
    for (const HostId& host : reserved) flag_host(host);
}

std::optional<RejectionCode> HostFilter::judge_profile(const Profile& profile) const {
    const auto& request = input_.request;
    if (!profile.up) return RejectionCode::down;
    if (!profile.enabled || profile.traits.contains(disabled_trait)) return RejectionCode::disabled;
    if (request.availability_zone && *request.availability_zone != profile.availability_zone)
        return RejectionCode::wrong_availability_zone;
    if (input_.checker != nullptr)
        if (const auto no = input_.checker->by_aggregates(profile.member_of)) return no->first;
    // Exclusion comes before traits, and is the host's own: see judge_row.
    for (const auto& trait : request.root_required_traits)
        if (!profile.root_traits.contains(trait)) return RejectionCode::missing_trait;
    for (const auto& trait : required_)
        if (!profile.traits.contains(trait)) return RejectionCode::missing_trait;
    for (const auto& trait : request.forbidden_traits)
        if (profile.traits.contains(trait)) return RejectionCode::forbidden_trait;
    if (why_other_room(profile.root_traits, input_.room)) return RejectionCode::forbidden_trait;
    return std::nullopt;
}

bool HostFilter::excluded(const HostRow& row) const {
    return std::find(excluded_.begin(), excluded_.end(), row.service_host) != excluded_.end() &&
           input_.request.excluded_hosts.contains(row.host->service_host);
}

std::optional<RejectionCode> HostFilter::judge_profile_of(std::uint32_t row) const {
    const int code = static_cast<int>(profiles_[cloud_.profile(row)]);
    const bool traits = code == static_cast<int>(RejectionCode::missing_trait) ||
                        code == static_cast<int>(RejectionCode::forbidden_trait);
    if (code >= 0 && !traits) return static_cast<RejectionCode>(code);
    if (!excluded_.empty() && excluded(cloud_.row(row))) return RejectionCode::excluded;
    if (input_.checker != nullptr && input_.checker->choosy())
        if (const auto no = input_.checker->by_host(*cloud_.row(row).host)) return no->first;
    if (code >= 0) return static_cast<RejectionCode>(code);
    if (!in_cooldown_.empty() && std::binary_search(in_cooldown_.begin(), in_cooldown_.end(), row))
        return RejectionCode::in_cooldown;
    return std::nullopt;
}

/// As many slots of a host as count.
Amount HostFilter::max_slots(std::uint32_t row) const {
    if (input_.checker == nullptr || !input_.checker->choosy()) return wanted_;
    return std::min(wanted_, input_.checker->max_slots(*cloud_.row(row).host));
}

/// Does the row say what groups and traits allow? All comes from the root then, whose traits the
/// profile has.
bool HostFilter::knows_parts(std::uint32_t row) const {
    if (grouped_ || cloud_.names().profiles()[cloud_.profile(row)].nested_traits) return false;
    return std::all_of(needs_.begin(), needs_.end(), [&](const NeedView& need) {
        return need.number == RowNames::none || classes(row)[need.number].providers == 0 ||
               classes(row)[need.number].on_root;
    });
}

/// Why the host can't give a slot whatever comes from where; none if it may.
std::optional<RejectionCode> HostFilter::hopeless_in_parts(std::uint32_t row) const {
    const auto code = judge_profile_of(row);
    if (code && *code != RejectionCode::forbidden_trait) return code;
    const ClassRow* const of = classes(row);
    for (const auto& need : needs_)
        if (need.number == RowNames::none || of[need.number].providers == 0)
            return RejectionCode::no_such_class;
    for (const auto& need : needs_) {
        const ClassRow& own = of[need.number];
        if (own.providers != 1) continue;
        if (own.capacity < need.amount) return RejectionCode::not_enough_capacity;
        if (own.room + own.gain < need.amount) return RejectionCode::not_enough_revocable;
    }
    return std::nullopt;
}

bool HostFilter::judge_row(std::uint32_t row, Slots& slots,
                           std::optional<RejectionCode>& code) const {
    if (input_.all_may_go || !same_protection_ || (!special_.empty() && special_[row] != 0))
        return false;
    if (input_.shape.parts() != nullptr && !knows_parts(row)) {
        code = hopeless_in_parts(row);
        return code.has_value();
    }
    const ClassRow* const of = classes(row);
    bool too_small = false;
    const Amount most = max_slots(row);
    Amount ready = most;
    Amount possible = most;
    std::optional<RejectionCode> first;
    for (const auto& need : needs_) {
        static const ClassRow no_row{};
        const ClassRow& own = need.number == RowNames::none ? no_row : of[need.number];
        if (own.providers != 1 || own.limits == RowNames::odd_limits) {
            if (own.providers != 0) return false;
            if (!first) first = RejectionCode::no_such_class;
            continue;
        }
        if (need.allowed[own.limits] == 0 && !first) first = RejectionCode::unit_limits;
        too_small = too_small || own.capacity < need.amount;
        ready = std::min(ready, quotient(own.room, need.amount, wanted_));
        possible = std::min(possible, quotient(own.room + own.gain, need.amount, wanted_));
    }
    code = judge_profile_of(row);
    if (code) return true;
    slots = Slots{ready, possible};
    if (first)
        code = first;
    else if (too_small)
        code = RejectionCode::not_enough_capacity;
    else if (possible == 0)
        code = RejectionCode::not_enough_revocable;
    return true;
}

/// The row without the servers that are kept; null if none is.
const ReadRow* HostFilter::spared(std::uint32_t row) const {
    const auto* const filter = input_.victim_filter;
    if (filter == nullptr) return nullptr;
    if (spared_rows_ != nullptr && !reserved(row))
        return spared_rows_->of(cloud_, row, *filter->by_run_time(), ledger_of(row));
    // Of a row that is the role's, tenants may be kept too: the index's own says nothing of them.
    if (!reserved(row) && !filter->may_keep(cloud_.row(row))) return nullptr;
    return has_kept(row) ? &filtered(row) : nullptr;
}

/// Does the filter keep any server that could otherwise be deleted?
bool HostFilter::has_kept(std::uint32_t row) const {
    const Host& host = *cloud_.row(row).host;
    const Ledger& ledger = input_.ledger;
    const auto stays = [&](const ServerId& server) {
        return reserved(row) ? ledger.reserved().stays_for(server, *role_)
                             : ledger.reserved().lender_of(server) != nullptr;
    };
    if (cloud_.protection().protects_host(host.member_of)) return false;
    const auto kept = [&](const Server& server) {
        return server.revocable() && may_be_victim(server) && !comes_free(server, ledger) &&
               !ledger.evicting(server.id) && !stays(server.id) &&
               !cloud_.protection().protects(server) && input_.victim_filter->keeps(server, host);
    };
    return std::any_of(host.servers.begin(), host.servers.end(), kept) ||
           std::any_of(host.left_behind.begin(), host.left_behind.end(), kept);
}

/// Takes the gains of kept servers off the slots that are possible; false if none is kept. Only
/// where the row is exact: one provider has each class.
bool HostFilter::take_off_kept(std::uint32_t row, Slots& slots) const {
    const ReadRow* const without = spared(row);
    if (without == nullptr) return false;
    slots.possible = max_slots(row);
    for (const auto& need : needs_) {
        const ClassRow& of = without->classes[need.number];
        slots.possible =
            std::min(slots.possible, quotient(of.room + of.gain, need.amount, wanted_));
    }
    return true;
}

std::optional<RejectionCode> HostFilter::judge_host(std::uint32_t row, Slots& slots) {
    auto filtered = filter_host(*cloud_.row(row).host, input_);
    if (const auto* rejection = std::get_if<Rejection>(&filtered)) return rejection->code;
    auto& option = std::get<HostOption>(filtered);
    slots.ready = std::min(option.slots_ready, wanted_);
    slots.possible = std::min(option.slots_possible, wanted_);
    options_.emplace(hosts_.size(), std::make_unique<HostOption>(std::move(option)));
    return std::nullopt;
}

void HostFilter::judge(std::uint32_t row) {
    Slots slots;
    std::optional<RejectionCode> code;
    const bool by_row = judge_row(row, slots, code);
    if (!by_row) code = judge_host(row, slots);
    const bool filtered = by_row && !code && take_off_kept(row, slots);
    if (filtered && slots.possible == 0) code = RejectionCode::not_enough_revocable;
    if (!code) {
        hosts_.push_back(Entry{row, !by_row, filtered});
        slots_.push_back(slots);
        all_ready_ = saturating_add(all_ready_, slots.ready);
        all_possible_ = saturating_add(all_possible_, slots.possible);
        return;
    }
    auto& refused = refused_[*code];
    ++refused.hosts;
    if (refused.first.size() < listed_per_code) refused.first.push_back(cloud_.row(row).host);
}

const HostOption& HostFilter::operator[](std::size_t host) const {
    const auto at = options_.find(host);
    if (at != options_.end()) return *at->second;
    auto filtered = filter_host(this->host(host), input_);
    auto* const option = std::get_if<HostOption>(&filtered);
    if (option == nullptr)
        throw std::logic_error("host " + this->host(host).name +
                               " changed without being put into the index again");
    return *options_.emplace(host, std::make_unique<HostOption>(std::move(*option))).first->second;
}

const ReadRow& HostFilter::filtered(std::uint32_t row) const {
    if (spared_rows_ != nullptr && !reserved(row)) return *spared(row);
    const auto at = filtered_.find(row);
    if (at != filtered_.end()) return at->second;
    const Role* const role = reserved(row) ? role_ : nullptr;
    return filtered_
        .emplace(row, cloud_.read_under(row, input_.victim_filter, ledger_of(row), role))
        .first->second;
}

bool HostFilter::sketch(std::size_t host, HostSketch& sketch) const {
    const Entry& entry = hosts_[host];
    if (entry.exact) return false;
    const ReadRow* own = nullptr;
    if (entry.filtered)
        own = &filtered(entry.row);
    else if (reserved(entry.row))
        own = &role_rows_->of(entry.row);
    const bool touched = ledger_rows_.touched(entry.row);
    const ClassRow* const of = own ? own->classes.data() : classes(entry.row);
    const WorkCurve* const curves = own       ? own->curves.data()
                                    : touched ? ledger_rows_.curves(entry.row)
                                              : cloud_.curves(entry.row);
    sketch.needs.resize(needs_.size());
    sketch.curves.resize(needs_.size());
    for (std::size_t need = 0; need < needs_.size(); ++need) {
        sketch.needs[need] = &of[needs_[need].number];
        sketch.curves[need] = &curves[needs_[need].number];
    }
    sketch.candidates = own       ? &own->candidates
                        : touched ? &ledger_rows_.candidates(entry.row)
                                  : &cloud_.candidates(entry.row);
    sketch.kinds = &kinds_;
    sketch.row = own != nullptr ? HostSketch::no_row : entry.row;
    return true;
}

}  // namespace reaper
