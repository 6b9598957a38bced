"""The two clouds that the quickstart can run on: what to build, how to start, tell and end them."""

import json
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Callable

import progress

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
LAB = ROOT / "tests" / "openstack"
LAB_HOSTS = 3
LAB_UP_DEADLINE_S = 10 * 60
LAB_DOWN_DEADLINE_S = 3 * 60

# Runs a command: title, log, deadline, words, and where in the log it tells how far it is.
Step = Callable[..., None]


class World(ABC):
    """A cloud in a directory of its own."""

    targets: list[str]
    configure_options: list[str] = []
    title: str

    def __init__(
        self, screen: progress.Screen, directory: Path, programs: Path, logs: Path, step: Step
    ):
        self.screen, self.directory, self.logs, self.step = screen, directory, logs, step
        self.programs = programs
        self.reaper = programs / "reaper"

    @abstractmethod
    def up(self) -> None: ...

    @abstractmethod
    def story(self) -> Any:
        """To `tell` and to `close`. Imports what the packages and the lab brought."""

    @abstractmethod
    def down(self) -> None:
        """Whatever happened; nothing that was started may stay."""

    @abstractmethod
    def addresses(self) -> list[str]:
        """Of a cloud that is kept."""

    @abstractmethod
    def ask(self, of_build: str) -> str:
        """The command that asks a kept cloud for a server for which there is no room."""

    def kept(self) -> dict[str, Any]:
        """What that command has to know."""
        return {}

    # The seconds of starting the cloud and of the story, on the machine of REFERENCE in the quickstart.
    up_s: float
    story_s: float


class Box(World):
    """cloudsim and a real RabbitMQ."""

    targets = ["reaper", "cloudsim"]
    title = "A cloud on this machine"
    up_s, story_s = 8, 8

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.processes: list[Any] = []
        # Who builds the tests here shall go on to do so.
        if "REAPER_TESTS:BOOL=ON" not in cache_of_the_build():
            self.configure_options = ["-DREAPER_TESTS=OFF", "-DREAPER_CLOUDSIM=ON"]

    def up(self) -> None:
        import box

        self.screen.say("  A real RabbitMQ, and cloudsim in place of Keystone, Placement and Nova: it answers")
        self.screen.say("  and sends messages as they do (deploy/quickstart --openstack takes the real ones).")
        self.screen.say("  All on loopback.")
        broker = ROOT / "tests" / "rabbitmq" / "broker"
        self._start("RabbitMQ", lambda log, tick: box.Broker(broker, log, tick))
        config = Path(__file__).with_name("cloudsim.yaml")
        url = self.processes[0].url
        binary = self.programs / "cloudsim"
        self._start("cloudsim", lambda log, tick: box.Cloudsim(binary, config, url, log, tick))
        ready = self.processes[1].ready
        self.screen.say(f"    {ready['hosts']} hosts, {ready['servers']} servers: {config.relative_to(ROOT)}")

    def _start(self, name: str, start: Callable[[Path, Callable[[], None]], Any]) -> None:
        title, began = f"start {name}", time.monotonic()
        self.screen.start(title)
        tick = lambda: self.screen.running(title, time.monotonic() - began, "")  # noqa: E731
        self.processes.append(start(self.logs / f"{name.lower()}.log", tick))
        self.screen.end(title, time.monotonic() - began)

    def story(self) -> Any:
        from cloudsim_story import CloudsimStory

        where = self.directory / "reaper"
        return CloudsimStory(self.screen, *self.processes, where, self.reaper, self.logs)

    def down(self) -> None:
        import box

        if not self.processes:
            return
        failure, began = None, time.monotonic()
        title = "take everything down again"
        self.screen.say()
        self.screen.start(title)
        while self.processes:
            try:
                self.processes.pop().end()
            except box.BoxFailed as error:
                failure = failure or error
        if failure is not None:
            raise failure
        self.screen.end(title, time.monotonic() - began)

    def addresses(self) -> list[str]:
        cloudsim = self.processes[1].ready
        return [
            f"Keystone   {cloudsim['auth_url']}    (user admin, password {cloudsim['users']['admin']['password']})",
            f"RabbitMQ   {self.processes[0].url}",
            f"cloudsim   {cloudsim['admin_url']}/state    (tests/cloudsim/README.md)",
        ]

    def ask(self, of_build: str) -> str:
        return f"deploy/quickstart --ask{of_build}"

    def kept(self) -> dict[str, Any]:
        return self.processes[1].ready


class RealOpenStack(World):
    """The lab: Debian's packages of Keystone, Placement, Nova and the rest."""

    targets = ["reaper"]
    title = "A real OpenStack on this machine"
    up_s, story_s = 60, 60

    @property
    def lab(self) -> Path:
        return self.directory / "lab"

    def up(self) -> None:
        self.screen.say("  Keystone, Glance, Placement, Nova, RabbitMQ and MariaDB, as Debian packages them;")
        self.screen.say("  only the hypervisors are Nova's own fakes. All on loopback, all in")
        self.screen.say(f"  {self.lab}")
        up = (str(LAB / "lab"), "up", "--dir", str(self.lab), "--hosts", str(LAB_HOSTS))
        title = f"start it, with {LAB_HOSTS} hosts"
        self.step(title, "lab", LAB_UP_DEADLINE_S, *up, where=last_step_of_lab)

    def story(self) -> Any:
        from openstack_story import OpenStackStory

        return OpenStackStory(self.screen, self.lab, self.directory / "reaper", self.reaper, self.logs)

    def down(self) -> None:
        if self.lab.exists():
            self.screen.say()
            down = (str(LAB / "lab"), "down", "--dir", str(self.lab))
            self.step("take everything down again", "lab", LAB_DOWN_DEADLINE_S, *down)

    def addresses(self) -> list[str]:
        lab = self._description()
        identity = lab["endpoints"]["RegionOne"]["identity"]
        return [
            f"Keystone   {identity}    (. {self.lab}/openrc)",
            f"RabbitMQ   {lab['broker']['amqp_url']}",
        ]

    def _description(self) -> dict[str, Any]:
        return json.loads((self.lab / "lab.json").read_text())

    def ask(self, of_build: str) -> str:
        image = self._description()["image"]
        server = f"server create --flavor medium --image {image} --nic none more"
        return f". {self.lab}/openrc && openstack --os-compute-api-version 2.37 {server}"


def cache_of_the_build() -> str:
    cache = BUILD / "CMakeCache.txt"
    return cache.read_text(errors="replace") if cache.exists() else ""


def last_step_of_lab(log: Path) -> str:
    """The lab tells every step that is done: `12.3 s  keystone (4.1 s)`."""
    lines = [line for line in progress.tail(log, 3) if " s  " in line]
    return lines[-1].split(" s  ", 1)[1].split(" (")[0] + " is there" if lines else ""
