#include "reaper/monitoring/exposition.hpp"

#include <prometheus/text_serializer.h>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper::monitoring {

std::string to_text(const Families& families) {
    return prometheus::TextSerializer{}.Serialize(families);
}

std::string label_value(std::string_view text) {
    return printable(text);
}

void Values::gauge(const char* name, const char* help, double value, Labels labels) {
    add(prometheus::MetricType::Gauge, name, help, value, std::move(labels));
}

void Values::counter(const char* name, const char* help, double value, Labels labels) {
    add(prometheus::MetricType::Counter, name, help, value, std::move(labels));
}

void Values::add(prometheus::MetricType type, const char* name, const char* help, double value,
                 Labels labels) {
    prometheus::MetricFamily& family = families_[name];
    if (family.metric.empty()) {
        family.name = name;
        family.help = help;
        family.type = type;
    }
    prometheus::ClientMetric metric;
    for (auto& [key, text] : labels) metric.label.push_back({key, std::move(text)});
    if (type == prometheus::MetricType::Counter)
        metric.counter.value = value;
    else
        metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
}

Families Values::take() {
    Families all;
    all.reserve(families_.size());
    for (auto& [name, family] : families_) all.push_back(std::move(family));
    families_.clear();
    return all;
}

}  // namespace reaper::monitoring
