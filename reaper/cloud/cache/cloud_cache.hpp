// The cloud cache: the whole cloud in memory, kept fresh so that a decision needs no reading of
// the whole cloud.
//
// Built once from bulk answers, then changed host by host: by Nova's events (what happened, often
// seconds before Placement is read again) and by exact readings of single hosts. Events can be
// missed, late, repeated or out of order, so they only make the cache better, never true: each host
// says when its room was read (`Host::read_at`), whether anything happened to it since, and a plan
// that uses it reads the chosen hosts again first. Of one server an event older than the last one
// counts for nothing, and one that is gone never comes back (UUIDs are not used twice); a reading
// counts for nothing about a server of which an event came after the reading was begun.
//
// Pure data, one thread. Costs: an event or a reading O(log n) plus the servers of its host.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/cloud/cache/host_parts.hpp"
#include "reaper/model/cloud_event.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/interner.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/cloud_index.hpp"

namespace reaper {

// Recent events about single servers: a reading that was begun before must not undo it.

class EventMemory {
public:
    /// `sent` by Nova, on its clock; `arrived` on ours. False if the event is not to be believed:
    /// an older one, or one of a server that is gone.
    bool remember(const ServerId& server, TimePoint sent, TimePoint arrived, bool gone);
    bool heard_since(const ServerId& server, TimePoint began) const;
    bool is_gone(const ServerId& server) const;

    /// The whole cloud was read, beginning at `began`: what events reported before is in it. What
    /// is gone stays gone.
    void forget_before(TimePoint began);
    /// Of events that are older than any is late. False: it is not long since it was done.
    bool forget_old(TimePoint now);
    /// Our clock was set forward by this duration (or back).
    void shift(Duration by);

private:
    struct Told {
        TimePoint sent;
        TimePoint arrived;
        bool gone = false;
    };
    std::unordered_map<ServerId, Told> told_;
    TimePoint forgot_at_{};
};

// In which order the hosts of the cache are read again: kept up to date host by host, so that the
// next ones are found without a look at all.

class ReadingOrder {
public:
    /// Where a host stands: first those to which something happened since they were read, then
    /// those never read exactly, then the others.
    enum class Kind : unsigned char { touched, estimated, exact };
    struct Place {
        Kind kind = Kind::exact;
        TimePoint since{};  ///< touched: when something happened last; else when it was read
        TimePoint read_at{};
        const HostId* host = nullptr;
    };

    /// `place.host` must stay where it is until the host is taken out or all are.
    void put(const Place& place) { order_.insert(place); }
    void take(const Place& place) { order_.erase(place); }
    void clear() { order_.clear(); }

    /// At most `count` of the hosts that are due: touched, but not after `settled`; estimated; read
    /// before `expired`. O(count), and O(touched hosts) for those that are not settled.
    std::vector<HostId> due(std::size_t count, TimePoint settled, TimePoint expired) const;
    /// When the host was read that was not read for longest; `none` without hosts.
    TimePoint oldest_read_at(TimePoint none) const;

private:
    struct Before {
        bool operator()(const Place& a, const Place& b) const {
            if (a.kind != b.kind) return a.kind < b.kind;
            if (a.since != b.since) return a.since < b.since;
            return *a.host < *b.host;
        }
    };

    std::set<Place, Before> order_;
};

/// How old the cache is, for people and for deciding what to read.
struct CacheAges {
    std::size_t hosts = 0;
    std::size_t servers = 0;
    TimePoint built_at{};        ///< when the bulk reading was begun
    TimePoint oldest_read_at{};  ///< of all hosts
};

class CloudCache {
public:
    /// Hosts and servers are those of `snapshot` from now on, but for those that are gone. Apply
    /// the events that arrived since its `taken_at` again.
    void replace(Snapshot snapshot, std::shared_ptr<const Taggers> taggers, TagData tag_data);
    /// Other taggers, or other answers to their questions.
    void retag(std::shared_ptr<const Taggers> taggers, TagData tag_data);
    /// The servers that are never victims (the planner's rows then say so).
    void protect(const Protection& protection) { index_.protect(protection); }
    void set_services(const std::vector<ComputeServiceRecord>& services);
    void set_aggregates(const std::vector<AggregateRecord>& aggregates);
    /// All deletions that a reaper began and that are not finished: the servers as Nova shows them,
    /// each marked so. They stay on their hosts, although Nova's lists of these leave them out, as
    /// long as they hold room. They were asked for from `began` on; an event since then is newer.
    /// True if that changes anything.
    bool set_unfinished(const std::vector<ServerRecord>& records, TimePoint began);
    /// Servers that were seen to be soft-deleted, and are still here.
    std::vector<ServerRecord> soft_deleted() const;
    /// False if the reading does not fit the cache (unknown host, other providers): then the
    /// structure is doubtful.
    bool apply(const HostReading& reading);
    /// Servers that are on the host as far as the cache knows, and hold room by the reading, but
    /// are not in its list: being deleted now (Placement may have been read before Nova, and
    /// reports them still), softly deleted or moved. The caller asks Nova first, and puts those
    /// that it no longer knows in `gone`: their room is on its way.
    std::vector<ServerId> unlisted(const HostReading& reading) const;
    /// This consumer, which is no server, now holds this on the host: the reaper wrote it into
    /// Placement itself. Of a host that was never read exactly nothing is known of consumers.
    void set_holdings(const HostId& id, const ServerId& consumer, const Allocations& holds);
    /// The host is no more.
    void erase(const HostId& id);
    /// `arrived`: now, on our clock; Nova's clock only orders the events of one server.
    void apply(const CloudEvent& event, TimePoint arrived);

    /// What Keystone calls projects, for people. It stays when the cloud is read again.
    void set_project_names(ProjectNames names) { index_.name_projects(std::move(names)); }
    const ProjectNames& project_names() const noexcept { return index_.project_names(); }

    /// All resizes that are not confirmed; what they left behind is shown by `link_resizes`.
    void set_resizes(std::vector<UnconfirmedResize> resizes);
    /// Shows on the hosts what their former servers hold there now. True if that is news.
    bool link_resizes();
    /// Servers that Nova can't delete, because it could not confirm their resizes on the way: the
    /// hosts that they came from are down. Each with the reason.
    std::map<ServerId, std::string> unconfirmable() const;
    /// Does a revocable server wait for its resize to be confirmed, as far as is known?
    bool has_unconfirmed() const { return !unconfirmed_on_.empty(); }

    /// Hosts for the planner. It changes with every call above that is not const.
    const CloudIndex& index() const noexcept { return index_; }
    /// The wall clock was set forward by this duration (or back): what is remembered of events and
    /// readings moves with it. A new reading must show what the hosts' readings are worth.
    void shift(Duration by);
    const Host* find(const HostId& id) const;
    /// A recent event reported that the server is gone, or a reading that Nova no longer knows it.
    bool reported_gone(const ServerId& server) const { return event_memory_.is_gone(server); }
    /// Servers are soft-deleted in this cloud: one was seen so, ever.
    bool soft_deletes() const noexcept { return soft_deletes_; }
    /// None if it is on no host.
    const Server* find(const ServerId& id) const;
    /// All of them, by id; valid until the next change.
    std::vector<const Host*> hosts() const;
    const TagData& tag_data() const noexcept { return tag_data_; }
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }
    /// True when hosts came, went or changed their providers: a bulk reading is due.
    bool structure_stale() const noexcept { return stale_; }
    bool aggregates_stale() const noexcept { return aggregates_stale_; }
    /// An event reported something there since its room was read.
    bool changed_since_read(const HostId& id) const;
    /// The hosts that have to be read because Nova has the server on `service_host` (empty:
    /// nowhere) and this has it elsewhere; none if both agree.
    std::vector<HostId> stale_hosts_of(const ServerId& server,
                                       const std::string& service_host) const;

    /// At most `count` hosts whose exact reading is due: first those to which something happened,
    /// but not after `settled`; then those never read exactly; then those read before `expired`,
    /// the oldest first.
    std::vector<HostId> due(std::size_t count, TimePoint settled, TimePoint expired) const;
    CacheAges ages() const;
    /// What servers most often hold, the most frequent first: the likely shapes of requests.
    std::vector<Resources> common_shapes(std::size_t count) const;

private:
    struct Entry {
        std::unique_ptr<Host> host;  // the index holds its address
        TimePoint touched_at{};      // when the last event about it came
        TimePoint listed_at{};       // when the reading that reported its servers was begun
        TimePoint traits_at{};       // when the reading that reported them was begun
        TimePoint aggregates_at{};   // as above
        ReadingOrder::Place place;   // in the order of readings
    };

    /// Not noexcept: so the library keeps hashes, and a search looks at one id only.
    struct KeptHash {
        std::size_t operator()(const ServerId& id) const { return std::hash<ServerId>{}(id); }
    };
    void see(const ServerSeen& event, TimePoint arrived);
    void lose(const ServerGone& event, TimePoint arrived);
    void see(const ServiceSeen& event, TimePoint arrived);
    static bool describe(Entry& entry, const HostReading& reading);
    void put_server(Host& host, const ServerRecord& record, bool estimate);
    const Server* server_at(const ServerId& id) const;
    void take_server(const ServerId& server, TimePoint arrived);
    void note_soft_deleted(const ServerId& server) {
        soft_deleted_.insert(server);
        soft_deletes_ = true;
    }
    /// True if a server there is leaving: the host is to be read again soon.
    bool read_servers(Host& host, const HostReading& reading);
    bool is_leaving(const ServerId& server, const HostReading& reading) const;
    bool read_leavers(Host& host, const HostReading& reading);
    void add_leavers(Host& host, const HostReading& reading);
    void drop_gone(Host& host) const;
    void keep_limits(Host& host) const;
    static bool holds_on(const ServerId& server, const HostReading& reading);
    void touch(const HostId& id, TimePoint arrived);
    /// The host changed.
    void put_in_index(const Host& host);
    void put_in_order(const HostId& id, Entry& entry);
    const HostId* place_of(const std::string& service_host, const std::string& node) const;

    std::map<HostId, Entry> hosts_;
    ReadingOrder order_;
    std::multimap<std::string, HostId> by_service_;
    std::set<std::string> unmatched_services_;  ///< known to have no host here
    std::unordered_map<ServerId, HostId, KeptHash> where_;
    std::vector<UnconfirmedResize> resizes_;
    std::set<HostId> left_behind_on_;              ///< hosts that show some
    std::set<HostId> unconfirmed_on_;              ///< hosts with a victim that waits for it
    std::map<ServerId, ServerRecord> unfinished_;  ///< deletions, as of the last word on them
    std::set<ServerId> soft_deleted_;              ///< they may be here no more
    bool soft_deletes_ = false;                    ///< some server was ever seen so
    EventMemory event_memory_;
    CloudIndex index_;
    Interner interner_;
    std::shared_ptr<const Taggers> taggers_;
    TagData tag_data_;
    std::vector<std::string> remarks_;
    TimePoint built_at_{};
    bool services_seen_ = false;  ///< since the cache was replaced
    bool stale_ = false;
    bool aggregates_stale_ = false;
};

}  // namespace reaper
