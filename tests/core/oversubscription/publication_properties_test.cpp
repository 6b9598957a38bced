// What is published on random histories, judged by arithmetic of its own: a log of what was
// measured and published, in which each rule is looked up.
#include <gtest/gtest.h>
#include <vector>

#include "core/oversubscription_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/oversubscription/publication.hpp"

namespace reaper::publication_properties_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;

struct Looked {
    TimePoint at;
    bool good;  // known, and new enough
    Amount rise_to;
    Amount fall_to;
    double coverage;
    Amount used;
    Amount before;  // room, without the 1 of a closed one
    Amount after;
};

PublicationRules any_rules() {
    PublicationRules rules;
    rules.rise_after = std::chrono::seconds{upto(180)};
    rules.rise_step = upto(50) / 100.0;
    rules.hysteresis = upto(4);
    rules.flaps = upto(3);
    rules.flap_window = std::chrono::minutes{1 + upto(20)};
    rules.quiet.retry_after = std::chrono::minutes{1 + upto(10)};
    return rules;
}

/// Measurements that drift, jump, stay away and come late.
class RandomHost {
public:
    Estimate measure(TimePoint now) {
        if (upto(15) == 0) room_ = upto(40);
        if (upto(3) == 0) room_ = std::max(0, room_ + upto(6) - 3);
        if (upto(40) == 0) away_until_ = now + std::chrono::seconds{upto(200)};
        Estimate estimate;
        estimate.known = now >= away_until_ && upto(30) != 0;
        estimate.rise_to = std::max(0, room_ - upto(3));
        estimate.fall_to = room_;
        estimate.measured_at = now - std::chrono::seconds{upto(20) == 0 ? 90 : upto(20)};
        estimate.coverage = upto(20) == 0 ? 0.5 : 1;
        return estimate;
    }

private:
    int room_ = 10;
    TimePoint away_until_{};
};

void judge_fall(const Looked& now) {
    RC_ASSERT(!now.good || now.after <= now.fall_to);
    if (now.good && now.before > now.fall_to) RC_ASSERT(now.after == now.fall_to);
    if (now.good && now.before <= now.fall_to) RC_ASSERT(now.after >= now.before);
    RC_ASSERT(now.good || now.after <= now.before);
}

void judge_rise(const std::vector<Looked>& log, double cores, const PublicationRules& rules) {
    const Looked& now = log.back();
    if (now.after <= now.before) return;
    RC_ASSERT(now.good && now.coverage >= rules.least_coverage);
    const auto part = static_cast<Amount>(rules.rise_step * cores);
    RC_ASSERT(now.after - now.before <= std::max<Amount>(part, 1));
    RC_ASSERT(now.rise_to - now.before >= rules.hysteresis);
    bool waited = false;
    for (const auto& past : log) {
        if (&past == &now) break;
        if (past.after > past.before) RC_ASSERT(now.at - past.at >= rules.interval);
        if (now.at - past.at >= rules.rise_after) waited = true;
        if (now.at - past.at > rules.rise_after) continue;
        RC_ASSERT(past.after >= past.before);
        if (past.good) RC_ASSERT(now.after <= past.rise_to);
    }
    RC_ASSERT(waited || rules.rise_after == 0s);
    RC_ASSERT(now.after <= now.rise_to);
}

void judge_age(const std::vector<Looked>& log, TimePoint known_at, const PublicationRules& rules) {
    const Looked& now = log.back();
    if (!now.good && now.at - known_at > rules.max_age) RC_ASSERT(now.after <= now.used);
    if (!now.good && now.at - known_at <= rules.max_age) RC_ASSERT(now.after == now.before);
}

/// After so many falls that followed rises, nothing rises for the quiet time at least.
void judge_flaps(const std::vector<Looked>& log, const PublicationRules& rules) {
    if (rules.flaps == 0 || log.back().after <= log.back().before) return;
    std::vector<TimePoint> flaps;
    bool rose = false;
    for (const auto& past : log) {
        if (past.after < past.before && rose) flaps.push_back(past.at);
        if (past.after != past.before) rose = past.after > past.before;
    }
    // Any `flaps` of them within the window that no earlier quiet time has used up are one.
    std::size_t begin = 0;
    for (std::size_t last = 0; last < flaps.size(); ++last) {
        while (flaps[last] - flaps[begin] > rules.flap_window) ++begin;
        if (last - begin + 1 < static_cast<std::size_t>(rules.flaps)) continue;
        RC_ASSERT(log.back().at - flaps[last] >= rules.quiet.retry_after);
        begin = last + 1;
        if (begin == flaps.size()) break;
    }
}

void keeps_the_rules() {
    const PublicationRules rules = any_rules();
    const double cores = 1 + upto(31);
    RandomHost host;
    PublishedState state;
    std::vector<Looked> log;
    Amount used = 0;
    TimePoint now = noon;
    TimePoint known_at = noon;
    for (int i = 0; i < 120; ++i) {
        now += std::chrono::seconds{upto(9) == 0 ? upto(40) : 15};
        const Estimate estimate = host.measure(now);
        const Amount before = state.total;
        const auto published = next_published(state, estimate, {used, cores}, now, rules);
        state = published.state;
        const bool good = estimate.known && now - *estimate.measured_at <= rules.max_age;
        if (i == 0) known_at = now;
        if (good) known_at = *estimate.measured_at;
        const Amount after = published.closed ? 0 : published.total;
        log.push_back({now, good, estimate.rise_to, estimate.fall_to, estimate.coverage, used,
                       before, after});
        RC_ASSERT(after >= 0 && after == state.total);
        RC_ASSERT(published.closed == (after == 0 && used > 0));
        RC_ASSERT(published.total == (published.closed ? 1 : after));
        RC_ASSERT(published.excess == (good ? std::max<Amount>(used - estimate.fall_to, 0) : 0));
        judge_fall(log.back());
        judge_rise(log, cores, rules);
        judge_age(log, known_at, rules);
        judge_flaps(log, rules);
        if (published.excess > 0 && upto(1) == 0) used -= published.excess;
        if (used < after) used += upto(static_cast<int>(after - used));
        if (upto(5) == 0 && used > 0) --used;
    }
}

TEST(PublicationProperties, TheRulesAreKeptOnRandomHistories) {
    holds("publication", keeps_the_rules);
}

}  // namespace
}  // namespace reaper::publication_properties_test
