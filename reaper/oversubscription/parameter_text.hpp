// Numbers and durations in the parameters of estimators and QoS controllers, which the
// configuration gives as texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/parameters.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// `4`, `0.25`: digits, perhaps with a point among them, and nothing else; below a billion.
std::optional<double> decimal_of(std::string_view text);

/// A parameter of kind text as a number from `least` to `most`.
std::optional<double> decimal_parameter(const Parameters& parameters, std::string_view name,
                                        double least, double most);

/// A parameter of kind text as a duration (`5min`) up to `most`.
std::optional<Duration> duration_parameter(const Parameters& parameters, std::string_view name,
                                           Duration most);

/// For people: a number with at most two digits after the point, `2.5`, `30`.
std::string decimal_text(double value);

}  // namespace reaper
