// Servers that end although no request waits for their room: usage is above a watermark, or their
// life spans are over. Each goes by the way of corrections, under all limits; the decision checks
// again whether it still has to.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reaper/controllers/oversubscription/host_corrections.hpp"
#include "reaper/decision/duties.hpp"
#include "reaper/duties/watermark.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

class DutyLoop {
public:
    /// Between two looks.
    static constexpr Duration step{10'000};

    /// References must outlive it.
    struct Dependencies {
        Clock& clock;
        JournalReader& journal;
        CacheRefresher& refresher;
        HostCorrections& corrections;
        const Ledger& ledger;
        const LiveSettings& settings;
        std::function<std::uint64_t()> serving;  ///< as of RoomPublisher
        std::function<bool()> paused;            ///< or the clock is wrong
    };
    explicit DutyLoop(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look at all hosts. An error: what was culled lately is not known.
    ResultTask<void> look();

private:
    using Policy = std::shared_ptr<const CompiledPolicy>;
    /// Of the hosts whose usage counts together.
    struct Watched {
        std::set<ResourceClass> over;       ///< above the high mark, and not at the low one since
        std::optional<Duration> culled_at;  ///< steady
        bool told_none = false;             ///< that no server may go
    };
    struct Going {
        const Host* host = nullptr;
        ServerId server;
        std::string why;
    };

    bool may_act() const;
    std::vector<DutyScope> scopes() const;
    template <class Visit>
    void each_server(const DutyScope& scope, CorrectionSource source, Visit visit) const;
    void order(const std::vector<Going>& all, CorrectionSource source);
    void end_old(const LifeSpanSettings& settings);
    void tell_wrong(const Server& server, const LifeSpanSettings& settings);
    ResultTask<void> keep_free(Policy policy);
    ResultTask<void> know_culls();
    std::vector<WatermarkCandidate> candidates(const DutyScope& scope) const;
    void begin_cull(const std::vector<WatermarkCandidate>& chosen, const std::string& why,
                    const std::string& needed);
    bool cull(const WatermarkSettings& settings, bool really);

    Dependencies dependencies_;
    std::uint64_t epoch_ = 0;
    Policy policy_;                           ///< of the last look
    bool culls_known_ = false;                ///< what was culled before is in `watched_`
    std::map<std::string, Watched> watched_;  ///< by the scope's name
    std::set<std::string> told_wrong_;        ///< flavors' invalid life spans
    double may_end_ = 1;                      ///< servers past their life spans
    Duration counted_at_{};                   ///< steady
};

}  // namespace reaper
