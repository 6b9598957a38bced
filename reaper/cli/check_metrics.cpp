#include "reaper/cli/check_metrics.hpp"

#include "reaper/model/text.hpp"

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

std::string some_of(const std::set<std::string>& names) {
    constexpr std::size_t most = 10;
    std::string text;
    std::size_t shown = 0;
    for (const auto& name : names)
        if (shown++ < most) text += (text.empty() ? "" : ", ") + printable(name, 100);
    if (shown > most) text += " and " + std::to_string(shown - most) + " more";
    return text;
}

}  // namespace reaper::cli
