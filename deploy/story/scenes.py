"""The story of the quickstart, on a running lab: told in the order in which it happens.

Everything that is claimed is read from Nova or from the reaper's own commands while it is told.
"""

import sys
import textwrap
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import progress
from cloud import Server
from fleet import fill
from lab_cloud import LabCloud
from lablib.catalog import FLAVORS
from reaper_process import Reaper

WIDTH = 100
WAIT_S = 90
POLL_S = 0.1

# Full: no host has 5 VCPU free. host-1 can give them most neatly, host-2 gives more than is
# needed, host-3 has nothing that may go.
HOLDINGS = {
    "host-1": [("regular", "medium", 1), ("spot", "small", 2)],
    "host-2": [("spot", "small", 5)],
    "host-3": [("regular", "large", 1)],
}
FLAVOR = "medium"


class StoryFailed(Exception):
    def __init__(self, what: str, log: Path | None = None):
        super().__init__(what)
        self.log = log


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Story:
    def __init__(self, screen: progress.Screen, lab: Path, directory: Path, binary: Path, logs: Path):
        self.screen = screen
        self.cloud = LabCloud(lab)
        directory.mkdir(parents=True, exist_ok=True)
        self.reaper = Reaper(binary, self.cloud, directory)
        self.reaper.config["log"]["level"] = "info"
        self.logs = logs
        self.chapter_number = 3

    def close(self) -> None:
        if self.reaper.daemon is not None:
            self.reaper.kill()
        if self.reaper.log.exists():
            (self.logs / "reaper.log").write_text(self.reaper.log_text())
        self.cloud.close()

    def tell(self) -> None:
        try:
            fleet = self.fill_the_cloud()
            self.look_with_the_reaper()
            self.look_ahead()
            self.start_the_daemon()
            request = self.refused()
            story = self.make_room(request)
            self.second_try()
            self.check_the_others(fleet, story)
            self.show_journal(request)
        except AssertionError as error:
            raise StoryFailed(str(error).splitlines()[0], self.logs / "reaper.log") from error

    # Chapters ----------------------------------------------------------------

    def fill_the_cloud(self) -> list[Server]:
        self.chapter("A cloud without room")
        self.say("Two projects share it. The servers of `regular` must run. Those of `spot` run in what is")
        self.say("left over: the project carries the tag `preemptible`, so they may be taken away.")
        count = sum(number for held in HOLDINGS.values() for _, _, number in held)
        title = f"boot {count} servers"
        began = time.monotonic()
        self.screen.start(title)
        self.cloud.reset()
        fleet = fill(self.cloud, HOLDINGS, exactly=False)
        self.screen.end(title, time.monotonic() - began)
        self.picture()
        return fleet.all()

    def look_with_the_reaper(self) -> None:
        self.chapter("Is everything in place for the reaper?")
        self.command("check")

    def look_ahead(self) -> None:
        self.chapter("If a regular server of 5 VCPU had to be placed now: who would go, and why?")
        self.say("No host has 5 VCPU free. `reaper plan` looks at the live cloud and deletes nothing:")
        size = FLAVORS[FLAVOR]
        resources = f"VCPU={size['vcpus']},MEMORY_MB={size['ram']},DISK_GB={size['disk']}"
        self.command("plan", "--resources", resources, "--project", "regular")

    def start_the_daemon(self) -> None:
        self.chapter("The daemon")
        began = time.monotonic()
        self.screen.start("reaper run")
        self.reaper.start()
        self.screen.end("reaper run", time.monotonic() - began, "ready: broker and cloud answer")

    def refused(self) -> Server:
        self.chapter("Now somebody asks Nova for that server, and is refused")
        [server] = self.cloud.ask_in_vain(FLAVOR)
        fault = self.cloud.nova.get(f"/servers/{server.id}").json()["server"].get("fault", {})
        self.show_status(server.name, "ERROR", fault.get("message", "").strip())
        return server

    def make_room(self, refused: Server) -> dict[str, Any]:
        self.chapter("The daemon hears of it from Nova's own message, and makes room")
        story = self.wait_for_outcome(refused)
        names = {v["server"]: v["name"] for p in story["plans"] for h in p["decision"].get("hosts", []) for v in h["victims"]}
        start = moment(story["received_at"])

        def tell(at: str, text: str) -> None:
            self.say(f"{(moment(at) - start).total_seconds():6.2f} s  {text}")

        tell(story["received_at"], "message taken from RabbitMQ")
        for plan in story["plans"]:
            victims = [v["name"] for h in plan["decision"].get("hosts", []) for v in h["victims"]]
            hosts = [h["host_name"] for h in plan["decision"].get("hosts", [])]
            tell(plan["at"], f"plan: on {', '.join(hosts)}, {' and '.join(victims)} must go")
        words = {"delete_sent": "asked Nova to delete", "gone": "gone, and Placement shows it:"}
        for step in story["steps"]:
            word = words.get(step["step"].replace("-", "_"))
            if word:
                tell(step["at"], f"{word} {names.get(step['server'], step['server'])}")
        tell(story["outcome"]["at"], f"{story['outcome']['kind']}: {story['outcome']['reason']}")
        if story["outcome"]["kind"] != "freed":
            raise StoryFailed(f"the reaper ended with {story['outcome']['kind']}", self.logs / "reaper.log")
        return story

    def second_try(self) -> None:
        self.chapter("The same regular server, asked for again")
        [server] = self.cloud.ask(FLAVOR)
        self.cloud.wait_for([server], "ACTIVE")
        self.show_status(server.name, "ACTIVE", f"on {self.cloud.look(server).host}")

    def check_the_others(self, fleet: list[Server], story: dict[str, Any]) -> None:
        died = {s["server"] for s in story["steps"] if s["step"] == "gone"}
        looks = {server: self.cloud.look(server) for server in fleet}
        gone = [server for server, look in looks.items() if look.gone]
        others = [look for look in looks.values() if not look.gone]
        assert {server.id for server in gone} == died, "Nova and the journal disagree about who died"
        assert all(look.status == "ACTIVE" for look in others), "a server that was no victim is not ACTIVE"
        assert all(server.project == "spot" for server in gone), "a regular server died"
        self.picture()
        self.say(f"{len(gone)} revocable servers went; the other {len(others)} run on undisturbed.")

    def show_journal(self, refused: Server) -> None:
        self.chapter("The whole story stays in the journal")
        self.command("history", "show", refused.request)
        self.reaper.stop()

    # -------------------------------------------------------------------------

    def picture(self) -> None:
        """Each host in a line, as `reaper hosts` tells it at length."""
        answer = self.reaper.json("hosts")
        for host in sorted(answer["hosts"], key=lambda host: host["name"]):
            used, capacity = host["used"].get("VCPU", 0), host["capacity"]["VCPU"]
            servers = sorted(host["servers"], key=lambda one: (one["revocable"], one["name"]))
            names = [self.coloured_name(server) for server in servers]
            self.screen.say(f"    {host['name']}  {used:2} of {capacity} VCPU used  {' '.join(names)}")
        self.screen.say(self.screen.paint("    (`reaper hosts`, in short; in brackets: the VCPU of a server)", "dim"))

    def coloured_name(self, server: dict[str, Any]) -> str:
        text = f"{server['name']}({server['resources']['VCPU']})"
        return self.screen.paint(text, "yellow" if server["revocable"] else "green")

    def chapter(self, title: str) -> None:
        self.chapter_number += 1
        self.screen.say()
        self.screen.say(self.screen.paint(f"{self.chapter_number}. {title}", "bold"))

    def say(self, text: str) -> None:
        for line in textwrap.wrap(text, WIDTH - 2, drop_whitespace=False, replace_whitespace=False) or [""]:
            self.screen.say(f"  {line}")

    def show_status(self, name: str, status: str, detail: str) -> None:
        colour = "green" if status == "ACTIVE" else "red"
        painted = self.screen.paint(status, colour, "bold")
        self.screen.say(f"    {name}  {painted}  {detail}")

    def command(self, *arguments: str, good: tuple[int, ...] = (0,)) -> None:
        """A real command of the reaper with its real output."""
        self.screen.say(self.screen.paint(f"  $ reaper {' '.join(arguments)}", "cyan"))
        colour = ("--color", "always") if self.screen.coloured else ()
        done = self.reaper.command(*colour, *arguments)
        for line in done.stdout.splitlines():
            self.screen.say(f"  {line}")
        if done.returncode not in good:
            print(done.stderr, file=sys.stderr)
            raise StoryFailed(f"`reaper {' '.join(arguments)}` ended with {done.returncode}")

    def wait_for_outcome(self, refused: Server) -> dict[str, Any]:
        began = time.monotonic()
        while True:
            story = self.reaper.story(refused.request)
            if story and story["outcome"]:
                return story
            seconds = time.monotonic() - began
            if seconds > WAIT_S:
                raise StoryFailed(f"nothing came of {refused.request} in {WAIT_S} s", self.logs / "reaper.log")
            self.screen.running("the daemon works", seconds, "")
            time.sleep(POLL_S)
