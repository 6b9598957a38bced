"""The story on the real OpenStack of the lab (tests/openstack), in the order in which it happens."""

import time
from pathlib import Path
from typing import Any

import progress
from cloud import Server
from fleet import fill
from lab_cloud import LabCloud
from lablib.catalog import FLAVORS
from reaper_process import Reaper
from telling import StoryFailed, Teller

# Full: no host has 5 VCPU free. host-1 can give them most neatly, host-2 gives more than is
# needed, host-3 has nothing that may go.
HOLDINGS = {
    "host-1": [("regular", "medium", 1), ("spot", "small", 2)],
    "host-2": [("spot", "small", 5)],
    "host-3": [("regular", "large", 1)],
}
FLAVOR = "medium"


class OpenStackStory(Teller):
    def __init__(self, screen: progress.Screen, lab: Path, directory: Path, binary: Path, logs: Path):
        self.cloud = LabCloud(lab)
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(screen, Reaper(binary, self.cloud, directory), logs, first_chapter=4)

    def close(self) -> None:
        super().close()
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
        self.say(
            "Two projects share it. The servers of `regular` must run. Those of `spot` run in what is "
            "left over: the project carries the tag `preemptible`, so they may be taken away."
        )
        count = sum(number for held in HOLDINGS.values() for _, _, number in held)
        title = f"boot {count} servers"
        began = time.monotonic()
        self.screen.start(title)
        self.cloud.reset()
        fleet = fill(self.cloud, HOLDINGS, exactly=False)
        self.screen.end(title, time.monotonic() - began)
        self.show_hosts()
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

    def refused(self) -> Server:
        self.chapter("Now a user asks Nova for that server, and is refused")
        [server] = self.cloud.fail_to_boot(FLAVOR)
        fault = self.cloud.nova.get(f"/servers/{server.id}").json()["server"].get("fault", {})
        self.show_status(server.name, "ERROR", fault.get("message", "").strip())
        return server

    def make_room(self, refused: Server) -> dict[str, Any]:
        self.chapter("The daemon hears of it from Nova's own message, and makes room")
        story = self.wait_for_outcome(refused)
        self.tell_what_was_done(story)
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
        self.expect({s.id for s in gone} == died, "Nova and the journal disagree about the deleted servers")
        self.expect(
            all(look.status == "ACTIVE" for look in others), "a server that was no victim is not ACTIVE"
        )
        self.expect(all(server.project == "spot" for server in gone), "a regular server was deleted")
        self.show_hosts()
        self.say(f"{len(gone)} revocable servers went; the other {len(others)} run on undisturbed.")

    def show_journal(self, refused: Server) -> None:
        self.chapter("Everything stays in the journal")
        self.command("history", "show", refused.request)
        self.reaper.stop()

    # -------------------------------------------------------------------------

    def show_hosts(self) -> None:
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
