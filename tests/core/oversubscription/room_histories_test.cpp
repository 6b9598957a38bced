// Ten thousand random histories of one host (fewer with sanitizers): its load, readings that fail
// in many ways, servers that come and go on oversubscribed room, restarts. Estimator, publication,
// QoS controller and choice are played together, and judged by other arithmetic over all the
// figures (faults/room). One again: REAPER_HISTORY=SEED.
#include <cmath>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <set>

#include "faults/room/load_history.hpp"
#include "faults/room/load_judge.hpp"
#include "faults/room/room_judge.hpp"
#include "faults/schedules/chance.hpp"
#include "reaper/oversubscription/correction.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/oversubscription/publication.hpp"

namespace reaper::testing::room_histories {

using faults::Chance;
using faults::HostSize;
using faults::LoadRules;
using faults::RoomRules;
using faults::ToldLoad;
using faults::ToldUse;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20};
const HostId host{"host"};

/// How often things happened, over all histories.
struct Counts {
    int looks = 0, rises = 0, falls = 0, left_alone = 0;
    int excesses = 0, corrections = 0, killed = 0, unknown = 0, closed = 0, restarts = 0;
};

struct Holder {
    Amount vcpus = 0;
    double harm = 0;
    bool oversubscribed = true;
    TimePoint leaves{};                 ///< by itself
    std::optional<TimePoint> killed{};  ///< when its deletion is done
};

/// What is in use, and what holders of oversubscribed room hold.
struct UsageSample {
    TimePoint at{};
    double whole = 0;
    double regular = 0;
    Amount held = 0;
};

/// The span over which use is measured.
constexpr Duration metrics_span = minutes{2};

std::string text(double value) {
    return std::to_string(value);
}
std::string text(Duration span) {
    return std::to_string(span.count() / 1000) + "s";
}

template <class Info>
auto made(const Info& info, Parameters parameters) {
    return std::get<0>(info.make(with_standards(info.parameters, std::move(parameters))));
}

class History {
public:
    History(std::uint64_t seed, Counts& counts) : chance_(seed ^ 0x4157041U), counts_(counts) {
        draw_host();
        draw_estimator();
        draw_publication();
        draw_qos(seed);
        rooms_.emplace(rules_);
        loads_.emplace(load_rules_);
        usage_.emplace(windows());
        true_use_.emplace(rules_);
        load_.emplace(seed, length_);
    }

    /// What is wrong; empty: nothing is.
    std::string play() {
        for (now_ = start; now_ < start + length_ && wrong_.empty(); now_ += step_) {
            pass();
            if (chance_.percent(1) && chance_.percent(15)) restart();
            draw_trouble();
            const auto told = read();
            look_at_room();
            if (wrong_.empty()) look_at_load(told);
            boot_and_leave();
        }
        counts_.rises += rooms_->rises();
        counts_.falls += rooms_->falls();
        counts_.left_alone += rooms_->times_left_alone();
        if (wrong_.empty()) return {};
        return wrong_ + " (at " + text(now_ - start) + ")";
    }

private:
    void draw_host() {
        size_.vcpus = chance_.pick({4, 8, 32, 128});
        size_.cores = static_cast<double>(size_.vcpus) * chance_.pick({1.0, 1.0, 0.5});
        size_.ratio = chance_.pick({1.0, 1.0, 2.0, 4.0});
        size_.allocated = static_cast<Amount>(chance_.below(
            static_cast<std::uint64_t>(static_cast<double>(size_.vcpus) * size_.ratio + 1)));
        step_ = seconds{chance_.pick({5, 15, 15, 40})};
        length_ = step_ * chance_.between(40, 300);
        per_server_ = chance_.percent(40);
    }

    void draw_estimator() {
        if (chance_.percent(15)) {
            rules_.fixed = chance_.between(0, 10);
            estimator_ = made(*find_estimator("fixed"), {{"vcpus", *rules_.fixed}});
            return;
        }
        rules_.margin = chance_.pick({0.0, 0.1, 0.25});
        rules_.ceiling = chance_.pick({0.25, 1.0, 2.0});
        rules_.per_core = chance_.pick({1.0, 1.0, 2.0});
        rules_.smoothing = step_ * chance_.pick({0, 1, 5, 20});
        rules_.peak = step_ * chance_.pick({0, 10, 40, 100});
        estimator_ =
            made(*find_estimator("usage_slack"), {{"margin", text(rules_.margin)},
                                                  {"ceiling", text(rules_.ceiling)},
                                                  {"vcpus_per_core", text(rules_.per_core)},
                                                  {"smoothing", text(rules_.smoothing)},
                                                  {"peak", text(rules_.peak)}});
    }

    void draw_publication() {
        auto& rules = rules_.publication;
        rules.interval = step_ * chance_.pick({1, 1, 3});
        rules.rise_after = step_ * chance_.pick({0, 1, 8});
        rules.rise_step = chance_.pick({0.01, 0.25, 1.0});
        rules.hysteresis = chance_.pick({0, 1, 3});
        rules.flaps = chance_.pick({0, 1, 2, 3});
        rules.flap_window = step_ * chance_.pick({20, 60});
        rules.quiet = {step_ * chance_.pick({5, 30}), step_ * 80};
        rules.trust_after = step_ * chance_.pick({0, 5, 30});
        rules.max_age = seconds{chance_.pick({60, 20, 300})};
    }

    void draw_qos(std::uint64_t seed) {
        load_rules_.all = chance_.percent(25);
        load_rules_.settle = step_ * chance_.pick({0, 2, 10});
        Parameters parameters{{"evict", std::string{load_rules_.all ? "all" : "step"}},
                              {"settle", text(load_rules_.settle)}};
        const auto draw = [&](std::optional<double>& into, const std::string& name, double value) {
            into = value;
            parameters[name] = text(value);
        };
        if (seed % 2 == 0) {
            load_rules_.per_core = chance_.percent(50);
            parameters["per_core"] = std::string{load_rules_.per_core ? "true" : "false"};
            const double unit = load_rules_.per_core ? 1 : size_.cores;
            const int which = chance_.between(1, 3);
            if (which != 2)
                draw(load_rules_.load5, "load_threshold_5min", unit * chance_.pick({0.5, 0.75}));
            if (which != 1) draw(load_rules_.load15, "load_threshold_15min", unit * 0.5);
            parameters["for"] = std::int64_t{1};
            qos_ = made(*find_qos("load"), parameters);
            return;
        }
        const int which = chance_.between(1, 3);
        if (which != 2) draw(load_rules_.steal, "steal_threshold", chance_.pick({0.05, 0.2}));
        if (which != 1) draw(load_rules_.pressure, "pressure_threshold", chance_.pick({0.1, 0.5}));
        load_rules_.in_a_row = chance_.pick({1, 3});
        parameters["for"] = std::int64_t{load_rules_.in_a_row};
        qos_ = made(*find_qos("pressure"), parameters);
    }

    UsageWindows windows() const {
        UsageWindows windows = estimator_->windows();
        windows.trusted = rules_.publication.trust_after;
        windows.longest_gap = rules_.longest_gap;
        return windows;
    }

    Amount held() const {
        Amount sum = 0;
        for (const auto& [id, each] : holders_)
            if (each.oversubscribed) sum += each.vcpus;
        return sum;
    }
    double regular_use() const {
        return static_cast<double>(size_.allocated) * load_->used_part(now_ - start);
    }
    double runnable() const {
        return regular_use() + static_cast<double>(held()) * load_->revocable_part();
    }

    void pass() {
        averages_.pass(step_, runnable());
        const double whole = std::min(runnable(), size_.cores);
        const double regular = std::min(regular_use(), size_.cores);
        recent_.push_back({now_, whole, regular, held()});
        std::erase_if(recent_,
                      [&](const UsageSample& each) { return now_ - each.at > metrics_span; });
        for (auto at = holders_.begin(); at != holders_.end();)
            at = at->second.killed && *at->second.killed <= now_ ? holders_.erase(at) : ++at;
    }

    void restart() {
        ++counts_.restarts;
        state_ = PublishedState::found(state_.total);
        qos_state_ = {};
        usage_.emplace(windows());
        told_at_.reset();
        true_use_->forget();
        rooms_->restart();
        loads_->restart();
    }

    /// For several consecutive looks, metrics are wrong in one way.
    void draw_trouble() {
        if (trouble_left_ > 0 && --trouble_left_ > 0) return;
        trouble_ = 0;
        if (!chance_.percent(6)) return;
        trouble_ = chance_.between(1, 6);
        trouble_left_ = chance_.pick({1, 2, 10, 40});
    }

    /// As metrics have it: of the last minutes together. Of holders, the most that there were.
    UsageSample measured() const {
        UsageSample mean{now_, 0, 0, 0};
        for (const UsageSample& each : recent_) {
            mean.whole += each.whole / static_cast<double>(recent_.size());
            mean.regular += each.regular / static_cast<double>(recent_.size());
            mean.held = std::max(mean.held, each.held);
        }
        return mean;
    }

    /// What the metrics tell; of their troubles the reader of metrics keeps some off, but not all.
    std::optional<ToldLoad> read() {
        const UsageSample mean = measured();
        double whole = mean.whole;
        double regular = mean.regular;
        TimePoint at = now_ - seconds{chance_.between(0, 3)};
        bool lost = false;
        switch (trouble_) {
            case 1: lost = true; break;
            case 2: whole = regular = std::numeric_limits<double>::quiet_NaN(); break;
            case 3: whole = regular = -1; break;
            case 4: at = last_at_; break;  // a duplicate, or stale
            case 5: at = now_ - minutes{chance_.pick({1, 10})}; break;
            case 6:
                whole = regular = size_.cores * 7.0123;  // no mean of it is on a bound
                lied_ = true;
                break;
            default: break;
        }
        if (lost) return std::nullopt;
        ToldUse told = faults::told_of_whole(at, whole, mean.held);
        if (per_server_) told = {at, regular, regular};
        const bool fit = std::isfinite(told.most) && told.least >= 0 && told.most >= 0 &&
                         (!told_at_ || at > *told_at_);
        UsageRange used{told.least, told.most};
        if (!per_server_) used = usage_of_whole(whole, mean.held);
        EXPECT_EQ(usage_->add({at, used}), fit);
        // The same load is reported again, too, or an older one.
        if (!fit)
            return std::isfinite(whole) && whole >= 0 ? std::optional{load_at(at)} : std::nullopt;
        rooms_->tell(told);
        true_use_->tell({at, mean.regular, mean.regular});
        told_at_ = last_at_ = at;
        return load_at(at);
    }

    ToldLoad load_at(TimePoint at) {
        ToldLoad told;
        told.at = at;
        told.load5 = averages_.of_5_minutes();
        told.load15 = averages_.of_15_minutes();
        told.cores = size_.cores;
        told.steal = load_->steal(now_ - start);
        told.pressure = std::min(runnable() / size_.cores / 2, 1.0);
        if (chance_.percent(2)) told.load5.reset();
        if (chance_.percent(2)) told.cores.reset();
        if (chance_.percent(2)) told.pressure.reset();
        return told;
    }

    void look_at_room() {
        if (chance_.percent(2))
            size_.allocated = static_cast<Amount>(chance_.below(
                static_cast<std::uint64_t>(static_cast<double>(size_.vcpus) * size_.ratio + 1)));
        HostFacts facts;
        facts.id = host;
        facts.vcpus = size_.vcpus;
        facts.allocation_ratio = size_.ratio;
        facts.allocated = size_.allocated;
        const Estimate estimate = estimator_->estimate(facts, usage_->at(host, size_.cores, now_));
        const Amount used = held();
        const Amount before = state_.total;
        Published made =
            next_published(state_, estimate, {used, size_.cores}, now_, rules_.publication);
        state_ = std::move(made.state);
        faults::RoomLook look;
        look.at = now_;
        look.size = size_;
        look.used = used;
        look.before = before;
        look.after = made.closed ? 0 : made.total;
        look.excess = made.excess;
        look.closed = made.closed;
        wrong_ = rooms_->look(look);
        published_ = look.after;
        if (wrong_.empty()) wrong_ = against_the_truth(look);
        ++counts_.looks;
        counts_.closed += made.closed;
        counts_.unknown += !estimate.known;
        if (wrong_.empty() && made.closed && made.total != 1) wrong_ = "closed: its total is not 1";
        if (!wrong_.empty()) return;
        if (const auto excess = excess_correction(host, made.excess, "")) {
            ++counts_.excesses;
            kill(*excess, true);
        }
    }

    /// What regular servers really used of late, whatever the metrics tell of others.
    std::string against_the_truth(const faults::RoomLook& look) const {
        if (rules_.fixed || !true_use_->good_reading(size_, now_)) return {};
        const Amount most = true_use_->must_fall_to(size_, now_);
        if (look.after > look.before && look.after > most)
            return "truth-rise: to " + std::to_string(look.after) + ", though there are " +
                   std::to_string(most);
        const Amount stay = true_use_->may_stay(size_, now_);
        if (!lied_ && look.excess > std::max<Amount>(look.used - stay, 0))
            return "truth-excess: " + std::to_string(look.excess) + " are to go, though of " +
                   std::to_string(look.used) + " there is room for " + std::to_string(stay);
        return {};
    }

    void look_at_load(const std::optional<ToldLoad>& told) {
        HostLoad load;
        load.host = host;
        if (told) {
            load.load5 = told->load5;
            load.load15 = told->load15;
            load.cores = told->cores;
            load.steal = told->steal;
            load.pressure = told->pressure;
            load.measured_at = told->at;
        } else {
            load.why_unknown = "not told";
        }
        QosVerdict verdict = qos_->look(qos_state_, load, now_);
        qos_state_ = verdict.state;
        wrong_ = loads_->look(told, now_, verdict.correction);
        if (!verdict.correction || !wrong_.empty()) return;
        ++counts_.corrections;
        const Amount vcpus = kill(*verdict.correction, false);
        if (vcpus == 0) return;
        qos_state_ = after_correction(qos_state_, vcpus, now_);
        loads_->corrected(vcpus, now_);
    }

    /// Of those who do not go yet; what they hold.
    Amount kill(const HostCorrection& correction, bool for_room) {
        std::vector<CorrectionCandidate> candidates;
        HostCorrection rest = correction;
        for (const auto& [id, each] : holders_) {
            if (for_room && !each.oversubscribed) continue;
            if (each.killed) {
                if (for_room) rest.shed_vcpus -= each.vcpus;
                continue;
            }
            candidates.push_back({ServerId{id}, each.vcpus, each.oversubscribed, each.harm});
        }
        if (for_room && rest.shed_vcpus <= 0) return 0;
        const auto chosen = choose_corrected(candidates, rest);
        wrong_ = faults::judge_choice(candidates, rest, chosen);
        if (!wrong_.empty()) return 0;
        for (const auto& id : chosen) {
            ++counts_.killed;
            holders_.at(id.str()).killed = now_ + seconds{chance_.pick({1, 20, 90})};
        }
        return vcpus_of(chosen, candidates);
    }

    void boot_and_leave() {
        for (auto at = holders_.begin(); at != holders_.end();)
            at = at->second.leaves <= now_ ? holders_.erase(at) : ++at;
        for (int tries = chance_.pick({0, 1, 4}); tries > 0; --tries) {
            Holder made;
            made.vcpus = chance_.pick({1, 2, 4});
            made.harm = chance_.pick({0.0, 1.0, chance_.fraction() * 10});
            made.oversubscribed = !chance_.percent(10);
            made.leaves = now_ + minutes{chance_.pick({2, 30, 600})};
            if (made.oversubscribed && held() + made.vcpus > published_) continue;
            holders_.emplace("server-" + std::to_string(++booted_), made);
        }
    }

    Chance chance_;
    Counts& counts_;
    HostSize size_;
    RoomRules rules_;
    LoadRules load_rules_;
    bool per_server_ = false;
    Duration step_{}, length_{};
    std::unique_ptr<Estimator> estimator_;
    std::unique_ptr<QosController> qos_;
    std::optional<faults::RoomJudge> rooms_;
    std::optional<faults::LoadJudge> loads_;
    std::optional<UsageHistory> usage_;
    std::optional<faults::ToldHistory> true_use_;  ///< of regular servers alone
    std::deque<UsageSample> recent_;
    bool lied_ = false;  ///< use of more than all cores was reported
    std::optional<faults::LoadHistory> load_;
    faults::LoadAverages averages_;
    PublishedState state_;
    QosState qos_state_;
    std::map<std::string, Holder> holders_;
    int booted_ = 0;
    Amount published_ = 0;
    int trouble_ = 0, trouble_left_ = 0;
    std::optional<TimePoint> told_at_;
    TimePoint last_at_ = start;
    TimePoint now_{};
    std::string wrong_;
};

// Sanitizers take their time.
#ifdef NDEBUG
constexpr std::uint64_t many = 10'000;
#else
constexpr std::uint64_t many = 500;
#endif

TEST(RoomHistories, AreAsTheRulesSay) {
    std::uint64_t first = 1;
    std::uint64_t last = many;
    if (const char* const one = std::getenv("REAPER_HISTORY"))
        first = last = std::strtoull(one, nullptr, 10);
    Counts counts;
    int failed = 0;
    for (std::uint64_t seed = first; seed <= last && failed < 5; ++seed) {
        const std::string wrong = History(seed, counts).play();
        if (wrong.empty()) continue;
        ++failed;
        ADD_FAILURE() << "REAPER_HISTORY=" << seed << ": " << wrong;
    }
    RecordProperty("killed", counts.killed);
    std::cout << counts.looks << " looks, " << counts.rises << " rises, " << counts.falls
              << " falls, " << counts.left_alone << " times left alone, " << counts.excesses
              << " excesses, " << counts.corrections << " corrections, " << counts.killed
              << " killed, " << counts.unknown << " unknown, " << counts.closed << " closed, "
              << counts.restarts << " restarts\n";
    if (first == last) return;
    // Of each thing there was enough to be judged.
    for (const int often :
         {counts.rises, counts.falls, counts.left_alone, counts.excesses, counts.corrections,
          counts.killed, counts.unknown, counts.closed, counts.restarts})
        EXPECT_GT(often, 50);
}

}  // namespace reaper::testing::room_histories
