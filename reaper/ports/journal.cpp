#include "reaper/ports/journal.hpp"

#include <array>
#include <utility>

namespace reaper {
namespace {

constexpr std::array<std::pair<OutcomeKind, std::string_view>, 7> outcomes{{
    {OutcomeKind::freed, "freed"},
    {OutcomeKind::already_there, "already-there"},
    {OutcomeKind::not_enough, "not-enough"},
    {OutcomeKind::refused, "refused"},
    {OutcomeKind::incomplete, "incomplete"},
    {OutcomeKind::failed, "failed"},
    {OutcomeKind::dry_run, "dry-run"},
}};

constexpr std::array<std::pair<Step, std::string_view>, 7> steps{{
    {Step::spared, "spared"},
    {Step::delete_sent, "delete-sent"},
    {Step::delete_accepted, "delete-accepted"},
    {Step::force_delete_sent, "force-delete-sent"},
    {Step::gone, "gone"},
    {Step::vanished, "vanished"},
    {Step::failed, "failed"},
}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value wanted) {
    for (const auto& [value, name] : table)
        if (value == wanted) return name;
    return "unknown";
}

}  // namespace

std::string_view to_string(OutcomeKind kind) {
    return name_in(outcomes, kind);
}

std::optional<OutcomeKind> outcome_kind_from(std::string_view text) {
    for (const auto& [value, name] : outcomes)
        if (name == text) return value;
    return std::nullopt;
}

std::string_view to_string(Step step) {
    return name_in(steps, step);
}

std::optional<Step> step_from(std::string_view text) {
    for (const auto& [value, name] : steps)
        if (name == text) return value;
    return std::nullopt;
}

}  // namespace reaper
