#include "reaper/model/request.hpp"

#include <array>
#include <utility>

namespace reaper {
namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 8> operation_names{{
    {Operation::build, "build"},
    {Operation::resize, "resize"},
    {Operation::migrate, "migrate"},
    {Operation::live_migrate, "live-migrate"},
    {Operation::rebuild, "rebuild"},
    {Operation::evacuate, "evacuate"},
    {Operation::unshelve, "unshelve"},
    {Operation::manual, "manual"},
}};

}  // namespace

std::string_view to_string(Operation operation) {
    for (const auto& [value, name] : operation_names)
        if (value == operation) return name;
    return "unknown";
}

std::optional<Operation> operation_from(std::string_view text) {
    for (const auto& [value, name] : operation_names)
        if (name == text) return value;
    return std::nullopt;
}

std::string to_string(const Request& request) {
    return std::to_string(request.slots) + " x " + to_string(request.resources) + " for project " +
           request.project.str() + " (" + std::string{to_string(request.operation)} + ", " +
           (request.phases == Phases{} ? "" : "res-type " + to_string(request.phases) + ", ") +
           request.id.str() + ")";
}

}  // namespace reaper
