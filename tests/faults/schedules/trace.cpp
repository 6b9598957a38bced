#include "faults/schedules/trace.hpp"

#include <cstdio>

namespace reaper::faults {

void Trace::line(const std::string& text) {
    const auto at = timeline_.true_now().time_since_epoch().count();
    const auto add = [this](unsigned char byte) { hash_ = (hash_ ^ byte) * 1099511628211ULL; };
    for (int shift = 0; shift < 64; shift += 8)
        add(static_cast<unsigned char>(static_cast<std::uint64_t>(at) >> shift));
    for (const char c : text) add(static_cast<unsigned char>(c));
    if (!print_) return;
    const auto start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20};
    const auto passed = (timeline_.true_now() - start).count();
    std::printf("%8lld.%03lld %s\n", static_cast<long long>(passed / 1000),
                static_cast<long long>(passed % 1000), text.c_str());
}

}  // namespace reaper::faults
