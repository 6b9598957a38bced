"""How a story of the quickstart is told: chapters, the reaper's commands, what its journal says.

Nothing here knows which cloud it is. What is claimed is read from the cloud or from the reaper's own
commands while it is told.
"""

import re
import shlex
import sys
import textwrap
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Callable

import progress
from cloud import Server
from reaper_process import Reaper

WIDTH = 100
WAIT_S = 90
POLL_S = 0.1
# Lines of `reaper check` begin with a word for each thing that was looked at.
REPORT = re.compile(r"(\033\[[0-9;]*m)?(ok|warn|fail)")
# What the steps of the journal are called here.
STEPS = {"delete_sent": "asked Nova to delete", "gone": "gone, and Placement shows it:"}


class StoryFailed(Exception):
    def __init__(self, what: str, log: Path | None = None):
        super().__init__(what)
        self.log = log


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def victims_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [victim for host in plan.get("hosts", []) for victim in host["victims"]]


def all_of_it(lines: list[str]) -> list[str]:
    return lines


def folded(line: str, width: int) -> list[str]:
    """A long line in several, as far in as the first; names and ids stay whole."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    hanging = "     " if REPORT.match(line.lstrip()) else ""
    return textwrap.wrap(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_on_hyphens=False,
        break_long_words=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )


class Teller:
    """Says things on the screen; `first_chapter` continues the numbers of the steps before."""

    def __init__(self, screen: progress.Screen, reaper: Reaper, logs: Path, first_chapter: int):
        self.screen = screen
        self.reaper = reaper
        self.reaper.config["log"]["level"] = "info"
        self.logs = logs
        self._next_chapter = first_chapter

    def close(self) -> None:
        if self.reaper.daemon is not None:
            self.reaper.kill()
        if self.reaper.log.exists():
            (self.logs / "reaper.log").write_text(self.reaper.log_text())

    def expect(self, good: bool, what: str) -> None:
        """What was told must have happened; `what` says what did not."""
        if not good:
            raise StoryFailed(what, self.logs / "reaper.log")

    def chapter(self, title: str) -> None:
        self.screen.say()
        self.screen.say(self.screen.paint(f"{self._next_chapter}. {title}", "bold"))
        self._next_chapter += 1

    def say(self, text: str) -> None:
        for line in folded(f"  {text}", WIDTH):
            self.screen.say(line)

    def show_status(self, name: str, status: str, detail: str) -> None:
        colour = "green" if status == "ACTIVE" else "red"
        painted = self.screen.paint(status, colour, "bold")
        self.screen.say(f"    {name}  {painted}  {detail}")

    def command(self, *arguments: str, show: Callable[[list[str]], list[str]] = all_of_it) -> None:
        """A real command of the reaper with its real output, or with what `show` picks from it."""
        self.screen.say(self.screen.paint(f"$ reaper {shlex.join(arguments)}", "cyan"))
        colour = ("--color", "always") if self.screen.coloured else ()
        done = self.reaper.command(*colour, *arguments)
        for line in show(done.stdout.splitlines()):
            for part in folded(line, WIDTH):
                self.screen.say(part)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            raise StoryFailed(f"`reaper {' '.join(arguments)}` ended with {done.returncode}")

    def start_the_daemon(self) -> None:
        self.chapter("The daemon")
        began = time.monotonic()
        self.screen.start("reaper run")
        self.reaper.start()
        self.screen.end("reaper run", time.monotonic() - began, "ready: broker and cloud answer")

    def keep(self, page: int, metrics: int) -> None:
        """The daemon again, with its page and its metrics on these ports."""
        self.reaper.config.setdefault("admin", {})["listen"] = f"127.0.0.1:{page}"
        self.reaper.config["metrics"] = {"listen": f"127.0.0.1:{metrics}"}
        self.reaper.start()

    def wait_for_outcome(self, refused: Server) -> dict[str, Any]:
        began = time.monotonic()
        while True:
            story = self.reaper.story(refused.request)
            if story and story["outcome"]:
                self.expect(
                    story["outcome"]["kind"] == "freed",
                    f"the reaper ended with {story['outcome']['kind']}: {story['outcome']['reason']}",
                )
                return story
            seconds = time.monotonic() - began
            self.expect(seconds < WAIT_S, f"nothing came of {refused.request} in {WAIT_S} s")
            self.screen.running("the daemon works", seconds, "")
            time.sleep(POLL_S)

    def tell_what_was_done(self, story: dict[str, Any]) -> None:
        """The journal's steps of a request, with the seconds since its message came."""
        victims = [victim for plan in story["plans"] for victim in victims_of(plan["decision"])]
        names = {victim["server"]: victim["name"] for victim in victims}
        start = moment(story["received_at"])

        def tell(at: str, text: str) -> None:
            seconds = f"{(moment(at) - start).total_seconds():6.2f} s  "
            for line in textwrap.wrap(text, WIDTH - 2 - len(seconds), break_on_hyphens=False):
                self.screen.say(f"  {seconds}{line}")
                seconds = " " * len(seconds)

        tell(story["received_at"], "message taken from RabbitMQ")
        for plan in story["plans"]:
            for host in plan["decision"].get("hosts", []):
                must_go = " and ".join(victim["name"] for victim in host["victims"])
                tell(plan["at"], f"plan: on {host['host_name']}, {must_go} must go")
        for step in story["steps"]:
            word = STEPS.get(step["step"].replace("-", "_"))
            if word:
                tell(step["at"], f"{word} {names.get(step['server'], step['server'])}")
        tell(story["outcome"]["at"], f"{story['outcome']['kind']}: {story['outcome']['reason']}")
