// A journal whose writes are observed: by metrics, and by the feed of events.
#pragma once

#include <memory>
#include <vector>

#include "reaper/ports/journal.hpp"

namespace reaper {

/// Passes everything to `inner`. When a write has ended, the observers are called one after the
/// other, before the caller goes on. `inner` and the observers must outlive it and its calls.
std::unique_ptr<Journal> observed_journal(Journal& inner, std::vector<JournalObserver*> observers);

}  // namespace reaper
