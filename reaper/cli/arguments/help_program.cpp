#include "reaper/cli/arguments/help_text.hpp"

namespace reaper::cli::help {

const Text program{
    "",
    R"(reaper: frees room on OpenStack for regular servers by deleting revocable ones.

The daemon (reaper run) hears Nova's "no valid host" messages, chooses which revocable servers
must go, deletes exactly those, and sees in Placement that the room came free. request, apply,
reserve and unreserve have the daemon act; pause and resume switch its deletions off and on; protect
keeps a server from going; setup --apply prepares the cloud. The other commands look, and write
nothing to the cloud.)",
    R"(Examples:
  reaper check                       is everything in place? what to do if not
  reaper hosts                       how many servers each host has, and how much room
  reaper plan --flavor m1.large --slots 2 --project web
  reaper plan --resources VCPU=4,MEMORY_MB=8192,DISK_GB=20 --slots 2 --project web
  reaper room --flavor m1.large      how many fit now, after which deletions, or why never
  reaper snapshot --out cloud.json   the same as a file, to plan on without the cloud
  reaper run --dry-run               the daemon, telling what it would do
  reaper history show req-0b6c...    everything that happened to one request
  reaper pause --reason "upgrade"    this machine's reaper deletes nothing until: reaper resume

The options above are accepted before and after the command, as are -o, --sort and --columns of
commands that have them.

With --api, the daemon at that address is asked, and no configuration or journal is read: status,
health, history, explain, usage, hosts, candidates, snapshot, plan, apply, request, room,
reservations, reserve, unreserve, reapers, oversubscription, pause, resume and protect. The URL is
https://HOST:PORT of its admin.listen, or unix:/PATH of its admin.socket. The token is that of
--token-file or OS_TOKEN; where the daemon demands one and there is none, Keystone gives one for the
credentials in OS_AUTH_URL and the other OS_* variables. The answer goes to stdout, logs and errors
to stderr.

Lists (hosts, candidates, history, reservations, usage, ...) are tables, of one line for each row
where stdout is no terminal; -o gives another format, --sort and --columns choose. watch(1) repeats
a command.
What else answers takes -o json and -o yaml; --json is -o json. Times are UTC, as in
2026-11-01T12:30:00.000Z.

With --json, each error is a line of JSON on stderr, that of a wrong command line too:
{"error": {"message": "...", "exit_code": 2}}; what works, but should be mended, is
{"warning": {"message": "..."}}, and what is logged {"time", "level", "message"}.

Exit codes:
  0  done
  1  something outside failed: the cloud, the broker, the journal
  2  the command line or the configuration is wrong; reservations, oversubscription: it has them off
  3  plan, room, request, apply: not enough room can be freed, no servers (would be) deleted;
     plan: or the request is refused, as that of a revocable requester; request, apply: or the
     reaper is paused or in a dry run; plan --save: nothing was saved; reserve, unreserve: the hosts
     have not so much unreserved, or idle, room
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
  REAPER_API       the daemon to ask, when --api is not given; OS_TOKEN, OS_*: as whom
  NO_COLOR         when set and not empty, no colours unless --color always
)"};

const Text config{
    "The configuration in effect, without secrets",
    R"(The configuration as it is in effect: the file, the defaults for what it leaves out, and what
came from files and the environment. Secrets are not shown.

With --check it only says whether the configuration is valid, and tells all mistakes with file and
line (exit code 2), as a start or a reload would. No cloud and no broker is asked; 'reaper check'
does that.

Each key can be given as a variable of the environment instead (cull.deadline is
REAPER_CULL_DEADLINE), as the file would say it; the file overrules it. --env lists them all, and
tells whether a value is the file's (with its line), the environment's, or the default.)",
    R"(Examples:
  reaper --config ./reaper.yaml config
  reaper config --env
  REAPER_DRY_RUN=true reaper config --env | grep environment
  reaper config --check && systemctl reload reaper
)"};

const Text completion{
    "What a shell completes: a script for bash or zsh",
    R"(Prints what bash or zsh needs to complete commands, options and their values. The package
installs both.)",
    R"(Examples:
  source <(reaper completion bash)
  reaper completion zsh >/usr/local/share/zsh/site-functions/_reaper
)"};

const Text help{"This help, or that of a command",
                R"(Shows the help of a command, as COMMAND --help does, or of the whole program.)",
                R"(Examples:
  reaper help plan
  reaper help history show
)"};

const Text version{"The version of the program",
                   R"(Shows the version of the program, as --version does.)",
                   R"(Examples:
  reaper version
  reaper version --json | jq -r .program_version
)"};

const Text strategies{
    "How victims can be chosen: strategies with parameters",
    R"(The strategies that can choose victims, with their parameters and defaults; for `strategy:` in
the configuration and `plan --strategy`.)",
    R"(Example:
  reaper strategies
)"};

const Text taggers{
    "What can make a server revocable: taggers with parameters",
    R"(The taggers that can say which servers are revocable, with their parameters and defaults; for
`taggers:` in the configuration.)",
    R"(Example:
  reaper taggers --json
)"};

const Text estimators{
    "How oversubscribed room is estimated, with parameters",
    R"(The estimators that can say how much oversubscribed room a host may have, with their parameters
and defaults; for `oversubscription.estimator` in the configuration and `estimate --estimator`.)",
    R"(Example:
  reaper estimators
)"};

const Text qos{
    "When revocable servers of busy hosts go, with parameters",
    R"(The QoS controllers that can say when revocable servers of a busy host must go, with their
parameters and defaults; for `oversubscription.qos` in the configuration.)",
    R"(Example:
  reaper qos
)"};

}  // namespace reaper::cli::help
