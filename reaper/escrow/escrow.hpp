// Room that is kept in Placement between a victim and the server that it is freed for.
//
// Free room goes to the first client that asks Placement for it. So before a victim is deleted for
// a request that waits in the gateway, one transaction (`POST /allocations`) hands what it holds to
// a consumer of ours, of type RESERVATION (escrow_consumer.hpp): the deletion goes as usual, and
// the room is never shown as free. The gateway hands it on to the requester in the same way. Room
// that is no longer promised is released within a second or so. Room of a server whose deletion did
// not happen is given back to it.
//
// Where a plan counts on room that is already free, the room is taken in the same way, before any
// server is deleted: if it is gone by then, no server is deleted for a plan that does not hold.
//
// Everything is written in Placement: the consumer's id tells whose room it is, its user is the
// server's, and all of them are in one project of ours. So a process that finds such consumers, its
// own from before a crash or another reaper's, can end them: give back what belongs to an existing
// server, release the rest. It ends those of others only while it serves: then no other reaper
// changes them.
//
// It protects the room but is no condition for a deletion: if it can't be kept, the log says so.
//
// All others read Placement through `view`. It shows each victim as holding its room until Nova
// released it, and no holder after that: the ledger promises it.
//
// One thread; the ports, the ledger and `serving` must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/model/plan.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/turn.hpp"

namespace reaper {

/// The room in escrow of one server.
struct EscrowedRoom {
    RequestId request;  ///< it is kept for; empty: not known now
    HostId host;
    Allocations holds;
    bool gone = false;      ///< Nova has released its server
    bool all_gone = false;  ///< it must have released CPUs, NUMA memory and devices as well
};

class Escrow {
public:
    struct Dependencies {
        CloudPorts cloud;  ///< with Placement as it is
        const Ledger& ledger;
        /// Not 0: this reaper acts, and no other; another number each time that it begins to.
        std::function<std::uint64_t()> serving;
    };
    explicit Escrow(Dependencies dependencies);
    ~Escrow();
    Escrow& operator=(Escrow&&) = delete;  // its view knows its place

    /// Placement for all others; lives as long as this.
    Placement& view();

    /// Loads what a previous process kept for requests of the gateway: it is read again before it
    /// is used for an answer.
    ResultTask<void> restore(JournalReader& journal, TimePoint since);
    /// The one turn to take room of each of them, for this reaper and for claims through its
    /// gateway: of two at once, Placement may let both have the same room.
    Task<std::unique_ptr<Turn<ProviderId>>> turn_for(std::set<ProviderId> providers);
    /// Room that is free, for the request alone. False: another consumer has it.
    Task<bool> take_free(RequestId request, HostId host, Resources amounts);
    /// Right before the victim's deletion goes out. False: it holds something else than `held`, as
    /// Placement showed it last, and nothing was done.
    Task<bool> keep(EscrowedRoom room, ServerId victim, Consumer held);
    /// Does what is due: releases, gives back, or looks again. To be called every `step`.
    ResultTask<void> check();
    static constexpr Duration step{1000};
    /// Looks for what a previous process or another reaper left, when this one begins to serve and
    /// once an hour, and at each room of which it is not known whether it is kept. To be called
    /// every `between_settlings`, and before a decision. Until it has run, used room can't be
    /// distinguished from room that is kept for no request.
    ResultTask<void> settle_others();
    static constexpr Duration between_settlings{2'000};
    /// Hosts that are shown in another way than before, though no cull waits for it: what was read
    /// of them is out of date.
    const std::set<HostId>& changed() const { return changed_; }
    void change_known(const HostId& host) { changed_.erase(host); }
    /// Before the process ends, for a few seconds.
    Task<void> release_all();

    /// Whose servers are gone.
    std::vector<EscrowedRoom> kept_for(const RequestId& request) const;
    bool keeps_for(const RequestId& request) const;
    bool keeps(const ServerId& server) const { return kept_.contains(server); }
    /// What is kept on a host for the request, gone or not.
    Resources kept_on(const HostId& host, const RequestId& request) const;
    /// The former, without what was free already.
    Resources of_victims_on(const HostId& host, const RequestId& request) const;
    /// What is kept there for all others, without what is about to be released.
    Resources promised_for_others_on(const HostId& host, const RequestId& request) const;
    /// What is kept for one request is for another one from now on, which is about to be decided.
    void reassign(const RequestId& from, const RequestId& to);
    /// What is kept on the host for no request is for this request from now on.
    void take_over(const HostId& host, const RequestId& request);
    /// Releases what is kept for a request that can't be handed it.
    Task<void> release_for(RequestId request);
    /// What must change, together with its claim of `asked`, so that it takes over what is kept for
    /// it, and releases what its further claims on the host do not name; empty: nothing is kept.
    ResultTask<std::vector<ConsumerChange>> hand_over(RequestId request, Allocations asked);
    /// That was done.
    void handed_over(const std::vector<ConsumerChange>& changes);
    /// Whether it was done is not known, or another client changed one of them.
    void not_sure_of(const std::vector<ConsumerChange>& changes);
    /// Placement lets us; not if it refused lately for want of a right.
    bool allowed() const;
    std::size_t size() const noexcept { return kept_.size(); }

    // For the view.
    /// Of a server whose room is kept: all of it until Nova has released it, and then nothing.
    ResultTask<Consumer> held_by(ServerId server);
    /// Shows the servers instead of the escrow consumers of their room, and leaves out those that
    /// are gone.
    void show(std::map<ServerId, Resources>& allocations) const;
    /// Takes up what others left there, so that it is shown as ours. True: some of it was handed
    /// over or released since it was read.
    Task<bool> adopt_from(ProviderId provider, const std::map<ServerId, Resources>& allocations);
    /// What of a provider's use counts as free: it is promised.
    Resources shown_free_on(const ProviderId& provider) const;

private:
    static constexpr Duration call_deadline{5'000};  // of one write
    static constexpr Duration first_pause{1'000};
    static constexpr Duration longest_pause{60'000};
    struct Entry {
        EscrowedRoom room;
        bool sure = true;                ///< Placement said so; else it must be asked
        bool busy = false;               ///< another coroutine is at it
        std::optional<Consumer> read{};  ///< the escrow consumer, unless it was written since
        Duration retry_at{};             ///< steady
        Duration stays_until{};          ///< steady: it is not released before, promised or not
        std::optional<Duration> deleted_at{};  ///< steady: Nova showed its server as DELETED
        GrowingPause pause{first_pause, longest_pause};
    };

    static std::string name_of(const ServerId& server);
    void expect(const RequestRecord& record);
    enum class Taken { yes, no, differs };
    Task<Taken> take(ServerId victim, Consumer held);
    ResultTask<void> move_to_escrow(ServerId victim, Consumer owner);
    Task<void> look(ServerId server);
    Task<void> look_if_unsure(ServerId server);
    void note_change(const HostId& host, const ServerId& server);
    void note_refusal(const Error& error);
    ResultTask<std::optional<ServerRecord>> unreleased(ServerId server);
    Task<void> check_one(ServerId server);
    Task<void> release(ServerId server);
    ResultTask<void> empty(ServerId consumer);
    Task<void> give_back(ServerId server, ProjectId project);
    Task<void> tell_if_lost(ServerId server);
    ResultTask<void> look_at_unsure();
    ResultTask<void> look_for_others();
    Task<void> look_at(ProviderId provider, std::size_t& failed);
    Task<void> take_away(ServerId server);
    Task<bool> adopt(ServerId consumer, HostId host);
    bool promised(const EscrowedRoom& room) const;
    Resources claimed_later(const EscrowedRoom& room) const;
    bool under_way(const ServerId& server) const;
    void try_later(const ServerId& server, const std::string& what);

    Dependencies dependencies_;
    std::map<ServerId, Entry> kept_;  ///< by the server whose room it was
    Duration forbidden_until_{};      ///< steady
    int unsettled_ = 0;               ///< looks for others' that failed, in a row
    std::uint64_t settled_for_ = 0;   ///< `serving` when it was looked for others' last
    Duration settled_until_{};        ///< steady
    bool told_unsettled_ = false;     ///< the failure is logged
    bool settling_ = false;
    std::set<HostId> changed_;     ///< since `change_known`
    std::set<ServerId> foreign_;   ///< consumers that resemble ours, but are not
    std::set<ProviderId> taking_;  ///< see `turn_for`
    std::unique_ptr<Placement> view_;
};

}  // namespace reaper
