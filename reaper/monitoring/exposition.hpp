// What Prometheus reads: families of values in its text format. The library counts and writes; here
// is what it leaves to its users.
#pragma once

#include <map>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <string>
#include <string_view>
#include <vector>

namespace reaper::monitoring {

using Families = std::vector<prometheus::MetricFamily>;
using prometheus::Labels;

std::string to_text(const Families& families);

/// A name from the cloud as the value of a label: Prometheus refuses a page with bytes that are not
/// UTF-8, all of it.
std::string label_value(std::string_view text);

/// Values that are looked up when they are asked for.
class Values {
public:
    /// `help` is one sentence without a backslash and without a line break.
    void gauge(const char* name, const char* help, double value, Labels labels = {});
    /// Of something else that counts, which never goes down.
    void counter(const char* name, const char* help, double value, Labels labels = {});
    /// Families that are not here yet.
    void join(Values others) { families_.merge(others.families_); }
    /// By name.
    Families take();

private:
    void add(prometheus::MetricType type, const char* name, const char* help, double value,
             Labels labels);

    std::map<std::string_view, prometheus::MetricFamily> families_;
};

}  // namespace reaper::monitoring
