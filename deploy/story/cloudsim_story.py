"""The story on the simulated cloud, in the order in which it happens.

alice, of the project `regular`, asks for servers and is refused; the reaper makes room for them at
the cost of `spot`, but for the server that an operator protects. What is told of deletions is
cloudsim's own record of what was really done to it, not the reaper's word.
"""

import re
import time
from pathlib import Path
from typing import Any

import progress
from box import BROKER_PASSWORD, ApiFailed, Broker, Cloudsim, NovaUser
from cloud import Server
from reaper_process import Reaper
from telling import POLL_S, WAIT_S, StoryFailed, Teller, victims_of

# What alice asks for: larger than any revocable server, so that several must go for each.
FLAVOR = {"name": "huge", "vcpus": 12, "memory_mb": 24576, "disk_gb": 120}
COUNT = 2
RESOURCES = f"VCPU={FLAVOR['vcpus']},MEMORY_MB={FLAVOR['memory_mb']},DISK_GB={FLAVOR['disk_gb']}"
LOG_LIMIT = 1_000_000
# How much of `reaper hosts` is shown of the first host.
LINES_OF_HOSTS = 6
VICTIM = re.compile(r" +host-\d+: ")
CACHE_READ = re.compile(r"cloud cache: \d+ hosts.*")
ONE_HOST = re.compile(r"\bhost=([^&]+)")
EVERYTHING = re.compile(r"/(resource_providers|allocation_candidates|servers/detail)\?(?!.*\bhost=)")
COLOURS = re.compile(r"\033\[[0-9;]*m")


class BoxCloud:
    """What the reaper is configured with."""

    def __init__(self, broker: Broker, cloudsim: Cloudsim):
        self._broker, self._ready = broker, cloudsim.ready

    def reaper_config(self) -> dict[str, Any]:
        user = self._ready["users"]["reaper"]
        domains = {"user_domain_name": "Default", "project_domain_name": "Default"}
        login = {"username": "reaper", "password": user["password"], "project_name": user["project"]}
        auth = {"auth_url": self._ready["auth_url"], **login, **domains}
        return {
            "cloud": {"auth": auth, "region": "RegionOne"},
            "broker": {"urls": [self._broker.url]},
        }

    def secrets(self) -> list[str]:
        return [BROKER_PASSWORD, *(user["password"] for user in self._ready["users"].values())]


class CloudsimStory(Teller):
    def __init__(
        self,
        screen: progress.Screen,
        broker: Broker,
        cloudsim: Cloudsim,
        directory: Path,
        binary: Path,
        logs: Path,
    ):
        directory.mkdir(parents=True, exist_ok=True)
        cloud: Any = BoxCloud(broker, cloudsim)
        super().__init__(screen, Reaper(binary, cloud, directory), logs, first_chapter=4)
        self.reaper.config["strategy"] = {"name": "cost"}
        self.reaper.config["admin"] = {"socket": str(directory / "admin.sock")}
        self.cloudsim = cloudsim
        self.admin, self.alice = (NovaUser(cloudsim.ready, name) for name in ("admin", "alice"))
        self.flavor = self.admin.make_flavor(**FLAVOR)

    def tell(self) -> None:
        try:
            before = self.admin.all_servers()
            self.show_the_cloud(before)
            self.look_with_the_reaper()
            spared = self.look_ahead()
            self.start_the_daemon()
            self.wait_for_the_cache()
            self.protect(spared)
            mark = self.cloudsim.admin("state")["last"]
            refused = self.refused()
            story = self.make_room(refused, mark)
            self.second_try()
            self.show_the_record(mark, before, story, spared)
            self.show_journal(refused)
        except (AssertionError, ApiFailed) as error:
            raise StoryFailed(str(error).splitlines()[0], self.logs / "reaper.log") from error

    # Chapters ----------------------------------------------------------------

    def show_the_cloud(self, before: dict[str, Any]) -> None:
        self.chapter("A cloud without room")
        self.say(
            "Two projects share it. The servers of `regular` must run. Those of `spot` run in what is "
            "left over: the project carries the tag `preemptible`, so they may be taken away."
        )
        self.command("hosts", show=first_hosts)
        hosts = self.reaper.json("hosts")["hosts"]
        used = sum(host["used"].get("VCPU", 0) for host in hosts)
        capacity = sum(host["capacity"]["VCPU"] for host in hosts)
        self.expect(used == capacity, f"the cloud is not full: {used} of {capacity} VCPU are used")
        revocable = sum(server["revocable"] for host in hosts for server in host["servers"])
        counts = self.cloudsim.admin("state")
        self.expect(
            (len(before), revocable) == (counts["servers"], counts["revocable"]),
            f"the reaper sees {revocable} revocable servers of {len(before)}, cloudsim {counts}",
        )
        self.say(f"Full: {used} of {capacity} VCPU are in use.")

    def look_with_the_reaper(self) -> None:
        self.chapter("Is everything in place for the reaper?")
        self.command("check")

    def look_ahead(self) -> dict[str, Any]:
        """Returns the victim that would go first."""
        self.chapter(f"{COUNT} servers of {FLAVOR['vcpus']} VCPU: who would have to go, and why?")
        self.say(
            "`reaper plan` is a dry run on the live cloud; it writes nothing. The strategy, `cost`, "
            "looks for those whose end loses the least work (VCPU times minutes that they ran)."
        )
        question = ("plan", "--slots", str(COUNT), "--resources", RESOURCES, "--project", "regular")
        self.command(*question, show=first_host_and_plan)
        first = victims_of(self.reaper.json(*question))[0]
        self.expect_only_reads()
        return first

    def protect(self, server: dict[str, Any]) -> None:
        self.say(f"{server['name']} would go first. Its owner says that it moves tonight; an operator protects it:")
        self.command("protect", server["name"], "--for", "12h", "--reason", "moves tonight")

    def expect_only_reads(self) -> None:
        writes = self.writes_of_the_reaper(since=0)
        self.expect(not writes, f"a command that only looks has written: {writes}")

    def wait_for_the_cache(self) -> None:
        """The daemon tells of it when it has read the cloud, once and in bulk."""
        began = time.monotonic()
        while not (found := CACHE_READ.search(self.reaper.log_text())):
            seconds = time.monotonic() - began
            self.expect(seconds < WAIT_S, f"the daemon has not read the cloud after {WAIT_S} s")
            self.screen.running("the daemon reads the cloud", seconds, "")
            time.sleep(POLL_S)
        self.say(f"Its log: {found[0]}")

    def refused(self) -> Server:
        self.chapter(f"alice of `regular` asks Nova for {COUNT} such servers, and is refused")
        request, servers = self.alice.ask("web", self.flavor, COUNT)
        for server in sorted(servers, key=lambda server: server["name"]):
            found = self.wait_settled(server["id"])
            self.expect(found["status"] == "ERROR", f"{found['name']} is {found['status']}, not ERROR")
            self.show_status(found["name"], "ERROR", found["fault"]["message"].strip())
        return Server(servers[0]["id"], servers[0]["name"], "regular", request)

    def make_room(self, refused: Server, mark: int) -> dict[str, Any]:
        self.chapter("The daemon hears of it from Nova's own messages, and makes room")
        story = self.wait_for_outcome(refused)
        self.tell_what_was_done(story)
        reads = self.record(mark, kind="request", user="reaper")
        hosts = {found[1] for entry in reads if (found := ONE_HOST.search(entry["query"]))}
        lists = sum(bool(EVERYTHING.search(f"{entry['path']}?{entry['query']}")) for entry in reads)
        self.say(
            f"Since alice asked, it has read {len(hosts)} of {self.cloudsim.ready['hosts']} hosts again "
            f"and {lists or 'no'} lists of the whole cloud: events keep its cache fresh."
        )
        return story

    def second_try(self) -> None:
        self.chapter("alice asks again")
        _, servers = self.alice.ask("web-again", self.flavor, COUNT)
        for server in sorted(servers, key=lambda server: server["name"]):
            status = self.wait_settled(server["id"])["status"]
            self.expect(status == "ACTIVE", f"{server['name']} is {status}, not ACTIVE")
            host = self.admin.look(server["id"])["OS-EXT-SRV-ATTR:host"]
            self.show_status(server["name"], "ACTIVE", f"on {host}")

    def show_the_record(
        self, mark: int, before: dict[str, Any], story: dict[str, Any], spared: dict[str, Any]
    ) -> None:
        self.chapter("Deleted servers, by the cloud's own record")
        effects = self.record(mark, kind="effect")
        deleted = sorted(entry["server"] for entry in effects if entry["what"] == "deleted")
        gone = sorted(step["server"] for step in story["steps"] if step["step"] == "gone")
        writes = self.writes_of_the_reaper(mark)
        self.expect(bool(deleted), "cloudsim's record knows of no deletion")
        self.expect(deleted == gone, "cloudsim's record and the journal disagree about the deleted servers")
        self.expect(
            sorted(writes) == sorted(f"DELETE {server}" for server in deleted),
            f"the reaper has written something else than one DELETE for each victim: {writes}",
        )
        spot = self.cloudsim.ready["projects"]["spot"]
        regular = [server for server in before.values() if server["tenant_id"] != spot]
        self.expect(all(before[id]["tenant_id"] == spot for id in deleted), "a regular server was deleted")
        self.expect(spared["server"] not in deleted, f"{spared['name']} was deleted, though it is protected")
        self.expect_the_rest_undisturbed(before, deleted)
        names = ", ".join(sorted(before[server]["name"] for server in deleted))
        self.say(f"{len(writes)} requests of the reaper to delete, no other write; it read only, before.")
        self.say(f"{len(deleted)} servers deleted, all of `spot`: {names}.")
        self.say(f"{spared['name']} is protected, and lives. So do all {len(regular)} regular servers.")
        self.say(f"{len(before) - len(deleted)} of {len(before)} servers run on, each where it was.")

    def expect_the_rest_undisturbed(self, before: dict[str, Any], deleted: list[str]) -> None:
        after = self.admin.all_servers()
        for id, server in before.items():
            if id in deleted:
                self.expect(id not in after, f"{server['name']} is still there")
            else:
                same = id in after and where_and_how(after[id]) == where_and_how(server)
                self.expect(same, f"{server['name']} was no victim, but something happened to it")

    def show_journal(self, refused: Server) -> None:
        self.chapter("Everything stays in the journal")
        self.command("history")
        self.command("history", "show", refused.request, show=first_victim_and_outcome)
        self.reaper.stop()
        self.reaper.assert_no_secrets()

    # -------------------------------------------------------------------------

    def wait_settled(self, server: str) -> dict[str, Any]:
        began = time.monotonic()
        while True:
            found = self.alice.look(server)
            if found["status"] != "BUILD":
                return found
            self.expect(time.monotonic() - began < WAIT_S, f"{found['name']} is in BUILD after {WAIT_S} s")
            time.sleep(POLL_S)

    def record(self, since: int, **filters: str) -> list[dict[str, Any]]:
        query = "".join(f"&{key}={value}" for key, value in filters.items())
        log = self.cloudsim.admin(f"log?since={since}&limit={LOG_LIMIT}{query}")
        self.expect(not log["lost"], "cloudsim's record is not complete")
        return log["entries"]

    def writes_of_the_reaper(self, since: int) -> list[str]:
        """Its requests but for reading and for logging in; `DELETE` with the server's id."""
        writes = []
        for entry in self.record(since, kind="request", user="reaper"):
            if entry["method"] in ("GET", "HEAD") or entry["service"] == "identity":
                continue
            server = re.search(r"/servers/([0-9a-f-]{36})$", entry["path"])
            writes.append(f"{entry['method']} {server[1] if server else entry['path']}")
        return writes


def first_hosts(lines: list[str]) -> list[str]:
    """Of `reaper hosts`: the head, the first of them, and the last one."""
    return [*lines[:LINES_OF_HOSTS], "...", lines[-1]]


def first_host_and_plan(lines: list[str]) -> list[str]:
    """Of `reaper plan`: the first host, one that was not chosen, and the sum."""
    second = first_with(lines, "Host ", after=first_with(lines, "Host "))
    others = first_with(lines, "Not used")
    one = first_with(lines, "    host-", after=others)
    rest = first_with(lines, "    host-", after=one)
    return [*lines[:second], "...", *lines[others:rest], "    ...", *lines[-2:]]


def first_victim_and_outcome(lines: list[str]) -> list[str]:
    """Of `reaper history show`: until the reasons for the first victim, and the end."""
    plan = next(n for n, line in enumerate(lines) if " plan 1: " in line)
    victim = plan + 2
    reasons_end = next((n for n in range(victim + 1, len(lines)) if is_victim(lines[n])), len(lines))
    return [*lines[:reasons_end], "  ...", *lines[-2:]]


def first_with(lines: list[str], beginning: str, after: int = -1) -> int:
    for number, line in enumerate(lines):
        if number > after and COLOURS.sub("", line).startswith(beginning):
            return number
    raise StoryFailed(f"the reaper's answer has no line that begins with {beginning!r}")


def is_victim(line: str) -> bool:
    return VICTIM.match(COLOURS.sub("", line)) is not None


def where_and_how(server: dict[str, Any]) -> tuple[str, ...]:
    return server["status"], server["OS-EXT-SRV-ATTR:host"], str(server["OS-EXT-STS:task_state"])
