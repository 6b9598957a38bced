#include "reaper/decision/room_oracle.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "reaper/decision/decide.hpp"
#include "reaper/decision/requester_class.hpp"
#include "reaper/model/aggregate_rules.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/places.hpp"
#include "reaper/planner/planner.hpp"

namespace reaper {
namespace {

/// What is possible is counted up to this, as small servers may fit in any number.
constexpr int any_number = 1'000'000;

int at_once(const std::vector<HostSlots>& there) {
    const auto sum =
        std::accumulate(there.begin(), there.end(), Amount{0},
                        [](Amount before, const HostSlots& host) { return before + host.at_once; });
    return static_cast<int>(std::min<Amount>(sum, any_number));
}

/// Nova asks for both, and takes a host of either.
std::vector<HostSlots> room_of_either(const Request& request, const CloudIndex& hosts,
                                      const Ledger& ledger, const SchedulerRules& rules) {
    auto first = slots_there(request, hosts, ledger, &rules);
    if (!request.fallback || !rules.pcpu_fallback) return first;
    auto second = slots_there(by_fallback(request), hosts, ledger, &rules);
    return at_once(second) > at_once(first) ? second : first;
}

/// No more could ever fit, by a count of each host that tries no choice of victims: as far as its
/// searches come.
int at_most(const Request& request, const CloudIndex& hosts, const Ledger& ledger,
            const SchedulerRules& rules) {
    PlanOptions options;
    options.scheduler = &rules;
    const auto most = [&](Request asked) {
        asked.slots = any_number;
        return slots_possible(asked, hosts, ledger, options);
    };
    Amount possible = most(request);
    if (request.fallback) possible = std::max(possible, most(by_fallback(request)));
    return static_cast<int>(std::min<Amount>(possible, any_number));
}

/// Slots that hosts could have if no server were there, by each class for itself: never too few.
/// What a host does not offer by itself may be shared.
Amount most_when_empty(const Resources& slot, const CloudIndex& hosts) {
    Amount sum = 0;
    for (const std::uint32_t row : hosts.order()) {
        Amount most = any_number;
        for (const auto& [resource_class, amount] : slot) {
            bool offered = false;
            Amount here = 0;
            for (const Provider& provider : hosts.row(row).host->providers) {
                const auto found = provider.inventories.find(resource_class);
                if (found == provider.inventories.end() || amount <= 0) continue;
                offered = true;
                if (found->second.allows(amount))
                    here += provider.capacity(resource_class, found->second) / amount;
            }
            if (offered) most = std::min(most, here);
        }
        sum = std::min<Amount>(sum + most, any_number);
    }
    return sum;
}

Amount most_when_empty(const Request& request, const CloudIndex& hosts) {
    const Amount most = most_when_empty(request.resources, hosts);
    if (!request.fallback) return most;
    return std::max(most, most_when_empty(request.fallback->resources, hosts));
}

/// A revocable server waits for what others leave, unless the cloud is too small for it.
void settle_never(RoomAnswer& answer, const Request& request, const CloudIndex& hosts) {
    const Amount most = most_when_empty(request, hosts);
    if (most >= request.slots) {
        answer.verdict = RoomVerdict::free_room_only;
        return;
    }
    NotEnough never;
    never.slots_requested = request.slots;
    never.slots_possible = answer.fits_now;
    never.reason = "if all hosts were empty, there would be room for " + std::to_string(most);
    answer.decision = std::move(never);
}

RoomVerdict verdict_of(const Decision& decision, int fits_now, int slots) {
    if (fits_now >= slots) return RoomVerdict::fits_now;
    if (std::holds_alternative<NothingToDo>(decision)) return RoomVerdict::on_its_way;
    if (const auto* const plan = std::get_if<Plan>(&decision))
        return plan->victims().empty() ? RoomVerdict::on_its_way : RoomVerdict::after_victims;
    const auto* const not_enough = std::get_if<NotEnough>(&decision);
    const bool held = not_enough != nullptr && (not_enough->cut || !not_enough->safeguard.empty());
    return held ? RoomVerdict::held_back : RoomVerdict::never;
}

bool offered(const ResourceClass& resource_class, const CloudIndex& hosts) {
    for (const std::uint32_t row : hosts.order())
        for (const Provider& provider : hosts.row(row).host->providers)
            if (provider.inventories.contains(resource_class)) return true;
    return false;
}

bool had(const Trait& trait, const CloudIndex& hosts) {
    for (const std::uint32_t row : hosts.order())
        for (const Provider& provider : hosts.row(row).host->providers)
            if (provider.traits.contains(trait)) return true;
    return false;
}

std::vector<std::string> texts_of(const std::set<std::string>& texts) {
    return {texts.begin(), texts.end()};
}

std::vector<std::string> classes_of(const CloudIndex& hosts) {
    std::set<std::string> all;
    for (const std::uint32_t row : hosts.order())
        for (const Provider& provider : hosts.row(row).host->providers)
            for (const auto& [resource_class, inventory] : provider.inventories)
                all.insert(resource_class.str());
    return texts_of(all);
}

std::vector<std::string> traits_of(const CloudIndex& hosts) {
    std::set<std::string> all;
    for (const std::uint32_t row : hosts.order())
        for (const Provider& provider : hosts.row(row).host->providers)
            for (const Trait& trait : provider.traits) all.insert(trait.str());
    return texts_of(all);
}

}  // namespace

RoomAnswer room_for(const CompiledPolicy& policy, const Request& request, const CloudIndex& hosts,
                    const TagData& tag_data, const Ledger& ledger, TimePoint now,
                    Safeguards& safeguards, const std::map<ServerId, std::string>& skipped) {
    const auto decided = [&](const Request& asked) {
        return decide(policy, asked, hosts, tag_data, ledger, now, safeguards, skipped);
    };
    RoomAnswer answer;
    answer.decision = decided(request);
    const bool refused = std::holds_alternative<Refused>(answer.decision);
    const bool revocable =
        refused && why_requester_revocable(policy, request, hosts, tag_data).has_value();
    // No server is deleted for a revocable server, but it gets what is free; what else is refused
    // fits nowhere.
    if (!refused || revocable)
        answer.there = room_of_either(request, hosts, ledger, policy.scheduler);
    answer.fits_now = at_once(answer.there);
    answer.verdict = verdict_of(answer.decision, answer.fits_now, request.slots);
    if (revocable && answer.verdict == RoomVerdict::never) settle_never(answer, request, hosts);
    answer.possible = answer.fits_now;
    if (refused) return answer;
    Request many = request;
    const int most_at_all = at_most(request, hosts, ledger, policy.scheduler);
    if (most_at_all == any_number) {
        answer.possible = any_number;
        return answer;
    }
    // For one more than could fit no plan is searched, but the answer has how many are possible.
    many.slots = most_at_all + 1;
    const Decision most = decided(many);
    if (const auto* const not_enough = std::get_if<NotEnough>(&most))
        answer.possible = std::max(answer.possible, not_enough->slots_possible);
    if (const auto* const plan = std::get_if<Plan>(&answer.decision))
        answer.possible = std::max(answer.possible, plan->slots_freed);
    return answer;
}

std::optional<std::string> zone_remark(const Request& request, const CloudIndex& hosts) {
    if (!request.availability_zone) return std::nullopt;
    const std::string& zone = *request.availability_zone;
    for (const std::uint32_t row : hosts.order())
        for (const auto& [uuid, aggregate] : hosts.row(row).host->member_of)
            if (is_zone(aggregate.metadata, zone)) return std::nullopt;
    return "no aggregate makes the availability zone " + in_quotes(zone) +
           ": Nova without its AvailabilityZoneFilter boots such servers anywhere; only hosts in "
           "no other zone are counted";
}

std::optional<std::string> why_unknown_zone(const std::string& zone, const CloudIndex& hosts) {
    if (hosts.empty()) return std::nullopt;
    std::set<std::string> known;
    for (const std::uint32_t row : hosts.order())
        known.insert(hosts.row(row).host->availability_zone);
    if (known.contains(zone)) return std::nullopt;
    return "there is no availability zone " + in_quotes(zone) +
           " with hosts in this cloud; there are: " + name_list(known);
}

std::optional<std::string> why_unknown(const Request& request, const CloudIndex& hosts) {
    if (hosts.empty()) return std::nullopt;
    if (request.availability_zone)
        if (auto why = why_unknown_zone(*request.availability_zone, hosts)) return why;
    if (request.flavor.empty())
        for (const Trait& trait : all_required_traits(request))
            if (!had(trait, hosts))
                return "there is no trait " + in_quotes(trait.str()) +
                       " in this cloud: no host has it" +
                       did_you_mean(trait.str(), traits_of(hosts));
    if (request.fallback) return std::nullopt;  // another class does as well
    return why_unknown(request.resources, hosts);
}

std::optional<std::string> why_unknown(const Resources& resources, const CloudIndex& hosts) {
    if (hosts.empty()) return std::nullopt;
    for (const auto& [resource_class, amount] : resources)
        if (!offered(resource_class, hosts))
            return "there is no resource class " + in_quotes(resource_class.str()) +
                   " in this cloud: no host offers it" +
                   meant_class(resource_class.str(), classes_of(hosts));
    return std::nullopt;
}

}  // namespace reaper
