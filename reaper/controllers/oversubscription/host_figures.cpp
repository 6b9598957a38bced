#include "reaper/controllers/oversubscription/host_figures.hpp"

#include <algorithm>
#include <cmath>

#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

constexpr Duration clocks_may_differ = std::chrono::seconds{30};

std::string why_no_figure(double value, std::string_view what) {
    const bool good = std::isfinite(value) && value >= 0;
    return good ? std::string{} : std::string{what} + " is not a number of 0 or more";
}

}  // namespace

HostNames names_of(const std::vector<const Host*>& hosts) {
    HostNames names;
    for (const Host* const host : hosts) names.add(facts_of(*host));
    return names;
}

std::map<HostId, Figure> figures_by_host(const std::vector<Sample>& samples, const HostNames& names,
                                         const std::string& host_label, std::string_view what) {
    std::map<HostId, Figure> figures;
    for (const Sample& sample : samples) {
        const auto label = sample.labels.find(host_label);
        if (label == sample.labels.end()) continue;
        const auto host = names.find(label->second);
        if (!host) continue;
        const auto [at, is_new] = figures.try_emplace(
            *host, Figure{sample.value, sample.at, why_no_figure(sample.value, what)});
        if (!is_new) at->second.why = std::string{what} + " is told twice";
    }
    return figures;
}

std::optional<std::string> why_clocks_differ(const std::vector<Sample>& samples, TimePoint from,
                                             TimePoint to) {
    for (const Sample& sample : samples) {
        const Duration ahead = std::chrono::duration_cast<Duration>(sample.at - to);
        const Duration behind = std::chrono::duration_cast<Duration>(from - sample.at);
        const Duration by = std::max(ahead, behind);
        if (by > clocks_may_differ)
            return "the clock of who measures differs from ours by " + format_duration(by);
    }
    return std::nullopt;
}

}  // namespace reaper
