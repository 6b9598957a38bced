// Notice before the end: a server's owner hears when it goes, or that it stays after all.
//
// Written before done: the journal has `notice-sent` before the owner can know, `notified` after,
// and `notice-withdrawn` before the owner hears that it stays. What a process that died left open
// is said again. One event, whatever the ways to the owner: at present that is the server's
// metadata in Nova, which its guest reads from the metadata service.
#pragma once

#include <set>
#include <string>

#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/safeguards/notices.hpp"

namespace reaper {

/// All of it must outlive this and its coroutines.
class NoticeGiver {
public:
    NoticeGiver(CloudPorts cloud, JournalWriter& journal, Notices& notices)
        : cloud_(cloud), journal_(journal), notices_(notices) {}

    /// It ends at `until`, and not before. An error: whether its owner can know is open. The time
    /// still runs where Nova refuses it, or has failed to take it for the period or two minutes.
    ResultTask<void> give(Request request, Victim victim, TimePoint until);
    /// Stops the server of that notice, so that its guest shuts down.
    Task<void> stop(Notice notice);
    /// The servers of the request stay, but for these.
    Task<void> withdraw(RequestId request, std::set<ServerId> but, std::string reason);

private:
    ResultTask<void> note(RequestId request, ServerId server, Step step, std::string detail);
    Task<void> withdraw_one(Notice notice, std::string reason);
    ResultTask<void> take_back(Notice notice);

    CloudPorts cloud_;
    JournalWriter& journal_;
    Notices& notices_;
};

}  // namespace reaper
