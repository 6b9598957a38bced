// The journal in an SQLite file (WAL, every call durable when it returns).
//
// SQLite blocks, so its work runs one call after the other on a thread of the journal's own; a
// call resumes its coroutine on the coroutine's own executor. Destroying the journal waits for the
// work that was begun; do it before the io_context goes away.
//
// One writer: a lock file beside the database (`PATH-lock`) keeps a second reaper off. Readers
// (`reaper history`) are welcome at any time.
//
// Bounded: finished records, messages and events older than the retention are dropped when a call
// gives the time (the first, then once a day).
#pragma once

#include <memory>
#include <string>

#include "clients/journal/schema.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

/// Opens or creates the file for writing. Blocks (a check of the whole file is part of it).
/// `:memory:` keeps everything in memory, for dry runs. Errors are `storage`, with the path and
/// what to do: no such directory, no right, full disk, another reaper at work, a schema of another
/// version, a file of another program.
///
/// A damaged journal is renamed (`PATH.damaged-TIME`), with a line to the log that says so, and a
/// new one is begun, with its protections of servers; where they can't be read, or a journal that
/// was here is gone, `on_protections_lost` is called first. A single record that can't be read is
/// left out, with a line too.
Result<std::unique_ptr<Journal>> open_journal(const std::string& path, JournalOptions options = {});

/// Opens an existing file for reading, while a reaper may be writing. No file yet is an error that
/// says so (`not_found`).
Result<std::unique_ptr<JournalReader>> open_journal_for_reading(const std::string& path);

}  // namespace reaper
