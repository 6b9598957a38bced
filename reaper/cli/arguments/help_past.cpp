#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

const Text history{
    "What happened: requests, plans, deletions, outcomes",
    R"(What the journal holds: the requests, newest first, with how each ended. It may be read while
the daemon runs. The filters choose among all that it holds; --limit counts what they leave.
Projects have the names that they had then, as far as those were known. Of a project, host or
flavor that the journal does not know the cloud is asked; exit code 6: that has none either. Why
one server went: reaper explain. --since and --until take dates too (2026-11-01), in UTC.

REQUESTER is the first server that waits, by its name or id; -o wide has all of them (REQUESTERS).
VICTIMS in brackets are planned: a dry run deletes nobody. A dry run has a journal of its own beside
the daemon's. 'victims' and 'show' read both; else one is read, by what the configuration says now,
and what the other one has is told on stderr: --journal reads it.)",
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
)"};

const Text history_show{
    "Everything that happened to one request",
    R"(Everything that happened to one request, or to the newest one in which a server was chosen or
waited: when it came, each plan with its reasons, each step of each victim, the outcome, and what
became of the room: taken by the requester or its retry, room elsewhere, or wasted.)",
    R"(Examples:
  reaper history show req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper history show req-0b6c2a44
  reaper history show batch-7
)"};

const Text history_messages{
    "Messages that made no request, with the reason",
    R"(Messages that did not become a request of their own: duplicates, other causes, too old, not
understood; newest first, with the reason.)",
    R"(Example:
  reaper history messages --since 24h --limit 100
)"};

const Text history_victims{
    "Deleted servers and their requests",
    R"(The servers whose deletion was sent, newest first, with the request that they made room for:
those of a day, or all that a filter or --limit leaves. A deletion that Nova refused is none. What
was really deleted is told in a dry run too, but --follow follows one journal. --planned: what dry
runs would have deleted.)",
    R"(Examples:
  reaper history victims --since 2h
  reaper history victims --server batch-7
  reaper history victims --planned --since 7d
  reaper history victims --sort host -o csv
  reaper history victims --follow --json
)"};

const Text history_totals{
    "How much of everything: outcomes, victims, refusals",
    R"(Requests by outcome, victims, what became of the room that was freed ("wasted": it went unused),
refusals by the safeguard that explains them, messages by verdict, and what the reaper or its
operator did to the reaper itself.)",
    R"(Examples:
  reaper history totals --since 168h
  reaper history totals --json | jq .freed_room.wasted
)"};

const Text history_events{
    "When the reaper was paused, and other events",
    R"(What the operator or the reaper did to the reaper itself, newest first: paused, resumed, the
circuit breaker opened, the clock stepped.)",
    R"(Example:
  reaper history events --since 7d --limit 5
)"};

const Text dead_letters{
    "Messages that were not understood: list, show, retry",
    R"(Messages that the reaper did not understand, or could not read. Copies of them wait in the queue
broker.dead_letter_queue, as Nova sent them, with the reason.)",
    R"(Examples:
  reaper dead-letters list
  reaper dead-letters show 5f2b6c01a9d3
  reaper dead-letters retry --all
)"};

const Text dead_letters_list{
    "The messages in the dead-letter queue, with the reason",
    R"(The messages in the dead-letter queue, the oldest first, with the reason; they stay there. An id
is made of what a message holds: equal messages have one.)",
    R"(Examples:
  reaper dead-letters list
  reaper dead-letters list --json | jq -r '.letters[].reason' | sort | uniq -c
)"};

const Text dead_letters_show{
    "One of them, with what it holds",
    R"(One of the messages in the dead-letter queue, with what it holds: unpacked, where it is
compressed. It stays there.)",
    R"(Example:
  reaper dead-letters show 5f2b6c01a9d3
)"};

const Text dead_letters_retry{
    "Has the reaper read them again",
    R"(Puts messages back into the reaper's own queue, as Nova sent them, and takes them out of the
dead-letter queue: after an update that understands them, or when what was in the way is mended.
What is not understood again comes back; what is too old by then is refused as any other
(trigger.max_age). A message that was too long to be kept whole stays where it is. Exit code 6: an
id that is not there.)",
    R"(Examples:
  reaper dead-letters retry 5f2b6c01a9d3
  reaper dead-letters retry --all
)"};

const Text explain{
    "Why a server was deleted, or skipped",
    R"(Answers what the owner of a deleted server asks: why this one, for whom (request, project, how many
servers, what they need), by which strategy, what else was considered and why not that (revocable
servers of the same host that stayed, hosts that were passed over), whether it helped and who took
the room, and when each step happened. A server that was chosen and skipped in the end is explained
too; of a request, all servers that were chosen for it.

SERVER is the server's id or name, or a request's id; a server that no plan chose, but that waited
for room, is told of with its request, if that is one of the newest 10000. A real deletion goes
before what a dry run planned. Of several servers of one name, or several requests that chose the
server, the newest request is explained and the others are listed. All of it comes from the journals
of this machine, with or without a running daemon; what they do not know stands at the end.)",
    R"(Examples:
  reaper explain batch-7
  reaper explain 5e2d0c3a-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain req-0b6c2a44-9b7e-4a52-9d2f-0f6f2d1f6f55
  reaper explain batch-7 --json | jq '.servers[0] | {fate, reason, sent_at}'
)"};

const Text estimate{
    "What estimators would have sold, by Prometheus' history",
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
)"};

const Text replay{
    "What another strategy or limit would have done with a recording",
    R"(Decides the requests of a recording (record.directory of the daemon) again: under another strategy,
other limits or another configuration, and under the recorded one. A table of the differences, by
day and in all: requests helped, victims, and how long these had existed; then the requests that
would be decided otherwise. --config takes the place of the recorded configuration: its taggers,
strategy and safeguards count. --set and --strategy change single keys of that. -o csv has a row for
each request: victims and lost hours of both sides so far, to be plotted.

Each request is decided in the cloud as it was recorded. What an earlier decision would have changed
is not played on, but that no server goes twice, and that who went counts against limits. Circuit
breakers are as they were. Needs no cloud, and gives the same answer each time.)",
    R"(Examples:
  reaper replay /var/lib/reaper/recording --strategy strict
  reaper replay recording/ --set limits.victims_per_window=10 --set protect.min_run_time=30min
  reaper replay recording/ --strategy cost:ties=oldest -o csv > week.csv
  reaper replay recording/ --config new.yaml --json | jq .asked
)"};

const Text report{
    "What switching on would have meant",
    R"(For the end of a week of dry run, or of a paused reaper: requests that Nova refused, how many would
have been helped, whose servers would have gone and how long they had existed, which safeguards
would have held the reaper back, and what stands against switching on. It is made from the recording
(DIR, or record.directory of the configuration, or what a dry run keeps by itself), where no server
goes twice; without one from the journal, which has what the reaper planned.)",
    R"(Examples:
  reaper report
  reaper report --since 2026-11-18 --until 2026-11-25
  reaper report recording/ --json | jq '.projects[0], .against'
)"};

}  // namespace reaper::cli::help
