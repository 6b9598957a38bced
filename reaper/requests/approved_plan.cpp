#include "reaper/requests/approved_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

/// The clocks of two machines may differ by so much.
constexpr Duration ahead = std::chrono::minutes{1};
constexpr std::size_t most_named = 3;

const std::string plan_again = "; plan again, and look at that";

std::vector<ServerId> only_in(const std::set<ServerId>& some, const std::set<ServerId>& others) {
    std::vector<ServerId> left;
    std::set_difference(some.begin(), some.end(), others.begin(), others.end(),
                        std::back_inserter(left));
    return left;
}

using ServerNames = std::map<ServerId, std::string>;

/// `web-1 (8d3f...)`, or the id alone where the name is not known.
std::string server_text(const ServerId& server, const ServerNames& names,
                        const NameOfServer& name_of) {
    const auto planned = names.find(server);
    std::string name;
    if (planned != names.end())
        name = planned->second;
    else if (name_of)
        name = name_of(server);
    std::string id = printable(server.str(), 64);
    return name.empty() || name == server.str() ? id : printable(name, 64) + " (" + id + ")";
}

std::string named(const std::vector<ServerId>& servers, const ServerNames& names,
                  const NameOfServer& name_of) {
    std::string text;
    for (std::size_t i = 0; i < std::min(servers.size(), most_named); ++i)
        text += (i == 0 ? "" : ", ") + server_text(servers[i], names, name_of);
    return servers.size() > most_named ? text + ", ..." : text;
}

std::optional<std::string> why_not_its_time(const Approval& approval, TimePoint now,
                                            Duration max_age) {
    if (approval.planned_at > now + ahead)
        return "the approved plan is of " + iso_time(approval.planned_at) +
               ", which is still to come";
    if (now - approval.planned_at <= max_age) return std::nullopt;
    return "the approved plan is " +
           format_duration(std::chrono::duration_cast<Duration>(now - approval.planned_at)) +
           " old, more than " + format_duration(max_age) + " (cull.approved_max_age)";
}

}  // namespace

std::optional<std::string> why_stale(const Approval& approval, const Decision& decision, bool begun,
                                     TimePoint now, Duration max_age, const NameOfServer& name_of) {
    if (auto why = begun ? std::nullopt : why_not_its_time(approval, now, max_age))
        return *why + plan_again;
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr && begun) return std::nullopt;  // no other server is deleted
    // No server is deleted then either, for a reason other than the cloud.
    const auto* const not_enough = std::get_if<NotEnough>(&decision);
    const bool held = not_enough != nullptr && !not_enough->safeguard.empty();
    if (held || std::holds_alternative<Refused>(decision)) return std::nullopt;
    if (plan == nullptr)
        return "the approved plan is stale, now it would be: " + summary(decision) + plan_again;
    std::set<ServerId> chosen;
    ServerNames names;
    for (const Victim& victim : plan->victims()) {
        chosen.insert(victim.server);
        if (!victim.name.empty()) names.emplace(victim.server, victim.name);
    }
    // A deletion that another reaper left unfinished would be completed without approval.
    for (const HostPlan& host : plan->hosts)
        for (const PendingRelease& other : host.pending_releases)
            if (other.unfinished) chosen.insert(other.server);
    const auto added = only_in(chosen, approval.victims);
    const auto left_out = only_in(approval.victims, chosen);
    if (added.empty() && (begun || left_out.empty())) return std::nullopt;
    std::string differs;
    if (!left_out.empty()) differs = named(left_out, names, name_of) + " would not be deleted now";
    if (!added.empty())
        differs += (differs.empty() ? "" : ", but ") + named(added, names, name_of) + " would be";
    return "the approved plan is stale: " + differs + plan_again;
}

}  // namespace reaper
