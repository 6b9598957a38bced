// Publishes oversubscribed room: in each interval, what the estimator gives for each host becomes
// the inventory of a nested provider in Placement, by the rule of publication.hpp.
//
// Only while this reaper serves. What it published last is in Placement, so a restart, or another
// reaper, continues from there. What an operator changed by hand is accepted, and falls or rises
// from there. Hosts that went up and down too often are in this machine's journal: a restart leaves
// them alone for as long, and while the journal can't be read, nothing rises. Flaps that are too
// few yet are then counted from 0. On a host that is too busy nothing new may start, and no room
// rises before its load is known, where that is watched. A host is read again before more is taken
// off it than is free, and once before room rises there, as bulk answers do not report its cores.
// One host that can't be read or written delays no other one. Where more is held than there is, the
// holders are evicted (`excess: evict`) or stay until they end (`drain`). A pause of the reaper
// lets no room rise and evicts no server; a dry run logs what it would publish.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/oversubscription/host_corrections.hpp"
#include "reaper/controllers/oversubscription/metrics_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/oversubscription/inventory_plan.hpp"
#include "reaper/oversubscription/publication.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

// Warns of hosts and aggregates that the settings of oversubscription name without effect
// (reaper/oversubscription/host_facts.hpp).

class IdleNamesLog {
public:
    /// Logs each once, until it is correct in between. Nothing is looked up while the settings and
    /// the number of hosts are the same.
    void look(const std::shared_ptr<const OversubscriptionPolicy>& policy,
              const std::vector<const Host*>& hosts);

private:
    std::shared_ptr<const OversubscriptionPolicy> policy_;
    std::size_t hosts_ = 0;
    std::set<std::string> told_;
};

// Hosts whose room went up and down too often, in the journal: so that a start of the daemon does
// not make room rise on them at once.

/// The event: the host's id, and in words for people since when and until when.
JournalEvent left_alone_event(const HostId& host, const std::string& name, const Circuit& quiet,
                              TimePoint now);

/// What the journal has of them, by the rules of today. `storage` if it can't be read.
ResultTask<std::map<HostId, Circuit>> left_alone_hosts(JournalReader& journal,
                                                       PublicationRules rules, TimePoint now);

// The nested providers with oversubscribed room, as exactly as they are known: as the cache has
// them, or as they were read or written by themselves since. Bulk answers do not say what of an
// inventory is reserved, or that it is closed; such a host's provider is read by itself.

struct NestedRoom {
    ProviderId provider;  ///< empty: there is none
    std::optional<Inventory> inventory{};
    Amount used = 0;
};

/// The ports and the refresher must outlive it.
class NestedRooms {
public:
    NestedRooms(CloudPorts cloud, const CacheRefresher& refresher)
        : cloud_(cloud), refresher_(refresher) {}

    /// None: it has to be read.
    std::optional<NestedRoom> of(const Host& host, const ResourceClass& room_class) const;
    /// Reads all that have to be; what can't be read, and why.
    Task<std::map<HostId, std::string>> read(ResourceClass room_class);
    /// It is so now. No provider: the one that the cache has is gone.
    void note(const HostId& host, NestedRoom room);
    /// The cache has providers that are gone, or has not all of them: a bulk reading is wanted.
    bool differ_from_cache() const;
    /// Those of hosts that the cache has no more.
    void prune();
    void clear() { exact_.clear(); }
    void shift(Duration by);

private:
    struct Exact {
        NestedRoom room;
        TimePoint at{};
        std::uint64_t build = 0;  ///< of the cache's bulk readings, the only ones with providers
        bool differs = false;     ///< the cache has not this provider, or has one that is gone
    };
    Task<void> read_one(HostId id, ResourceClass room_class, std::map<HostId, std::string>& failed);

    CloudPorts cloud_;
    const CacheRefresher& refresher_;
    std::map<HostId, Exact> exact_;
};

/// One host, for people.
struct OversubscribedHost {
    HostId host;
    std::string name;
    Amount published = 0;
    Amount used = 0;
    std::optional<Amount> wanted{};  ///< what the estimate allows; none: it is not known
    Amount excess = 0;               ///< held beyond what may stay
    bool left_alone = false;         ///< it flapped
    bool too_busy = false;           ///< nothing new until it is calm
    std::string why;
};

/// All of them together.
struct OversubscribedSums {
    Amount published = 0;
    Amount used = 0;
    Amount wanted = 0;  ///< of those of which it is known
    Amount excess = 0;
    std::size_t hosts = 0;
    std::size_t unknown = 0;  ///< of these, those whose use is not known
    std::size_t left_alone = 0;
};

class RoomPublisher {
public:
    /// References must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        CacheRefresher& refresher;
        MetricsReader* metrics;  ///< null: nothing is measured
        HostCorrections& corrections;
        const LiveSettings& settings;
        /// Not 0 while this reaper serves; another number when another one may have in between.
        std::function<std::uint64_t()> serving;
        std::function<bool()> journal_is_ours;  ///< no other reaper may have it by now
        std::function<bool()> paused;
        const bool& stopping;
        /// As QosLoop has it; null: no host is.
        std::function<bool(const HostId&)> too_busy{};
        /// Nothing rises until it is known how busy the host is; null: that is of no interest.
        std::function<bool(const HostId&)> load_awaited{};
    };
    explicit RoomPublisher(Dependencies dependencies)
        : dependencies_(std::move(dependencies)),
          rooms_(dependencies_.cloud, dependencies_.refresher) {}

    /// The work of one interval. Failures of single hosts are logged.
    ResultTask<void> publish();
    bool sells() const { return dependencies_.settings.oversubscription != nullptr; }
    /// Of what it sells.
    std::optional<ResourceClass> room_class() const;
    /// By name; of the last interval.
    std::vector<OversubscribedHost> hosts() const;
    OversubscribedSums sums() const;
    /// Of a correction, by the current estimate, holders and settings. An error: what the host uses
    /// is not known.
    Result<CorrectionNeed> needed(const Correction& correction) const;
    /// The estimate allows some there.
    bool to_be_sold(const HostId& host) const;
    void on_clock_step(Duration by);

private:
    using Policy = std::shared_ptr<const OversubscriptionPolicy>;

    struct Known {
        PublishedState state;
        OversubscribedHost shown;
        std::string refused{};  ///< the last logged reason why nothing could be written
    };
    /// What a host is to have.
    struct Wish {
        Published published;
        InventoryStep step;
        bool unread = false;  ///< it may come to more once the host is read exactly
    };

    double cores_of(const Host& host, const OversubscriptionPolicy& policy) const;
    Wish wish(const Host& host, Known& known, const OversubscriptionPolicy& policy);
    Estimate estimate_of(const Host& host, const OversubscriptionPolicy& policy) const;
    ResultTask<void> know_left_alone(Policy policy);
    bool may_evict(const Host& host, const Published& published,
                   const OversubscriptionPolicy& policy) const;
    Task<void> publish_on(HostId id, Policy policy, std::uint64_t epoch);
    Task<void> carry_out(HostId id, Wish wanted, Policy policy, std::uint64_t epoch);
    Task<void> note_flapping(HostId id, Circuit before);
    Task<bool> write(HostId id, InventoryStep step, ResourceClass room_class);
    std::optional<Amount> excess_on(const Host& host, const OversubscriptionPolicy& policy) const;
    void evict_excess(const Host& host, const Published& published,
                      const OversubscriptionPolicy& policy);
    void tell(const Host& host, Known& known, Amount before, const Published& published) const;
    void refuse(Known& known, std::string why) const;
    void see_whether_known(const std::vector<const Host*>& hosts);
    const std::vector<ProviderRecord>& providers_named(const std::string& name);
    bool dry_run() const { return dependencies_.settings.dry_run; }

    Dependencies dependencies_;
    std::uint64_t epoch_ = 0;  ///< of `serving`, as of the last interval
    NestedRooms rooms_;
    std::map<HostId, Known> known_;
    std::optional<std::map<HostId, Circuit>>
        left_alone_;  ///< by the journal; none: it was not read
    /// All of the cache, as of the interval's first need.
    std::optional<std::map<std::string, std::vector<ProviderRecord>>> providers_;
    IdleNamesLog idle_names_;
    std::size_t unknown_ = 0;  ///< the last logged number of hosts whose use was not known
};

}  // namespace reaper
