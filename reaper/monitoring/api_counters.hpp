// Counts calls to OpenStack's APIs, each try by itself.
#pragma once

#include <chrono>
#include <string_view>

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

private:
    prometheus::Family<prometheus::Counter>& calls_;
    prometheus::Family<prometheus::Histogram>& times_;
};

}  // namespace reaper::monitoring
