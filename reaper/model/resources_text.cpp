#include "reaper/model/resources_text.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

}  // namespace

bool is_upper_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

Result<Resources> parse_resources(std::string_view text) {
    Resources resources;
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        const std::string_view part = text.substr(start, comma - start);
        start = comma + 1;

        const std::size_t sign = part.find_first_of("=:");
        const std::string_view name = part.substr(0, sign);
        if (sign == std::string_view::npos || name.empty())
            return wrong(in_quotes(part) + " is not CLASS=AMOUNT (example: VCPU=4,MEMORY_MB=2048)");
        if (!is_upper_name(name))
            return wrong(in_quotes(name) +
                         " is not a resource class: they are written like VCPU or CUSTOM_GPU");
        const std::string_view digits = part.substr(sign + 1);
        Amount amount = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, failure] = std::from_chars(digits.data(), end, amount);
        if (failure != std::errc{} || stop != end || amount <= 0)
            return wrong("the amount of " + std::string(name) + " is " + in_quotes(digits) +
                         ", expected a whole number above 0");
        if (name.size() > 255)
            return wrong("the name " + in_quotes(name) + " is longer than 255 characters");
        if (amount > max_placement_amount)
            return wrong("the amount of " + std::string(name) + " is " + in_quotes(digits) +
                         ", more than Placement can hold (" + std::to_string(max_placement_amount) +
                         ")");
        const ResourceClass resource_class{std::string(name)};
        if (resources.get(resource_class) != 0) return wrong(std::string(name) + " is given twice");
        resources.set(resource_class, amount);
    }
    return resources;
}

std::string written(const Resources& resources) {
    std::string text;
    for (const auto& [name, amount] : resources)
        text += (text.empty() ? "" : ",") + name.str() + ":" + std::to_string(amount);
    return text;
}

}  // namespace reaper
