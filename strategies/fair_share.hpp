// Weighted fair shares of revocable projects, as the measure `fair_share`.
//
// A project's share is the largest part that its revocable servers hold of any class that the
// cloud has (its dominant share, as Mesos counts it), divided by its weight; the least weight of a
// project with such servers counts as 1. Room is taken from the project with the largest share, one
// server after the other. So each server has a turn: the share that its project has left when the
// servers before it are gone. Within a project those go first that lose the least work. What a
// server costs is by how much its turn's share is below the largest one: the sum over victims is
// least where the shares that remain are most alike.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reaper/model/cloud.hpp"

namespace reaper {

class FairTurns;

/// What shares are parts of, for one decision.
class WholeCloud {
public:
    virtual ~WholeCloud() = default;
    /// All hosts, those that are no choice too, with their rows (HostSketch::row).
    virtual void each_host(
        const std::function<void(const Host&, std::uint32_t row)>& visit) const = 0;
    /// Its deletion is under way: it no longer holds a share.
    virtual bool leaves(const ServerId& server) const = 0;

    /// By what they depend on (Goal::fingerprint): a decision needs them several times.
    mutable std::map<std::string, std::shared_ptr<const FairTurns>> turns;
};

/// Of a whole share.
constexpr Amount share_units = 1'000'000;

class FairTurns {
public:
    /// By project id; all others have 1.
    using Weights = std::map<std::string, Amount, std::less<>>;
    /// What is lost with a server.
    using Work = std::function<Amount(const Server&)>;

    /// O(n log n) for n revocable servers in the cloud, which must outlive this.
    FairTurns(const WholeCloud& cloud, const Weights& weights, const Work& work);

    /// From 0 (it goes first) to `share_units`.
    Amount of(const ServerId& server) const;
    /// No server on that host has less.
    Amount least_on(std::uint32_t row) const { return row < least_.size() ? least_[row] : 0; }

private:
    std::unordered_map<std::string_view, Amount> turns_;  // by id: the share left at its turn
    std::vector<Amount> least_;                           // by row
    Amount largest_ = 0;
};

/// By project: the share that each has now, by its weight as above, in `share_units`. O(n).
std::map<ProjectId, Amount> fair_shares(const WholeCloud& cloud, const FairTurns::Weights& weights);

}  // namespace reaper
