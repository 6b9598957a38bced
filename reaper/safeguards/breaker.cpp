#include "reaper/safeguards/breaker.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

constexpr int max_counted = 1'000'000;

std::string last_for(const RequestId& request) {
    return request.empty() ? std::string{} : ", the last for " + printable(request.str(), 64);
}

/// What holding room would have spared.
std::string of_lost(int lost) {
    if (lost == 0) return "";
    return " (the room of " + std::to_string(lost) +
           " was taken by new revocable servers: the tagger `resource` holds freed room against "
           "them)";
}

}  // namespace

Breaker::Change Breaker::open(std::string why, TimePoint at) {
    circuit_.open(at, settings_.retry);
    const auto until = circuit_.until();
    reason_ = std::move(why);
    reason_ += until ? "; one cull is tried at " + iso_time(*until) + ", or after `reaper resume`"
                     : "; then `reaper resume`";
    return {true, reason_};
}

std::optional<Breaker::Change> Breaker::note_freed_room(const RequestId& request,
                                                        const ProjectId& project, CullWorth worth,
                                                        int slots, TimePoint at) {
    if (worth == CullWorth::needless) return std::nullopt;
    const CircuitState state = circuit_.state(at);
    if (worth == CullWorth::helped) {
        wasted_ = lost_ = 0;
        projects_.clear();
        // Taken room does not prove that deletions work again; a try does.
        if (state == CircuitState::closed || (state == CircuitState::open && by_deletions_))
            return std::nullopt;
        reset();
        return Change{false, "the room of a cull was taken" + last_for(request)};
    }
    // While it is open, what ends is older than that.
    if (state == CircuitState::open) return std::nullopt;
    wasted_ = std::min(wasted_ + slots, max_counted);
    if (worth == CullWorth::lost) lost_ = std::min(lost_ + slots, max_counted);
    projects_.insert(project);
    const bool several = static_cast<int>(projects_.size()) >= settings_.projects;
    const bool enough = state == CircuitState::half_open || wasted_ >= settings_.wasted;
    if (settings_.wasted == 0 || !enough || !several) return std::nullopt;
    by_deletions_ = false;
    Change change =
        open("the room of " + counted(wasted_, "slot") + " in a row went unused, of " +
                 counted(static_cast<int>(projects_.size()), "project") + last_for(request) +
                 of_lost(lost_) +
                 "; see `reaper history`, and find what keeps servers off the freed room",
             at);
    projects_.clear();
    return change;
}

std::optional<Breaker::Change> Breaker::note_deletion(bool succeeded, const RequestId& request,
                                                      TimePoint at) {
    failed_ = succeeded ? 0 : std::min(failed_ + 1, max_counted);
    const CircuitState state = circuit_.state(at);
    const bool enough = state == CircuitState::half_open || failed_ >= settings_.failed;
    if (succeeded || state == CircuitState::open || settings_.failed == 0 || !enough)
        return std::nullopt;
    by_deletions_ = true;
    return open(
        counted(failed_, "deletion") + " in a row failed" + last_for(request) +
            "; see `reaper history` and Nova, and find what keeps servers from being deleted",
        at);
}

void Breaker::open_again(TimePoint at) {
    circuit_.open(at, settings_.retry);
}

}  // namespace reaper
