#include "reaper/model/request_record.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::array<std::pair<OutcomeKind, std::string_view>, 11> outcomes{{
    {OutcomeKind::freed, "freed"},
    {OutcomeKind::already_there, "already-there"},
    {OutcomeKind::not_enough, "not-enough"},
    {OutcomeKind::refused, "refused"},
    {OutcomeKind::incomplete, "incomplete"},
    {OutcomeKind::failed, "failed"},
    {OutcomeKind::dry_run, "dry-run"},
    {OutcomeKind::superseded, "superseded"},
    {OutcomeKind::handed_over, "handed-over"},
    {OutcomeKind::revocable_room, "revocable-room"},
    {OutcomeKind::revocable_only, "revocable-only"},
}};

constexpr std::array<std::pair<FreedRoomResultKind, std::string_view>, 7> freed_rooms{{
    {FreedRoomResultKind::taken, "taken"},
    {FreedRoomResultKind::short_lived, "short-lived"},
    {FreedRoomResultKind::elsewhere, "elsewhere"},
    {FreedRoomResultKind::handed_over, "handed-over"},
    {FreedRoomResultKind::taken_by_regular, "taken-by-regular"},
    {FreedRoomResultKind::taken_by_revocable, "taken-by-revocable"},
    {FreedRoomResultKind::wasted, "wasted"},
}};

constexpr std::array<std::pair<InventoryHoldEndKind, std::string_view>, 4> hold_ends{{
    {InventoryHoldEndKind::given_back, "given-back"},
    {InventoryHoldEndKind::changed, "changed"},
    {InventoryHoldEndKind::gone, "gone"},
    {InventoryHoldEndKind::not_set, "not-set"},
}};

constexpr std::array<std::pair<Step, std::string_view>, 14> steps{{
    {Step::skipped, "skipped"},
    {Step::notice_sent, "notice-sent"},
    {Step::notified, "notified"},
    {Step::stop_sent, "stop-sent"},
    {Step::withdrawn, "notice-withdrawn"},
    {Step::delete_sent, "delete-sent"},
    {Step::delete_accepted, "delete-accepted"},
    {Step::force_delete_sent, "force-delete-sent"},
    {Step::shelve_sent, "shelve-sent"},
    {Step::gone, "gone"},
    {Step::vanished, "vanished"},
    {Step::failed, "failed"},
    {Step::left_shelved, "left-shelved"},
    {Step::unseen, "unseen"},
}};

/// The last plan that chose the server says most; none for one that no plan names.
VictimEntry victim_of(const RequestRecord& record, const ServerId& server) {
    VictimEntry entry;
    entry.request = record.request.id;
    entry.server = server;
    for (const auto& round : record.plans) {
        const auto* const plan = std::get_if<Plan>(&round.decision);
        if (plan == nullptr) continue;
        for (const auto& victim : plan->victims()) {
            if (victim.server != server) continue;
            entry.name = victim.name;
            entry.project = victim.project;
            entry.project_name = victim.project_name;
            entry.host = victim.host;
        }
    }
    return entry;
}

}  // namespace

std::string_view to_string(OutcomeKind kind) {
    return word_in(outcomes, kind);
}

std::optional<OutcomeKind> outcome_kind_from(std::string_view text) {
    return value_in(outcomes, text);
}

std::string_view to_string(InventoryHoldEndKind kind) {
    return word_in(hold_ends, kind);
}

std::string_view to_string(FreedRoomResultKind kind) {
    return word_in(freed_rooms, kind);
}

std::optional<FreedRoomResultKind> freed_room_result_kind_from(std::string_view text) {
    return value_in(freed_rooms, text);
}

std::string_view to_string(Step step) {
    return word_in(steps, step);
}

std::optional<Step> step_from(std::string_view text) {
    return value_in(steps, text);
}

std::vector<VictimEntry> victims_of(const RequestRecord& record) {
    std::vector<VictimEntry> victims;
    for (const auto& step : record.steps) {
        const auto same = [&](const VictimEntry& known) { return known.server == step.server; };
        if (step.step == Step::skipped) {
            std::erase_if(victims, same);
        } else if (sends_eviction(step.step) && std::ranges::none_of(victims, same)) {
            victims.push_back(victim_of(record, step.server));
            victims.back().at = step.at;
        }
    }
    return victims;
}

bool not_served(const RequestRecord& record) {
    return record.plans.empty() &&
           (!record.outcome || record.outcome->kind == OutcomeKind::refused ||
            record.outcome->kind == OutcomeKind::failed);
}

bool was_only_a_search(const RequestRecord& record) {
    if (!record.outcome || record.request.source != RequestSource::gateway) return false;
    const PlacementConstraints& placement = record.request.placement;
    const auto* const last =
        record.plans.empty() ? nullptr : std::get_if<NotEnough>(&record.plans.back().decision);
    switch (record.outcome->kind) {
        case OutcomeKind::failed:
        case OutcomeKind::handed_over:
        case OutcomeKind::incomplete: return true;
        case OutcomeKind::not_enough:
            return placement.only_offered || placement.without_slow_hosts ||
                   (last != nullptr && last->for_search);
        default: return false;
    }
}

int slots_freed_by(int planned, int deleted, int victims) {
    return deleted < victims ? std::min(planned, deleted) : planned;
}

Request as_freed(const RequestRecord& record) {
    Request request = record.request;
    const auto sent = victims_of(record);
    for (const auto& entry : record.plans) {
        const auto* const plan = std::get_if<Plan>(&entry.decision);
        if (plan == nullptr) continue;
        const auto victims = plan->victims();
        const auto deleted = std::ranges::count_if(sent, [&](const VictimEntry& each) {
            return std::ranges::any_of(
                victims, [&](const Victim& victim) { return victim.server == each.server; });
        });
        if (deleted == 0) continue;
        request.slots = slots_freed_by(plan->slots_requested, static_cast<int>(deleted),
                                       static_cast<int>(victims.size()));
    }
    return request;
}

}  // namespace reaper
