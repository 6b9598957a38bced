#include "faults/room/load_judge.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace reaper::faults {

namespace {

constexpr double load_rounding = 1e-6;
/// Up to so many, all sets are tried.
constexpr std::size_t most_tried = 8;

struct Chosen {
    Amount held = 0;
    double harm = 0;
};

/// The least harm of those that hold as much.
double least_harm(const std::vector<CorrectionCandidate>& all, Amount need) {
    double least = -1;
    for (unsigned set = 0; set < (1U << all.size()); ++set) {
        Chosen sum;
        for (std::size_t i = 0; i < all.size(); ++i)
            if ((set >> i) & 1U) {
                sum.held += all[i].vcpus;
                sum.harm += all[i].harm;
            }
        if (sum.held >= need && (least < 0 || sum.harm < least)) least = sum.harm;
    }
    return least;
}

/// Of one kind of servers, when so much must come free.
std::string judge_group(const std::vector<CorrectionCandidate>& group,
                        const std::set<ServerId>& chosen, Amount need) {
    Chosen sum;
    Amount held = 0;
    for (const auto& each : group) {
        held += each.vcpus;
        if (!chosen.contains(each.id)) continue;
        sum.held += each.vcpus;
        sum.harm += each.harm;
    }
    if (need <= 0) return sum.held > 0 ? "needless: others were enough" : "";
    if (sum.held < std::min(held, need)) return "too-few: more is to come free";
    for (const auto& each : group)
        if (chosen.contains(each.id) && sum.held - each.vcpus >= need)
            return "needless: " + each.id.str() + " might have stayed";
    if (held > need && group.size() <= most_tried &&
        sum.harm > least_harm(group, need) * (1 + load_rounding) + load_rounding)
        return "harm: another choice does less";
    return {};
}

}  // namespace

void LoadJudge::restart() {
    sheds_.clear();
    looked_at_.reset();
    row_ = 0;
}

double LoadJudge::left_of_sheds(TimePoint now, double minutes) const {
    if (rules_.all) return 0;  // no step is taken twice where there is none
    double left = 0;
    for (const auto& [at, vcpus] : sheds_) {
        const double passed = std::chrono::duration<double, std::ratio<60>>(now - at).count();
        left += static_cast<double>(vcpus) * std::exp(-std::max(passed, 0.0) / minutes);
    }
    return left;
}

double LoadJudge::over(const ToldLoad& told, TimePoint now) const {
    double most = -1;
    const double each = rules_.per_core ? told.cores.value_or(0) : 1;
    if (each > 0) {
        if (rules_.load5 && told.load5)
            most = std::max(most, *told.load5 - left_of_sheds(now, 5) - *rules_.load5 * each);
        if (rules_.load15 && told.load15)
            most = std::max(most, *told.load15 - left_of_sheds(now, 15) - *rules_.load15 * each);
    }
    const double cores = told.cores.value_or(1);
    if (rules_.steal && told.steal) most = std::max(most, (*told.steal - *rules_.steal) * cores);
    if (rules_.pressure && told.pressure)
        most = std::max(most, (*told.pressure - *rules_.pressure) * cores);
    return most;
}

bool LoadJudge::settles(TimePoint now) const {
    return !sheds_.empty() && now - sheds_.back().first < rules_.settle;
}

std::string LoadJudge::look(const std::optional<ToldLoad>& told, TimePoint now,
                            const std::optional<HostCorrection>& correction) {
    const bool news = told && (!looked_at_ || told->at > *looked_at_);
    if (!told) row_ = 0;
    if (news) looked_at_ = told->at;
    const double much = news ? over(*told, now) : -1;
    if (news) row_ = much > 0 ? row_ + 1 : 0;
    const bool due = much > 0 && row_ >= rules_.in_a_row && !settles(now);
    if (!correction) {
        const bool clearly = much > load_rounding;
        return due && clearly ? "correction-missing: the load is above by " + std::to_string(much)
                              : "";
    }
    if (!told) return "correction-unknown: the load is not known";
    if (!news) return "correction-old: the same measurement counts again";
    if (settles(now)) return "correction-settle: the last one is still to show";
    if (much <= -load_rounding) return "correction-groundless: the load is not above";
    if (row_ < rules_.in_a_row) return "correction-early: it was not above for long enough";
    if (correction->all != rules_.all) return "correction-all: it is not as configured";
    const auto vcpus = [](double load) {
        return std::max<Amount>(1, static_cast<Amount>(std::ceil(load)));
    };
    if (!rules_.all && (correction->shed_vcpus < vcpus(much - load_rounding) ||
                        correction->shed_vcpus > vcpus(much + load_rounding)))
        return "correction-amount: " + std::to_string(correction->shed_vcpus) + " are to go for " +
               std::to_string(much);
    return {};
}

std::string judge_choice(const std::vector<CorrectionCandidate>& candidates,
                         const HostCorrection& correction, const std::vector<ServerId>& chosen) {
    const std::set<ServerId> once(chosen.begin(), chosen.end());
    if (once.size() != chosen.size()) return "twice: a server is named twice";
    std::set<ServerId> known;
    for (const auto& each : candidates) known.insert(each.id);
    if (!std::includes(known.begin(), known.end(), once.begin(), once.end()))
        return "stranger: who is chosen was no candidate";
    if (correction.all) return once == known ? "" : "too-few: all of them are to go";
    std::vector<CorrectionCandidate> groups[2];
    Amount of_first = 0;
    for (const auto& each : candidates) {
        if (each.vcpus <= 0) continue;
        groups[each.oversubscribed ? 0 : 1].push_back(each);
        if (each.oversubscribed) of_first += each.vcpus;
    }
    std::string wrong = judge_group(groups[0], once, correction.shed_vcpus);
    if (wrong.empty()) wrong = judge_group(groups[1], once, correction.shed_vcpus - of_first);
    return wrong;
}

}  // namespace reaper::faults
