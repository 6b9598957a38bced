// What a project may cost for nothing, whatever it does: random users, some of whom take what is
// freed, leave it, or give it back; judged by an arithmetic of its own.
#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::harm_properties_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;

/// A project, what it asked for, and what the judge knows of it.
class User {
public:
    explicit User(SafeguardSettings settings) : settings_{settings}, safeguards_{settings} {}

    /// It asks for room; with so many victims for each slot, if it is served.
    void ask(int slots, int victims_for_each) {
        Request request;
        request.id = RequestId{"r" + std::to_string(++requests_)};
        request.project = ProjectId{"p"};
        request.slots = slots;
        const auto held = safeguards_.why_not_now(request, now_);
        const int most = std::max(settings_.project_breaker.unproven, 2 * taken());
        if (held && held->safeguard == safeguard::unproven) RC_ASSERT(under_way() + slots > most);
        if (held) return;
        served_ = true;
        RC_ASSERT(under_way() + slots <= most);
        RC_ASSERT(now_ >= quiet_until_);
        for (int i = 0; i < slots * victims_for_each; ++i) {
            PastVictim victim;
            victim.at = now_;
            victim.request = request.id;
            victim.server = ServerId{request.id.str() + "-" + std::to_string(i)};
            safeguards_.note_victim(victim);
        }
        safeguards_.note_cull(request);
        open_.push_back({request, slots * victims_for_each});
    }
    /// The oldest one's room is taken, and given back after this time; or it goes unused.
    void end(bool used, Duration lived) {
        if (open_.empty()) return;
        const Cull cull = open_.front();
        open_.erase(open_.begin());
        note(safeguards_.note_freed_room(cull.request, used ? CullWorth::helped : CullWorth::wasted,
                                         {}, now_));
        if (!used) return;
        taken_.emplace_back(now_, cull.request.slots);
        safeguards_.note_taken(cull.request, cull.request.slots, now_);
        const bool early = lived < settings_.short_lived.lived;
        now_ += std::min<Duration>(lived, settings_.short_lived.lived);
        for (int i = 0; i < cull.request.slots; ++i)
            note(safeguards_.note_use(cull.request, early ? std::optional{lived} : std::nullopt,
                                      now_));
        if (early) unpaid_ += cull.victims;
    }
    void wait(Duration span) { now_ += span; }
    int unpaid() const { return unpaid_; }
    bool served() { return std::exchange(served_, false); }

private:
    struct Cull {
        Request request;
        int victims = 0;
    };
    int under_way() const {
        int slots = 0;
        for (const Cull& cull : open_) slots += cull.request.slots;
        return slots;
    }
    int taken() const {
        int slots = 0;
        for (const auto& [at, count] : taken_)
            if (now_ - at < 24h) slots += count;
        return slots;
    }
    void note(const std::vector<Safeguards::Change>& changes) {
        for (const auto& change : changes) {
            if (change.kind == "project-breaker-opened") taken_.clear();
            if (change.kind == safeguard::short_lived)
                quiet_until_ = now_ + settings_.short_lived.retry.retry_after;
        }
    }

    SafeguardSettings settings_;
    Safeguards safeguards_;
    TimePoint now_ = at(0);
    TimePoint quiet_until_{};
    std::vector<Cull> open_;
    std::vector<std::pair<TimePoint, int>> taken_;
    int requests_ = 0;
    int unpaid_ = 0;
    bool served_ = false;
};

SafeguardSettings settings_of_any() {
    SafeguardSettings settings;
    settings.project_breaker = {upto(4), 1 + upto(4), {30min, 2h}};
    settings.shape_cooldown.wasted = upto(3);
    settings.short_lived = {10min, 1 + upto(10), 2h, {30min, 2h}};
    return settings;
}

TEST(HarmProperties, NoMoreIsUnprovenThanTwiceWhatWasTaken) {
    int served = 0;
    holds("whatever its requests become", [&] {
        User user{settings_of_any()};
        for (int step = 0; step < 40; ++step) {
            if (upto(2) > 0) user.ask(1 + upto(6), 1 + upto(3));
            served += user.served();
            if (upto(1) == 0) user.end(upto(3) > 0, std::chrono::minutes{upto(12)});
            if (upto(4) == 0) user.wait(std::chrono::minutes{upto(90)});
        }
    });
    EXPECT_GT(served, 500) << "who is never served proves nothing";
}

/// One server at a time, deleted at once: the more it does so the less it is served.
TEST(HarmProperties, WhoGivesAllBackAtOnceCostsOneCullForEachPauseInTheEnd) {
    holds("of any size", [&] {
        SafeguardSettings settings;
        settings.short_lived.retry = {30min, 24h};
        const int victims = 1 + upto(7);
        User user{settings};
        for (int second = 0; second < 6 * 3600; second += 20) {
            user.ask(1, victims);
            user.end(true, 5s);
            user.wait(15s);
        }
        // Until it is left alone, and then tries after 30, 60, 120 and 240 minutes at most.
        const int first = std::max(2 * victims, settings.short_lived.allowance + 1 + victims);
        RC_ASSERT(user.unpaid() <= first + 4 * victims);
        RC_ASSERT(user.unpaid() > 0);
    });
}

}  // namespace
}  // namespace reaper::harm_properties_test
