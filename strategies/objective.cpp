#include "strategies/objective.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>
#include <sstream>

#include "reaper/model/server_state.hpp"
#include "reaper/model/text.hpp"
#include "strategies/leftover_parameters.hpp"

namespace reaper {
namespace {

std::optional<Measure> measure_of(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Measure::notice); ++i)
        if (to_string(static_cast<Measure>(i)) == name) return static_cast<Measure>(i);
    return std::nullopt;
}

std::optional<Amount> number_of(std::string_view text) {
    Amount number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return number;
}

std::variant<Goal::Term, std::string> term_of(const std::string& text) {
    std::istringstream words{text};
    std::string word;
    if (!(words >> word)) return std::string{"a measure is missing"};
    Goal::Term term;
    if (const auto weight = number_of(word)) {
        if (*weight < 1 || *weight > largest_weight)
            return "the weight " + word + " is not from 1 to 1000000";
        term.weight = *weight;
        if (!(words >> word)) return "what is weighted with " + word + " is missing";
    }
    const auto colon = word.find(':');
    const auto measure = measure_of(word.substr(0, colon));
    if (!measure) return "'" + word + "' is not a measure";
    term.measure = *measure;
    if (colon != std::string::npos) {
        const auto classes = class_names({word.substr(colon + 1)});
        if (*measure != Measure::waste || !classes) return "'" + word + "' is not a measure";
        term.resource_class = classes->front();
    }
    if (words >> word) return "'" + word + "' follows a measure: + stands between two";
    return term;
}

}  // namespace

std::variant<std::vector<Goal::Term>, std::string> level_of(const std::string& text) {
    std::vector<Goal::Term> level;
    std::istringstream sum{text};
    for (std::string part; std::getline(sum, part, '+');) {
        auto term = term_of(part);
        if (auto* wrong = std::get_if<std::string>(&term)) return std::move(*wrong);
        level.push_back(std::get<Goal::Term>(std::move(term)));
    }
    if (level.empty() || text.back() == '+') return std::string{"a measure is missing"};
    const bool every_class = std::ranges::any_of(level, [](const Goal::Term& term) {
        return term.measure == Measure::waste && !term.resource_class;
    });
    if (every_class && level.size() > 1)
        return std::string{"in a sum, waste needs its class: waste:MEMORY_MB"};
    return level;
}

std::variant<std::pair<std::string, Amount>, std::string> value_of(const std::string& text) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return "'" + text + "' is not name=number";
    const auto number = number_of(std::string_view{text}.substr(equals + 1));
    if (!number || *number < 0 || *number > largest_weight)
        return "'" + text + "' has no number from 0 to 1000000";
    return std::pair{text.substr(0, equals), *number};
}

namespace {

constexpr std::array<std::string_view, 13> measure_names{
    "waste", "victims", "lost_work", "priority", "restarts", "share",  "fair_share",
    "bid",   "age",     "start",     "notice",   "price",    "unasked"};
constexpr Amount whole_share = 1'000'000;
constexpr Amount max_restarts = 1'000'000;
constexpr double bid_units = 1e6;  ///< of a bid of 1
constexpr double max_bid = 1e6;

Amount minutes(Duration duration) {
    return std::chrono::duration_cast<std::chrono::minutes>(duration).count();
}

/// `0.031` of 31000.
std::string decimal_words(Amount millionths) {
    constexpr Amount million = 1'000'000;
    std::string fraction = std::to_string(million + millionths % million).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(millionths / million) + (fraction.empty() ? "" : "." + fraction);
}

/// What is no number, or less than nothing, bids nothing.
Amount bid_of(const Server& server, const std::string& key) {
    const auto by_flavor = server.flavor_extra_specs.find(key);
    const bool flavor_says = by_flavor != server.flavor_extra_specs.end();
    const auto by_owner = server.metadata.find(key);
    if (!flavor_says && by_owner == server.metadata.end()) return 0;
    const std::string& text = flavor_says ? by_flavor->second : by_owner->second;
    double bid = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, bid, std::chars_format::fixed);
    if (error != std::errc{} || rest != end || !(bid > 0)) return 0;
    return std::llround(std::min(bid, max_bid) * bid_units);
}

/// Each class of the shape once, in the order of the goal.
std::vector<std::size_t> waste_levels(const Shape& shape, const Goal& goal) {
    std::vector<std::size_t> needs;
    const auto list = [&](std::size_t need) {
        if (std::ranges::find(needs, need) == needs.end()) needs.push_back(need);
    };
    for (const auto& resource_class : goal.waste_order)
        for (std::size_t need = 0; need < shape.size(); ++need)
            if (shape[need].resource_class == resource_class) list(need);
    for (std::size_t need = 0; need < shape.size(); ++need) list(need);
    return needs;
}

/// One more level, or, where there are too many, more terms of the last one but the victims'.
void add_level(Objective& objective, std::vector<Objective::Term> level) {
    if (level.empty()) return;
    constexpr std::size_t of_victims_and_ties = 2;
    if (objective.levels.size() + of_victims_and_ties < max_objective_levels) {
        objective.levels.push_back(std::move(level));
    } else {
        objective.merged = true;
        objective.levels.back().insert(objective.levels.back().end(), level.begin(), level.end());
    }
}

/// `lost work`, `VCPU waste`.
std::string measure_words(const Objective::Term& term, const Shape& shape) {
    std::string text{to_string(term.measure)};
    std::ranges::replace(text, '_', ' ');
    return term.measure == Measure::waste ? shape[term.need].resource_class.str() + " " + text
                                          : text;
}

/// `60 x victims`.
std::string term_words(const Objective::Term& term, const Shape& shape) {
    const std::string weight = term.weight == 1 ? "" : std::to_string(term.weight) + " x ";
    return weight + measure_words(term, shape);
}

bool only_cpus(const std::vector<ResourceClass>& classes) {
    const auto& cpus = cpu_classes();
    return std::ranges::all_of(classes, [&](const ResourceClass& each) {
        return std::ranges::find(cpus, each) != cpus.end();
    });
}

/// What an amount of it is counted in; empty: nothing but a number.
std::string unit_of(Measure measure, const Goal& goal) {
    if (measure == Measure::age || measure == Measure::start) return " minutes";
    if (measure == Measure::notice) return " seconds";
    if (measure != Measure::lost_work) return "";
    return only_cpus(goal.work_classes) ? " vCPU-minutes"
                                        : " " + goal.work_classes.front().str() + "-minutes";
}

/// `lost work 48 vCPU-minutes + 60 x 3 victims`: what a sum of two is made of, when one of them is
/// known.
std::optional<std::string> parts_of_sum(const std::vector<Objective::Term>& terms,
                                        const Shape& shape, const Goal& goal, Amount sum,
                                        Amount victims) {
    if (terms.size() != 2) return std::nullopt;
    const std::size_t known = terms[0].measure == Measure::victims ? 0 : 1;
    const Objective::Term& counted_term = terms[known];
    const Objective::Term& other = terms[1 - known];
    if (counted_term.measure != Measure::victims || other.measure == Measure::victims)
        return std::nullopt;
    const Amount rest = sum - counted_term.weight * victims;
    if (rest < 0 || rest % other.weight != 0) return std::nullopt;
    const auto times = [](Amount weight) {
        return weight == 1 ? std::string{} : std::to_string(weight) + " x ";
    };
    return measure_words(other, shape) + " " + times(other.weight) +
           std::to_string(rest / other.weight) + unit_of(other.measure, goal) + " + " +
           times(counted_term.weight) + counted(victims, "victim");
}

/// Core-minutes for people.
std::string work_words(Amount work, const std::vector<ResourceClass>& classes) {
    return std::to_string(work / 60) + "." + std::to_string(work % 60 * 10 / 60) + " " +
           (only_cpus(classes) ? "core" : classes.front().str()) + "-hours of work lost";
}

}  // namespace

std::string_view to_string(Measure measure) {
    return measure_names.at(static_cast<std::size_t>(measure));
}

const std::vector<ResourceClass>& cpu_classes() {
    static const std::vector<ResourceClass> classes{ResourceClass{"VCPU"}, ResourceClass{"PCPU"}};
    return classes;
}

Amount VictimPrices::of(const Server& server) const {
    const auto project = projects.find(server.project);
    const auto host = hosts.find(server.host.str());
    return saturating_add(each, saturating_add(project == projects.end() ? 0 : project->second,
                                               host == hosts.end() ? 0 : host->second));
}

bool Goal::uses(Measure measure) const {
    return std::ranges::any_of(levels, [&](const auto& level) {
        return std::ranges::any_of(level,
                                   [&](const Term& term) { return term.measure == measure; });
    });
}

std::string Goal::fingerprint() const {
    std::string text;
    for (const auto& level : levels) {
        for (const auto& term : level) {
            text += std::to_string(term.weight) + " " + std::string{to_string(term.measure)};
            if (term.resource_class) text += ":" + term.resource_class->str();
            text += "+";
        }
        text += ";";
    }
    for (const auto& each : waste_order) text += each.str() + ",";
    for (const auto& each : work_classes) text += each.str() + "+";
    text += std::to_string(static_cast<int>(tie)) + "," + restarts_key + "," + bid_key + "," +
            std::to_string(standard_priority);
    for (const auto& [name, value] : priorities) text += "," + name + "=" + std::to_string(value);
    text += "," + std::to_string(prices.each);
    for (const auto& [project, price] : prices.projects)
        text += "," + project.str() + "=" + std::to_string(price);
    for (const auto& [host, price] : prices.hosts) text += "," + host + "=" + std::to_string(price);
    for (const auto& [name, weight] : weights) text += "," + name + "=" + std::to_string(weight);
    return text;
}

Cost Objective::base(const Shape& shape, const HostRoom& room, Amount slots) const {
    const auto totals = room.totals(shape, room.room_now());
    Cost cost;
    for (std::size_t i = 0; i < levels.size(); ++i)
        for (const auto& term : levels[i]) {
            if (term.measure != Measure::waste) continue;
            const Amount left = saturating_subtract(
                totals[term.need], saturating_multiply(shape[term.need].amount, slots));
            cost[i] = saturating_add(cost[i], saturating_multiply(term.weight, left));
            cost[i] = std::clamp(cost[i], -1024 * largest_cost, 1024 * largest_cost);
        }
    return cost;
}

Cost Objective::of(const HostRoom& room, const Candidate& candidate) const {
    Cost cost;
    for (std::size_t i = 0; i < levels.size(); ++i)
        for (const auto& term : levels[i]) {
            Amount amount = 0;
            if (term.measure == Measure::waste) {
                for (std::size_t pool = 0; pool < candidate.gains.size(); ++pool)
                    if (room.pools[pool].need == term.need) amount += candidate.gains[pool];
            } else if (term.measure == Measure::unasked) {
                for (const auto& [provider, held] : candidate.server->allocations)
                    amount = saturating_add(amount, held.get(goal->waste_order[term.need]));
                amount = capped(amount);
            } else {
                amount = value(term.measure, *candidate.server);
            }
            cost[i] = capped(saturating_add(cost[i], saturating_multiply(term.weight, amount)));
        }
    return cost;
}

Cost Objective::filled_up(const HostRoom& room, const ByPool& before,
                          const Candidate& candidate) const {
    Cost filled;
    for (std::size_t i = 0; i < levels.size(); ++i)
        for (const auto& term : levels[i]) {
            if (term.measure != Measure::waste) continue;
            for (std::size_t pool = 0; pool < before.size(); ++pool)
                if (room.pools[pool].need == term.need && room.counts_without_deficit(pool) &&
                    before[pool] < 0)
                    filled[i] += saturating_multiply(
                        term.weight, std::min(candidate.gains[pool], -before[pool]));
        }
    return filled;
}

Amount Objective::value(Measure measure, const Server& server) const {
    switch (measure) {
        case Measure::waste:
        case Measure::unasked: return 0;
        case Measure::victims: return 1;
        case Measure::lost_work: {
            Amount size = 0;
            if (!loses_work(server)) return 0;
            for (const auto& [provider, held] : server.allocations)
                for (const auto& resource_class : goal->work_classes)
                    size = saturating_add(size, held.get(resource_class));
            const Amount since = minutes(now - server.launched.value_or(server.created));
            return capped(saturating_multiply(capped(size), capped(since)));
        }
        case Measure::priority: {
            const auto project = goal->priorities.find(server.project.str());
            const auto flavor = goal->priorities.find(server.flavor_name);
            if (project == goal->priorities.end() && flavor == goal->priorities.end())
                return goal->standard_priority;
            return std::max(project == goal->priorities.end() ? 0 : project->second,
                            flavor == goal->priorities.end() ? 0 : flavor->second);
        }
        case Measure::restarts: {
            const auto at = server.metadata.find(goal->restarts_key);
            if (at == server.metadata.end()) return 0;
            Amount restarts = 0;
            const char* const end = at->second.data() + at->second.size();
            const auto [rest, error] = std::from_chars(at->second.data(), end, restarts);
            if (error != std::errc{} || rest != end) return 0;
            return std::clamp<Amount>(restarts, 0, max_restarts);
        }
        case Measure::price: return capped(goal->prices.of(server));
        case Measure::age: return capped(minutes(now - server.created));
        case Measure::start: return capped(minutes(server.created.time_since_epoch()));
        case Measure::notice:
            if (notice == nullptr) return 0;
            return capped(std::chrono::ceil<std::chrono::seconds>(notice->left_of(server)).count());
        case Measure::share: {
            if (fleets == nullptr) return whole_share;
            const auto fleet = fleets->find(server.project);
            return whole_share / std::max<Amount>(fleet == fleets->end() ? 1 : fleet->second, 1);
        }
        case Measure::fair_share: return turns == nullptr ? 0 : turns->of(server.id);
        case Measure::bid: return bid_of(server, goal->bid_key);
    }
    return 0;
}

bool Objective::counts_victims(std::size_t level) const {
    return std::ranges::any_of(levels[level],
                               [](const Term& term) { return term.measure != Measure::waste; });
}

bool Objective::uses(Measure measure) const {
    return std::ranges::any_of(levels, [&](const auto& level) {
        return std::ranges::any_of(level,
                                   [&](const Term& term) { return term.measure == measure; });
    });
}

Amount Objective::place(const Server& server) const {
    const Amount created = server.created.time_since_epoch().count();
    switch (goal->tie) {
        case Tie::id: return 0;
        case Tie::newest: return -created;
        case Tie::oldest: return created;
    }
    return 0;
}

std::vector<std::size_t> Objective::ranking(const std::vector<Candidate>& candidates) const {
    std::vector<std::size_t> ranked(candidates.size());
    std::iota(ranked.begin(), ranked.end(), std::size_t{0});
    if (goal->tie == Tie::id) return ranked;
    std::ranges::stable_sort(ranked, [&](std::size_t a, std::size_t b) {
        return place(*candidates[a].server) < place(*candidates[b].server);
    });
    return ranked;
}

std::string Objective::level_words(const Shape& shape, std::size_t level, Amount amount,
                                   std::optional<Amount> victims) const {
    const auto& terms = levels[level];
    if (terms.size() == 1 && terms[0].weight == 1) {
        switch (terms[0].measure) {
            case Measure::waste:
                return shape[terms[0].need].resource_class.str() + "=" + std::to_string(amount) +
                       " unused";
            case Measure::victims: return counted(amount, "victim");
            case Measure::lost_work: return work_words(amount, goal->work_classes);
            case Measure::age:
            case Measure::start: return counted(amount, "minute") + " of age";
            case Measure::notice: return counted(amount, "second") + " of notice";
            case Measure::fair_share:
                return amount == 0 ? "of the project with the largest share"
                                   : decimal_words(saturating_multiply(amount, 100)) +
                                         " % below the largest share";
            case Measure::bid: return "bids of " + decimal_words(amount);
            default: break;
        }
    }
    std::string sum;
    for (const auto& term : terms) sum += (sum.empty() ? "" : " + ") + term_words(term, shape);
    const auto known = victims ? parts_of_sum(terms, shape, *goal, amount, *victims) : std::nullopt;
    return "score " + std::to_string(amount) + (known ? " = " + *known : " of " + sum);
}

std::string Objective::words(const Shape& shape, const Cost& cost, bool least) const {
    Resources unused;
    bool waste = false;
    std::string others;
    for (std::size_t i = 0; i < victims_level; ++i) {
        const bool single = levels[i].size() == 1 && levels[i][0].weight == 1;
        if (single && levels[i][0].measure == Measure::victims) continue;  // reported at the end
        if (single && levels[i][0].measure == Measure::price) continue;    // means nothing outside
        if (single && levels[i][0].measure == Measure::waste) {
            unused.set(shape[levels[i][0].need].resource_class, cost[i]);
            waste = true;
        } else if (cost[i] != 0 || (single && levels[i][0].measure == Measure::fair_share)) {
            others += level_words(shape, i, cost[i],
                                  least ? std::nullopt : std::optional{cost[victims_level]}) +
                      ", ";
        }
    }
    std::string text = least && (waste || !others.empty()) ? "at least " : "";
    text += others;
    if (waste) text += to_string(unused) + " unused with ";
    return text + counted(cost[victims_level], "victim") + (least ? " or more" : "");
}

Amount Objective::least_value(Measure measure) const {
    switch (measure) {
        case Measure::victims: return 1;
        case Measure::price: return capped(goal->prices.each);
        case Measure::priority: {
            Amount least = goal->standard_priority;
            for (const auto& [name, value] : goal->priorities) least = std::min(least, value);
            return least;
        }
        case Measure::share: {
            Amount largest = 1;
            if (fleets != nullptr)
                for (const auto& [project, fleet] : *fleets) largest = std::max(largest, fleet);
            return whole_share / largest;
        }
        default: return 0;
    }
}

namespace {

bool counts_all_waste(const Goal& goal) {
    return std::ranges::any_of(goal.levels, [](const auto& level) {
        return std::ranges::any_of(level, [](const Goal::Term& term) {
            return term.measure == Measure::waste && !term.resource_class;
        });
    });
}

/// Limits, and the worth that an operator gave to servers, decide before any wait does.
bool goes_before_notice(const std::vector<Goal::Term>& level) {
    return std::ranges::all_of(level, [](const Goal::Term& term) {
        return term.measure == Measure::price || term.measure == Measure::priority;
    });
}

bool asks_for(const Shape& shape, const ResourceClass& resource_class) {
    for (std::size_t need = 0; need < shape.size(); ++need)
        if (shape[need].resource_class == resource_class) return true;
    return false;
}

/// A level for each class, the last of them together where there is no room for more.
void add_unasked(Objective& objective, const Shape& shape) {
    const auto& order = objective.goal->waste_order;
    const std::size_t first = objective.levels.size();
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (asks_for(shape, order[i])) continue;
        const Objective::Term term{Measure::unasked, 1, i};
        if (objective.levels.size() + 1 < max_objective_levels) {
            objective.levels.push_back({term});
        } else if (objective.levels.size() > first) {
            objective.merged = true;
            objective.levels.back().push_back(term);
        } else {
            objective.merged = true;
        }
    }
}

std::shared_ptr<const FairTurns> turns_of(const Objective& objective, const WholeCloud* cloud) {
    if (cloud == nullptr) return nullptr;
    Goal of_work;
    of_work.weights = objective.goal->weights;
    of_work.work_classes = objective.goal->work_classes;
    auto& turns = cloud->turns[of_work.fingerprint()];
    if (turns == nullptr)
        turns = std::make_shared<FairTurns>(*cloud, of_work.weights, [&](const Server& server) {
            return objective.value(Measure::lost_work, server);
        });
    return turns;
}

}  // namespace

Objective objective_for(const Goal& goal, const Problem& problem) {
    Objective objective;
    objective.goal = &goal;
    objective.now = problem.now;
    objective.fleets = problem.fleets;
    objective.notice = problem.notice;
    if (goal.uses(Measure::fair_share)) objective.turns = turns_of(objective, problem.cloud);
    bool waits = problem.notice != nullptr && !goal.uses(Measure::notice);
    for (const auto& level : goal.levels) {
        if (waits && !goes_before_notice(level)) {
            add_level(objective, {{Measure::notice, 1, 0}});
            waits = false;
        }
        std::vector<Objective::Term> terms;
        for (const auto& term : level) {
            if (term.measure != Measure::waste) {
                terms.push_back({term.measure, term.weight, 0});
                continue;
            }
            for (const std::size_t need : waste_levels(problem.shape, goal)) {
                if (term.resource_class) {
                    if (problem.shape[need].resource_class == *term.resource_class)
                        terms.push_back({term.measure, term.weight, need});
                } else {
                    add_level(objective, {{term.measure, term.weight, need}});
                }
            }
        }
        add_level(objective, std::move(terms));
    }
    if (waits) add_level(objective, {{Measure::notice, 1, 0}});
    objective.victims_level = objective.levels.size();
    objective.levels.push_back({{Measure::victims, 1, 0}});
    if (counts_all_waste(goal)) add_unasked(objective, problem.shape);
    if (goal.tie == Tie::newest) objective.levels.push_back({{Measure::age, 1, 0}});
    if (goal.tie == Tie::oldest) objective.levels.push_back({{Measure::start, 1, 0}});
    return objective;
}

}  // namespace reaper
