// Trigger: servers whose unshelving found no host. Nova does not report it; the server just stays
// SHELVED_OFFLOADED, and only its record of actions says that the last one failed.
//
// Looks every `trigger.unshelve_interval` at those that were changed lately (one call, one more for
// each of them, and one more for each failure, whose cause Nova may know to be another). Of several
// reapers on one queue all look, and the one that serves it submits: what it leaves when it goes
// down, the next one has seen, and what it had time to serve is left alone. After a loss of the
// queue they are submitted again, which gives requests in flight their lease back.
//
// With `trigger.unshelve_again` Nova is asked once more for a server whose room was freed, unless
// its owner did something since. It is journalled before. What comes of that is left to its owner:
// the failure of such an unshelving is no request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "config/settings.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/request_spec/schedule_memory.hpp"

namespace reaper {

class UnshelveTrigger {
public:
    /// References must outlive it; `settings` may change.
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        const config::Trigger& settings;
        std::function<SchedulerRules()> scheduler;  ///< how nova-scheduler is set up, by now
        /// An unshelving whose search found a host failed for another reason.
        const ScheduleMemory& schedules;
        const MessageSource& messages;    ///< knows which reaper serves the queue
        std::function<bool()> connected;  ///< to the broker: if not us, another reaper serves
        /// What another reaper has seen for this long, it has served.
        std::function<Duration()> time_to_serve;
        /// The reaper itself tried to bring it back: no one waits for that.
        std::function<bool(const ServerId&)> is_return;
        std::function<bool()> may_act;  ///< this reaper serves, and is not paused
        RequestSink& sink;
        const bool& stopping;
    };
    explicit UnshelveTrigger(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

    /// One look. An error: not all of them could be looked at.
    ResultTask<void> check();

private:
    /// An unshelving for which room was freed.
    struct Freed {
        ServerId server;
        RequestId request;
        TimePoint failed_at{};
    };
    Task<void> ask_again();
    ResultTask<void> ask_again(Freed freed);
    ResultTask<void> look_at(ServerRecord record);
    ResultTask<bool> asked_by_us(const ServerId& server, const ActionRecord& action);
    bool left_alone(const RequestId& request, TimePoint now);
    void submit(const ServerRecord& record, const ActionRecord& action,
                std::shared_ptr<const Lease> lease, bool maybe_served);

    Dependencies dependencies_;
    TimePoint looked_at_{};  ///< when the last pass over all of them began
    TimePoint pass_began_{};
    std::set<ServerId> seen_;  ///< in this pass
    bool missed_ = false;      ///< one could not be looked at in this pass
    /// Failures that were found, and when; as long as they are young enough.
    std::map<RequestId, TimePoint> submitted_, left_to_other_;
    std::vector<Freed> freed_;
    std::uint64_t epoch_ = 0;  ///< in which we serve the queue, or did
};

}  // namespace reaper
