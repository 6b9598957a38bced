// Which reapers there are, for people: this one, and the one that serves the queue; or all that
// have one journal in a database.
#pragma once

#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "reaper/api/backend.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/ports/reapers.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Which reaper serves. The one that serves knows that itself; the others ask the broker, on a
/// thread of its own and at most every few seconds. Destroy it before the io_context; it waits for
/// a question that is out.
class KnownReapers {
public:
    /// `messages` and `clock` must outlive it. A dry run does not serve, and asks no broker.
    KnownReapers(config::Broker broker, std::string journal, const MessageSource& messages,
                 Clock& clock, bool dry_run);
    ~KnownReapers();

    ResultTask<std::vector<api::KnownReaper>> list();

    /// The same, of one journal.
    static std::vector<api::KnownReaper> of_journal(const ReaperList& list,
                                                    const std::string& journal);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace reaper
