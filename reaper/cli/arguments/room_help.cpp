#include "reaper/cli/arguments/room_help.hpp"

namespace reaper::cli::help {

const Text room{
    "How many servers fit: now, after which deletions, or why never",
    R"(What the cloud has room for: how many servers of a flavor (or of so much room) Nova could place
now, and on which hosts; else which revocable servers would have to go first, as 'reaper plan'
tells it; or that they never fit, and what keeps each host from taking one. Reads the live
cloud, writes nothing.

The answer is one of: fits-now; on-its-way (when servers are gone that are being deleted already);
after-victims (when these revocable servers go); held-back (likewise, but a limit, a protection or
another safeguard keeps them now); free-room-only (these are revocable: they wait for free room, and
nobody goes for them); never (not even without all revocable servers that may go; of revocable ones,
not even on empty hosts). Room that is promised to a request under way does not count.

A flavor counts with its extra specs, for a server that boots from an image which asks for nothing.
Without --project the servers are of a regular project that no aggregate is kept for. Of a revocable
one only free room counts: nobody goes for it. With --snapshot, nothing is called: there are no
flavors then. The running daemon answers the same on its admin API:
GET /v1/room?flavor=m1.large&count=4)",
    R"(Examples:
  reaper room --flavor m1.large
  reaper room --flavor m1.large --count 20 --zone nova --project web
  reaper room --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --trait CUSTOM_A100=required
  reaper room --resources VCPU=4 --count 100 --snapshot cloud.json --json | jq .fits_now

Exit codes: 0 they fit, now or after deletions; 3 they don't; 6 this cloud has no such flavor, zone,
project or resource class; 2 the command line or the configuration is wrong; 1 anything else.
)"};

}  // namespace reaper::cli::help
