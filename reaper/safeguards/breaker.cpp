#include "reaper/safeguards/breaker.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper {

std::string_view to_string(CircuitState state) {
    switch (state) {
        case CircuitState::closed: return "closed";
        case CircuitState::open: return "open";
        case CircuitState::half_open: return "half-open";
    }
    return "unknown";
}

std::optional<CircuitState> circuit_state_from(std::string_view text) {
    for (const auto state : {CircuitState::closed, CircuitState::open, CircuitState::half_open})
        if (to_string(state) == text) return state;
    return std::nullopt;
}
namespace {

constexpr int most_times = 1'000'000;

}  // namespace

void Circuit::open(TimePoint at, const RetrySettings& settings) {
    times_ = std::min(times_ + 1, most_times);
    by_itself_ = settings.retry_after > Duration::zero();
    Duration pause = settings.retry_after;
    const Duration longest = std::max<Duration>(settings.max_retry_after, settings.retry_after);
    for (int i = 1; i < times_ && pause < longest; ++i) pause *= 2;
    until_ = at + std::min(pause, longest);
}

CircuitState Circuit::state(TimePoint now) const {
    if (times_ == 0) return CircuitState::closed;
    return by_itself_ && now >= until_ ? CircuitState::half_open : CircuitState::open;
}

std::optional<TimePoint> Circuit::until() const {
    if (times_ == 0 || !by_itself_) return std::nullopt;
    return until_;
}

void Circuit::shift(Duration by) {
    if (times_ > 0) until_ += by;
}

namespace {

constexpr int most_wasted = 1'000'000;

}  // namespace

void CullCircuits::reload(int wasted, const RetrySettings& settings) {
    enough_ = wasted;
    settings_ = settings;
    if (enough_ <= 0) clear();
}

std::optional<CullCircuits::Change> CullCircuits::helped(const std::string& key) {
    const auto node = known_.extract(key);
    if (node.empty() || node.mapped().circuit.times() == 0) return std::nullopt;
    return Change{};
}

std::optional<CullCircuits::Change> CullCircuits::wasted(const std::string& key, int slots,
                                                         TimePoint at) {
    return waste(key, slots, at, enough_);
}

std::optional<CullCircuits::Change> CullCircuits::wasted_at_once(const std::string& key, int slots,
                                                                 TimePoint at) {
    return waste(key, slots, at, 1);
}

std::optional<CullCircuits::Change> CullCircuits::waste(const std::string& key, int slots,
                                                        TimePoint at, int enough) {
    if (enough_ <= 0) return std::nullopt;
    Known& known = known_[key];
    known.at = std::max(known.at, at);
    known.wasted = std::min(known.wasted + slots, most_wasted);
    // The cull may be older than the pause.
    const CircuitState state = known.circuit.state(at);
    if (state == CircuitState::open) return std::nullopt;
    if (state == CircuitState::closed && known.wasted < enough) return std::nullopt;
    known.circuit.open(at, settings_);
    return Change{true, known.wasted, known.circuit.until()};
}

CircuitState CullCircuits::state(const std::string& key, TimePoint now) const {
    const auto at = known_.find(key);
    return at == known_.end() ? CircuitState::closed : at->second.circuit.state(now);
}

std::optional<TimePoint> CullCircuits::until(const std::string& key) const {
    const auto at = known_.find(key);
    return at == known_.end() ? std::nullopt : at->second.circuit.until();
}

int CullCircuits::wasted_in_a_row(const std::string& key) const {
    const auto at = known_.find(key);
    return at == known_.end() ? 0 : at->second.wasted;
}

std::vector<CullCircuits::Open> CullCircuits::open(TimePoint now) const {
    std::vector<Open> all;
    for (const auto& [key, known] : known_) {
        const CircuitState state = known.circuit.state(now);
        if (state != CircuitState::closed)
            all.push_back({key, state, known.wasted, known.circuit.until()});
    }
    return all;
}

/// A pause after the last one is over, earlier results no longer count.
void CullCircuits::prune(TimePoint now) {
    const Duration quiet = std::max<Duration>(settings_.max_retry_after, settings_.retry_after);
    std::erase_if(known_, [&](const auto& each) {
        const Known& known = each.second;
        if (known.circuit.state(now) == CircuitState::open) return false;
        return now - std::max(known.at, known.circuit.until().value_or(known.at)) > quiet;
    });
}

void CullCircuits::shift(Duration by) {
    for (auto& [key, known] : known_) {
        known.at += by;
        known.circuit.shift(by);
    }
}

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
                                                      const std::optional<ProjectId>& hung,
                                                      TimePoint at) {
    if (succeeded) {
        failed_ = refused_ = 0;
        hung_.clear();
        return std::nullopt;
    }
    failed_ = std::min(failed_ + 1, max_counted);
    if (hung)
        hung_.insert(*hung);
    else
        refused_ = std::min(refused_ + 1, max_counted);
    const CircuitState state = circuit_.state(at);
    const bool enough = state == CircuitState::half_open || failed_ >= settings_.failed;
    if (state == CircuitState::open || settings_.failed == 0 || !enough) return std::nullopt;
    // One owner may hold the locks of any number of servers, but can't make Nova refuse.
    const int needed = state == CircuitState::half_open ? 1 : settings_.failed;
    const int projects = std::min(settings_.projects, with_servers_.value_or(settings_.projects));
    if (refused_ < needed && static_cast<int>(hung_.size()) < projects) return std::nullopt;
    by_deletions_ = true;
    return open(
        counted(failed_, "deletion") + " in a row failed" + last_for(request) +
            "; see `reaper history` and Nova, and find what keeps servers from being deleted",
        at);
}

void Breaker::reset() {
    const auto with_servers = with_servers_;
    *this = Breaker{settings_};
    with_servers_ = with_servers;
}

void Breaker::open_again(TimePoint at, std::string why) {
    by_deletions_ = true;
    reason_ = std::move(why);
    circuit_.open(at, settings_.retry);
}

}  // namespace reaper
