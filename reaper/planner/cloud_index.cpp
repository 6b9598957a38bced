#include "reaper/planner/cloud_index.hpp"

#include <algorithm>

namespace reaper {
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

std::size_t CloudIndex::bytes() const {
    constexpr std::size_t node = 64;  // of a map, about, without its strings
    std::size_t sum =
        rows_.capacity() * sizeof(HostRow) + classes_.capacity() * sizeof(ClassRow) +
        curves_.capacity() * sizeof(WorkCurve) + candidates_.capacity() * sizeof(CandidateSketch) +
        (order_.capacity() + profiles_.capacity()) * sizeof(std::uint32_t) +
        newest_.capacity() * sizeof(Amount) + place_.capacity() * sizeof(place_[0]) +
        tables_->bytes() + under_ledger_->bytes() + spared_.bytes() + thrashing_spared_.bytes();
    for (const RoleRows& rows : roles_) sum += rows.bytes();
    for (const auto& row : rows_)
        sum += (row.consumers.capacity() + row.projects.capacity()) * sizeof(std::uint32_t);
    for (const auto& [key, row] : by_name_)
        sum += 2 * node + sizeof(key) + key.first.capacity() + 2 * key.second.str().capacity();
    sum += by_id_.bucket_count() * sizeof(void*);
    for (const auto& project : names_.projects()) sum += 3 * (node + project.str().capacity());
    return sum;
}

}  // namespace reaper
