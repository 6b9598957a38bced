#include "reaper/cli/help_text.hpp"

namespace reaper::cli::help {

const Text explain{
    "Why a server was deleted, or skipped",
    R"(Answers what the owner of a deleted server asks: why this one, for whom (request, project, how many
servers, what they need), by which strategy, what else was considered and why not that (revocable
servers of the same host that stayed, hosts that were passed over), whether it helped and who took
the room, and when each step happened. A server that was chosen and skipped in the end is explained
too; of a request, all servers that were chosen for it.

SERVER is the server's id or name, or a request's id. Of several servers of one name, or several
requests that chose the server, the newest request is explained and the others are listed. All of it
comes from the journal of this machine, with or without a running daemon; what the journal does not
know stands at the end.)",
    R"(Examples:
  reaper explain batch-7
  reaper explain 5e2d0c3a-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain batch-7 --json | jq '.servers[0] | {fate, reason, sent_at}'
)"};

}  // namespace reaper::cli::help
