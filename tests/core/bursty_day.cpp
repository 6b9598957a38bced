#include "core/bursty_day.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "strategies/seeded_rng.hpp"

namespace reaper::testing {
namespace {

double hours(Duration span) {
    return std::chrono::duration<double, std::ratio<3600>>(span).count();
}

class DayOfHost {
public:
    DayOfHost(const BurstyDay& day, int number)
        : day_{day}, rng_{day.seed * 1'000'003 + static_cast<std::uint64_t>(number)} {
        flaps_ = number % 10 == 9;
        base_ = between(0.1, 0.3);
        working_ = between(0, 0.3);
        shift_ = between(-2, 2);
        job_at_ = between(1.5, 2.5);
        plan_bursts();
    }

    /// The part of what is allocated that is in use, so many hours after the day began.
    double part_at(double hour) {
        const double of_day = std::fmod(hour, 24);
        const double noise = between(-0.03, 0.03);
        if (flaps_) return std::max((up_at(hour) ? 0.8 : 0.1) + noise, 0.0);
        double part = base_ + noise;
        const double worked = (of_day - 7 - shift_) / 12;
        if (worked > 0 && worked < 1) part += working_ * std::sin(std::numbers::pi * worked);
        if (of_day >= job_at_ && of_day < job_at_ + 0.5) part = std::max(part, 0.6);
        for (const auto& burst : bursts_)
            if (hour >= burst.from && hour < burst.to)
                part += burst.height * std::min((hour - burst.from) * 60, 1.0);
        return std::clamp(part, 0.0, 1.0);
    }

private:
    struct Burst {
        double from = 0, to = 0;  // hours
        double height = 0;
    };

    double between(double least, double most) {
        return least + (most - least) * static_cast<double>(rng_.below(1'000'001)) / 1e6;
    }

    void plan_bursts() {
        const double end = hours(day_.length);
        if (flaps_) {
            for (double at = 0; at < end; at += between(5, 20) / 60) turns_.push_back(at);
            return;
        }
        // Gaps between independent events: exponential, with a mean of 90 minutes.
        for (double at = 0; at < end; at += -1.5 * std::log(between(1e-6, 1))) {
            const double height = rng_.below(8) == 0 ? between(0.3, 0.8) : between(0.05, 0.2);
            bursts_.push_back({at, at + between(3, 60) / 60, height});
        }
    }

    bool up_at(double hour) const {
        return (std::upper_bound(turns_.begin(), turns_.end(), hour) - turns_.begin()) % 2 == 0;
    }

    const BurstyDay& day_;
    SeededRng rng_;
    bool flaps_ = false;
    double base_ = 0, working_ = 0, shift_ = 0, job_at_ = 0;
    std::vector<Burst> bursts_;
    std::vector<double> turns_;  // hours at which it goes up or down
};

}  // namespace

std::vector<HostHistory> bursty_day(const BurstyDay& day) {
    std::vector<HostHistory> hosts;
    for (int number = 0; number < day.hosts; ++number) {
        HostHistory host;
        host.facts.name = host.facts.service_host = "h" + std::to_string(number);
        host.facts.id = HostId{host.facts.name + "-uuid"};
        host.facts.vcpus = day.cores;
        host.facts.allocated = day.allocated;
        host.cores = day.cores;
        DayOfHost made{day, number};
        for (Duration after{0}; after < day.length; after += day.step) {
            const double wanted = made.part_at(hours(after)) * static_cast<double>(day.allocated);
            const double used = std::min(wanted, host.cores);
            host.points.push_back({day.from + after, {used, used}});
        }
        hosts.push_back(std::move(host));
    }
    return hosts;
}

}  // namespace reaper::testing
