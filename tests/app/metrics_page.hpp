// A page in Prometheus' text format, taken apart strictly: what is no line of it throws.
#pragma once

#include <map>
#include <set>
#include <string>

namespace reaper::test {

struct MetricsPage {
    explicit MetricsPage(const std::string& text);

    /// Of `name{label="value",...}`, labels in the order of their names; 0 if it is not there.
    double operator[](const std::string& series) const;
    bool has(const std::string& series) const { return values.contains(series); }
    /// Over all series of the name.
    double sum(const std::string& name) const;

    std::map<std::string, std::string> types;  ///< by name, of families
    std::map<std::string, std::string> helps;  ///< by name, too
    std::map<std::string, double> values;      ///< by series
    /// What a query may name: families, and of histograms their parts.
    std::set<std::string> names() const;
};

}  // namespace reaper::test
