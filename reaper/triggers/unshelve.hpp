// Finds servers whose unshelving found no host: Nova tells nobody, the server just stays
// SHELVED_OFFLOADED, and only its record of actions says that the last one failed.
//
// Looks every `trigger.unshelve_interval` at those that were changed lately (one call, and one more
// for each of them), and puts a message about each failure into the reaper's own queue: there it is
// one request like all others, however many reapers found it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"
#include "reaper/request_spec/schedule_memory.hpp"

namespace reaper {

class UnshelveWatch {
public:
    /// References must outlive it; `settings` may change.
    struct Parts {
        CloudPorts cloud;
        MessageSource& messages;
        const config::Trigger& settings;
        /// An unshelving whose search found a host failed for another reason.
        const ScheduleMemory& schedules;
        /// Whether messages flow: what is published meanwhile is lost.
        std::function<bool()> connected;
        const bool& stopping;
    };
    explicit UnshelveWatch(Parts parts) : parts_(parts) {}

    /// Looks again and again, until `stopping`.
    Task<void> run();
    /// The connection to the broker is a new one: what was told right before may have been lost,
    /// and is told again.
    void on_connection();

private:
    ResultTask<void> look();
    ResultTask<void> look_at(ServerRecord record);

    Parts parts_;
    TimePoint looked_at_{};  ///< when the last pass over all of them began
    TimePoint pass_began_{};
    std::set<ServerId> seen_;  ///< in this pass
    bool missed_ = false;      ///< one could not be looked at in this pass
    std::uint64_t connections_ = 0;
    bool failing_ = false;
    std::map<RequestId, TimePoint> told_;  ///< when; as long as the failure is young enough
};

}  // namespace reaper
