#include "reaper/planner/planner.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reaper/model/resources.hpp"
#include "reaper/model/text.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/indexed_cloud.hpp"
#include "reaper/planner/minimal.hpp"
#include "reaper/planner/pending_releases.hpp"
#include "reaper/planner/places.hpp"
#include "reaper/planner/spared_servers.hpp"

namespace reaper {
namespace {

// Reasons: every host and victim of a decision in the words and units of the request.

HostPlan host_plan(const Problem& problem, const HostOption& option, const OnHost& chosen) {
    HostPlan plan;
    plan.host = option.host->id;
    plan.host_name = option.host->name;
    plan.slots = to_int(chosen.slots);
    plan.slots_ready = to_int(std::min(chosen.slots, option.slots_ready));
    const auto totals = [&](const ByPool& room) {
        return named(problem.shape, option.room.totals(problem.shape, room));
    };
    plan.free_before = totals(option.room.room_now());
    const ByPool after = room_without(option, chosen.victims);
    plan.free_after = totals(after);
    plan.pending_releases = pending_for(option.room, problem.shape, after, chosen.slots);
    return plan;
}

/// Why this victim is needed, given the others.
std::string why_needed(const Problem& problem, const HostOption& option, const OnHost& chosen,
                       std::size_t victim) {
    auto others = chosen.victims;
    std::erase(others, victim);
    return "needed: keeping it leaves the host " +
           option.room.shortage(problem.shape, room_without(option, others), chosen.slots) +
           " short for " + counted(chosen.slots, "slot");
}

std::string why_revocable(const Server& server) {
    const std::string why = server.revocable_because.value_or("");
    return server.revocable_by.empty() ? why : why + " (tagger " + server.revocable_by + ")";
}

Victim explain_victim(const Problem& problem, const HostOption& option, const OnHost& chosen,
                      std::size_t victim) {
    const Server& server = *option.candidates[victim].server;
    Victim told{server.id,
                server.name,
                server.project,
                server.host,
                held_on(server, *option.host),
                server.created,
                why_revocable(server) + "; " + why_needed(problem, option, chosen, victim)};
    told.flavor = server.flavor_name;
    told.held_by = server.held_by;
    told.launched = server.launched;
    if (!told.held_by.empty()) told.reason += "; its unconfirmed resize left it there";
    return told;
}

std::string why_ready(const HostOption& option, const HostPlan& plan) {
    return "has room for " + counted(option.slots_ready, "slot") + " without a " +
           (plan.pending_releases.empty() ? "" : "further ") + "deletion";
}

/// Why no plan is needed, with hosts that have `requested` slots together.
NothingToDo room_is_there(const Problem& problem, Amount requested) {
    std::map<std::size_t, Amount> taken;  // slots by host
    Amount open = requested;
    // Room that is there at once comes before room that is still on its way.
    for (const bool at_once : {true, false})
        for (std::size_t host = 0; host < problem.hosts.size() && open > 0; ++host) {
            if (problem.hosts.ready(host) <= 0) continue;
            const auto& option = problem.hosts[host];
            const Amount there =
                at_once ? std::min(option.max_slots,
                                   slots_at_once(option.room, problem.shape, option.room.room_now(),
                                                 option.slots_ready))
                        : option.slots_ready;
            const auto at = taken.find(host);
            const Amount more = std::min(open, there - (at == taken.end() ? 0 : at->second));
            if (more <= 0) continue;
            taken[host] += more;
            open -= more;
        }
    NothingToDo answer;
    for (const auto& [host, slots] : taken) {
        const auto& option = problem.hosts[host];
        answer.hosts.push_back(host_plan(problem, option, OnHost{{}, slots}));
        answer.hosts.back().reason = why_ready(option, answer.hosts.back());
    }
    const auto going = static_cast<Amount>(answer.pending_releases().size());
    answer.reason =
        "room for " + counted(requested, "slot") +
        (going == 0 ? " is there already, on "
                    : " comes free without a further deletion, when " + counted(going, "server") +
                          " on the way out " + (going == 1 ? "is" : "are") + " gone, on ") +
        (answer.hosts.size() == 1 ? answer.hosts.front().host_name
                                  : counted(answer.hosts.size(), "host"));
    return answer;
}

/// One host of a plan, each victim with its reason.
HostPlan explain_host(const Problem& problem, std::size_t host, const OnHost& chosen,
                      const Selection& selection) {
    const auto& option = problem.hosts[host];
    HostPlan plan = host_plan(problem, option, chosen);
    for (const std::size_t victim : chosen.victims)
        plan.victims.push_back(explain_victim(problem, option, chosen, victim));
    if (option.slots_ready > 0) plan.reason = why_ready(option, plan);
    if (chosen.victims.empty()) return plan;
    const auto at = selection.hosts.find(host);
    if (at != selection.hosts.end() && !at->second.reason.empty())
        plan.reason += (plan.reason.empty() ? "" : "; ") + at->second.reason;
    return plan;
}

/// A host that gives slots, but all hosts together too few.
Rejection too_few_slots(const HostOption& option, Amount requested) {
    const std::string how = option.candidates.empty()
                                ? ""
                                : ", even if its " +
                                      counted(option.candidates.size(), "revocable server") +
                                      " were deleted";
    return Rejection{option.host->id, option.host->name, RejectionCode::not_enough_revocable,
                     "gives " + counted(option.slots_possible, "slot") + " of the " +
                         std::to_string(requested) + " requested" + how};
}

/// A host that gives slots, but not within the limits.
Rejection over_limit(const HostOption& option) {
    return Rejection{option.host->id, option.host->name, RejectionCode::over_limit,
                     "gives " + counted(option.slots_possible, "slot") +
                         ", but no way within the limits was found with it"};
}

/// Why no choice within the budgets frees the slots; `groups` stand in its way, the worst first.
std::string why_over_limit(const BudgetCounter& usage, const std::vector<BudgetGroup>& groups,
                           Amount requested, bool proven) {
    std::string text =
        proven ? "no choice of victims within the limits frees " + counted(requested, "slot")
               : "no choice of victims within the limits was found that frees " +
                     counted(requested, "slot");
    for (const auto& group : groups) {
        const Budget& budget = usage.budget(group);
        text += "; " + usage.text(group) + ", " + std::to_string(std::max<Amount>(budget.left, 0)) +
                " left, " + std::to_string(usage.of(group)) + " needed";
    }
    return text;
}

/// Why all revocable servers together are not enough, or (`not_all`) those that may be deleted:
/// `hosts` give slots, `refused` lists the others. Not `found`: there may be more.
std::string why_not_enough(std::size_t hosts, const std::vector<RejectionCount>& refused,
                           Amount requested, Amount possible, bool not_all, bool found) {
    std::string text =
        "only " + std::to_string(possible) + " of " + counted(requested, "slot") +
        (found ? " can come free" : " could be found, in a search that was cut short") +
        ", even if all revocable servers " +
        (not_all ? "that may be deleted were (" : "were deleted (");
    if (hosts == 0 && refused.empty()) text += "no hosts are known";
    if (hosts > 0) text += counted(static_cast<Amount>(hosts), "host") + " with slots";
    bool first = hosts == 0;
    for (const auto& each : refused) {
        text += (first ? "" : ", ") + std::to_string(each.hosts) + " " +
                std::string{to_string(each.code)};
        first = false;
    }
    return text + ")";
}

// Why hosts were not used: the best few in full, all of them counted by reason. In a small cloud
// every host is listed in full.

class Rejections {
public:
    /// Clouds of at most so many hosts are listed in full.
    static constexpr std::size_t small_cloud = 20;

    /// Those that the screen refused. The arguments must outlive this.
    Rejections(const HostFilter& host_filter, const FilterInput& input);

    /// Those that could give slots and were not chosen.
    void add_losers(const Selection& selection, const Chosen& chosen);
    /// Those that give slots, but all together too few.
    void add_too_few(Amount requested);
    /// Those that give slots, but not within the limits.
    void add_over_limit();

    /// First those that are ranked lower, the nearest first; then the others by name.
    std::vector<Rejection> told;
    std::vector<RejectionCount> counts;  ///< by code

private:
    void count(RejectionCode code, std::size_t hosts, const std::string& sample);
    void add_all(RejectionCode code, const std::function<Rejection(const HostOption&)>& reject);
    void sort_listed();

    const HostFilter& host_filter_;
    bool small_;
};

bool named_before(const Rejection& a, const Rejection& b) {
    if (natural_less(a.host_name, b.host_name)) return true;
    return !natural_less(b.host_name, a.host_name) && a.host < b.host;
}

}  // namespace

Rejections::Rejections(const HostFilter& host_filter, const FilterInput& input)
    : host_filter_{host_filter} {
    std::size_t hosts = host_filter.size();
    for (const auto& [code, refused] : host_filter.refused()) hosts += refused.hosts;
    small_ = hosts <= small_cloud;
    for (const auto& [code, refused] : host_filter.refused()) {
        std::string sample;
        for (const Host* host : refused.first) {
            auto filtered = filter_host(*host, input);
            auto* const rejection = std::get_if<Rejection>(&filtered);
            if (rejection == nullptr) continue;
            if (sample.empty()) sample = rejection->reason;
            told.push_back(std::move(*rejection));
            if (!small_) break;
        }
        count(code, refused.hosts, sample);
    }
    sort_listed();
}

void Rejections::count(RejectionCode code, std::size_t hosts, const std::string& sample) {
    if (hosts == 0) return;
    const auto at = std::lower_bound(
        counts.begin(), counts.end(), code,
        [](const RejectionCount& each, RejectionCode key) { return each.code < key; });
    const int number =
        static_cast<int>(std::min<std::size_t>(hosts, std::numeric_limits<int>::max()));
    if (at != counts.end() && at->code == code)
        at->hosts += number;
    else
        counts.insert(at, RejectionCount{code, number, sample});
}

void Rejections::sort_listed() {
    const auto ranked = std::stable_partition(told.begin(), told.end(), [](const Rejection& each) {
        return each.code == RejectionCode::ranked_lower;
    });
    std::sort(ranked, told.end(), named_before);
}

void Rejections::add_losers(const Selection& selection, const Chosen& chosen) {
    static const std::string needless = "the slots of other hosts made those of this one needless";
    std::size_t losers = host_filter_.size();
    std::string sample;
    const auto lost = [&](std::size_t host) {
        const auto at = chosen.find(host);
        return at == chosen.end() || at->second.slots <= 0;
    };
    for (const auto& [host, on_host] : chosen)
        if (on_host.slots > 0) --losers;
    std::size_t listed_count = 0;
    const auto tell = [&](std::size_t host, const std::string& reason) {
        const Host& loser = host_filter_.host(host);
        if (sample.empty()) sample = reason;
        told.push_back(Rejection{loser.id, loser.name, RejectionCode::ranked_lower, reason});
        ++listed_count;
    };
    std::set<std::size_t> passed;
    for (const auto& [host, reason] : selection.passed) {
        passed.insert(host);
        if (lost(host)) tell(host, reason);
    }
    const auto ranked = static_cast<std::ptrdiff_t>(told.size());
    for (std::size_t host = 0; host < host_filter_.size() && listed_count < losers; ++host) {
        if (!small_ && listed_count >= passed_in_full) break;
        if (lost(host) && !passed.contains(host)) tell(host, needless);
    }
    std::sort(told.begin() + ranked, told.end(), named_before);
    count(RejectionCode::ranked_lower, losers, sample);
    sort_listed();
}

void Rejections::add_all(RejectionCode code,
                         const std::function<Rejection(const HostOption&)>& reject) {
    std::string sample;
    for (std::size_t host = 0; host < host_filter_.size(); ++host) {
        if (!small_ && host >= passed_in_full) break;
        told.push_back(reject(host_filter_[host]));
        if (sample.empty()) sample = told.back().reason;
    }
    count(code, host_filter_.size(), sample);
    sort_listed();
}

void Rejections::add_too_few(Amount requested) {
    add_all(RejectionCode::not_enough_revocable,
            [&](const HostOption& option) { return too_few_slots(option, requested); });
}

void Rejections::add_over_limit() {
    add_all(RejectionCode::over_limit, [](const HostOption& option) { return over_limit(option); });
}

namespace {

/// Slots of a plan at most, whatever is asked.
constexpr Amount max_request_slots = 1'000'000;
/// Groups that are filled one after the other for one plan.
constexpr int max_fills = 8;
/// Hosts that are tried one after the other for servers that have to be together: so many, and more
/// of them until there is a plan.
constexpr std::size_t max_ways = 32;
constexpr std::size_t max_ways_without_plan = 256;

/// Servers of a group get no alternatives: which of the hosts a mate takes would be open then, and
/// with it where the next one of them may go.
Amount wanted_of(const Request& request, const PlanOptions& options) {
    const ServerGroup& group = request.placement.group;
    const Amount requested = std::max(request.slots, 0);
    const Amount times = group.apart() || group.together() ? 1 : std::max(options.alternatives, 1);
    return std::clamp(saturating_multiply(requested, times), requested,
                      std::max(requested, max_request_slots));
}

class Planner {
public:
    Planner(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
            const PlanOptions& options, const VictimFilter* victim_filter)
        : request_{request},
          cloud_{cloud},
          requested_{request.slots},
          wanted_{wanted_of(request, options)},
          shape_{shape_of(request)},
          checker_{request, options.scheduler, cloud, ledger},
          input_{request,
                 shape_,
                 ledger,
                 options.skipped,
                 options.protection != nullptr ? options.protection : &cloud.protection(),
                 victim_filter,
                 options.in_cooldown,
                 &checker_,
                 ResType::regular,
                 false,
                 options.one_combination},
          budgets_{options.budgets},
          whole_cloud_{cloud, ledger},
          host_filter_{cloud, input_, std::max<Amount>(wanted_, 1)},
          problem_{shape_,          std::min(wanted_, host_filter_.all_possible()),
                   requested_,      host_filter_,
                   options.seed,    options.now,
                   &cloud.fleets(), &cloud.tables(),
                   options.notice,  &whole_cloud_} {}

    Decision decide(const Strategy& strategy, std::string_view strategy_name) {
        if (host_filter_.all_ready() >= requested_) return room_is_there(problem_, requested_);
        if (possible() < requested_) return not_enough("");
        Choice choice = choose(problem_, strategy);
        if (choice.freed < requested_) return not_enough(choice.selection.note);
        if (budgets_ == nullptr) return plan(choice, "", strategy, strategy_name);
        BudgetedSelection within =
            choose_in_budgets(problem_, strategy, *budgets_, std::move(choice));
        if (within.choice) return plan(*within.choice, within.note, strategy, strategy_name);
        excess_ = std::move(within.excess);
        excess_->proven = excess_->proven && all_found();
        return over_limit();
    }

    /// After a decision for want of budgets that is not proven: the group that exceeds its own
    /// the most, and the victims that may fill it. None if nothing of the kind is in the way.
    std::optional<std::pair<BudgetGroup, std::set<ServerId>>> next_fill() const {
        if (!excess_ || excess_->proven) return std::nullopt;
        for (const auto& group : excess_->over)
            if (group.kind != BudgetGroup::Kind::all) return std::pair{group, filling(group)};
        return std::nullopt;
    }
    /// Of all hosts together, or of the best one where all slots have to be on one.
    Amount possible() const { return possible(host_filter_); }
    /// False: a search for slots was cut short, and there may be more of them.
    bool all_found() const { return host_filter_.all_found(); }
    /// Hosts that could give all slots alone, and what that costs there at least: those with the
    /// room, or else the cheapest first, or those with the most room if the strategy has no costs.
    std::vector<std::pair<const Host*, std::optional<Cost>>> hosts_for_all(
        const Strategy& strategy) const {
        std::vector<std::size_t> able;
        for (std::size_t host = 0; host < host_filter_.size(); ++host)
            if (host_filter_.possible(host) >= requested_) able.push_back(host);
        std::stable_sort(able.begin(), able.end(), [&](std::size_t a, std::size_t b) {
            return host_filter_.ready(a) > host_filter_.ready(b);
        });
        std::vector<std::pair<const Host*, std::optional<Cost>>> hosts;
        if (!able.empty() && host_filter_.ready(able.front()) < requested_)
            for (const auto& [host, cost] :
                 strategy.cheapest_hosts(problem_, requested_, max_ways_without_plan))
                hosts.emplace_back(&host_filter_.host(host), cost);
        if (hosts.empty())
            for (const std::size_t host : able)
                hosts.emplace_back(&host_filter_.host(host), std::nullopt);
        return hosts;
    }
    Decision too_few_on_one_host() {
        return not_enough("all servers of its server group '" +
                          printable(request_.placement.group.name, 100) +
                          "' have to be on one host (affinity), and none gives so many");
    }

    std::size_t warm_up(const Strategy& strategy, std::size_t hosts) {
        if (host_filter_.all_ready() >= requested_ || host_filter_.all_possible() < requested_)
            return 0;
        return strategy.warm(problem_, hosts);
    }

private:
    Amount possible(const HostFilter& hosts) const {
        if (!checker_.all_on_one_host()) return hosts.all_possible();
        Amount most = 0;
        for (std::size_t host = 0; host < hosts.size(); ++host)
            most = std::max(most, hosts.possible(host));
        return most;
    }

    /// Would it be enough if revocable servers went that may not, or may the request then go where
    /// it may not now?
    bool others_would_do() const {
        bool any = false;
        for (const std::uint32_t row : cloud_.order()) {
            const Host& host = *cloud_.row(row).host;
            const auto kept = [&](const Server& server) {
                if (!server.revocable() || !why_kept(server, host, input_)) return false;
                any = true;
                return checker_.company().contains(server.id);
            };
            if (std::any_of(host.servers.begin(), host.servers.end(), kept)) return true;
            any = any || std::any_of(host.left_behind.begin(), host.left_behind.end(), kept);
        }
        if (!any) return false;
        FilterInput all = input_;
        all.all_may_go = true;
        all.victim_filter = nullptr;
        return possible(HostFilter{cloud_, all, std::max<Amount>(wanted_, 1)}) >= requested_;
    }

    Decision not_enough(const std::string& note) {
        NotEnough answer;
        answer.slots_requested = to_int(requested_);
        answer.slots_possible = to_int(possible());
        Rejections rejections{host_filter_, input_};
        answer.reason =
            note.empty() ? why_not_enough(host_filter_.size(), rejections.counts, requested_,
                                          possible(), others_would_do(), all_found())
                         : note + " (of " + std::to_string(requested_) + " requested; " +
                               std::to_string(possible()) +
                               (all_found() ? " would be possible)"
                                            : " could be found, in a search that was cut short)");
        answer.cut = !all_found();
        rejections.add_too_few(requested_);
        answer.rejected = std::move(rejections.told);
        answer.rejected_counts = std::move(rejections.counts);
        return answer;
    }

    Decision over_limit() {
        const BudgetCounter usage = usage_of(problem_, excess_->choice.chosen, *budgets_);
        NotEnough answer;
        answer.slots_requested = to_int(requested_);
        answer.slots_possible = to_int(host_filter_.all_possible());
        answer.reason = why_over_limit(usage, excess_->over, requested_, excess_->proven);
        answer.safeguard = usage.budget(excess_->over.front()).safeguard;
        answer.cut = !all_found();
        Rejections rejections{host_filter_, input_};
        rejections.add_over_limit();
        answer.rejected = std::move(rejections.told);
        answer.rejected_counts = std::move(rejections.counts);
        return answer;
    }

    /// Of the chosen victims of a group, as many as its budget has left.
    std::set<ServerId> filling(const BudgetGroup& group) const {
        std::set<ServerId> chosen;
        for (const auto& [host, on_host] : excess_->choice.chosen)
            for (const std::size_t victim : on_host.victims) {
                const HostOption& option = problem_.hosts[host];
                const Server& server = *option.candidates[victim].server;
                BudgetCounter with{*budgets_};
                for (std::size_t i = 0; i <= chosen.size(); ++i) with.add(server, *option.host);
                const Amount of = with.of(group);
                if (of > 0 && of <= with.budget(group).left) chosen.insert(server.id);
            }
        return chosen;
    }

    Decision plan(const Choice& choice, const std::string& note, const Strategy& strategy,
                  std::string_view strategy_name) {
        const auto& [selection, chosen, freed] = choice;
        Plan plan;
        plan.request = request_.id;
        plan.strategy = strategy_name;
        plan.slots_requested = to_int(requested_);
        plan.slots_wanted = to_int(wanted_);
        plan.slots_freed = to_int(freed);
        plan.note = note.empty() || selection.note.empty() ? note + selection.note
                                                           : note + "; " + selection.note;
        if (!all_found())
            plan.note += std::string{plan.note.empty() ? "" : "; "} +
                         "the search for slots was cut short: hosts may have more of them";
        plan.cost = cost_of(choice.chosen, strategy);
        std::size_t told = 0;
        for (const auto& [host, on_host] : chosen) {
            if (on_host.slots <= 0) continue;
            plan.hosts.push_back(explain_host(problem_, host, on_host, selection));
            if (on_host.victims.empty()) continue;
            add_spared(plan.hosts.back(), problem_, host, on_host, strategy, input_,
                       max_spared_of_plan - told);
            told += plan.hosts.back().spared.size();
        }
        Rejections rejections{host_filter_, input_};
        rejections.add_losers(selection, chosen);
        plan.rejected = std::move(rejections.told);
        plan.rejected_counts = std::move(rejections.counts);
        return plan;
    }

    PlanCost cost_of(const Chosen& chosen, const Strategy& strategy) const {
        Cost sum;
        for (const auto& [host, on_host] : chosen) {
            if (on_host.victims.empty()) continue;
            const auto cost = strategy.cost_on(problem_, host, on_host.slots, on_host.victims);
            if (!cost) return {};
            sum += *cost;
        }
        return {{sum.level.begin(), sum.level.end()}};
    }

    const Request& request_;
    const CloudIndex& cloud_;
    const Amount requested_;
    const Amount wanted_;
    const Shape shape_;
    const ConstraintChecker checker_;
    const FilterInput input_;
    const Budgets* const budgets_;
    std::optional<Excess> excess_;
    const IndexedCloud whole_cloud_;
    const HostFilter host_filter_;
    const Problem problem_;
};

/// Plans again with one group after the other filled, where several limits stand in the way of each
/// other: what the first attempt says of them stays the answer if none of that helps.
Decision plan_in_budgets(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                         const Strategy& strategy, std::string_view strategy_name,
                         const PlanOptions& options) {
    BudgetFilter victim_filter{*options.budgets, options.victim_filter, cloud.names()};
    std::optional<Decision> first;
    for (int round = 0; round < max_fills; ++round) {
        Planner planner{request, cloud, ledger, options, victim_filter.needed()};
        Decision decision = planner.decide(strategy, strategy_name);
        if (!std::holds_alternative<NotEnough>(decision)) return decision;
        if (!first) first = std::move(decision);
        auto fill = planner.next_fill();
        if (!fill) break;
        victim_filter.fill(fill->first, std::move(fill->second));
    }
    return std::move(*first);
}

PlanOptions without_alternatives(const PlanOptions& options) {
    PlanOptions then = options;
    then.alternatives = 1;
    return then;
}

/// Of a decision for want of slots: if not all was searched, there may be more.
Decision with_cut(Decision decision, bool cut) {
    if (auto* const none = std::get_if<NotEnough>(&decision)) none->cut = none->cut || cut;
    return decision;
}

/// The best decision of those that are tried.
class BestOf {
public:
    void add(Decision decision) {
        ++tried_;
        if (!best_ || better(decision, *best_))
            best_ = std::move(decision);
        else
            add_cut(*best_, decision);
    }
    /// Is that enough, where the next costs no less than `least`?
    bool done(const std::optional<Cost>& least = std::nullopt) const {
        if (!best_ || std::holds_alternative<NotEnough>(*best_))
            return tried_ >= max_ways_without_plan;
        const auto* const plan = std::get_if<Plan>(&*best_);
        if (plan == nullptr || tried_ >= max_ways) return true;
        return least &&
               !std::lexicographical_compare(least->level.begin(), least->level.end(),
                                             plan->cost.levels.begin(), plan->cost.levels.end());
    }
    std::optional<Decision>& best() { return best_; }

private:
    std::optional<Decision> best_;
    std::size_t tried_ = 0;
};

/// All slots on one host: each that could give them is tried alone, and the best plan wins.
Decision plan_on_one_host(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                          const Strategy& strategy, std::string_view strategy_name,
                          const PlanOptions& options) {
    static const Budgets no_limit;
    const BudgetFilter victim_filter{options.budgets != nullptr ? *options.budgets : no_limit,
                                     options.victim_filter, cloud.names()};
    Planner planner{request, cloud, ledger, options, victim_filter.needed()};
    const PlanOptions then = without_alternatives(options);
    BestOf tried;
    for (const auto& [host, least] : planner.hosts_for_all(strategy)) {
        if (tried.done(least)) break;
        Request there = request;
        there.placement.group = {};
        there.placement.only_hosts = {host->name};
        there.placement.why_only = "all servers of its server group are to be on one host, here on";
        tried.add(make_plan(there, cloud, ledger, strategy, strategy_name, then));
    }
    if (!tried.best()) return planner.too_few_on_one_host();
    return with_cut(std::move(*tried.best()), !planner.all_found());
}

/// Has the group of the request no place yet, and do its servers need one together?
bool needs_one_host(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                    const PlanOptions& options) {
    if (!request.placement.group.together() || request.slots < 2) return false;
    return ConstraintChecker{request, options.scheduler, cloud, ledger}.all_on_one_host();
}

/// Do several servers of one request and a host with several providers of a class meet? Nova claims
/// the first combination of providers for each of them. Of PCI devices, its filter leaves out those
/// that are taken.
///
/// Source: nova.scheduler.manager (_schedule), nova.scheduler.filters.pci_passthrough_filter.
bool combinations_differ(const Request& request, const CloudIndex& cloud) {
    if (request.operation != Operation::build || request.slots < 2 ||
        request.flavor_extra_specs.contains("pci_passthrough:alias"))
        return false;
    for (const auto& [resource_class, amount] : request.resources) {
        const std::uint32_t number = cloud.names().find_class(resource_class);
        if (number == RowNames::none) continue;
        for (const std::uint32_t row : cloud.order())
            if (cloud.classes(row)[number].providers > 1) return true;
    }
    return false;
}

/// As the cloud is: servers keep the places that they take from the request.
Decision plan_as_it_is(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                       const Strategy& strategy, std::string_view strategy_name,
                       const PlanOptions& options) {
    if (needs_one_host(request, cloud, ledger, options))
        return plan_on_one_host(request, cloud, ledger, strategy, strategy_name, options);
    PlanOptions then = options;
    then.one_combination = combinations_differ(request, cloud);
    Decision decision =
        then.budgets == nullptr || then.budgets->empty()
            ? Planner{request, cloud, ledger, then, then.victim_filter}.decide(strategy,
                                                                               strategy_name)
            : plan_in_budgets(request, cloud, ledger, strategy, strategy_name, then);
    if (auto* const less = std::get_if<NotEnough>(&decision); less && then.one_combination)
        less->reason +=
            "; on a host, Nova claims the same combination of providers for all servers of a "
            "request";
    return decision;
}

/// For want of slots as the cloud is: of the servers beside which the request is to be, one stays.
Decision plan_beside_one(Decision as_it_is, const Request& request, const CloudIndex& cloud,
                         const Ledger& ledger, const Strategy& strategy,
                         std::string_view strategy_name, const PlanOptions& options) {
    std::vector<BesideOne> ways = beside_one_each(request, cloud);
    BestOf tried;
    tried.add(with_cut(std::move(as_it_is), ways.size() == max_beside));
    for (BesideOne& way : ways) {
        if (tried.done()) break;
        PlanOptions then = without_alternatives(options);
        then.skipped.merge(way.stay);
        tried.add(make_plan(way.request, cloud, ledger, strategy, strategy_name, then));
    }
    return std::move(*tried.best());
}

/// The cloud with places among its resources; null where no revocable server has one.
std::unique_ptr<PlacesView> places_for(const Request& request, const CloudIndex& cloud,
                                       const Ledger& ledger, const PlanOptions& options) {
    const PlacementConstraints& placement = request.placement;
    if (!placement.group.apart() && placement.apart_from.empty()) return nullptr;
    return PlacesView::of(request, cloud,
                          ConstraintChecker{request, options.scheduler, cloud, ledger});
}

}  // namespace

Amount slots_possible(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                      const PlanOptions& options) {
    if (request.slots <= 0 || shape_of(request.resources).empty()) return 0;
    if (const auto view = places_for(request, cloud, ledger, options))
        return slots_possible(view->request(), view->cloud(), ledger, options);
    if (options.budgets == nullptr)
        return Planner{request, cloud, ledger, options, options.victim_filter}.possible();
    const BudgetFilter victim_filter{*options.budgets, options.victim_filter, cloud.names()};
    return Planner{request, cloud, ledger, options, victim_filter.needed()}.possible();
}

std::uint64_t seed_of(const RequestId& request) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : request.str())
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

Decision make_plan(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options) {
    if (request.slots <= 0) return Refused{"the request asks for no slot"};
    if (shape_of(request.resources).empty())
        return Refused{"the request takes no resources, so no room can help it"};
    if (const auto view = places_for(request, cloud, ledger, options)) {
        Decision decision = make_plan(view->request(), view->cloud(), ledger, strategy,
                                      strategy_name, without_alternatives(options));
        PlacesView::take_out(decision);
        return decision;
    }
    Decision decision = plan_as_it_is(request, cloud, ledger, strategy, strategy_name, options);
    if (!std::holds_alternative<NotEnough>(decision)) return decision;
    return plan_beside_one(std::move(decision), request, cloud, ledger, strategy, strategy_name,
                           options);
}

std::size_t warm_up(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                    const Strategy& strategy, const PlanOptions& options, std::size_t hosts) {
    const Shape shape = shape_of(request);
    if (request.slots <= 0 || shape.empty()) return 0;
    // Of groups no row of the index tells, and nothing is kept.
    if (shape.parts() != nullptr && shape.parts()->parts.front().grouped()) return 0;
    return Planner{request, cloud, ledger, options, options.victim_filter}.warm_up(strategy, hosts);
}

Decision make_plan(const Request& request, const Snapshot& snapshot, const Ledger& ledger,
                   const Strategy& strategy, std::string_view strategy_name,
                   const PlanOptions& options) {
    PlanOptions then = options;
    if (then.now == TimePoint{}) then.now = snapshot.taken_at;
    return make_plan(request, CloudIndex{snapshot}, ledger, strategy, strategy_name, then);
}

}  // namespace reaper
