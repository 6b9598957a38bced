// The places of calls of nova-scheduler's that wait for room: who may have one, and whose calls get
// no answer in time. Pure, one thread; times are on the steady clock, told and never read.
//
// Places are shared out by project and by host. A call may take one while fewer are held by its
// project than are free, and the same holds on each host that it waits for: so one project, or the
// calls onto one host that hangs, hold half of the places at most, and of what they leave the next
// one holds half at most. (The dynamic threshold of shared switch memory: Choudhury and Hahne,
// 1998.)
//
// A call is late that has no outcome in time. Three in a row onto one host speak against that host,
// three in a row of one project against that project: for 30 s no call waits for that host, or of
// that project, and all others do as usual. What speaks against a host speaks against no project.
// Everything passes through only if three late calls in a row share neither project nor host: then
// something is wrong that all of them need. A call of which neither is known, because Nova did not
// name the requester, shares nothing with any other.
//
// After its pause a host or a project is paused again by the first late call, until one is served.
//
// How the gateway uses it:
//     if (auto why = room.why_paused(call, now)) -> pass, or 409 to a claim of a paused host
//     if (auto why = room.why_full(call, settings.max_held)) -> the same
//     WaitingRoom::Place place{room, call};        // as long as the call waits
//     place.waits_for(hosts);                      // once its plan is known
//     place.served();                              // it has an outcome, whatever that is, or
//     if (auto pause = place.late(now)) log it     // it had none by its deadline
// `GET /reaper-gateway` says 503 for `why_all_paused` alone; `pauses` tells the rest to people.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// A waiting call, and where it waits; as far as it is known.
struct WaitingCall {
    ProjectId project{};  ///< empty: not known
    std::string project_name{};
    std::map<HostId, std::string> hosts{};  ///< with their names; none: not known
};

class WaitingRoom {
public:
    /// Late calls in a row that begin a pause.
    static constexpr int most_late = 3;
    static constexpr Duration pause_for{30'000};
    /// A late call is forgotten after this time.
    static constexpr Duration remembered_for{600'000};

    /// Held by a call as long as it lives. The room must outlive it.
    class Place {
    public:
        Place(WaitingRoom& room, WaitingCall call);
        ~Place();
        Place& operator=(Place&&) = delete;

        /// From now on, in place of what was known.
        void waits_for(std::map<HostId, std::string> hosts);
        void served() { room_.served(call_); }
        std::optional<std::string> late(Duration now) { return room_.late(call_, now); }

    private:
        WaitingRoom& room_;
        WaitingCall call_;
    };

    /// Why it can't have a place, of `most` at a time; none if it can.
    std::optional<std::string> why_full(const WaitingCall& call, int most) const;
    /// Why no call like it waits now; none if it may.
    std::optional<std::string> why_paused(const WaitingCall& call, Duration now) const;
    /// Why no call waits now, whosever it is; none if some do.
    std::optional<std::string> why_all_paused(Duration now) const;
    /// Hosts that no call waits for now, and why.
    std::map<HostId, std::string> paused_hosts(Duration now) const;
    /// All pauses that last, for people.
    std::vector<std::string> pauses(Duration now) const;

    /// It had no outcome in time. Returns the pause that begins, for people.
    std::optional<std::string> late(const WaitingCall& call, Duration now);
    /// It had one: what spoke against its project and hosts, and against all, is forgotten.
    void served(const WaitingCall& call);

    int held() const { return held_; }

private:
    /// Late calls in a row.
    struct Run {
        int late = 0;
        Duration last{};
        Duration paused_until{};
        std::string name{};
        std::set<HostId> hosts{};  ///< of a project's: where they waited
        bool paused(Duration now) const { return now < paused_until; }
    };

    void take(const WaitingCall& call, int places);
    bool blames_host(const WaitingCall& call, Duration now, std::optional<std::string>& began);
    bool blames_project(const WaitingCall& call, Duration now, std::optional<std::string>& began);
    void note_unrelated(const WaitingCall& call, Duration now, std::optional<std::string>& began);
    void clear_of(const HostId& host);
    void forget_old(Duration now);
    static bool count(Run& run, Duration now);

    int held_ = 0;
    std::map<ProjectId, int> held_of_;
    std::map<HostId, int> held_on_;
    std::map<ProjectId, Run> projects_;
    std::map<HostId, Run> hosts_;
    std::vector<std::pair<WaitingCall, Duration>> unrelated_;  ///< late, and when
    Duration all_paused_until_{};
};

}  // namespace reaper
