#include "strategies/offers.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

namespace reaper {
namespace {

constexpr std::int64_t selection_factor = 20;
constexpr std::int64_t least_steps = 1'000;
constexpr std::size_t least_kept = 48;

std::string key_of(const Problem& problem, const Objective& objective) {
    std::string key = objective.goal->fingerprint();
    if (objective.notice != nullptr) key += objective.notice->fingerprint();
    for (const auto& need : problem.shape)
        key += "|" + need.resource_class.str() + "=" + std::to_string(need.amount);
    return key;
}

/// Costs of running time change every minute.
std::int64_t time_of(const Objective& objective) {
    if (!objective.uses(Measure::lost_work) && !objective.uses(Measure::age)) return 0;
    return std::chrono::floor<std::chrono::minutes>(objective.now).time_since_epoch().count();
}

/// Levels before and with the first that grows with time.
std::size_t lasting_levels(const Objective& objective) {
    for (std::size_t level = 0; level < objective.levels.size(); ++level)
        for (const auto& term : objective.levels[level])
            if (term.measure == Measure::lost_work || term.measure == Measure::age)
                return level + 1;
    return max_levels;
}

/// Of a host that has none: nothing that would put it behind another.
const CandidateSketch any_candidates{
    std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::min(), 0, false, {}};

}  // namespace

Searches::Searches(const Problem& problem, const Objective& objective, std::int64_t max_steps,
                   std::size_t max_fresh)
    : problem_{problem},
      objective_{objective},
      max_steps_{max_steps},
      steps_left_{saturating_multiply(max_steps, selection_factor)},
      max_fresh_{max_fresh},
      bounds_{problem.shape, objective} {
    if (problem.tables != nullptr && !objective.goal->counts_shares())
        table_ = &problem.tables->table(key_of(problem, objective));
    as_of_ = time_of(objective);
    lasting_ = lasting_levels(objective);
}

CoverSearch& Searches::search_on(std::size_t host) {
    const auto at = searches_.find(host);
    if (at != searches_.end()) return at->second;
    return searches_.emplace(host, CoverSearch{problem_.shape, problem_.hosts[host], objective_})
        .first->second;
}

const Cover& Searches::best(std::size_t host, Amount slots) {
    const auto at = found_.find({host, slots});
    if (at != found_.end()) return at->second;
    const std::int64_t allowed = std::clamp(steps_left_ / 4, std::min(least_steps, max_steps_),
                                            std::max<std::int64_t>(max_steps_, 0));
    std::int64_t steps = allowed;
    Cover cover = search_on(host).best(slots, steps);
    steps_left_ =
        std::max<std::int64_t>(steps_left_ - std::max<std::int64_t>(allowed - steps, 1), 0);
    if (!cover.proven) ++cut_;
    remember(host, slots, cover);
    return found_.emplace(std::pair{host, slots}, std::move(cover)).first->second;
}

void Searches::remember(std::size_t host, Amount slots, const Cover& cover) {
    if (table_ == nullptr || !problem_.hosts.sketch(host, sketch_) ||
        sketch_.row == HostSketch::no_row) {
        ++forgotten_;
        return;
    }
    const auto* const known = table_->get(sketch_.row, slots);
    if (known != nullptr && known->as_of == as_of_) return;
    if (table_->set(sketch_.row, slots, cover.proven ? cover.cost : cover.bound, as_of_)) ++fresh_;
}

const Cover* Searches::found(std::size_t host, Amount slots) const {
    const auto at = found_.find({host, slots});
    return at == found_.end() ? nullptr : &at->second;
}

bool Searches::bound(std::size_t host, Amount slots, HostSketch& sketch, const Cost* worst,
                     Cost& bound) {
    if (!problem_.hosts.sketch(host, sketch)) {
        bound = search_on(host).bound(slots);
        sketch.candidates = &any_candidates;
        sketch.row = HostSketch::no_row;
        return true;
    }
    const auto* const known = table_ != nullptr && sketch.row != HostSketch::no_row
                                  ? table_->get(sketch.row, slots)
                                  : nullptr;
    if (known == nullptr) return bounds_.of(sketch, slots, worst, bound);
    bound = known->cost;
    if (known->as_of > as_of_) return bounds_.of(sketch, slots, worst, bound);
    if (known->as_of < as_of_ && lasting_ < max_levels) {
        const Cost now = bounds_.of(sketch, slots);
        std::copy(now.level.begin() + static_cast<std::ptrdiff_t>(lasting_), now.level.end(),
                  bound.level.begin() + static_cast<std::ptrdiff_t>(lasting_));
        bound = std::max(bound, now);
    }
    return worst == nullptr || bound <= *worst;
}

Offers::Offers(Searches& searches, Amount extra, bool by_victims, bool in_all)
    : searches_{searches},
      extra_{extra},
      by_victims_{by_victims},
      in_all_{in_all},
      known_(searches.problem().hosts.size(), false) {}

Amount Offers::slots_on(std::size_t host) const {
    return (in_all_ ? 0 : searches_.problem().hosts.ready(host)) + extra_;
}

void Offers::refill(std::size_t count) {
    const auto& hosts = searches_.problem().hosts;
    count = std::max(count, least_kept << std::min<std::size_t>(refills_++, 10));
    std::vector<Offer> kept;  // a heap, the last on top
    kept.reserve(count + 1);
    bool more = false;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
        if (known_[host] || hosts.possible(host) < slots_on(host)) continue;
        const bool full = kept.size() == count;
        const Cost* const worst = full ? &kept.front().cost : nullptr;
        more = more || full;
        Cost cost;
        if (!searches_.bound(host, slots_on(host), sketch_, worst, cost)) continue;
        Offer offer;
        offer.cost = cost;
        offer.host = host;
        if (by_victims_) offer.checker = searches_.bounds().checker(sketch_);
        if (full) {
            if (!(offer < kept.front())) continue;
            std::pop_heap(kept.begin(), kept.end());
            kept.pop_back();
        }
        kept.push_back(std::move(offer));
        std::push_heap(kept.begin(), kept.end());
    }
    all_known_ = !more;
    if (more) horizon_ = kept.front();
    for (auto& offer : kept) {
        const auto host = offer.host;
        known_[host] = true;
        by_host_.emplace(host, offers_.insert(std::move(offer)).first);
    }
}

std::vector<const Offer*> Offers::first(std::size_t count) {
    while (true) {
        std::vector<const Offer*> found;
        for (const auto& offer : offers_) {
            if (found.size() == count || (!all_known_ && *horizon_ < offer)) break;
            found.push_back(&offer);
        }
        if (found.size() == count || all_known_) return found;
        refill(count);
    }
}

std::vector<const Offer*> Offers::known() const {
    std::vector<const Offer*> all;
    for (const auto& offer : offers_) all.push_back(&offer);
    return all;
}

void Offers::put(std::size_t host, Offer offer) {
    const auto at = by_host_.find(host);
    offers_.erase(at->second);
    at->second = offers_.insert(std::move(offer)).first;
}

void Offers::search(std::size_t host) {
    const Cover& cover = searches_.best(host, slots_on(host));
    // Where the search was cut, only its bound is sure.
    put(host, Offer{cover.proven ? cover.cost : cover.bound, cover.checker, host, true});
}

void Offers::raise(std::size_t host, const Cost& cost) {
    put(host, Offer{cost, {}, host, true});
}

}  // namespace reaper
