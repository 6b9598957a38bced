#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

const Text run{
    "The daemon: frees room when Nova finds no host",
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
)"};

const Text gateway{
    "The gateway alone: stands before Placement, passes everything on",
    R"(The gateway without the daemon: an HTTP proxy that nova-scheduler asks instead of Placement
([placement] endpoint_override in nova.conf), and that passes every request and answer through as it
is. It needs gateway.listen in the configuration; neither broker nor journal; and no Keystone if
gateway.placement_url says where Placement is. 'reaper run' has the same gateway in it.

Under systemd it is ready when it listens. SIGTERM and SIGINT: it takes no new connections, lets
calls under way end (30 s at most), and leaves.)",
    R"(Examples:
  reaper gateway
  reaper --config ./gateway.yaml gateway --log-level debug

  gateway.yaml:
    gateway:
      listen: 127.0.0.1:8780
      placement_url: http://controller:8778
)"};

const Text check{
    "Is everything in place? What to do if not",
    R"(Checks everything that the daemon needs, one line each: "ok", "info" (could not be
tried, but should be so), "warn" (can't be told from outside, or worth knowing) or "FAIL" with what
to do. Goes on after a failure. Reads only.

The last lines tell the rights of each feature: those that are missing (a service answered 403),
those that were not tried (what writes never is), and those that let a call pass. With -o or --sort,
the list is told at the end, as a table of verdict, what and detail.)",
    R"(Examples:
  reaper check
  reaper --config ./reaper.yaml check --json
  reaper check --sort verdict

Exit code 4 says that something needs attention.
)"};

const Text pause{
    "Pauses deletions until resume",
    R"(From now on the reaper of this machine deletes no servers, until "reaper resume". It works at
once, with or without a running daemon, and survives restarts: it is a file (pause_file in the
configuration, by default /var/lib/reaper/paused), and "touch" of that file is as good. Where
several reapers share a queue, each has a pause of its own: pause all of them, or the active one,
which this command names if it is another. Deletions that Nova was
asked for already go on; no further one is sent, not even of a plan that is being carried out.
Requests that come meanwhile are refused with the reason, and stand in the history.

A pause that is in force already stays as it is, with its reason. The circuit breaker stops the
reaper in the same way, by a file beside it, and tries again by itself.)",
    R"(Examples:
  reaper pause --reason "Nova upgrade until 14:00"
  touch /var/lib/reaper/paused
  reaper status
)"};

const Text resume{
    "Ends a pause; closes the circuit breaker too",
    R"(Ends whatever pause is in force on this machine, closes its circuit breaker, and says what it was.
What went unused before counts no more, for projects and shapes that are left alone, too. Look into
"reaper history" first if the breaker opened: it did so for a reason.)",
    R"(Example:
  reaper resume
)"};

const Text protect{
    "Keeps a server from going, for a while",
    R"(The reaper never deletes the server, until the time that is given or until "reaper protect
--remove". It counts at once, also for a plan that is being carried out, is in the journal, survives
restarts and ends by itself. Without a server it lists those that are protected. The running daemon
does it; where several share a queue, each protects by its own journal: do it on each.

A project, a flavor or an aggregate is protected by the configuration (protect), a server also by an
administrator's lock. What a server's owner does to it protects it only where protect.owners is
true.)",
    R"(Examples:
  reaper protect db-7 --for 12h --reason "moves tonight"
  reaper protect 2c1f2a9e-6d0b-4d0c-8a55-0f4a9c1de001 --until 2026-11-27T08:00:00
  reaper protect
  reaper protect --remove db-7
)"};

const Text status{
    "Is it paused? What is under way?",
    R"(Says if the reaper of this machine is paused, by whom, since when and why, whether its daemon
runs and is ready, and how its circuit breaker is; which reaper is the active one, where several
share a queue; and, from the journal of this machine, which projects and shapes are left alone, what
is under way and what the last 24 hours brought. For monitoring: exit code 4 says that this
machine's reaper is paused, or its breaker open.)",
    R"(Examples:
  reaper status
  reaper status --json
)"};

const Text health{
    "Does the daemon run, and is it ready? For health checks",
    R"(Asks the running daemon on its socket (admin.socket), else on the port of metrics.listen or of
an admin.listen without TLS, or the one that --api names, for its /healthz and /readyz. Ends with 0
if it runs and would look into a refusal of Nova's now; with 4 if it runs and would not (it starts,
the broker or the cloud is away): the answer says why; with 1 if it does not run, does not answer in
time, or only a restart helps. A pause, a dry run and standing by are no failures.)",
    R"(Examples:
  reaper health
  reaper health --live      for what restarts it: also 0 while it is not ready
  reaper health --json
)"};

const Text reapers{
    "Which reaper answers, and which one serves the queue",
    R"(The reaper that answers, and the one that serves the queue, if that is another one. Asks the
running daemon on its socket (admin.socket), or the one that --api names.)",
    R"(Examples:
  reaper reapers
  reaper --api https://controller:8787 reapers
)"};

const Text oversubscription{
    "What oversubscribed room each host has, and why not more",
    R"(For each host where unused vCPUs are sold: the vCPUs that are published, held, and allowed by the
estimator (none: the use of the host is not known), and why. EXCESS is held beyond what may stay.
A host that is too busy, or that went up and down too often (left alone), sells nothing new.

Asks the running daemon on its socket (admin.socket), or the one that --api names.)",
    R"(Examples:
  reaper oversubscription
  reaper oversubscription -o csv --sort=-wanted
)"};

}  // namespace reaper::cli::help
