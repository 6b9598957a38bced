// Hosts whose room went up and down too often, in the journal: so that a start of the daemon does
// not make room rise on them at once.
#pragma once

#include <map>
#include <string>

#include "reaper/oversubscription/publication.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

/// The event: the host's id, and in words for people since when and until when.
JournalEvent left_alone_event(const HostId& host, const std::string& name, const Circuit& quiet,
                              TimePoint now);

/// What the journal has of them, by the rules of today. `storage` if it can't be read.
ResultTask<std::map<HostId, Circuit>> left_alone_hosts(JournalReader& journal,
                                                       PublicationRules rules, TimePoint now);

}  // namespace reaper
