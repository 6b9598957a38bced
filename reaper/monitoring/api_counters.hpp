// Counts calls to OpenStack's APIs, each try by itself.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/time.hpp"

namespace prometheus {
class Registry;
class Counter;
class Histogram;
template <typename T>
class Family;
}  // namespace prometheus

namespace reaper::monitoring {

class ApiCounters {
public:
    /// Adds its families to the registry, which must outlive it.
    explicit ApiCounters(prometheus::Registry& registry);

    /// `code`: the status of the answer, or a word for what went wrong without one.
    void tried(std::string_view service, std::string_view method, std::string_view code,
               std::chrono::duration<double> took);

    /// An answer of the service had this date; ours is `now`.
    void dated(std::string_view service, TimePoint date, TimePoint now);
    /// How far our clock is ahead of the cloud's, behind if it is negative. Where the services
    /// differ, the nearest one counts. None: no answer had a date.
    std::optional<Duration> clock_ahead() const;

private:
    prometheus::Family<prometheus::Counter>& calls_;
    prometheus::Family<prometheus::Histogram>& times_;
    std::map<std::string, Duration, std::less<>> ahead_;  ///< by service
};

}  // namespace reaper::monitoring
