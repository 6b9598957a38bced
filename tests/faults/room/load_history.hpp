// How busy a host is, as a function of time and a seed: what its regular servers want of the CPU,
// with a rhythm, bursts and noise, and the load averages that follow from it.
#pragma once

#include <cstdint>
#include <vector>

#include "reaper/model/time.hpp"

namespace reaper::faults {

/// Times are from the start of the history.
class LoadHistory {
public:
    /// `length`: within it, bursts come.
    LoadHistory(std::uint64_t seed, Duration length);
    /// The part of what they hold that regular servers use then: 0 to 1, the same at each call.
    double used_part(Duration at) const;
    /// The part of CPU time that is stolen; 0 to 1.
    double steal(Duration at) const;
    /// How busy servers on oversubscribed room are: 0 to 1.
    double revocable_part() const { return revocable_part_; }

private:
    struct Burst {
        Duration from{};
        Duration until{};
        double height = 0;
    };
    double noise(Duration at) const;

    std::uint64_t seed_;
    double base_ = 0;
    double swing_ = 0;
    Duration period_{};
    double rough_ = 0;
    double revocable_part_ = 1;
    std::vector<Burst> bursts_;
};

/// Load averages as Linux has them: damped by e in so many minutes.
class LoadAverages {
public:
    /// For `span`, `runnable` threads were runnable.
    void pass(Duration span, double runnable);
    double of_5_minutes() const { return five_; }
    double of_15_minutes() const { return fifteen_; }

private:
    double five_ = 0;
    double fifteen_ = 0;
};

}  // namespace reaper::faults
