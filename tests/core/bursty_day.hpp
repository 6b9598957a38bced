// A bursty day: histories of the CPU use of hosts, made from a seed, for tests and replays.
//
// Each host has regular servers that hold most of its vCPUs and use few of them. Of each host:
//   * a base of 10 to 30 % of what is allocated, and on top of it a working day, a half sine from
//     7 to 19 o'clock with a height of up to 30 %, moved by up to two hours;
//   * bursts, on average every 90 minutes: a height of mostly 5 to 20 % and at times (1 of 8) up to
//     80 %, up within a minute, for 3 to 60 minutes;
//   * a nightly job at about 2 o'clock: half an hour at 60 % of what is allocated;
//   * noise of up to 3 % in each reading.
// One host in ten goes up and down between idle and busy all day, every 5 to 20 minutes. Use is
// never above the cores. Same seed, same day, on every platform.
#pragma once

#include <cstdint>
#include <vector>

#include "reaper/oversubscription/backtest.hpp"

namespace reaper::testing {

struct BurstyDay {
    std::uint64_t seed = 1;
    int hosts = 10;
    int cores = 32;
    Amount allocated = 32;  ///< vCPUs on each host
    Duration length{std::chrono::hours{24}};
    Duration step{std::chrono::seconds{15}};
    TimePoint from{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};
};

/// Hosts `h0`, `h1`, ...; every tenth one, from `h9`, is one that goes up and down.
std::vector<HostHistory> bursty_day(const BurstyDay& day);

}  // namespace reaper::testing
