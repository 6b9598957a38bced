#include "reaper/planner/cloud_index.hpp"

#include <algorithm>

namespace reaper {
namespace {

/// Of so many rows one is touched, or more: then all are copied.
constexpr std::size_t few = 64;

/// Does anything of the ledger count on the host?
bool concerns(const Ledger& ledger, const Host& host) {
    const auto goes = [&](const ServerId& server) {
        return ledger.evicting(server) || ledger.given_up(server) ||
               ledger.reserved().lender_of(server) != nullptr;
    };
    if (ledger.promises_anything_on(host.id) || ledger.reserved().has_tenants_on(host.id))
        return true;
    for (const auto* const servers : {&host.servers, &host.left_behind})
        for (const auto& server : *servers)
            if (goes(server.id)) return true;
    for (const auto& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers)
            if (goes(consumer)) return true;
    return false;
}

}  // namespace

void LedgerRows::build_consumers(const CloudIndex& cloud) {
    if (consumers_built_) return;
    consumers_built_ = true;
    for (const std::uint32_t row : cloud.order())
        for (const std::uint32_t consumer : cloud.row(row).consumers) consumers_.add(consumer, row);
}

void LedgerRows::changed(std::uint32_t row, const std::vector<std::uint32_t>& before,
                         const HostRow& now) {
    mark(row);
    if (!consumers_built_ || before == now.consumers) return;
    for (const std::uint32_t consumer : before) consumers_.erase(consumer, row);
    for (const std::uint32_t consumer : now.consumers) consumers_.add(consumer, row);
}

void LedgerRows::mark(std::uint32_t row) {
    if (row >= marked_.size()) marked_.resize(row + 1, 0);
    if (std::exchange(marked_[row], 1) == 0) to_read_.push_back(row);
}

/// All that the ledger touches, and what was touched before.
void LedgerRows::mark_all(const CloudIndex& cloud, const Ledger& ledger) {
    for (std::uint32_t row = 0; row < touched_.size(); ++row)
        if (touched(row)) mark(row);
    const auto mark_rows_of = [&](const ServerId& server) {
        each_row_of(cloud, server, [&](std::uint32_t row) { mark(row); });
    };
    ledger.each_eviction([&](const Ledger::Eviction& each) { mark_rows_of(each.server); });
    for (const ServerId& server : ledger.all_given_up()) mark_rows_of(server);
    const auto mark_host = [&](const HostId& host) {
        if (const auto row = cloud.row_of(host); row != CloudIndex::no_row) mark(row);
    };
    ledger.each_promise([&](const Ledger::Promise& promise) { mark_host(promise.host); });
    ledger.reserved().each_host(mark_host);
}

void LedgerRows::follow(const CloudIndex& cloud, const Ledger& ledger) {
    const bool known = ledger.changes().read(reader_, [&](const Ledger::Change& change) {
        if (!change.server.empty())
            each_row_of(cloud, change.server, [&](std::uint32_t row) { mark(row); });
        else if (const auto row = cloud.row_of(change.host); row != CloudIndex::no_row)
            mark(row);
    });
    if (!known) mark_all(cloud, ledger);
    if (cloud.width() > stride_ && !touched_.empty()) make_room(0, cloud.width());
    const bool nothing = ledger.empty();
    for (const std::uint32_t row : to_read_) {
        marked_[row] = 0;
        const Host* const host = cloud.row(row).host;
        const bool was = touched(row);
        const bool is = !nothing && host != nullptr && concerns(ledger, *host);
        if (is) read(row, cloud, ledger);
        if (is || was) touched_[row] = is ? 1 : 0;
        if (is && !was) ++number_touched_;
        if (was && !is) --number_touched_;
        if (whole_ && !is && host != nullptr) copy_classes(row, cloud);
        if (is || was) cloud.forget_found(row);
    }
    to_read_.clear();
    if (!whole_ && number_touched_ * few > cloud.size()) copy_the_rest(cloud);
}

void LedgerRows::copy_classes(std::uint32_t row, const CloudIndex& cloud) {
    if (row >= touched_.size()) make_room(row, cloud.width());
    const ClassRow* const from = cloud.classes(row);
    std::copy(from, from + stride_, classes_.begin() + static_cast<std::ptrdiff_t>(row * stride_));
}

void LedgerRows::copy_the_rest(const CloudIndex& cloud) {
    whole_ = true;
    for (const std::uint32_t row : cloud.order())
        if (!touched(row)) copy_classes(row, cloud);
}

/// Rows grow wider when a class is met for the first time.
void LedgerRows::make_room(std::uint32_t row, std::size_t stride) {
    const std::size_t had = touched_.size();
    if (row >= had) {
        const std::size_t rows = std::max<std::size_t>(row + 1, marked_.size());
        touched_.resize(rows, 0);
        candidates_.resize(rows);
    }
    if (stride == stride_) {
        classes_.resize(touched_.size() * stride);
        curves_.resize(touched_.size() * stride);
        return;
    }
    classes_ = widened(classes_, stride_, stride, touched_.size());
    curves_ = widened(curves_, stride_, stride, touched_.size());
    stride_ = stride;
}

void LedgerRows::read(std::uint32_t row, const CloudIndex& cloud, const Ledger& ledger) {
    const auto read = cloud.read_under(row, nullptr, &ledger);
    if (row >= touched_.size() || cloud.width() > stride_) make_room(row, cloud.width());
    const auto to = static_cast<std::ptrdiff_t>(row * stride_);
    std::copy(read.classes.begin(), read.classes.end(), classes_.begin() + to);
    std::copy(read.curves.begin(), read.curves.end(), curves_.begin() + to);
    candidates_[row] = read.candidates;
}

namespace {

/// Is anything on the host otherwise for the role than for requests without one?
bool concerns(const Ledger& ledger, const Host& host, const Role& role) {
    const ReservedRoom& room = ledger.reserved();
    return room.keeps_for(host.id, role) ||
           std::any_of(host.servers.begin(), host.servers.end(), [&](const Server& server) {
               return room.lender_of(server.id) != nullptr && !room.stays_for(server.id, role);
           });
}

}  // namespace

void RoleRows::mark(std::uint32_t row) {
    if (row >= marked_.size()) marked_.resize(row + 1, 0);
    if (std::exchange(marked_[row], 1) == 0) to_read_.push_back(row);
}

void RoleRows::follow(const CloudIndex& cloud, const Ledger& ledger) {
    const auto mark_host = [&](const HostId& host) {
        if (const auto row = cloud.row_of(host); row != CloudIndex::no_row) mark(row);
    };
    const bool known = ledger.changes().read(reader_, [&](const Ledger::Change& change) {
        if (change.server.empty())
            mark_host(change.host);
        else
            cloud.each_row_of(change.server, [&](std::uint32_t row) { mark(row); });
    });
    if (!known) {
        for (std::uint32_t row = 0; row < place_.size(); ++row)
            if (touched(row)) mark(row);
        ledger.reserved().each_host(mark_host);
        ledger.reserved().each_tenant([&](const ServerId& server) {
            cloud.each_row_of(server, [&](std::uint32_t row) { mark(row); });
        });
    }
    for (const std::uint32_t row : to_read_) {
        marked_[row] = 0;
        const Host* const host = cloud.row(row).host;
        if (host != nullptr && concerns(ledger, *host, role_))
            read(row, cloud, ledger);
        else
            drop(row);
    }
    to_read_.clear();
    // A class that was met for the first time makes all rows wider.
    for (ReadRow& row : read_) {
        if (row.classes.size() >= cloud.width()) continue;
        row.classes.resize(cloud.width());
        row.curves.resize(cloud.width());
    }
}

void RoleRows::read(std::uint32_t row, const CloudIndex& cloud, const Ledger& ledger) {
    if (row >= place_.size()) place_.resize(row + 1, nowhere);
    std::uint32_t& place = place_[row];
    if (place == nowhere) {
        if (free_.empty()) {
            place = static_cast<std::uint32_t>(read_.size());
            read_.emplace_back();
        } else {
            place = free_.back();
            free_.pop_back();
        }
    }
    read_[place] = cloud.read_under(row, nullptr, &ledger, &role_);
}

void RoleRows::drop(std::uint32_t row) {
    if (!touched(row)) return;
    free_.push_back(std::exchange(place_[row], nowhere));
}

namespace {

constexpr std::size_t cache_line = 64;

void prefetch(const void* from, std::size_t bytes) {
    const auto* const first = static_cast<const char*>(from);
    for (std::size_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(first + at);
}

}  // namespace

CloudIndex::CloudIndex(const Snapshot& snapshot, Protection protection) : CloudIndex{} {
    protection_ = std::move(protection);
    rows_.reserve(snapshot.hosts.size());
    profiles_.reserve(snapshot.hosts.size());
    newest_.reserve(snapshot.hosts.size());
    candidates_.reserve(snapshot.hosts.size());
    for (const auto& host : snapshot.hosts) put(host);
    project_names_ = snapshot.project_names;
}

std::uint32_t CloudIndex::new_row(const Host& host) {
    std::uint32_t row = static_cast<std::uint32_t>(rows_.size());
    if (free_rows_.empty()) {
        rows_.emplace_back();
        profiles_.push_back(0);
        newest_.push_back(0);
        candidates_.emplace_back();
        place_.push_back(by_name_.end());
    } else {
        row = free_rows_.back();
        free_rows_.pop_back();
    }
    by_id_.emplace(host.id, row);
    place_[row] = by_name_.emplace(Key{host.name, host.id}, row).first;
    order_is_old_ = true;
    return row;
}

/// What `put` is about to write comes from memory while the host is read.
void CloudIndex::fetch_early(std::uint32_t row) const {
    prefetch(&*place_[row], sizeof(*place_[row]));
    prefetch(rows_[row].projects.data(), rows_[row].projects.size() * sizeof(std::uint32_t));
    prefetch(rows_[row].consumers.data(), rows_[row].consumers.size() * sizeof(std::uint32_t));
    prefetch(classes(row), stride_ * sizeof(ClassRow));
    prefetch(curves(row), stride_ * sizeof(WorkCurve));
}

void CloudIndex::put(const Host& host) {
    const auto at = by_id_.find(host.id);
    std::uint32_t row = no_row;
    if (at == by_id_.end()) {
        row = new_row(host);
        consumers_before_.clear();
    } else {
        row = at->second;
        fetch_early(row);
        count_projects(rows_[row], -1);
        consumers_before_ = rows_[row].consumers;
        if (place_[row]->first.first != host.name) {
            by_name_.erase(place_[row]);
            place_[row] = by_name_.emplace(Key{host.name, host.id}, row).first;
            order_is_old_ = true;
        }
    }
    read_host(host, protection_, nullptr, nullptr, nullptr, names_, rows_[row], candidates_[row],
              read_, read_curves_);
    store_classes(row);
    profiles_[row] = rows_[row].profile;
    newest_[row] = rows_[row].newest;
    count_projects(rows_[row], 1);
    note_change(row, host.id);
}

void CloudIndex::note_change(std::uint32_t row, const HostId& host) {
    forget_found(row);
    under_ledger_->changed(row, consumers_before_, rows_[row]);
    for (RoleRows& rows : roles_) rows.changed(row);
    changes_.add(host);
}

void CloudIndex::forget_found(std::uint32_t row) const {
    tables_->changed(row);
    spared_.changed(row);
    thrashing_spared_.changed(row);
}

LedgerRows& CloudIndex::under(const Ledger& ledger) const {
    under_ledger_->follow(*this, ledger);
    return *under_ledger_;
}

const RoleRows& CloudIndex::reserved_for(const Role& role, const Ledger& ledger) const {
    auto at = std::find_if(roles_.begin(), roles_.end(),
                           [&](const RoleRows& rows) { return rows.role() == role; });
    if (at == roles_.end()) {
        const auto older = [](const RoleRows& a, const RoleRows& b) { return a.used < b.used; };
        if (roles_.size() >= max_roles)
            roles_.erase(std::min_element(roles_.begin(), roles_.end(), older));
        at = roles_.insert(roles_.end(), RoleRows{role});
    }
    at->used = ++role_uses_;
    at->follow(*this, ledger);
    return *at;
}

SparedRows& CloudIndex::spared_by(const RunTimeFilter& filter) const {
    SparedRows& rows = filter.rules().grace.empty() ? spared_ : thrashing_spared_;
    rows.follow(*this, filter);
    return rows;
}

ReadRow CloudIndex::read_under(std::uint32_t row, const VictimFilter* victim_filter,
                               const Ledger* ledger, const Role* role) const {
    ReadRow read;
    HostRow own;
    own.profile = rows_[row].profile;
    read_host(*rows_[row].host, protection_, victim_filter, ledger, role, names_, own,
              read.candidates, read.classes, read.curves);
    read.classes.resize(stride_);
    read.curves.resize(stride_);
    return read;
}

/// Rows grow wider when a class is met for the first time.
void CloudIndex::widen() {
    const std::size_t stride = names_.classes();
    classes_ = widened(classes_, stride_, stride, rows_.capacity());
    curves_ = widened(curves_, stride_, stride, rows_.capacity());
    stride_ = stride;
}

void CloudIndex::store_classes(std::uint32_t row) {
    read_.resize(names_.classes());
    read_curves_.resize(names_.classes());
    if (names_.classes() > stride_) widen();
    if (classes_.size() < rows_.size() * stride_) {
        classes_.resize(rows_.capacity() * stride_);
        curves_.resize(rows_.capacity() * stride_);
    }
    const auto to = static_cast<std::ptrdiff_t>(row * stride_);
    std::copy(read_.begin(), read_.end(), classes_.begin() + to);
    std::copy(read_curves_.begin(), read_curves_.end(), curves_.begin() + to);
}

void CloudIndex::count_projects(const HostRow& row, Amount sign) {
    if (row.projects.empty()) return;
    project_counts_.resize(names_.projects().size(), 0);
    for (const auto project : row.projects) project_counts_[project] += sign;
    fleets_are_old_ = true;
}

void CloudIndex::erase(const HostId& host) {
    const auto at = by_id_.find(host);
    if (at == by_id_.end()) return;
    const std::uint32_t row = at->second;
    const HostId id = host;  // it may be the index's own
    count_projects(rows_[row], -1);
    consumers_before_ = std::move(rows_[row].consumers);
    rows_[row] = HostRow{};
    by_name_.erase(place_[row]);
    place_[row] = by_name_.end();
    by_id_.erase(at);
    free_rows_.push_back(row);
    note_change(row, id);
    order_is_old_ = true;
}

void CloudIndex::clear() {
    Protection kept = std::move(protection_);
    *this = CloudIndex{};
    protection_ = std::move(kept);
}

void CloudIndex::protect(Protection protection) {
    if (protection == protection_) return;
    protection_ = std::move(protection);
    for (const std::uint32_t row : order()) put(*rows_[row].host);
}

void CloudIndex::forget() {
    tables_->clear();
    spared_.clear();
    thrashing_spared_.clear();
}

const Host* CloudIndex::find(const HostId& host) const {
    const std::uint32_t row = row_of(host);
    return row == no_row ? nullptr : rows_[row].host;
}

std::uint32_t CloudIndex::row_of(const HostId& host) const {
    const auto at = by_id_.find(host);
    return at == by_id_.end() ? no_row : at->second;
}

const std::vector<std::uint32_t>& CloudIndex::order() const {
    if (order_is_old_) {
        order_.clear();
        for (const auto& [key, row] : by_name_) order_.push_back(row);
        order_is_old_ = false;
    }
    return order_;
}

const std::map<ProjectId, Amount>& CloudIndex::fleets() const {
    if (fleets_are_old_) {
        fleet_checker_.resize(project_counts_.size(), nullptr);
        for (std::size_t i = 0; i < project_counts_.size(); ++i) {
            Amount*& place = fleet_checker_[i];
            if (project_counts_[i] > 0) {
                if (place == nullptr) place = &fleets_[names_.projects()[i]];
                *place = project_counts_[i];
            } else if (place != nullptr) {
                fleets_.erase(names_.projects()[i]);
                place = nullptr;
            }
        }
        fleets_are_old_ = false;
    }
    return fleets_;
}

}  // namespace reaper
