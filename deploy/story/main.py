"""The quickstart after the packages are installed: build, a real OpenStack, the story, the end."""

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "tests" / "openstack"
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "deploy"), str(LAB)]

import progress  # noqa: E402

HOSTS = 3
BUILD_DEADLINE_S = 60 * 60
LAB_UP_DEADLINE_S = 10 * 60
LAB_DOWN_DEADLINE_S = 3 * 60
BINARY = ROOT / "build" / "release" / "bin" / "reaper"
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
        self.began = time.monotonic() - float(os.environ.get("REAPER_QUICKSTART_SECONDS", "0"))
        self.own_directory = options.dir is None
        # Short: the lab's Unix sockets have long names already.
        made = options.dir or Path(tempfile.mkdtemp(prefix="reaper-", dir="/tmp"))
        self.directory = made.absolute()
        self.lab = self.directory / "lab"
        self.took: list[tuple[str, float]] = []

    def step(self, title: str, log: str, deadline_s: float, *command: str, where=None) -> None:
        path = LOGS / f"{log}.log"
        more = {"where": where} if where else {}
        done = progress.run(self.screen, title, list(command), path, deadline_s, ROOT, **more)
        self.took.append((title, done.seconds))
        if done.status != 0 or done.timed_out:
            for line in what_went_wrong(path):
                self.screen.say(f"    {line}")
            raise StepFailed(f"this step failed: {title}", path)

    def build(self) -> None:
        self.screen.say(self.screen.paint("2. The reaper, from its source", "bold"))
        self.step("configure", "build", 300, "cmake", "--preset", "release")
        jobs = str(os.cpu_count() or 2)
        build = ("cmake", "--build", "--preset", "release", "--target", "reaper", "-j", jobs)
        self.step("compile (some minutes the first time)", "build", BUILD_DEADLINE_S, *build)

    def cloud_up(self) -> None:
        self.screen.say()
        self.screen.say(self.screen.paint("3. A real OpenStack on this machine", "bold"))
        self.screen.say("  Keystone, Glance, Placement, Nova, RabbitMQ and MariaDB, as Debian packages them;")
        self.screen.say("  only the hypervisors are Nova's own fakes. All on loopback, all in")
        self.screen.say(f"  {self.lab}")
        self.step(
            f"start it, with {HOSTS} hosts",
            "lab",
            LAB_UP_DEADLINE_S,
            *(str(LAB / "lab"), "up", "--dir", str(self.lab), "--hosts", str(HOSTS)),
            where=last_step_of_lab,
        )

    def cloud_down(self) -> None:
        """Whatever happened; nothing that was started may stay."""
        if self.lab.exists():
            self.screen.say()
            down = (str(LAB / "lab"), "down", "--dir", str(self.lab))
            self.step("take everything down again", "lab", LAB_DOWN_DEADLINE_S, *down)
        if self.own_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def run(self) -> None:
        shutil.rmtree(LOGS, ignore_errors=True)
        LOGS.mkdir(parents=True)
        self.screen.say(f"  logs: {LOGS}")
        self.screen.say()
        self.build()
        self.cloud_up()
        # Needs Python modules that the packages brought.
        import scenes

        story = scenes.Story(self.screen, self.lab, self.directory / "reaper", BINARY, LOGS)
        try:
            story.tell()
        except scenes.StoryFailed as error:
            raise StepFailed(str(error), error.log) from error
        finally:
            story.close()

    def how_it_was(self) -> None:
        total = time.monotonic() - self.began
        self.screen.say()
        slow = ", ".join(f"{title.split(' (')[0]} {progress.clock(s)}" for title, s in self.took if s > 5)
        self.screen.say(f"All of it took {progress.clock(total)} ({slow}).")

    def say_kept(self) -> None:
        say = self.screen.say
        say()
        say(self.screen.paint("The OpenStack is still running. To look around:", "bold"))
        say(f"  . {self.lab}/openrc && openstack server list --all-projects")
        say(f"  {BINARY} --config {self.directory}/reaper/reaper.yaml hosts")
        say(f"  {BINARY} --config {self.directory}/reaper/reaper.yaml run")
        say("To end it:")
        say(f"  {LAB}/lab down --dir {self.lab} && rm -r {self.directory}")


REAL_CLOUD = """
How to use it on a real cloud (README.md has the whole of it)
  1. Nova tells of failures; in nova.conf of the controllers:
       [oslo_messaging_notifications]  driver = messagingv2
       [notifications]                 notification_format = versioned
  2. Say which projects are revocable:
       openstack project set --tag preemptible PROJECT
  3. Install, and say where the cloud and its RabbitMQ are:
       sudo cmake --install build/release
       sudo systemd-sysusers reaper.conf && sudo systemd-tmpfiles --create reaper.conf
       sudoedit /etc/reaper/reaper.yaml
  4. See that all is in place, look on for a while, then let it work:
       sudo -u reaper reaper check
       sudo -u reaper reaper run --dry-run
       sudo systemctl enable --now reaper"""


def last_step_of_lab(log: Path) -> str:
    """The lab tells every step that is done: `12.3 s  keystone (4.1 s)`."""
    lines = [line for line in progress.tail(log, 3) if " s  " in line]
    return lines[-1].split(" s  ", 1)[1].split(" (")[0] + " is there" if lines else ""


def what_went_wrong(log: Path) -> list[str]:
    """From the lab's own word, if it is the lab's log, or the first error of a compiler."""
    lines = progress.tail(log, 400)
    cause = re.compile(r"^lab: |\berror: |undefined reference|^CMake Error")
    marks = [number for number, line in enumerate(lines) if cause.search(line)]
    return lines[marks[0] : marks[0] + 6] if marks else lines[-12:]


def first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="deploy/quickstart")
    parser.add_argument("--keep", action="store_true", help="leave the OpenStack running")
    parser.add_argument("--dir", type=Path, help="where the OpenStack keeps its files (default: below /tmp)")
    return parser.parse_args()


def main() -> int:
    quickstart = Quickstart(parse())
    screen = quickstart.screen
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    status, failure = 1, None
    try:
        quickstart.run()
        status = 0
    except KeyboardInterrupt:
        status, failure = 130, StepFailed("interrupted")
    except StepFailed as error:
        failure = error
    except Exception as error:  # whatever it is: one line here, the rest in the log
        log = LOGS / "quickstart.log"
        log.write_text(traceback.format_exc())
        failure = StepFailed(f"{type(error).__name__}: {first_line(str(error))}", log)
    finally:
        # From here on, being asked to end again must not keep us from cleaning up.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if not (quickstart.keep and status == 0):
            try:
                quickstart.cloud_down()
            except StepFailed as error:
                status, failure = status or 1, failure or error
    if failure is not None:
        print(f"quickstart: {failure}", file=sys.stderr)
        print(f"quickstart: the log is {failure.log or LOGS}", file=sys.stderr)
        return status
    quickstart.how_it_was()
    if quickstart.keep:
        quickstart.say_kept()
    screen.say(REAL_CLOUD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
