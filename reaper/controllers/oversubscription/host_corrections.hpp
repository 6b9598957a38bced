// From "so many vCPUs of this host must come free" to the servers that go, and the request for it.
// A host has one correction at a time of those that this process ordered, whatever their source, so
// that no server is evicted for vCPUs that another one is about to free. One that goes on after a
// restart is not known here: QosLoop alone waits for it. After a correction that evicted no server
// (a limit, an open breaker, a dry run) the next one of its source waits, longer each time in a
// row.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/oversubscription/correction.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {

/// The victims of a correction.
struct OrderedCorrection {
    std::size_t servers = 0;  ///< 0: none may go, or the host is busy
    Amount vcpus = 0;  ///< that they hold; of an estimator's, of the oversubscribed class alone
};

class HostCorrections {
public:
    /// False: nothing is done. Else the last argument gets the outcome, unless the reaper stops.
    using Submit =
        std::function<bool(Correction, CorrectionSource, std::function<void(const Outcome&)>)>;
    /// References must outlive it; it must outlive the callers of the outcome function.
    struct Dependencies {
        Clock& clock;
        const CacheRefresher& refresher;
        const Ledger& ledger;
        const LiveSettings& settings;
        Submit submit;
    };
    explicit HostCorrections(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One is under way, or the next one of the source waits.
    bool busy(const HostId& host, CorrectionSource source) const {
        return !why_busy(host, source).empty();
    }
    bool under_way(const HostId& host) const { return under_way_.contains(host); }
    const std::set<HostId>& under_way() const noexcept { return under_way_; }
    /// For people; empty: it is not.
    std::string why_busy(const HostId& host, CorrectionSource source) const;
    /// As far as the cache knows: a correction could be made now, and there is a server to evict.
    bool may_correct(const Host& host, CorrectionSource source) const {
        return !busy(host.id, source) && (host.estimated || !candidates(host, source).empty());
    }
    OrderedCorrection correct(const Host& host, const HostCorrection& correction,
                              CorrectionSource source);
    /// The same of servers that the caller chose. False: none goes.
    bool order(Correction correction, CorrectionSource source);
    /// As far as it is known now; the decision checks again.
    bool may_go(const Server& server, const Host& host) const;
    /// Oversubscribed vCPUs of servers that are being deleted, but for these.
    Amount leaving(const Host& host, const std::vector<CorrectedServer>& but = {}) const;

private:
    struct Choice {
        CorrectionCandidate candidate;
        const Server* server = nullptr;
    };
    std::vector<Choice> candidates(const Host& host, CorrectionSource source) const;
    void ended(const HostId& host, CorrectionSource source, const Outcome& outcome);

    struct Wait {
        GrowingPause pause{std::chrono::minutes{1}, std::chrono::minutes{30}};
        Duration until{};  ///< steady
    };

    Dependencies dependencies_;
    std::set<HostId> under_way_;
    std::map<std::pair<HostId, CorrectionSource>, Wait> waits_;
};

}  // namespace reaper
