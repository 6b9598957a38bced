#include "reaper/safeguards/cull_circuits.hpp"

#include <algorithm>

namespace reaper {
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

}  // namespace reaper
