#include "reaper/cli/arguments/help_text.hpp"

#include <algorithm>
#include <iterator>

namespace reaper::cli::help {
namespace {

const Text texts[] = {
    {"reaper", "",
     R"(reaper: frees room on OpenStack for regular servers by deleting revocable ones.

The daemon (reaper run) hears Nova's "no valid host" messages, chooses which revocable servers
must go, deletes exactly those, and checks in Placement that the room is free. request, apply,
reserve and unreserve have the daemon act; pause and resume switch its deletions off and on; protect
keeps a server from going; setup --apply prepares the cloud. The other commands are
read-only.)",
     R"(Examples:
  reaper check                       is everything in place? what to do if not
  reaper hosts                       how many servers each host has, and how much room
  reaper plan --flavor m1.large --slots 2 --project web
  reaper plan --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --slots 2 --project web
  reaper room --flavor m1.large      how many fit now, after which deletions, or why never
  reaper snapshot --out cloud.json   the same as a file, to plan on without the cloud
  reaper run --dry-run               the daemon, which only reports what it would do
  reaper history show req-0b6c...    everything that happened to one request
  reaper pause --reason "upgrade"    this machine's reaper deletes nothing until: reaper resume

The options above are accepted before and after the command, as are -o, --sort and --columns of
commands that have them.

With --api, the daemon at that address is asked, and no configuration or journal is read: status,
health, history, explain, usage, risk, hosts, candidates, snapshot, plan, apply, request, room,
reservations, reserve, unreserve, reapers, oversubscription, pause, resume and protect. The URL is
https://HOST:PORT of its admin.listen, or unix:/PATH of its admin.socket. The token is that of
--token-file or OS_TOKEN; where the daemon demands one and there is none, Keystone gives one for the
credentials in OS_AUTH_URL and the other OS_* variables. The answer goes to stdout, logs and errors
to stderr.

Lists (hosts, candidates, history, reservations, usage, ...) are tables, of one line for each row
where stdout is no terminal; -o gives another format, --sort and --columns choose. watch(1) repeats
a command.
Other commands that answer take -o json and -o yaml; --json is -o json. Times are UTC, as in
2026-11-01T12:30:00.000Z.

With --json, each error is a line of JSON on stderr, that of a wrong command line too:
{"error": {"message": "...", "exit_code": 2}}; what works, but should be fixed, is
{"warning": {"message": "..."}}, and what is logged {"time", "level", "message"}.

Exit codes:
  0  done
  1  something outside failed: the cloud, the broker, the journal
  2  the command line or the configuration is wrong; reservations, oversubscription: disabled
  3  plan, room, request, apply: not enough room can be freed, no servers (would be) deleted;
     plan: or the request is refused, as that of a revocable requester; request, apply: or the
     reaper is paused or in a dry run; plan --save: nothing was saved; reserve, unreserve: the hosts
     lack that much unreserved, or idle, room
  4  check: something needs attention; status: the reaper is paused; health: it is not ready;
     dead-letters retry: some stay where they are
  5  run: Keystone or the broker refused the credentials when it started; with --api: the daemon,
     or Keystone, refused the token or the credentials
  6  there is no such flavor, zone, project, resource class, trait or host in this cloud; history:
     nor in the journal; explain, history show: the journal knows no such server or request;
     protect: no host has such a server; dead-letters: none has that id; unreserve: there is no such
     reservation
  7  apply: the saved plan is not what would be done now, no servers deleted

Environment:
  REAPER_CONFIG    the configuration file, when --config is not given
  REAPER_API       the daemon to ask, when --api is not given; OS_TOKEN, OS_*: credentials
  NO_COLOR         when set and not empty, no colours unless --color always
)"},
    {"reaper config", "The configuration in effect, without secrets",
     R"(The configuration as it is in effect: the file, the defaults for what it leaves out, and what
came from files and the environment. Secrets are not shown.

With --check it only says whether the configuration is valid, and tells all mistakes with file and
line (exit code 2), as a start or a reload would. No cloud and no broker is asked; 'reaper check'
does that.

Each key can be given as a variable of the environment instead (cull.deadline is
REAPER_CULL_DEADLINE), as in the file, which overrides it. --env lists them all, and
shows whether a value is the file's (with its line), the environment's, or the default.)",
     R"(Examples:
  reaper --config ./reaper.yaml config
  reaper config --env
  REAPER_DRY_RUN=true reaper config --env | grep environment
  reaper config --check && systemctl reload reaper
)"},
    {"reaper completion", "What a shell completes: a script for bash or zsh",
     R"(Prints what bash or zsh needs to complete commands, options and their values. The package
installs both.)",
     R"(Examples:
  source <(reaper completion bash)
  reaper completion zsh >/usr/local/share/zsh/site-functions/_reaper
)"},
    {"reaper help", "This help, or that of a command",
     R"(Shows the help of a command, as COMMAND --help does, or of the whole program.)",
     R"(Examples:
  reaper help plan
  reaper help history show
)"},
    {"reaper version", "The version of the program",
     R"(Shows the version of the program, as --version does.)",
     R"(Examples:
  reaper version
  reaper version --json | jq -r .program_version
)"},
    {"reaper strategies", "How victims can be chosen: strategies with parameters",
     R"(The strategies that can choose victims, with their parameters and defaults; for `strategy:` in
the configuration and `plan --strategy`.)",
     R"(Example:
  reaper strategies
)"},
    {"reaper taggers", "What can make a server revocable: taggers with parameters",
     R"(The taggers that can say which servers are revocable, with their parameters and defaults; for
`taggers:` in the configuration.)",
     R"(Example:
  reaper taggers --json
)"},
    {"reaper estimators", "How oversubscribed room is estimated, with parameters",
     R"(The estimators that can say how much oversubscribed room a host may have, with their parameters
and defaults; for `oversubscription.estimator` in the configuration and `estimate --estimator`.)",
     R"(Example:
  reaper estimators
)"},
    {"reaper qos", "When revocable servers of busy hosts go, with parameters",
     R"(The QoS controllers that can say when revocable servers of a busy host must go, with their
parameters and defaults; for `oversubscription.qos` in the configuration.)",
     R"(Example:
  reaper qos
)"},
    {"reaper plan", "What would be deleted for a request, and why (deletes nothing)",
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
its strategy, alternatives and taggers, if the file has their data.)",
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
requester that is revocable itself: no servers would be deleted; with --save, that nothing was
saved, as no server would be deleted (the room is there, or it is refused too); 6 that the cloud
has no such project, flavor, zone or resource class (of a file that names no projects, an unknown
one is a remark).
)"},
    {"reaper apply", "Carry out a plan that 'reaper plan --save' wrote, or nothing",
     R"(Asks the running daemon, over its Unix socket (admin.socket) or over --api, to carry out a plan that
a person looked at. The daemon decides again, and deletes servers only if these are exactly those of
the file; else the plan is stale: one line tells what differs, and no server is deleted. So is a
plan that is older than cull.approved_max_age (1h). It is served like 'reaper request': under the
same protection, limits and pause, each victim read again right before its deletion, once (a
file that is applied again is answered with its outcome), and in the journal with its
approver.

With --dry-run it is only checked, by what the daemon knows of the cloud.)",
     R"(Examples:
  reaper plan --resources VCPU=4,MEMORY_MB=8192 --project web --save plan.json
  reaper apply plan.json --dry-run
  reaper apply plan.json

Exit codes: 0 the room is there (with --dry-run: it would be), 7 the plan is stale (no servers
deleted), 3 the daemon refuses for another reason, is paused or in a dry run (no servers deleted), 2
the file or the configuration is wrong, 1 anything else.
)"},
    {"reaper request", "Ask the daemon for room: deletes servers as for a failed boot",
     R"(Asks the running daemon for room, over its Unix socket (admin.socket) or over --api, and shows
what it does: the plan, each deletion, the outcome. It is served like a request of Nova's: under the
same protection, limits, cooldowns and pause, once, and written to the journal. Ctrl-C leaves; the
daemon goes on.

The room stays promised for the time of cull.promise; this is not a reservation. See with
'reaper plan' first what would be deleted.)",
     R"(Examples:
  reaper request --flavor m1.large --project web
  reaper request --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --project web
  reaper request --resources VCPU=2,MEMORY_MB=4096 --slots 3 --project web --id upgrade-17

Exit codes: 0 the room is there, 3 it can't be freed, or the daemon is in a dry run (no servers
deleted), 2 the request or the configuration is wrong, 1 anything else.
)"},
    {"reaper hosts", "Each host's servers and free room; or all servers",
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
)"},
    {"reaper candidates", "Where a server would fit if preemptible ones made room",
     R"(Which hosts could take a server of that size if their revocable (preemptible) servers went, and
what these hold: a host is one if, for each class, used + wanted - preemptible use <= capacity, and
its inventories' units allow the amounts. Servers that may not go (locked, protected) do not count,
nor does room that is promised to others; hosts that are down or disabled are left out. Hosts with
room as it is are candidates too. 'reaper plan' shows the victims and whether it is worth it.

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
)"},
    {"reaper snapshot", "The cloud as the reaper sees it, as a file",
     R"(Writes the cloud as the reaper sees it to a JSON file: hosts with their resource providers,
servers with what they hold and why they are revocable, and what the journal says is being freed or
promised. The file is written completely or not at all, and only you can read it. The format is
described in /usr/share/doc/reaper/reaper/report/SNAPSHOT.md.

With --anonymous, names and ids are replaced consistently; metadata,
flavor names and free text go too. Resource classes, traits, amounts and times stay.

With --api, the cloud is as that daemon sees it, without what its API does not tell: metadata, tags
and extra specs of servers, and aggregates.)",
     R"(Examples:
  reaper snapshot --out cloud.json
  reaper snapshot --anonymous --out to-show.json
  reaper snapshot | jq '.hosts | length'
  reaper plan --snapshot cloud.json --requests requests.yaml
)"},
    {"reaper usage", "Regular and revocable resource-hours of each project",
     R"(Server-hours and resource-hours of each project, regular and revocable separately, for billing and
chargeback: of the servers that run, of those that were deleted (as long as Nova keeps their rows)
and of those that the reaper reclaimed (as long as the journal keeps them). A server counts from its
launch to its end with the flavor that it has or had last; one without a host (shelved, failed) does
not count. What it is, its taggers say now; a reclaimed server was revocable. Below the table:
the oversubscribed room that is published, used, free and wanted now.)",
     R"(Examples:
  reaper usage
  reaper usage --since 2026-10-01 --until 2026-11-01 -o csv > october.csv
  reaper usage --since 7d --project web
  reaper usage --sort -VCPU_hours
  reaper usage --json | jq '.usage[] | select(.type == "revocable")'
)"},
    {"reaper risk", "How often revocable servers are evicted, and where",
     R"(Evictions per 100 server-hours of revocable servers, with the 95 % interval of the
rate, and the part of such servers that go within 24 hours at that rate. Counted from
what 'reaper usage' counts: the servers that run, those that were deleted (as long as Nova keeps
their rows) and those that the reaper reclaimed (as long as the journal keeps them). Zones and
aggregates are those that the hosts are in now. --json also has the rate for each hour of the week
(UTC, from Monday 00:00 on); below the table, how well these rates predicted the last week.)",
     R"(Examples:
  reaper risk
  reaper risk --since 7d --flavor m1.large --zone az1
  reaper risk --sort -per_100_hours
  reaper risk --json | jq '.by_hour | to_entries | max_by(.value)'
)"},
    {"reaper room", "How many servers fit: now, after which deletions, or why never",
     R"(What the cloud has room for: how many servers of a flavor (or of so much room) Nova could place
now, and on which hosts; else which revocable servers would have to go first, as 'reaper plan'
tells it; or that they never fit, and what keeps each host from taking one. Reads the live
cloud, writes nothing.

The answer is one of: fits-now; on-its-way (when servers are gone that are being deleted already);
after-victims (when these revocable servers go); held-back (the same, but a limit, a protection or
another safeguard keeps them now); free-room-only (these are revocable: they wait for free room, and
no server is deleted for them); never (not even without all revocable servers that may go; of
revocable ones, not even on empty hosts). Room that is promised to a request under way does not
count.

A flavor counts with its extra specs, for a server that boots from an image which asks for nothing.
Without --project the servers are of a regular project that no aggregate is kept for. Of a revocable
one only free room counts: no server is deleted for it. With --snapshot, nothing is called: there
are no flavors then. The running daemon answers the same on its admin API:
GET /v1/room?flavor=m1.large&count=4)",
     R"(Examples:
  reaper room --flavor m1.large
  reaper room --flavor m1.large --count 20 --zone nova --project web
  reaper room --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --trait CUSTOM_A100=required
  reaper room --resources VCPU=4 --count 100 --snapshot cloud.json --json | jq .fits_now

Exit codes: 0 they fit, now or after deletions; 3 they don't; 6 this cloud has no such flavor, zone,
project or resource class; 2 the command line or the configuration is wrong; 1 anything else.
)"},
    {"reaper history", "What happened: requests, plans, deletions, outcomes",
     R"(What the journal holds: the requests, newest first, with how each ended. It may be read while
the daemon runs. The filters choose among all that it holds; --limit counts what they leave.
Projects have the names that they had then, as far as those were known. Of a project, host or
flavor that the journal does not know the cloud is asked; exit code 6: that has none either. Why
one server went: reaper explain. --since and --until take dates too (2026-11-01), in UTC.

REQUESTER is the first server that waits, by its name or id; -o wide has all of them (REQUESTERS).
VICTIMS in brackets are planned: a dry run deletes no server. A dry run has a journal of its own
beside the daemon's. 'victims' and 'show' read both; else one is read, by what the configuration
says now, and stderr reports what the other one has: --journal reads it.)",
     R"(Examples:
  reaper history --limit 50
  reaper history --since 24h --outcome not-enough
  reaper history --since 7d --project web
  reaper history --follow --host compute-7
  watch -n 5 reaper history
  reaper history --columns received,request,outcome,reason
  reaper history show req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper history messages --json
  reaper history victims --since 2h --flavor m1.small
  reaper history totals
)"},
    {"reaper history show", "Everything that happened to one request",
     R"(Everything that happened to one request, or to the newest one in which a server was chosen or
waited: when it came, each plan with its reasons, each step of each victim, the outcome, and how
the room was used: taken by the requester or its retry, room elsewhere, or wasted.)",
     R"(Examples:
  reaper history show req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper history show req-0b6c2a44
  reaper history show batch-7
)"},
    {"reaper history messages", "Messages that made no request, with the reason",
     R"(Messages that did not become a request of their own: duplicates, other causes, too old, not
understood; newest first, with the reason.)",
     R"(Example:
  reaper history messages --since 24h --limit 100
)"},
    {"reaper history victims", "Deleted servers and their requests",
     R"(The servers whose deletion was sent, newest first, with the request that they made room for:
those of a day, or all that a filter or --limit leaves. A refused deletion does not count. What
was really deleted is listed in a dry run too, but --follow follows one journal. --planned: what dry
runs would have deleted.)",
     R"(Examples:
  reaper history victims --since 2h
  reaper history victims --server batch-7
  reaper history victims --planned --since 7d
  reaper history victims --sort host -o csv
  reaper history victims --follow --json
)"},
    {"reaper history totals", "How much of everything: outcomes, victims, refusals",
     R"(Requests by outcome, victims, how the freed room was used ("wasted": it went unused),
refusals by the safeguard that explains them, messages by verdict, and what the reaper or its
operator did to the reaper itself.)",
     R"(Examples:
  reaper history totals --since 168h
  reaper history totals --json | jq .freed_room.wasted
)"},
    {"reaper history events", "When the reaper was paused, and other events",
     R"(What the operator or the reaper did to the reaper itself, newest first: paused, resumed, the
circuit breaker opened, the clock stepped.)",
     R"(Example:
  reaper history events --since 7d --limit 5
)"},
    {"reaper journal", "The journal's database: makes its tables, copies",
     R"(For a journal in a MariaDB database (journal.url), which reapers that stand by for each other share.
A journal in a file (journal.path) needs none of this.)",
     R"(Examples:
  reaper journal migrate --dry-run
  reaper journal copy --from /var/lib/reaper/journal.db
)"},
    {"reaper journal migrate", "Makes the tables that the database lacks",
     R"(Makes the tables of the journal in the database of journal.url. The daemon makes none, and refuses
tables of another version. It may run again: existing tables stay. The daemon's user needs SELECT,
INSERT, UPDATE and DELETE only; --url names another user of the same database, who may also CREATE
and has REFERENCES and INDEX.)",
     R"(Examples:
  reaper journal migrate --dry-run
  reaper journal migrate
  reaper journal migrate --url mysql://root@db1/reaper --password-file /root/db-password
  reaper journal migrate --dry-run | mariadb reaper

Exit codes: 0 the tables are there; 2 the configuration has no journal.url; 1 anything else.
)"},
    {"reaper journal copy", "Copies a file's journal into the database, or back",
     R"(Copies all rows between a journal's file and the database of journal.url, and compares both by
SHA-256 afterwards. No reaper may use either of them: stop it first. What an interrupted copy has
written stays, and the next one goes on behind it. A target with other rows is refused.)",
     R"(Examples:
  reaper journal copy --from /var/lib/reaper/journal.db
  reaper journal copy --to /var/lib/reaper/journal.db

Exit codes: 0 both are the same; 2 the command line, or the configuration has no journal.url; 1
anything else.
)"},
    {"reaper dead-letters", "Messages that were not understood: list, show, retry",
     R"(Messages that the reaper did not understand, or could not read. Copies of them wait in the queue
broker.dead_letter_queue, as Nova sent them, with the reason.)",
     R"(Examples:
  reaper dead-letters list
  reaper dead-letters show 5f2b6c01a9d3
  reaper dead-letters retry --all
)"},
    {"reaper dead-letters list", "The messages in the dead-letter queue, with the reason",
     R"(The messages in the dead-letter queue, the oldest first, with the reason; they stay there. An id
is made of what a message holds: equal messages have one.)",
     R"(Examples:
  reaper dead-letters list
  reaper dead-letters list --json | jq -r '.letters[].reason' | sort | uniq -c
)"},
    {"reaper dead-letters show", "One of them, with what it holds",
     R"(One of the messages in the dead-letter queue, with what it holds: unpacked, where it is
compressed. It stays there.)",
     R"(Example:
  reaper dead-letters show 5f2b6c01a9d3
)"},
    {"reaper dead-letters retry", "Has the reaper read them again",
     R"(Puts messages back into the reaper's own queue, as Nova sent them, and takes them out of the
dead-letter queue: after an update that understands them, or when the cause is fixed.
What is not understood again comes back; what is too old by then is refused as any other
(trigger.max_age). A message that was too long to be kept whole stays where it is. Exit code 6: an
id that is not there.)",
     R"(Examples:
  reaper dead-letters retry 5f2b6c01a9d3
  reaper dead-letters retry --all
)"},
    {"reaper explain", "Why a server was deleted, or skipped",
     R"(Answers what the owner of a deleted server asks: why this one, for whom (request, project, how many
servers, what they need), by which strategy, what else was considered and why not that (revocable
servers of the same host that stayed, hosts that were not used), whether it helped and who took
the room, and when each step happened. A server that was chosen and skipped in the end is explained
too; of a request, all servers that were chosen for it.

SERVER is the server's id or name, or a request's id; a server that no plan chose, but that waited
for room, is explained by its request, if that is one of the newest 10000. A real deletion goes
before what a dry run planned. Of several servers of one name, or several requests that chose the
server, the newest request is explained and the others are listed. All of it comes from the journals
of this machine, with or without a running daemon; what they do not know stands at the end.)",
     R"(Examples:
  reaper explain batch-7
  reaper explain 5e2d0c3a-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain batch-7 --json | jq '.servers[0] | {fate, reason, sent_at}'
)"},
    {"reaper estimate", "What estimators would have sold, by Prometheus' history",
     R"(What oversubscription would have done with each estimator, side by side, before it is believed:
reads what Prometheus still knows of the use of the hosts, and lets the estimators and the rules of
publication of the daemon run over it. The demand is the worst that can be: what is published is
taken at once and used fully. It tells how much was sold, how often vCPUs had to be evicted and how
many, in how many minutes regular servers were short of cores, and how often a host went up and down
too much; in the last line of an oracle that knows the hour to come. Hosts without history are
named.

It needs oversubscription.prometheus of the configuration; enabled may be false. --step should be
the interval in which Prometheus collects, or more: a coarse history sees fewer peaks. Reads only.)",
     R"(Examples:
  reaper estimate --since 7d
  reaper estimate --since 24h --estimator usage_slack --estimator usage_slack:margin=0.3,peak=4h
  reaper estimate --since 2026-11-01 --until 2026-11-08 --step 5min --estimator fixed:vcpus=4
  reaper estimate --json | jq '.estimates[] | {estimator, sold_vcpu_hours, short_minutes}'
)"},
    {"reaper replay", "What another strategy or limit would have done with a recording",
     R"(Decides the requests of a recording (record.directory of the daemon) again: under another strategy,
other limits or another configuration, and under the recorded one. A table of the differences, by
day and in all: requests helped, victims, and how long these had existed; then the requests that
would be decided otherwise. --config takes the place of the recorded configuration: its taggers,
strategy and safeguards count. --set and --strategy change single keys of that. -o csv has a row for
each request: victims and lost hours of both sides so far, to be plotted.

Each request is decided in the cloud as it was recorded. What an earlier decision would have changed
is not carried on, except that no server is deleted twice and victims count against limits. Circuit
breakers are as they were. Needs no cloud, and gives the same answer each time.)",
     R"(Examples:
  reaper replay /var/lib/reaper/recording --strategy strict
  reaper replay recording/ --set limits.victims_per_window=10 --set protect.min_run_time=30min
  reaper replay recording/ --strategy cost:ties=oldest -o csv > week.csv
  reaper replay recording/ --config new.yaml --json | jq .asked
)"},
    {"reaper report", "What switching on would have meant",
     R"(For the end of a week of dry run, or of a paused reaper: requests that Nova refused, how many would
have been helped, whose servers would have gone and how long they had existed, which safeguards
would have held the reaper back, and the reasons against switching on. It is made from the recording
(DIR, or record.directory of the configuration, or what a dry run keeps by itself), where no server
goes twice; without one from the journal, which has what the reaper planned.)",
     R"(Examples:
  reaper report
  reaper report --since 2026-11-18 --until 2026-11-25
  reaper report recording/ --json | jq '.projects[0], .against'
)"},
    {"reaper run", "The daemon: frees room when Nova finds no host",
     R"(The daemon. Takes Nova's failure messages from RabbitMQ, frees room for each request once,
and records every step in the journal. A broker or a cloud that can't be reached is tried again
until it can; under systemd it is ready when both answer. If they don't within start_within, it
ends, and systemd starts it again. Refused credentials end the start at once (exit code 5), and are
not tried again: that could lock the account. SIGTERM finishes the requests in flight
and leaves; a second one leaves at once, and the next start resumes. SIGHUP reads the configuration
again; what it changes holds at once, also for requests in flight.

In a dry run (dry_run: true in the configuration, or --dry-run) it listens through a queue of its
own that ends with it, deletes nothing, and prints each plan to stdout. Its journal and what its
decisions saw are kept beside the daemon's journal, in dry-run.db and dry-run/, for "reaper history"
and "reaper report". With --dry-run it may stand beside the service: the admin API of the
configuration stays that one's, and --admin says where its own is.)",
     R"(Examples:
  reaper run
  reaper run --dry-run --admin 127.0.0.1:8788
  reaper --config ./reaper.yaml run --log-level debug
)"},
    {"reaper gateway", "The gateway alone, in front of Placement: passes everything through",
     R"(The gateway without the daemon: an HTTP proxy that nova-scheduler asks instead of Placement
([placement] endpoint_override in nova.conf), and that passes every request and answer through
unchanged. It needs gateway.listen in the configuration; neither broker nor journal; and no Keystone
if gateway.placement_url says where Placement is. 'reaper run' has the same gateway in it.

Under systemd it is ready when it listens. SIGTERM and SIGINT: it takes no new connections, lets
calls under way end (30 s at most), and leaves.)",
     R"(Examples:
  reaper gateway
  reaper --config ./gateway.yaml gateway --log-level debug

  gateway.yaml:
    gateway:
      listen: 127.0.0.1:8780
      placement_url: http://controller:8778
)"},
    {"reaper check", "Is everything in place? What to do if not",
     R"(Checks everything that the daemon needs, one line each: "ok", "info" (could not be
tried, but should be so), "warn" (not visible from outside, or worth knowing) or "FAIL" with what
to do. Goes on after a failure. Reads only.

The last lines tell the rights of each feature: those that are missing (a service answered 403),
those that were not tried (what writes never is), and those that let a call pass. With -o or --sort,
the list comes at the end, as a table of verdict, what and detail.)",
     R"(Examples:
  reaper check
  reaper --config ./reaper.yaml check --json
  reaper check --sort verdict

Exit code 4 says that something needs attention.
)"},
    {"reaper pause", "Pauses deletions until resume",
     R"(From now on the reaper of this machine deletes no servers, until "reaper resume". It works at
once, with or without a running daemon, and survives restarts: it is a file (pause_file in the
configuration, by default /var/lib/reaper/paused), and "touch" of that file is as good. Where
several reapers share a queue, each has a pause of its own: pause all of them, or the active one,
which this command names if it is another. Deletions that Nova was
asked for already go on; no further one is sent, not even of a plan that is being carried out.
Requests that come meanwhile are refused with the reason, and stand in the history.

With a journal in a database (journal.url), the pause is in that database and holds for all its
reapers, from any machine; the file then pauses this machine alone.

A pause that is in force already stays as it is, with its reason. The circuit breaker stops the
reaper in the same way, by a file beside it, and tries again by itself.)",
     R"(Examples:
  reaper pause --reason "Nova upgrade until 14:00"
  touch /var/lib/reaper/paused
  reaper status
)"},
    {"reaper resume", "Ends a pause; closes the circuit breaker too",
     R"(Ends whatever pause is in force on this machine (and in the database of journal.url), closes its
circuit breaker (and that of the active reaper of journal.url), and says what it was. Earlier
unused room no longer counts, for projects and shapes that are left alone, too. Look into "reaper
history" first if the breaker opened: it did so for a reason.)",
     R"(Example:
  reaper resume
)"},
    {"reaper protect", "Keeps a server from going, for a while",
     R"(The reaper never deletes the server, until the time that is given or until "reaper protect
--remove". It counts at once, also for a plan that is being carried out, is in the journal, survives
restarts and ends by itself. Without a server it lists those that are protected. The running daemon
does it; where several share a queue, and each has its own journal, do it on each.

A project, a flavor or an aggregate is protected by the configuration (protect), a server also by an
administrator's lock. What a server's owner does to it protects it only where protect.owners is
true.)",
     R"(Examples:
  reaper protect db-7 --for 12h --reason "moves tonight"
  reaper protect 2c1f2a9e-6d0b-4d0c-8a55-0f4a9c1de001 --until 2026-11-27T08:00:00
  reaper protect
  reaper protect --remove db-7
)"},
    {"reaper simulate", "Gives a server notice of an end that does not come",
     R"(The server's metadata say that it ends (reaper:evict_at), as if it were to be deleted, so that its
owner can see what its guest does. Nothing is deleted, stopped or recorded. --remove takes back what
was simulated. An owner may do the same:
openstack server set --property reaper:evict_at=TIME SERVER.)",
     R"(Examples:
  reaper simulate 2c1f2a9e-6d0b-4d0c-8a55-0f4a9c1de001 --for 2min
  reaper simulate --remove 2c1f2a9e-6d0b-4d0c-8a55-0f4a9c1de001
)"},
    {"reaper status", "Is it paused? What is under way?",
     R"(Says if the reaper of this machine is paused, by whom, since when and why, whether its daemon
runs and is ready, and how its circuit breaker is; which reaper is the active one, where several
share a queue; and, from the journal of this machine, which projects and shapes are left alone, what
is under way and what the last 24 hours brought. For monitoring: exit code 4 says that this
machine's reaper is paused, or its breaker open.)",
     R"(Examples:
  reaper status
  reaper status --json
)"},
    {"reaper health", "Does the daemon run, and is it ready? For health checks",
     R"(Asks the running daemon on its socket (admin.socket), else on the port of metrics.listen or of
an admin.listen without TLS, or the one that --api names, for its /healthz and /readyz. Ends with 0
if it runs and would examine a refusal of Nova's now; with 4 if it runs and would not (it starts,
the broker or the cloud is away): the answer says why; with 1 if it does not run, does not answer in
time, or only a restart helps. A pause, a dry run and standing by are no failures.)",
     R"(Examples:
  reaper health
  reaper health --live      for what restarts it: also 0 while it is not ready
  reaper health --json
)"},
    {"reaper reapers", "Which reaper answers, and which one serves the queue",
     R"(The reaper that answers, and the one that serves the queue, if that is another one. Asks the
running daemon on its socket (admin.socket), or the one that --api names.)",
     R"(Examples:
  reaper reapers
  reaper --api https://controller:8787 reapers
)"},
    {"reaper oversubscription", "What oversubscribed room each host has, and why not more",
     R"(For each host where unused vCPUs are sold: the vCPUs that are published, held, and allowed by the
estimator (none: the use of the host is not known), and why. EXCESS is held beyond what may stay.
A host that is too busy, or that went up and down too often (left alone), sells nothing new.

Asks the running daemon on its socket (admin.socket), or the one that --api names.)",
     R"(Examples:
  reaper oversubscription
  reaper oversubscription -o csv --sort=-wanted
)"},
    {"reaper setup", "Prepares the cloud: resource-tagging, reservations, ...",
     R"(Prepares the cloud for the reaper. It tells what it would do; with --apply it does it, and with
--undo removes it.)",
     R"(Examples:
  reaper setup resource-tagging --slots 8
  reaper setup resource-tagging --slots 8 --apply
  reaper setup reservations --apply
  reaper setup oversubscription --apply
)"},
    {"reaper setup resource-tagging",
     "A resource class and slots on each host, for revocable servers",
     R"(Makes what the tagger 'resource' needs in Placement: a resource class of its own, and on each
compute host a nested provider (compute-1-preemptible) with so many slots of it. A flavor that asks
for a slot makes its servers revocable, and no more of them start on a host than it has slots.

Without --apply it only shows what it would do. Existing parts are kept, another number of
slots is changed, and doing it again does the rest. --undo removes these providers and then the
class; a provider that is still in use stays, and is named (exit code 1). Only
providers of that name under a compute host are ever touched.)",
     R"(Examples:
  reaper setup resource-tagging --slots 8
  reaper setup resource-tagging --slots-per VCPU:2 --hosts 'compute-*' --apply
  openstack flavor set --property resources1:CUSTOM_PREEMPTIBLE=1 spot.small
  reaper setup resource-tagging --undo --apply
)"},
    {"reaper setup reservations", "Where Placement keeps the list of all reservations",
     R"(Makes what reservations (room that is reserved for roles) need in Placement: the resource class
CUSTOM_REAPER_RESERVATION, and the provider openstack-reaper-reservations, which is no host and
belongs to no aggregate. Each reservation holds one unit there: that is the list of all of them.

Without --apply it only shows what it would do. Existing parts are kept, and doing it again
does the rest. --undo removes the provider and then the class; while there are reservations, both
stay, and who holds units is named (exit code 1).)",
     R"(Examples:
  reaper setup reservations
  reaper setup reservations --apply
  reaper setup reservations --undo --apply
)"},
    {"reaper setup oversubscription",
     "Class, providers and example flavors for oversubscribed room",
     R"(Makes what oversubscription needs: the resource class of the configuration (oversubscription.class,
by default CUSTOM_REVOCABLE_VCPU); on each compute host that oversubscription.hosts and .aggregates
name a nested provider (compute-1-revocable-vcpu), without an inventory until room is published; and
two public flavors, revocable.small and revocable.medium, whose servers take 1 and 2 vCPUs of that
room and none of VCPU. Their memory and disk are ordinary room.

Without --apply it only shows what it would do. Existing parts are kept, and doing it again
does the rest; a flavor of such a name that is not exactly ours is left as it is. --undo removes
these flavors unless servers have them, these providers unless they are in use, and
then the class; what stays is named (exit code 1).)",
     R"(Examples:
  reaper setup oversubscription
  reaper setup oversubscription --hosts 'compute-1*' --apply
  openstack flavor create --vcpus 4 --ram 8192 --disk 40 --property resources:VCPU=0 \
            --property resources_revocable:CUSTOM_REVOCABLE_VCPU=4 revocable.large
  reaper setup oversubscription --undo --apply
)"},
    {"reaper reserve", "Keeps room on hosts for a role",
     R"(Keeps room on hosts for a role: a path of names, to which the configuration assigns projects
(reservations.roles). Nova's scheduler places no server there; what servers of the role and of roles
below it hold on the host counts as part of it. Several hosts succeed or fail together.

With --refines the room is taken from a reservation for a role above, and returns to it when it is
unreserved. Without --lend or --no-lend a new reservation is lent as reservations.lend says.)",
     R"(Examples:
  reaper reserve --host compute-1 --role engineering --resources VCPU=8,MEMORY_MB=16384
  reaper reserve --host compute-1 --role engineering/backend --refines engineering \
                 --resources VCPU=4 --lend --floor VCPU=1
  reaper reserve --host compute-1 --host compute-2 --role web --resources VCPU=4 --dry-run

Exit codes: 3 the hosts lack that much unreserved room, 6 there is no such host or resource class.
)"},
    {"reaper unreserve", "Gives up room that is reserved for a role",
     R"(Gives up room that 'reaper reserve' or POST /v1/reserve kept for a role: all of it or a part.
Room that refined another reservation returns to it; where parts of it are of several, --refines
says which. The principal's own part goes first; --reserver names another principal, if the
configuration (reservations.acl) lets one. What the role's servers use stays reserved.
What is lent stays so too, unless --lent-too is given: its tenants are deleted first, and the order
waits for that. Room that the configuration reserves is given up there.)",
     R"(Examples:
  reaper unreserve --host compute-1 --role engineering --resources VCPU=8
  reaper unreserve --host compute-1 --role web --label purpose=peak --resources VCPU=2 --lent-too

Exit codes: 3 not that much is idle, 6 there is no such host or reservation.
)"},
    {"reaper reservations", "Room that is reserved for roles",
     R"(What each role is to have on each host (RESERVED), and its state: its own servers hold
it (USED), it is kept for them (HELD), revocable servers may use it for a while (LENT), or others
have the room and it is collected when it comes free (OWED). With --json also the last orders.)",
     R"(Examples:
  reaper reservations
  reaper reservations --role engineering --json
  reaper reservations --sort role -o wide
)"},
};

}  // namespace

const Text& text_of(std::string_view path) {
    return *std::find_if(std::begin(texts), std::end(texts),
                         [&](const Text& text) { return text.path == path; });
}

}  // namespace reaper::cli::help
