// Finds servers whose unshelving found no host: Nova tells nobody, the server just stays
// SHELVED_OFFLOADED, and only its record of actions says that the last one failed.
//
// Looks every `trigger.unshelve_interval` at those that were changed lately (one call, and one more
// for each of them), and puts a message about each failure into the reaper's own queue: there it is
// one request like all others, however many reapers found it.
#pragma once

#include <map>

#include "config/settings.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/service/snapshot_reader.hpp"

namespace reaper {

class UnshelveWatch {
public:
    /// References must outlive it; `settings` may change.
    struct Parts {
        CloudPorts cloud;
        MessageSource& messages;
        const config::Trigger& settings;
        const bool& stopping;
    };
    explicit UnshelveWatch(Parts parts) : parts_(parts) {}

    /// Looks again and again, until `stopping`.
    Task<void> run();

private:
    ResultTask<void> look();
    ResultTask<void> look_at(ServerRecord record);

    Parts parts_;
    TimePoint looked_at_{};
    bool failing_ = false;
    std::map<RequestId, TimePoint> told_;  ///< when; as long as the failure is young enough
};

}  // namespace reaper
