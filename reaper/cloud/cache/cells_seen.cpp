#include "reaper/cloud/cache/cells_seen.hpp"

#include <map>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

std::optional<std::string> why(const std::vector<HostNumbers::Numbered>& numbered,
                               const std::string& what) {
    std::map<std::int64_t, std::string> seen;
    for (const auto& each : numbered) {
        const auto [at, is_new] = seen.emplace(each.number, each.host);
        if (!is_new && at->second != each.host)
            return what + " " + in_quotes(at->second) + " and " + in_quotes(each.host) +
                   " have the same number, " + std::to_string(each.number) +
                   ", which a cell gives once";
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> why_several_cells(const HostNumbers& numbers) {
    if (auto services = why(numbers.services, "the compute services of")) return services;
    return why(numbers.hypervisors, "the hypervisors");
}

}  // namespace reaper
