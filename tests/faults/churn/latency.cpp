#include "faults/churn/latency.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "faults/churn/churn.hpp"
#include "faults/schedules/stage.hpp"

namespace reaper::faults {
namespace {

using cloudsim::Uuid;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int to_go = 4;
const std::string room_for_four = "eight";  // VCPU

SchedulePlan plan_of(std::uint64_t seed, const cloudsim::Delays& delays) {
    SchedulePlan plan = lab_plan(seed, 3, delays);
    plan.cloud.flavors[room_for_four] = {8, 4'096, 20, 0, 0, {}};
    return plan;
}

/// Notes when what came to pass.
class EventTimes final : public cloudsim::Listener {
public:
    explicit EventTimes(const Timeline& timeline) : timeline_(timeline) {}

    void on_search(const cloudsim::SearchEvent&) override { note(searched); }
    void on_schedule(const cloudsim::ScheduleEvent& event) override {
        note(event.end ? claimed : told);
    }
    void on_effect(const cloudsim::Effect& effect) override {
        if (effect.what == "deleted") note(gone);
        if (effect.what == "created") note(active);
    }

    std::optional<TimePoint> searched, told, claimed, gone, active;  ///< the last of each

private:
    void note(std::optional<TimePoint>& what) { what = timeline_.true_now(); }
    const Timeline& timeline_;
};

/// One host has room to free alone, where `spots` revocable servers are.
void fill(Stage& stage, int spots) {
    stage.put("regular", "large", "host-2");
    stage.put("regular", "large", "host-3");
    for (int i = 0; i < spots; ++i) stage.put("spot", "small", "host-1");
}

TimePoint last_of(const RequestRecord& record, Step step) {
    TimePoint last{};
    for (const StepEntry& entry : record.steps)
        if (entry.step == step) last = std::max(last, entry.at);
    return last;
}

TimePoint first_sent(const RequestRecord& record) {
    TimePoint first = TimePoint::max();
    for (const StepEntry& entry : record.steps)
        if (entry.step == Step::delete_sent) first = std::min(first, entry.at);
    return first;
}

}  // namespace

Steps latency_of_a_cull(std::uint64_t seed, const cloudsim::Delays& delays) {
    Stage stage{plan_of(seed, delays)};
    fill(stage, to_go + 1);
    stage.start_reaper();
    // Nothing periodic is in step with it.
    stage.run_for(seconds{30} + Duration{static_cast<Duration::rep>(seed * 377 % 1'000)});
    EventTimes events{stage.timeline()};
    stage.site().listen(events);
    const TimePoint began = stage.now();
    std::vector<Uuid> ids;
    const RequestId request{stage.boot("regular", room_for_four, 1, ids)};
    stage.run_for(minutes{3});
    const auto& records = stage.journal().records;
    const auto found = records.find(request);
    if (found == records.end() || !found->second.outcome || !events.active) return {};
    const RequestRecord& record = found->second;
    const std::vector<std::pair<std::string, TimePoint>> times{
        {"nova-scheduler asks", *events.searched},
        {"the request is taken up", record.received_at},
        {"planned", record.plans.back().at},
        {"first deletion is journalled", first_sent(record)},
        {"last deletion is journalled", last_of(record, Step::delete_sent)},
        {"Nova has accepted all", last_of(record, Step::delete_accepted)},
        {"all victims are gone in Nova", *events.gone},
        {"the reaper knows it", last_of(record, Step::gone)},
        {"outcome", record.outcome->at},
        {"nova-scheduler has its answer", *events.told},
        {"claimed", *events.claimed},
        {"ACTIVE", *events.active}};
    Steps steps;
    TimePoint before = began;
    for (const auto& [name, at] : times) {
        steps.emplace_back(name, at - before);
        before = at;
    }
    return steps;
}

OwnLatency own_latency(std::uint64_t seed, const cloudsim::Delays& delays) {
    Stage stage{plan_of(seed, delays)};
    fill(stage, to_go + 1);
    EventTimes events{stage.timeline()};
    stage.site().listen(events);
    OwnLatency own;
    const auto servers = stage.world().nova.find_host("host-1")->servers;
    TimePoint began = stage.now();
    for (int i = 0; i < to_go; ++i)
        stage.remove("spot", servers.at(static_cast<std::size_t>(i))->id);
    stage.run_for(minutes{3});
    own.deletions = *events.gone - began;
    began = stage.now();
    std::vector<Uuid> ids;
    stage.boot("regular", room_for_four, 1, ids);
    stage.run_for(minutes{3});
    own.boot = *events.active - began;
    return own;
}

}  // namespace reaper::faults
