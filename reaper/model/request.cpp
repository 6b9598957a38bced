#include "reaper/model/request.hpp"

#include <array>
#include <utility>

#include "reaper/model/time_text.hpp"

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

constexpr std::array<std::pair<RequestSource, std::string_view>, 3> source_names{{
    {RequestSource::nova_failure, "nova-failure"},
    {RequestSource::unshelve, "unshelve"},
    {RequestSource::operator_, "operator"},
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

std::string_view to_string(RequestSource source) {
    for (const auto& [value, name] : source_names)
        if (value == source) return name;
    return "unknown";
}

std::optional<RequestSource> request_source_from(std::string_view text) {
    for (const auto& [value, name] : source_names)
        if (name == text) return value;
    return std::nullopt;
}

std::optional<std::string> why_expired(const Request& request, TimePoint now) {
    if (request.deadline == TimePoint{} || now <= request.deadline) return std::nullopt;
    return "the request is " + format_duration(now - request.sent_at) +
           " old; what is older than " + format_duration(request.deadline - request.sent_at) +
           " is not acted on (if it is not: this machine's clock is ahead of Nova's)";
}

std::string to_string(const Request& request) {
    return std::to_string(request.slots) + " x " + to_string(request.resources) + " for project " +
           request.project.str() + " (" + std::string{to_string(request.operation)} + ", " +
           (request.phases == Phases{} ? "" : "res-type " + to_string(request.phases) + ", ") +
           request.id.str() + ")";
}

}  // namespace reaper
