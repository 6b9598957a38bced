#include "reaper/cli/check/check_metrics.hpp"

namespace reaper::cli {
namespace {

const std::string* label_of(const Sample& sample, const std::string& name) {
    const auto at = sample.labels.find(name);
    return at == sample.labels.end() || at->second.empty() ? nullptr : &at->second;
}

}  // namespace

HostFigures figures_of(const std::vector<Sample>& samples, const HostNames& names,
                       const std::string& host_label, const std::string& server_label,
                       TimePoint now) {
    HostFigures figures;
    for (const auto& sample : samples) {
        figures.clock_ahead = sample.at - now;
        const std::string* const name = label_of(sample, host_label);
        const bool whole =
            name != nullptr && (server_label.empty() || label_of(sample, server_label) != nullptr);
        if (!whole) {
            ++figures.unlabelled;
            continue;
        }
        if (const auto host = names.find(*name))
            figures.of[*host].push_back(sample.value);
        else
            figures.strangers.insert(*name);
    }
    return figures;
}

}  // namespace reaper::cli
