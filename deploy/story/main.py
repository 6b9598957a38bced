"""The quickstart after the packages are installed: build, a cloud, the story, the end."""

import argparse
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "deploy"), str(ROOT / "tests" / "openstack")]

import kept  # noqa: E402
import progress  # noqa: E402
import worlds  # noqa: E402
from telling import StoryFailed  # noqa: E402

BUILD_DEADLINE_S = 60 * 60
LOGS = ROOT / "build" / "quickstart-logs"


class StepFailed(Exception):
    """One line for the person who runs this; the log has the rest."""

    def __init__(self, what: str, log: Path | None = None):
        super().__init__(what)
        self.log = log


class Quickstart:
    def __init__(self, options: argparse.Namespace):
        self.keep = options.keep
        self.screen = progress.Screen()
        packages = float(os.environ.get("REAPER_QUICKSTART_SECONDS", "0"))
        self.began = time.monotonic() - packages
        self.took: list[tuple[str, float]] = [("packages", packages)]
        self.screen.outlook = progress.Outlook(packages)
        self.build_s, speed = (float(os.environ.get(f"REAPER_QUICKSTART_{n}", "1")) for n in ("BUILD", "SPEED"))
        self.own_directory = options.dir is None
        # Short: the lab's Unix sockets have long names already.
        made = options.dir or Path(tempfile.mkdtemp(prefix="reaper-", dir="/tmp"))
        self.directory = made.absolute()
        kind = worlds.RealOpenStack if options.openstack else worlds.Box
        self.built = options.build
        self.of_build = f" --build {options.build.absolute()}" if options.build else ""
        programs = (options.build or worlds.BUILD).absolute() / "bin"
        self.logs = options.build.absolute() / LOGS.name if options.build else LOGS
        self.world: worlds.World = kind(self.screen, self.directory, programs, self.logs, self.step)
        self.up_s, self.story_s = self.world.up_s * speed, self.world.story_s * speed
        self.story: Any = None

    def step(self, title: str, log: str, deadline_s: float, *command: str, where=None) -> None:
        path = self.logs / f"{log}.log"
        more = {"where": where} if where else {}
        done = progress.run(self.screen, title, list(command), path, deadline_s, ROOT, **more)
        self.took.append((title, done.seconds))
        if done.status != 0 or done.timed_out:
            for line in what_went_wrong(path):
                self.screen.say(f"    {line}")
            raise StepFailed(f"this step failed: {title}", path)

    def build(self) -> None:
        self.screen.say(self.screen.paint("2. The reaper, from its source", "bold"))
        self.screen.outlook.expect(10, self.build_s + self.up_s + self.story_s)
        configure = ("cmake", "--preset", "release", *self.world.configure_options)
        self.step("configure", "build", 300, *configure)
        jobs = str(os.cpu_count() or 2)
        build = ("cmake", "--build", "--preset", "release", "--target", *self.world.targets, "-j", jobs)
        self.screen.outlook.expect(self.build_s, self.up_s + self.story_s)
        self.step("compile", "build", BUILD_DEADLINE_S, *build)
        # What deploy/quickstart takes for its next estimate.
        if self.took[-1][1] >= 60:
            (self.logs.parent / "quickstart-compiled").write_text(f"{self.took[-1][1]:.0f}\n")

    def run(self) -> None:
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.screen.say(f"  logs: {self.logs}")
        self.screen.say()
        if not self.built:
            self.build()
            self.screen.say()
        self.screen.say(self.screen.paint(f"3. {self.world.title}", "bold"))
        self.screen.outlook.expect(self.up_s, self.story_s)
        self.world.up()
        began = time.monotonic()
        self.screen.outlook.expect(self.story_s)
        self.story = self.world.story()
        self.story.tell()
        self.took.append(("story", time.monotonic() - began))

    def look_around(self) -> None:
        """With --keep: the cloud stays, and the daemon with its page and its metrics."""
        page, metrics = free_ports(2)
        self.story.keep(page, metrics)
        reaper = f"{self.world.reaper} --config {self.directory}/reaper/reaper.yaml"
        lines = [
            f"page       http://127.0.0.1:{page}/",
            f"metrics    http://127.0.0.1:{metrics}/metrics",
            *self.world.addresses(),
        ]
        self.screen.say()
        self.screen.say(self.screen.paint("It is all running, for this machine only:", "bold"))
        for line in lines:
            self.screen.say(f"  {line}")
        self.screen.say("To play with:")
        for command in (self.world.ask(self.of_build), f"{reaper} hosts", f"{reaper} history"):
            self.screen.say(f"  {command}")
        self.screen.say("To end it all:")
        self.screen.say(f"  deploy/quickstart --stop{self.of_build}")

    def clean_up(self) -> None:
        try:
            if self.story is not None:
                self.story.close()
            self.world.down()
        finally:
            if self.own_directory:
                shutil.rmtree(self.directory, ignore_errors=True)

    def how_it_was(self) -> None:
        total = time.monotonic() - self.began
        self.screen.say()
        slow = ", ".join(f"{title.split(' (')[0]} {progress.clock(s)}" for title, s in self.took if s >= 1)
        self.screen.say(f"All of it took {progress.clock(total)} ({slow}).")


REAL_CLOUD = """
How to use it on a real cloud (deploy/README.md leads to the rest)
  1. Nova tells of failures and changes; in nova.conf of the controllers and compute nodes:
       [oslo_messaging_notifications]  driver = messagingv2
       [notifications]                 notification_format = both
  2. Say which projects are revocable:
       openstack project set --tag preemptible PROJECT
  3. Install, and say where the cloud and its RabbitMQ are (all keys: deploy/reaper.yaml):
       sudo cmake --install build/release
       sudo systemd-sysusers reaper.conf && sudo systemd-tmpfiles --create reaper.conf
       sudoedit /etc/reaper/reaper.yaml
  4. See that all is in place, let it look on for a while (dry_run: true), then let it work:
       sudo -u reaper reaper check
       sudo systemctl enable --now reaper
       sudo -u reaper reaper report
       sudo sed -i /^dry_run:/d /etc/reaper/reaper.yaml && sudo systemctl restart reaper"""
REAL_OPENSTACK = """
The same on real Keystone, Placement and Nova, started on this machine:
       deploy/quickstart --openstack"""


def what_went_wrong(log: Path) -> list[str]:
    """From the lab's own word, if it is the lab's log, or the first error of a compiler."""
    lines = progress.tail(log, 400)
    cause = re.compile(r"^lab: |\berror: |undefined reference|^CMake Error")
    marks = [number for number, line in enumerate(lines) if cause.search(line)]
    return lines[marks[0] : marks[0] + 6] if marks else lines[-12:]


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="deploy/quickstart")
    parser.add_argument("--openstack", action="store_true", help="on a real OpenStack")
    parser.add_argument("--build", type=Path, help="a build directory whose programs to take as they are")
    parser.add_argument("--keep", action="store_true", help="leave the cloud and the daemon running")
    parser.add_argument("--stop", action="store_true", help="end what --keep left")
    parser.add_argument("--ask", action="store_true", help="ask what --keep left for a server that needs room")
    parser.add_argument("--dir", type=Path, help="where the cloud keeps its files (default: below /tmp)")
    return parser.parse_args()


def failure_of(error: BaseException, logs: Path) -> StepFailed:
    if isinstance(error, KeyboardInterrupt):
        return StepFailed("interrupted")
    if isinstance(error, StepFailed):
        return error
    log = getattr(error, "log", None)
    if isinstance(error, StoryFailed) or log is not None:
        return StepFailed(str(error), log)
    # Whatever it is: one line here, the rest in the log.
    log = logs / "quickstart.log"
    log.write_text("".join(traceback.format_exception(error)))
    return StepFailed(f"{type(error).__name__}: {first_line(str(error))}", log)


def main() -> int:
    options = parse()
    state = kept.State(options.build or ROOT / "build")
    if options.stop or options.ask:
        return state.stop() if options.stop else state.ask()
    if options.keep:
        if state.running():
            print("quickstart: one is running already: deploy/quickstart --stop ends it", file=sys.stderr)
            return 1
        kept.go_behind()
    quickstart = Quickstart(options)
    screen = quickstart.screen
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Shells start what is to run in the background with it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status, failure = 1, None
    try:
        quickstart.run()
        if options.keep:
            quickstart.how_it_was()
            state.write(quickstart.world.kept())
            quickstart.look_around()
            kept.stay(quickstart.logs / "kept.log")
        status = 0
    except (Exception, KeyboardInterrupt) as error:
        failure = failure_of(error, quickstart.logs)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    finally:
        # From here on, being asked to end again must not keep us from cleaning up.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        try:
            quickstart.clean_up()
        except Exception as error:
            status, failure = status or 1, failure or failure_of(error, quickstart.logs)
        if options.keep:
            state.forget()
    if failure is not None:
        print(f"quickstart: {failure}", file=sys.stderr)
        print(f"quickstart: the log is {failure.log or quickstart.logs}", file=sys.stderr)
        return status
    if not options.keep:
        quickstart.how_it_was()
    screen.say(REAL_CLOUD)
    if not options.openstack:
        screen.say(REAL_OPENSTACK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
