#include "faults/room/load_history.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "faults/schedules/chance.hpp"

namespace reaper::faults {

namespace {

constexpr Duration noise_lasts{15'000};

double minutes_of(Duration span) {
    return std::chrono::duration<double, std::ratio<60>>(span).count();
}

}  // namespace

LoadHistory::LoadHistory(std::uint64_t seed, Duration length) : seed_(seed) {
    Chance chance{seed ^ 0x10adU};
    base_ = chance.pick({0.05, 0.2, 0.2, 0.5, 0.8});
    swing_ = chance.pick({0.0, 0.1, 0.3});
    period_ = std::chrono::minutes{chance.pick({3, 10, 40})};
    rough_ = chance.pick({0.0, 0.05, 0.3});
    revocable_part_ = chance.pick({0.0, 0.5, 1.0, 1.0});
    for (int left = chance.pick({0, 1, 3, 6}); left > 0; --left) {
        Burst burst;
        burst.from = Duration{static_cast<Duration::rep>(chance.below(length.count() + 1))};
        burst.until = burst.from + std::chrono::seconds{chance.pick({20, 90, 300, 1200})};
        burst.height = chance.pick({0.2, 0.5, 1.0});
        bursts_.push_back(burst);
    }
}

double LoadHistory::used_part(Duration at) const {
    double part = base_ + noise(at);
    part += swing_ * std::sin(2 * std::numbers::pi * minutes_of(at) / minutes_of(period_));
    for (const Burst& burst : bursts_)
        if (burst.from <= at && at < burst.until) part += burst.height;
    return std::clamp(part, 0.0, 1.0);
}

double LoadHistory::steal(Duration at) const {
    return std::clamp(used_part(at) - 0.7, 0.0, 1.0);
}

double LoadHistory::noise(Duration at) const {
    Chance chance{seed_ ^ (0xa015eU * static_cast<std::uint64_t>(at / noise_lasts + 1))};
    return rough_ * (chance.fraction() - 0.5);
}

void LoadAverages::pass(Duration span, double runnable) {
    const auto damped = [&](double average, double minutes) {
        return runnable + (average - runnable) * std::exp(-minutes_of(span) / minutes);
    };
    five_ = damped(five_, 5);
    fifteen_ = damped(fifteen_, 15);
}

}  // namespace reaper::faults
