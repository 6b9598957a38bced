// The judgement on oversubscribed room of one host: what may be published, by all reported figures
// of its use. It has its own arithmetic, over every reading, and nothing of the reaper's but the
// settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/resources.hpp"
#include "reaper/oversubscription/publication.hpp"

namespace reaper::faults {

/// What the operator configured.
struct RoomRules {
    std::optional<Amount> fixed{};  ///< so many vCPUs on each host; else by what is in use:
    double margin = 0.1;
    double ceiling = 1;
    double per_core = 1;
    Duration smoothing{};
    Duration peak{};
    Duration longest_gap{120'000};  ///< a longer one is time of which nothing is known
    PublicationRules publication{};
};

/// What the host is.
struct HostSize {
    double cores = 0;      ///< as the metrics count them
    Amount vcpus = 0;      ///< as Placement does
    double ratio = 1;      ///< of VCPU
    Amount allocated = 0;  ///< to servers in ordinary room
};

/// One reading: cores that others than the holders of oversubscribed room use, at least and at
/// most.
struct ToldUse {
    TimePoint at{};
    double least = 0;
    double most = 0;
};

/// Of the whole host's use, while holders of oversubscribed room hold so much.
ToldUse told_of_whole(TimePoint at, double in_use, Amount held);

class ToldHistory {
public:
    explicit ToldHistory(const RoomRules& rules) : rules_(rules) {}

    /// In the order of time.
    void tell(const ToldUse& use);
    /// The process that had the readings is gone.
    void forget() { readings_.clear(); }
    /// The reading that counts at `now`; none: nothing is known.
    std::optional<TimePoint> good_reading(const HostSize& size, TimePoint now) const;
    /// vCPUs that room may rise to, or must fall to.
    Amount may_rise_to(const HostSize& size, TimePoint now) const;
    Amount must_fall_to(const HostSize& size, TimePoint now) const;
    /// vCPUs that may stay held: of those that no regular server uses.
    Amount may_stay(const HostSize& size, TimePoint now) const;
    /// The part of the trusted time of which there are readings.
    double covered(TimePoint now) const;

private:
    struct Reading {
        TimePoint at{};
        double least = 0, most = 0;            ///< as told
        double mean_least = 0, mean_most = 0;  ///< with those before
    };
    double peak(double Reading::*mean, TimePoint now) const;
    Amount room(const HostSize& size, double peak, bool allocated = true) const;

    RoomRules rules_;
    std::vector<Reading> readings_;
};

/// One look at a host, and what was made of it.
struct RoomLook {
    TimePoint at{};
    HostSize size{};
    Amount used = 0;  ///< of oversubscribed room
    Amount before = 0;
    Amount after = 0;     ///< published; 0 where it is closed
    Amount excess = 0;    ///< to be freed
    bool closed = false;  ///< there is an inventory, and nothing may start on it
};

/// Follows the looks of one process.
class RoomJudge {
public:
    explicit RoomJudge(const RoomRules& rules) : rules_(rules), told_(rules) {}

    void tell(const ToldUse& use) { told_.tell(use); }
    /// Another process begins.
    void restart();
    /// What is wrong with it; empty: nothing is.
    std::string look(const RoomLook& look);

    int rises() const { return rises_; }
    int falls() const { return falls_; }
    int times_left_alone() const { return times_left_alone_; }
    const ToldHistory& told() const { return told_; }

private:
    std::string judge_level(const RoomLook& look, bool good);
    std::string judge_rise(const RoomLook& look, bool good);
    void note_fall(TimePoint at);

    RoomRules rules_;
    ToldHistory told_;
    /// What room might have risen to at each look, and whether that was known.
    struct Chance {
        TimePoint at{};
        Amount to = 0;
        bool good = false;
    };
    std::vector<Chance> chances_;
    std::optional<TimePoint> known_at_;
    std::optional<TimePoint> rose_at_;
    std::optional<TimePoint> fell_at_;
    bool rose_ = false;  ///< since the last fall
    std::vector<TimePoint> flaps_;
    int in_a_row_ = 0;
    std::optional<TimePoint> left_alone_until_;
    int rises_ = 0, falls_ = 0, times_left_alone_ = 0;
};

}  // namespace reaper::faults
