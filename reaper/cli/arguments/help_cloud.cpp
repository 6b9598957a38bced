#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

const Text plan{
    "What would be deleted for a request, and why (deletes nothing)",
    R"(What the daemon would do, now: the victims, the room before and after on each host, the
reason for each victim and each rejected host. Reads the live cloud, writes nothing. The request
comes from captured notifications (several of one multi-create make one request, as in the
daemon), or is described with --flavor or --resources, or stands in a file of many. Room that the
journal says is being freed or promised is taken into account, if the journal can be read.

--group is a granular group, as a flavor's resources1:, trait1:, ... make one: what it asks for, on
top of --resources, comes from one resource provider, with the group's own traits. Of several
groups, --group-policy says whether no two may come from the same one (isolate) or any (none).

--res-type is the constraint of the request: which kind of room it admits. regular may cull;
revocable never does; ~regular and * look for free revocable room when regular room can't be freed;
~revocable looks for it first. Patterns and != work too (re*, '!=revocable').

With --snapshot, nothing is called: hosts, servers and the ledger come from the file. Without
--config the standard strategy and the file's word on which servers are revocable hold; with one,
its strategy, alternatives and taggers, if the file tells what they ask.)",
    R"(Examples:
  reaper plan --notification message.json
  reaper plan --notification - < message.json
  reaper plan --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --slots 2 --project web
  reaper plan --resources VCPU=1,CUSTOM_GPU=1 --project ml --az nova --trait CUSTOM_A100=required
  reaper plan --resources VCPU=4,MEMORY_MB=8192 --project batch --res-type '~revocable'
  reaper plan --resources VCPU=4 --group VGPU=1,CUSTOM_A100=required --group VGPU=1 \
      --group-policy isolate --project ml
  reaper plan --notification message.json --strategy strict_time --alternatives 2 --json
  reaper plan --snapshot cloud.json --resources VCPU=4 --project 66353a943d1d438eb913527787c03586
  reaper plan --snapshot cloud.json --requests requests.yaml
  reaper plan --resources VCPU=4,MEMORY_MB=8192 --project web --save plan.json   for 'reaper apply'

A file of requests is a YAML or JSON list; project and resources (or flavor: m1.large, without
resources and groups) must be there:
  - project: web
    resources: {VCPU: 4, MEMORY_MB: 8192}   # or VCPU=4,MEMORY_MB=8192
    slots: 2
    zone: nova
    traits: [CUSTOM_A100=required]
    groups: ["VGPU=1,CUSTOM_A100=required", VGPU=1]
    group_policy: isolate
    res_type: ~regular
    id: req-1
Each is planned as if those before it had their room, freed or there already: no room is counted
twice.

With --json, one request is answered by its decision; several, or messages that make none, by
{"plans": [decision, ...], "no_request": [{"source", "reason"}, ...]}; a file of requests by the
same with "sum": {requests, plans, nothing_to_do, not_enough, slots_freed, victims}.
Exit code 3 says that not enough room can be freed, or that the request is refused, as that of a
requester that is revocable itself: no servers would be deleted; with --save, that
nothing was saved, as nobody would be deleted (the room is there, or it is refused too); 6 that the
cloud has no such project, flavor, zone or resource class (of a file that names no projects, an
unknown one is a remark).
)"};

const Text request{
    "Ask the daemon for room: deletes servers as for a failed boot",
    R"(Asks the running daemon for room, over its Unix socket (admin.socket) or over --api, and shows
what it does: the plan, each deletion, the outcome. It is served like a request of Nova's: under the
same protection, limits, cooldowns and pause, once, and written to the journal. Ctrl-C leaves; the
daemon goes on.

The room stays promised for the time of cull.promise; it is reserved for nobody. See with 'reaper
plan' first what would be deleted.)",
    R"(Examples:
  reaper request --flavor m1.large --project web
  reaper request --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --project web
  reaper request --resources VCPU=2,MEMORY_MB=4096 --slots 3 --project web --id upgrade-17

Exit codes: 0 the room is there, 3 it can't be freed, or the daemon is in a dry run (no servers
deleted), 2 the request or the configuration is wrong, 1 anything else.
)"};

const Text hosts{
    "Each host's servers and free room; or all servers",
    R"(The hosts: how many regular and revocable servers each has, and what is free of each class
of resources; -o wide tells capacity, use, and what is free of each kind of room too, and
of oversubscribed room what is wanted, if the daemon can be asked. Each host has a label: regular,
revocable or any, after the kinds of room that it holds and offers. With --servers, the servers of
all hosts, with what they hold and why they are revocable. With --snapshot, from a file instead of
the cloud; --config is optional then, and its taggers are applied if it is given.

HOST chooses one host, by its id or name; the name may end before a dot: compute-7 for
compute-7.example.org. --zone chooses hosts; --project, --flavor and --type choose servers, and
hosts that have such servers. A project or a flavor without servers has no rows; one that the cloud
does not have ends with exit code 6, as does, of a file, one that no server there has. So does an
unknown HOST, with the nearest names.)",
    R"(Examples:
  reaper hosts
  reaper hosts compute-7 -o wide
  reaper hosts --zone nova --project web
  reaper hosts --sort VCPU_free:desc -o wide
  reaper hosts --servers --columns host,server,project,because
  reaper hosts --snapshot cloud.json -o csv > hosts.csv
  reaper hosts --json | jq '.hosts[].name'
)"};

const Text candidates{
    "Where a server would fit if preemptible ones made room",
    R"(Which hosts could take a server of that size if their revocable (preemptible) servers went, and
what these hold: a host is one if, for each class, used + wanted - preemptible use <= capacity, and
its inventories' units allow the amounts. Servers that may not go (locked, protected) do not count,
nor does room that is promised to others; hosts that are down or disabled are left out. Hosts with
room as it is are candidates too. Who would go, and whether it is worth it, 'reaper plan' tells.

With --flavor, the size is a flavor's, and its traits, groups and the aggregates that it demands
count as well: only hosts on which Nova would place a server of it.

With --snapshot, from a file instead of the cloud; --config is optional then, and its taggers are
applied if it is given. The running daemon answers the same question on its admin API:
GET /v1/culling_candidates?resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20)",
    R"(Examples:
  reaper candidates --resources VCPU:1,MEMORY_MB:2048,DISK_GB:20
  reaper candidates --flavor m1.large
  reaper candidates --resources VCPU:4,CUSTOM_GPU:1 --json
  reaper candidates --resources VCPU:4 --zone nova
  reaper candidates --resources VCPU:4 --snapshot cloud.json
  reaper candidates --resources VCPU:4 -o name | xargs -n 1 openstack hypervisor show

Exit code 6: the cloud has no such flavor, or no host that offers such a resource class, or is in
that zone.
)"};

const Text snapshot{
    "The cloud as the reaper sees it, as a file",
    R"(Writes the cloud as the reaper sees it to a JSON file: hosts with their resource providers,
servers with what they hold and why they are revocable, and what the journal says is being freed or
promised. The file stands there whole or not at all, and only you can read it. The format is
described in /usr/share/doc/reaper/reaper/report/SNAPSHOT.md.

With --anonymous, names and ids are replaced, the same one by the same one throughout; metadata,
flavor names and free text go too. Resource classes, traits, amounts and times stay.

With --api, the cloud is as that daemon sees it, without what its API does not tell: metadata, tags
and extra specs of servers, and aggregates.)",
    R"(Examples:
  reaper snapshot --out cloud.json
  reaper snapshot --anonymous --out to-show.json
  reaper snapshot | jq '.hosts | length'
  reaper plan --snapshot cloud.json --requests requests.yaml
)"};

const Text usage{
    "Regular and revocable resource-hours of each project",
    R"(Server-hours and resource-hours of each project, regular and revocable apart, for billing and
chargeback: of the servers that run, of those that were deleted (as long as Nova keeps their rows)
and of those that the reaper reclaimed (as long as the journal keeps them). A server counts from its
launch to its end with the flavor that it has or had last; one without a host (shelved, failed) does
not count. What it is, its taggers say as of now; who was reclaimed was revocable. Below the table:
the oversubscribed room that is published, used, free and wanted now.)",
    R"(Examples:
  reaper usage
  reaper usage --since 2026-10-01 --until 2026-11-01 -o csv > october.csv
  reaper usage --since 7d --project web
  reaper usage --sort -VCPU_hours
  reaper usage --json | jq '.usage[] | select(.type == "revocable")'
)"};

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
