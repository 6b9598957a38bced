// The network between the reaper and the cloud: our HTTP client's transport, without sockets. Each
// call reaches cloudsim's API after a while, and its answer comes back after another, unless a
// fault is due. A call that is on its way arrives even if the reaper that sent it is killed.
#pragma once

#include <memory>
#include <vector>

#include "clients/http/transport.hpp"
#include "faults/schedules/chance.hpp"
#include "faults/schedules/plan.hpp"
#include "faults/schedules/timeline.hpp"
#include "faults/schedules/trace.hpp"
#include "tests/cloudsim/api/site.hpp"

namespace reaper::faults {

/// One call as the checker sees it.
struct Exchange {
    cloudsim::Request request;
    TimePoint sent_at{};
    TimePoint executed_at{};
    bool executed = false;
    bool untrue = false;  ///< the answer was changed into one that may be believed
    cloudsim::Response response;
    std::uint64_t number = 0;
    std::uint64_t process = 0;  ///< who sent it: the latest one is the active one
    /// What the watcher keeps with it from the sending to the answer.
    std::shared_ptr<void> note;
};

/// Who watches the calls: the checker.
class CallWatcher {
public:
    virtual ~CallWatcher() = default;
    virtual void on_sent(Exchange& call) = 0;
    /// Right before and after the cloud works on it.
    virtual void on_arrival(Exchange& call) = 0;
    virtual void on_executed(Exchange& call) = 0;
    /// The reaper has the true answer of the cloud.
    virtual void on_answer(const Exchange& call) = 0;
    /// A proxy answered for the cloud.
    virtual void on_replaced(const Exchange& call, int status) = 0;
};

class Network {
public:
    Network(Timeline& timeline, cloudsim::Site& site, Trace& trace, FaultCounts& counts,
            std::uint64_t seed);

    void watch(CallWatcher& watcher) { watcher_ = &watcher; }
    /// From now on, for as long as the item says.
    void begin(const Item& item);
    /// A process of the reaper starts.
    void begin_process() { ++processes_; }
    /// For the latest process.
    std::shared_ptr<http::Transport> transport();
    /// Numbers for the client's jitter.
    double jitter() { return chance_.fraction(); }

private:
    class SimTransport;
    struct Active {
        Item item;
        TimePoint until{};
        Chance chance;
    };
    /// The fault that strikes this call; none.
    std::optional<Kind> fate(const http::Outgoing& call);
    void execute(const std::shared_ptr<Exchange>& call, std::optional<Kind> fault);
    void count(Kind kind) { ++counts_[static_cast<std::size_t>(kind)]; }

    Timeline& timeline_;
    cloudsim::Site& site_;
    Trace& trace_;
    FaultCounts& counts_;
    Chance chance_;
    CallWatcher* watcher_ = nullptr;
    std::vector<Active> active_;
    std::uint64_t calls_ = 0;
    std::uint64_t processes_ = 0;
};

}  // namespace reaper::faults
