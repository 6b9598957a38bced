#include "reaper/oversubscription/parameter_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace reaper {
namespace {

constexpr double decimals_end = 1e9;

const std::string& text_of(const Parameters& parameters, std::string_view name) {
    return std::get<std::string>(parameters.find(name)->second);
}

}  // namespace

std::optional<double> decimal_of(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos ||
        text.front() == '.' || text.back() == '.')
        return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value >= decimals_end)
        return std::nullopt;
    return value;
}

std::optional<double> decimal_parameter(const Parameters& parameters, std::string_view name,
                                        double least, double most) {
    const auto value = decimal_of(text_of(parameters, name));
    return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<Duration> duration_parameter(const Parameters& parameters, std::string_view name,
                                           Duration most) {
    const auto value = parse_duration(text_of(parameters, name));
    return value && *value <= most ? value : std::nullopt;
}

std::string decimal_text(double value) {
    const double hundredths = std::round(value * 100) / 100;
    std::array<char, 64> digits{};
    const auto written =
        std::to_chars(digits.data(), digits.data() + digits.size(),
                      hundredths == 0 ? 0.0 : hundredths, std::chars_format::fixed);
    return written.ec == std::errc{} ? std::string{digits.data(), written.ptr} : "?";
}

}  // namespace reaper
