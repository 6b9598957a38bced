#include "reaper/model/plan.hpp"

#include <array>
#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::array<std::pair<RejectionCode, std::string_view>, 19> rejection_names{{
    {RejectionCode::down, "down"},
    {RejectionCode::disabled, "disabled"},
    {RejectionCode::wrong_availability_zone, "wrong-availability-zone"},
    {RejectionCode::missing_trait, "missing-trait"},
    {RejectionCode::forbidden_trait, "forbidden-trait"},
    {RejectionCode::isolated, "isolated"},
    {RejectionCode::unwatched, "unwatched"},
    {RejectionCode::excluded, "excluded"},
    {RejectionCode::not_requested, "not-requested"},
    {RejectionCode::not_in_placement, "not-in-placement"},
    {RejectionCode::other_cell, "other-cell"},
    {RejectionCode::server_group, "server-group"},
    {RejectionCode::no_such_class, "no-such-class"},
    {RejectionCode::unit_limits, "unit-limits"},
    {RejectionCode::not_enough_capacity, "not-enough-capacity"},
    {RejectionCode::not_enough_revocable, "not-enough-revocable"},
    {RejectionCode::in_cooldown, "in-cooldown"},
    {RejectionCode::over_limit, "over-limit"},
    {RejectionCode::ranked_lower, "ranked-lower"},
}};

std::vector<PendingRelease> pending_on(const std::vector<HostPlan>& hosts) {
    std::vector<PendingRelease> all;
    for (const auto& host : hosts)
        all.insert(all.end(), host.pending_releases.begin(), host.pending_releases.end());
    return all;
}

struct Summarize {
    std::string operator()(const Plan& plan) const {
        std::size_t hosts = 0;
        for (const auto& host : plan.hosts) hosts += host.victims.empty() ? 0 : 1;
        if (plan.slots_wanted == 0)
            return counted(plan.victims().size(), "victim") + " on " + counted(hosts, "host") +
                   (plan.note.empty() ? "" : "; " + plan.note);
        const std::size_t pending_releases = plan.pending_releases().size();
        const std::string going =
            pending_releases == 0 ? ""
                                  : "; " + counted(pending_releases, "server") + " going already";
        return counted(plan.victims().size(), "victim") + " on " + counted(hosts, "host") +
               " free " + counted(static_cast<std::size_t>(plan.slots_freed), "slot") +
               " (requested " + std::to_string(plan.slots_requested) + ", wanted " +
               std::to_string(plan.slots_wanted) + "; strategy " + plan.strategy + going + ")";
    }
    std::string operator()(const NothingToDo& nothing) const {
        return "nothing to do: " + nothing.reason;
    }
    std::string operator()(const NotEnough& not_enough) const {
        const std::string safeguard =
            not_enough.safeguard.empty() ? "" : " (safeguard: " + not_enough.safeguard + ")";
        return "no servers deleted: " + not_enough.reason + safeguard;
    }
    std::string operator()(const Refused& refused) const { return "refused: " + refused.reason; }
};

}  // namespace

std::string_view to_string(RejectionCode code) {
    return word_in(rejection_names, code);
}

std::optional<RejectionCode> rejection_code_from(std::string_view text) {
    return value_in(rejection_names, text);
}

std::vector<Victim> Plan::victims() const {
    std::vector<Victim> all;
    for (const auto& host : hosts) all.insert(all.end(), host.victims.begin(), host.victims.end());
    return all;
}

std::vector<PendingRelease> Plan::pending_releases() const {
    return pending_on(hosts);
}

std::vector<PendingRelease> NothingToDo::pending_releases() const {
    return pending_on(hosts);
}

std::vector<HostPlan> host_plans(const Decision& decision) {
    if (const auto* const plan = std::get_if<Plan>(&decision)) return plan->hosts;
    if (const auto* const nothing = std::get_if<NothingToDo>(&decision)) return nothing->hosts;
    return {};
}

bool better(const Decision& one, const Decision& other) {
    const auto rank = [](const Decision& decision) {
        if (std::holds_alternative<NothingToDo>(decision)) return 0;
        return std::holds_alternative<Plan>(decision) ? 1 : 2;
    };
    const auto* const plan = std::get_if<Plan>(&one);
    const auto* const than = std::get_if<Plan>(&other);
    if (plan == nullptr || than == nullptr) return rank(one) < rank(other);
    if (plan->cost.levels != than->cost.levels) return plan->cost.levels < than->cost.levels;
    return plan->victims().size() < than->victims().size();
}

void add_cut(Decision& one, const Decision& other) {
    auto* const none = std::get_if<NotEnough>(&one);
    const auto* const too = std::get_if<NotEnough>(&other);
    if (none != nullptr && too != nullptr) none->cut = none->cut || too->cut;
}

std::string summary(const Decision& decision) {
    return std::visit(Summarize{}, decision);
}

}  // namespace reaper
