// Recent victims: what the limits and the safeguard on thrashing count.
//
// Fed from the journal at the start, and with each deletion as it is sent. Bounded: beyond
// `max_kept` victims the oldest are forgotten, which changes no limit (each is smaller). A time in
// the future (the clock was set back) counts as now. Pure, one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/workload.hpp"

namespace reaper {

/// A server whose deletion was sent.
struct PastVictim {
    TimePoint at{};
    RequestId request;
    ServerId server;
    std::string name;
    ProjectId project;
    std::string host{};      ///< service host
    std::string workload{};  ///< as its metadata name it; or empty
    ProjectId requester{};   ///< the project that it was deleted for; empty: not known
    TimePoint created{};     ///< itself; `TimePoint{}`: not known
    /// By Nova: later than an earlier eviction, if it came back from a shelf.
    std::optional<TimePoint> launched{};
};

/// What its deletion costs: a victim, and one more for the work of an hour that is lost with it.
double harm_of(const PastVictim& victim);

class VictimHistory {
public:
    static constexpr std::size_t max_kept = 100'000;

    VictimHistory() = default;
    VictimHistory(VictimHistory&&) = default;  // a copy's iterators would be the original's
    VictimHistory& operator=(VictimHistory&&) = default;

    /// A server that is known already is not counted again, unless it came back in between.
    void note(PastVictim victim);
    /// Its deletion for the request never happened.
    void forget(const ServerId& server, const RequestId& request);
    /// Drops what is older than `kept`, and sets what lies in the future to `now`.
    void prune(TimePoint now, Duration kept);
    /// The wall clock was set forward by this duration (or back): all times move with it.
    void shift(Duration by);

    /// Was it evicted since it was launched? (Not known: ever?)
    bool contains(const ServerId& server, const std::optional<TimePoint>& launched) const;
    /// Whose it was; none if it is not known.
    std::optional<ProjectId> project_of(const ServerId& server) const;
    bool empty() const { return by_time_.empty(); }
    std::size_t size() const { return by_time_.size(); }
    /// Those after `since`, oldest first.
    void each_since(TimePoint since, const std::function<void(const PastVictim&)>& visit) const;
    /// Of one request, however long ago.
    long of_request(const RequestId& request) const;
    /// What those of one request cost.
    double harm_of_request(const RequestId& request) const;
    /// How often each workload was evicted after `since`: by how many requests. Only those of at
    /// least `least`. Counted on from the last call: it costs what changed since, as long as
    /// `since` only grows.
    std::map<Workload, int> evictions_since(TimePoint since, int least) const;

private:
    using ByTime = std::multimap<TimePoint, PastVictim>;

    /// The victims after a time, by workload.
    struct Counted {
        TimePoint since{};
        int least = 0;
        std::map<Workload, std::map<RequestId, long>> requests;
        std::map<Workload, int> often;  ///< of at least `least`
    };

    using ByServer = std::unordered_multimap<ServerId, ByTime::iterator>;

    void erase(ByTime::iterator at);
    ByServer::iterator entry_of(ByTime::iterator at);
    void count(const PastVictim& victim, long more) const;

    ByTime by_time_;
    ByServer by_server_;
    struct OfRequest {
        long victims = 0;
        double harm = 0;
    };
    std::unordered_map<RequestId, OfRequest> by_request_;
    mutable std::optional<Counted> counted_;
};

}  // namespace reaper
