// Serves one request: picture, plan, cull, and again where a victim turned out unfit.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/executor/async.hpp"
#include "reaper/executor/plan_executor.hpp"
#include "reaper/ledger/ledger.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/service/backoff.hpp"
#include "reaper/service/picture_keeper.hpp"
#include "reaper/service/policy.hpp"
#include "reaper/service/service.hpp"
#include "reaper/service/snapshot_reader.hpp"

namespace reaper {

/// What all requests share.
struct Workshop {
    CloudPorts cloud;
    Journal& journal;
    Ledger& ledger;
    PictureKeeper& keeper;
    AsyncSemaphore& planning;   ///< one permit: a plan is entered before the next one is made
    AsyncSemaphore& deletions;  ///< bounds the deletions sent at a time
    const bool& stopping;
};

/// References must outlive the object, and the object its coroutines.
class RequestServer {
public:
    RequestServer(Workshop workshop, ServiceOptions options, Request request);

    /// Decides and acts until there is an outcome. None: the reaper is stopping and nobody died;
    /// the request stays unfinished in the journal.
    Task<std::optional<Outcome>> serve();
    /// The same for a request that a former process left unfinished: what it sent is credited,
    /// what it planned and did not send is looked at afresh.
    Task<std::optional<Outcome>> resume(Story story);

private:
    Task<std::optional<Outcome>> rounds();
    /// A decision on a fresh picture, journalled and entered into the ledger; none when stopping.
    ResultTask<std::optional<Decision>> decide();
    ResultTask<Decision> decide_now();
    std::optional<Outcome> conclude(const NothingToDo& nothing) const;
    std::optional<Outcome> conclude(const NotEnough& not_enough) const;
    /// Carries a plan out; none: another round is needed.
    Task<std::optional<Outcome>> carry_out(Plan plan, std::map<ServerId, Progress> known);
    Outcome outcome(OutcomeKind kind, std::string reason) const;
    Task<std::optional<std::string>> requester_gone();
    bool out_of_time() const;

    Workshop workshop_;
    ServiceOptions options_;
    Request request_;
    std::unique_ptr<PlanExecutor> executor_;
    std::map<ServerId, std::string> spared_;
    int round_ = 0;
    int deleted_ = 0;
};

}  // namespace reaper
