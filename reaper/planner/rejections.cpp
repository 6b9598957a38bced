#include "reaper/planner/rejections.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "reaper/model/natural_order.hpp"
#include "reaper/planner/explain.hpp"

namespace reaper {
namespace {

bool named_before(const Rejection& a, const Rejection& b) {
    if (natural_less(a.host_name, b.host_name)) return true;
    return !natural_less(b.host_name, a.host_name) && a.host < b.host;
}

}  // namespace

Rejections::Rejections(const HostFilter& host_filter, const FilterInput& input)
    : host_filter_{host_filter} {
    std::size_t hosts = host_filter.size();
    for (const auto& [code, refused] : host_filter.refused()) hosts += refused.hosts;
    small_ = hosts <= small_cloud;
    for (const auto& [code, refused] : host_filter.refused()) {
        std::string sample;
        for (const Host* host : refused.first) {
            auto filtered = filter_host(*host, input);
            auto* const rejection = std::get_if<Rejection>(&filtered);
            if (rejection == nullptr) continue;
            if (sample.empty()) sample = rejection->reason;
            told.push_back(std::move(*rejection));
            if (!small_) break;
        }
        count(code, refused.hosts, sample);
    }
    sort_listed();
}

void Rejections::count(RejectionCode code, std::size_t hosts, const std::string& sample) {
    if (hosts == 0) return;
    const auto at = std::lower_bound(
        counts.begin(), counts.end(), code,
        [](const RejectionCount& each, RejectionCode key) { return each.code < key; });
    const int number =
        static_cast<int>(std::min<std::size_t>(hosts, std::numeric_limits<int>::max()));
    if (at != counts.end() && at->code == code)
        at->hosts += number;
    else
        counts.insert(at, RejectionCount{code, number, sample});
}

void Rejections::sort_listed() {
    const auto ranked = std::stable_partition(told.begin(), told.end(), [](const Rejection& each) {
        return each.code == RejectionCode::ranked_lower;
    });
    std::sort(ranked, told.end(), named_before);
}

void Rejections::add_losers(const Selection& selection, const Chosen& chosen) {
    static const std::string needless = "the slots of other hosts made those of this one needless";
    std::size_t losers = host_filter_.size();
    std::string sample;
    const auto lost = [&](std::size_t host) {
        const auto at = chosen.find(host);
        return at == chosen.end() || at->second.slots <= 0;
    };
    for (const auto& [host, on_host] : chosen)
        if (on_host.slots > 0) --losers;
    std::size_t listed_count = 0;
    const auto tell = [&](std::size_t host, const std::string& reason) {
        const Host& loser = host_filter_.host(host);
        if (sample.empty()) sample = reason;
        told.push_back(Rejection{loser.id, loser.name, RejectionCode::ranked_lower, reason});
        ++listed_count;
    };
    std::set<std::size_t> passed;
    for (const auto& [host, reason] : selection.passed) {
        passed.insert(host);
        if (lost(host)) tell(host, reason);
    }
    const auto ranked = static_cast<std::ptrdiff_t>(told.size());
    for (std::size_t host = 0; host < host_filter_.size() && listed_count < losers; ++host) {
        if (!small_ && listed_count >= passed_in_full) break;
        if (lost(host) && !passed.contains(host)) tell(host, needless);
    }
    std::sort(told.begin() + ranked, told.end(), named_before);
    count(RejectionCode::ranked_lower, losers, sample);
    sort_listed();
}

void Rejections::add_all(RejectionCode code,
                         const std::function<Rejection(const HostOption&)>& reject) {
    std::string sample;
    for (std::size_t host = 0; host < host_filter_.size(); ++host) {
        if (!small_ && host >= passed_in_full) break;
        told.push_back(reject(host_filter_[host]));
        if (sample.empty()) sample = told.back().reason;
    }
    count(code, host_filter_.size(), sample);
    sort_listed();
}

void Rejections::add_too_few(Amount requested) {
    add_all(RejectionCode::not_enough_revocable,
            [&](const HostOption& option) { return too_few_slots(option, requested); });
}

void Rejections::add_over_limit() {
    add_all(RejectionCode::over_limit, [](const HostOption& option) { return over_limit(option); });
}

}  // namespace reaper
