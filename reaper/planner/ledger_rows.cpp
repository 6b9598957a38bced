#include "reaper/planner/ledger_rows.hpp"

#include <algorithm>
#include <utility>

#include "reaper/planner/cloud_index.hpp"

namespace reaper {
namespace {

/// Of so many rows one is touched, or more: then all are copied.
constexpr std::size_t few = 64;

/// Does anything of the ledger count on the host?
bool concerns(const Ledger& ledger, const Host& host) {
    const auto goes = [&](const ServerId& server) {
        return ledger.evicting(server) || ledger.given_up(server) ||
               ledger.lender_of(server) != nullptr;
    };
    if (ledger.promises_anything_on(host.id) || ledger.has_tenants_on(host.id)) return true;
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
    ledger.each_reserved(mark_host);
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

std::size_t LedgerRows::bytes() const {
    return consumers_.bytes() + classes_.capacity() * sizeof(ClassRow) +
           curves_.capacity() * sizeof(WorkCurve) +
           candidates_.capacity() * sizeof(CandidateSketch) + marked_.capacity() +
           touched_.capacity() + to_read_.capacity() * sizeof(std::uint32_t);
}

}  // namespace reaper
