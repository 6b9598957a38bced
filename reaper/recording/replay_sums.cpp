#include "reaper/recording/replay_sums.hpp"

namespace reaper::recording {

void ReplaySums::add(const Choice& choice) {
    ++requests;
    if (choice.helps()) ++helped;
    if (std::holds_alternative<Refused>(choice.decision)) ++refused;
    if (choice.frees()) ++culls;
    if (!choice.safeguard().empty()) ++safeguards[std::string{choice.safeguard()}];
    lost_hours += choice.lost_hours;
    lost_vcpu_hours += choice.lost_vcpu_hours;
    if (const auto* const plan = std::get_if<Plan>(&choice.decision))
        victims += static_cast<int>(plan->victims().size());
}

void BothSums::add(const ReplayedRequest& request) {
    if (request.recorded) recorded.add(*request.recorded);
    if (request.asked) asked.add(*request.asked);
}

ByDay by_day(const Replay& replay) {
    ByDay days;
    for (const ReplayedRequest& request : replay.requests)
        if (request.recorded) days[std::chrono::floor<std::chrono::days>(request.at)].add(request);
    return days;
}

BothSums in_all(const Replay& replay) {
    BothSums sums;
    for (const ReplayedRequest& request : replay.requests) sums.add(request);
    return sums;
}

}  // namespace reaper::recording
