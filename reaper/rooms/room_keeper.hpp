// The one writer of the ledger. All others report to it what happened; what that means for
// evictions and promises is decided here. Pure, one thread.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "reaper/model/change_log.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

class RoomKeeper {
public:
    /// `acts`: decisions are carried out. Those of a dry run promise nothing.
    explicit RoomKeeper(bool acts = true) : acts_(acts) {}

    const Ledger& ledger() const noexcept { return ledger_; }
    /// At the start: as the journal tells.
    void restore(Ledger ledger) {
        ledger_ = std::move(ledger);
        seen_ = {};
    }

    /// A decision was made for the request, and nothing of it was done yet. `has_deleted`: servers
    /// were deleted for an earlier plan of it. `host_of` tells the hosts as the decision saw them.
    void decided(const Request& request, const Decision& decision, bool has_deleted, TimePoint now,
                 const Ledger::HostLookup& host_of);
    /// The request takes the room that is there for it, and no other one may count on it: of
    /// several that are planned in one go.
    void takes(const Request& request, const NothingToDo& nothing, TimePoint now) {
        ledger_.enter(request, nothing.hosts, now);
    }
    /// Reserved room is released for the request, whose decision comes next: if it waits in the
    /// gateway, the room is promised to it from now on, unless something is already, or servers go
    /// for it.
    void promise_released(const Request& request, const std::vector<HostPlan>& plans,
                          TimePoint now);
    /// The decision could not be journaled: it does not count.
    void not_journaled(const RequestId& request, const Decision& decision, bool has_deleted);
    /// The plan ended without all of its room, and another one is made.
    void plans_again(const RequestId& request, bool has_deleted);
    /// Not all of the request's room can come: what earlier rounds freed is free for others.
    void not_enough(const RequestId& request) { ledger_.release_promises(request); }
    /// The request waits, and may never go on: its room stays promised until then.
    void waits(const RequestId& request, TimePoint now, TimePoint until) {
        ledger_.settle(request, now, until);
    }
    /// The request came to its end.
    /// `keeps_room`: room was freed, or found, for it, and stays promised for `promise`.
    void ended(const RequestId& request, bool keeps_room, TimePoint at, Duration promise);
    /// Of an ended request: what is promised to it holds until then, neither shorter nor longer.
    void holds_until(const RequestId& request, TimePoint until) {
        ledger_.hold_until(request, until);
    }
    /// One of its requesters has no use for its slot now.
    void gave_up(const RequestId& request, const ServerId& server) {
        ledger_.claim(request, server, {});
    }
    /// Its room goes to another request.
    void handed_over(const RequestId& request) { ledger_.release_promises(request); }

    /// A requester claimed room on these hosts in Placement, or gave it back.
    void claimed(const RequestId& request, const ServerId& server, const std::set<HostId>& hosts) {
        ledger_.claim(request, server, hosts);
    }
    void unclaimed(const RequestId& request, const ServerId& server) {
        ledger_.unclaim(request, server);
    }

    /// The server stays: found unfit, or its deletion never happened.
    void stays(const ServerId& server) { ledger_.stays(server); }
    /// Its deletion takes longer than its cull: it may still go.
    void goes_late(const ServerId& server) { ledger_.drop_eviction(server); }
    /// Its deletion did not come to its end in time, for any client.
    void given_up(const HostId& host, const ServerId& server, TimePoint now) {
        ledger_.give_up_on(host, server, now);
    }

    /// What reservations of the host keep for their roles.
    void reserved(const HostId& host, ReservedRoom::OnHost room) {
        ledger_.reserve(host, std::move(room));
    }
    /// What is reserved for its role, or lent to it, is for the request too.
    void admits(const Request& request) { ledger_.admit(request); }

    /// While it lives, a request that is not served has its rights, to be asked about; those of one
    /// that is served stay as they are.
    class Question {
    public:
        Question(RoomKeeper& rooms, const Request& request)
            : rooms_(rooms), own_(!rooms.ledger_.reserved().admitted(request.id)) {
            asked_.id = request.id;
            if (own_) rooms_.admits(request);
        }
        Question& operator=(Question&&) = delete;
        ~Question() {
            if (own_) rooms_.admits(asked_);
        }

    private:
        RoomKeeper& rooms_;
        bool own_;
        Request asked_;
    };

    /// Who takes the room of an ended request is of interest, until `untrack`.
    void track(const RequestId& request) { ledger_.watch(request); }
    /// The slots that were not taken.
    std::vector<Ledger::Settled> untrack(const RequestId& request) {
        return ledger_.lapse(request);
    }
    /// The cloud is seen like this now: room is taken, promises and evictions end.
    void observe(const Ledger::HostLookup& host_of, TimePoint now);
    /// The same for just the hosts that changed since the last call: `hosts` tells of
    /// those of the cache.
    void observe(const Ledger::HostLookup& host_of, const ChangeLog<HostId>& hosts, TimePoint now);
    /// The results of promised slots since the last call.
    std::vector<Ledger::Settled> take_settled() { return std::exchange(settled_, {}); }
    /// The wall clock was set forward by so much, or back.
    void clock_stepped(Duration by) { ledger_.shift(by); }

private:
    void keep(std::vector<Ledger::Settled> settled);

    bool acts_;
    Ledger ledger_;
    ChangeLog<HostId>::Reader seen_;
    std::vector<Ledger::Settled> settled_;
};

}  // namespace reaper
