#include "reaper/model/resources_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

Error wrong(std::string what) {
    return Error{Errc::bad_input, std::move(what)};
}

/// What servers take mostly.
const std::vector<std::string> usual_classes{"VCPU", "PCPU", "MEMORY_MB", "DISK_GB", "VGPU"};

/// What these are called elsewhere.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> other_names{{
    {"CPU", "VCPU"},
    {"CPUS", "VCPU"},
    {"VCPUS", "VCPU"},
    {"CORE", "VCPU"},
    {"CORES", "VCPU"},
    {"PCPUS", "PCPU"},
    {"RAM", "MEMORY_MB"},
    {"RAM_MB", "MEMORY_MB"},
    {"MEM", "MEMORY_MB"},
    {"MEM_MB", "MEMORY_MB"},
    {"MEMORY", "MEMORY_MB"},
    {"DISK", "DISK_GB"},
    {"DISKS", "DISK_GB"},
    {"STORAGE", "DISK_GB"},
    {"ROOT_GB", "DISK_GB"},
    {"GPU", "VGPU"},
}};

}  // namespace

std::string meant_class(std::string_view written, const std::vector<std::string>& known) {
    const std::string capitals = to_upper(written);
    for (const auto& [other, name] : other_names)
        if (other == capitals && std::ranges::find(known, name) != known.end())
            return "; did you mean " + in_quotes(name) + "?";
    return did_you_mean(capitals, known);
}

bool is_upper_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
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
            return wrong("is " + in_quotes(part) +
                         "; expected CLASS=AMOUNT, such as VCPU=4,MEMORY_MB=2048");
        if (!is_upper_name(name))
            return wrong(in_quotes(name) +
                         " is not a resource class; expected one such as VCPU or CUSTOM_GPU" +
                         meant_class(name, usual_classes));
        const std::string_view digits = part.substr(sign + 1);
        Amount amount = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, failure] = std::from_chars(digits.data(), end, amount);
        if (failure != std::errc{} || stop != end || amount <= 0)
            return wrong("the amount of " + std::string(name) + " is " + in_quotes(digits) +
                         "; expected a whole number from 1 to " +
                         std::to_string(max_placement_amount));
        if (name.size() > 255)
            return wrong("the name " + in_quotes(name) +
                         " is too long; expected at most 255 characters");
        if (amount > max_placement_amount)
            return wrong("the amount of " + std::string(name) + " is " + in_quotes(digits) +
                         "; expected at most " + std::to_string(max_placement_amount) +
                         ", as Placement holds no more");
        const ResourceClass resource_class{std::string(name)};
        if (resources.get(resource_class) != 0)
            return wrong(std::string(name) + " is given twice; expected each class once");
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
