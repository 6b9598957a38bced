#include "reaper/monitoring/api_counters.hpp"

#include <array>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <utility>

#include "reaper/monitoring/exposition.hpp"

namespace reaper::monitoring {

namespace {

const prometheus::Histogram::BucketBoundaries call_seconds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                           0.5,   1,    2.5,   5,    10,  30};

/// What the daemon asks of each service.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> all_calls{{
    {"keystone", "GET"},
    {"keystone", "POST"},
    {"nova", "GET"},
    {"nova", "POST"},
    {"nova", "DELETE"},
    {"placement", "GET"},
    {"placement", "POST"},
    {"placement", "PUT"},
    {"placement", "DELETE"},
    {"glance", "GET"},
}};

Labels labels_of(std::string_view service, std::string_view method) {
    return {{"service", std::string{service}}, {"method", std::string{method}}};
}

}  // namespace

ApiCounters::ApiCounters(prometheus::Registry& registry)
    : calls_(prometheus::BuildCounter()
                 .Name("reaper_api_requests_total")
                 .Help("Calls to OpenStack's APIs, each try by itself, by the status of the answer "
                       "or a word for what went wrong without one.")
                 .Register(registry)),
      times_(prometheus::BuildHistogram()
                 .Name("reaper_api_request_duration_seconds")
                 .Help("How long a try of such a call took, waiting for a connection included.")
                 .Register(registry)) {
    // What alerts look at is 0 before it happens, not absent.
    for (const auto& [service, method] : all_calls)
        for (const char* const code : {"401", "403"}) {
            Labels labels = labels_of(service, method);
            labels.emplace("code", code);
            calls_.Add(labels);
        }
}

void ApiCounters::tried(std::string_view service, std::string_view method, std::string_view code,
                        std::chrono::duration<double> took) {
    Labels labels = labels_of(service, method);
    times_.Add(labels, call_seconds).Observe(took.count());
    labels.emplace("code", std::string{code});
    calls_.Add(labels).Increment();
}

void ApiCounters::dated(std::string_view service, TimePoint date, TimePoint now) {
    ahead_.insert_or_assign(std::string{service}, now - date);
}

std::optional<Duration> ApiCounters::clock_ahead() const {
    std::optional<Duration> nearest;
    for (const auto& each : ahead_)
        if (!nearest || std::chrono::abs(each.second) < std::chrono::abs(*nearest))
            nearest = each.second;
    return nearest;
}

}  // namespace reaper::monitoring
