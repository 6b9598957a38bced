"""Runs long commands and tells how they get on: elapsed time on one line, output in a log file.

Used by the quickstart and by tests/run. On a terminal the line is rewritten in place; elsewhere a
line appears when a step starts, now and then while it runs, and when it ends.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

TITLE_WIDTH = 46
TICK_S = 0.25
# How often a line appears where lines can't be rewritten.
QUIET_INTERVAL_S = 30
# What is left of a log when a step fails.
TAIL_LINES = 30
# From a polite request to end until the next less polite one. A lab needs some time to go down.
PATIENCE_S = (45, 10)
# How ninja, ctest and pytest count; the last at the end of a line, or with pytest-xdist near its start.
COUNTED = re.compile(r"^\[(\d+)/(\d+)\]|^ *(\d+)/(\d+) Test +#|\[ *(\d+)%\](?:$| [A-Z]+ )")

# Before a command: it gets what the others leave. (Its session is a group of its own for Linux'
# scheduler, where that is so.)
IN_BACKGROUND = (
    *("nice", "-n", "15", "sh", "-c"),
    *('echo 15 2>/dev/null >/proc/self/autogroup; exec "$@"', "sh"),
)

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass
class Done:
    """How a command ended."""

    status: int
    seconds: float
    timed_out: bool = False


def clock(seconds: float) -> str:
    """59 s, 1:02, 1:00:00."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def tail(log: Path, lines: int = TAIL_LINES) -> list[str]:
    """The end of a log, however long it is."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 64 * 1024))
            return file.read().decode(errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def where_it_is(log: Path) -> str:
    """How far a build or a test run is, or nothing: other lines are for the log."""
    for line in reversed(tail(log, 5)):
        if match := COUNTED.search(line):
            done, of, tested, tests, percent = match.groups()
            return f"{percent} %" if percent else f"{done or tested} of {of or tests}"
    return ""


class Outlook:
    """How much of a run with several steps is over, and how long the rest takes: a bar."""

    WIDTH = 12

    def __init__(self, passed_s: float = 0) -> None:
        self._began = time.monotonic() - passed_s
        self.expect(0)

    def expect(self, step_s: float, after_s: float = 0) -> None:
        """The step that begins now, and all that comes after it."""
        self._step_s, self._after_s = step_s, after_s

    def tell(self, seconds: float, where: str) -> str:
        """`seconds` of the step are over; how far it is counts for more than what was expected."""
        part = fraction(where)
        if part >= 0.1:
            left = seconds * (1 - part) / part
        else:
            left = max(self._step_s - seconds, 1)
        left += self._after_s
        passed = time.monotonic() - self._began
        full = int(self.WIDTH * passed / (passed + left))
        return f"[{'#' * full}{'.' * (self.WIDTH - full)}] {about(left)} left"


def fraction(where: str) -> float:
    """Of `12 of 40` or `30 %`; 0 if it is neither."""
    if match := re.match(r"(\d+) (?:of (\d+)|%)$", where):
        return int(match[1]) / (int(match[2] or 100) or 1)
    return 0


def about(seconds: float) -> str:
    """Rounded up, as is all that is not known better: `about 20 s`, `about 4 min`."""
    if seconds <= 50:
        return f"about {max(10, -int(-seconds // 10) * 10)} s"
    return f"about {-int(-seconds // 60)} min"


class Screen:
    outlook: Outlook | None = None

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.coloured = self.terminal and "NO_COLOR" not in os.environ
        self._rewriting = False

    def paint(self, text: str, *styles: str) -> str:
        if not self.coloured or not styles:
            return text
        return f"\033[{';'.join(COLOURS[style] for style in styles)}m{text}\033[0m"

    def say(self, text: str = "") -> None:
        self._clear()
        print(text, flush=True)

    def start(self, title: str) -> None:
        if not self.terminal:
            print(f"  {title} ...", flush=True)

    def running(self, title: str, seconds: float, where: str) -> None:
        """Called often; writes only what there is to see."""
        if self.terminal:
            width = shutil.get_terminal_size().columns
            columns = TITLE_WIDTH // 2 if self.outlook else TITLE_WIDTH  # the bar must fit, too
            line = f"  {title:{columns}} {clock(seconds):>7}  {self._with_outlook(seconds, where)}"
            print(f"\r\033[K{line[:width - 1]}", end="", flush=True)
            self._rewriting = True

    def still_running(self, title: str, seconds: float, where: str) -> None:
        if not self.terminal:
            where = self._with_outlook(seconds, where)
            print(f"  {title} ... {clock(seconds)}{', ' + where if where else ''}", flush=True)

    def _with_outlook(self, seconds: float, where: str) -> str:
        return f"{self.outlook.tell(seconds, where)}  {where}".rstrip() if self.outlook else where

    def end(self, title: str, seconds: float, word: str = "done", good: bool = True) -> None:
        colour = "green" if good else "red"
        self.say(f"  {title:{TITLE_WIDTH}} {clock(seconds):>7}  {self.paint(word, colour)}")

    def _clear(self) -> None:
        if self._rewriting:
            print("\r\033[K", end="")
            self._rewriting = False


def end_group(process: subprocess.Popen) -> None:
    """Ends a command and what it started, first so that it can clean up."""
    for number, patience in zip((signal.SIGINT, signal.SIGTERM), PATIENCE_S):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(
    screen: Screen,
    title: str,
    command: list[str],
    log: Path,
    deadline_s: float,
    cwd: Path,
    env: dict[str, str] | None = None,
    where: Callable[[Path], str] = where_it_is,
) -> Done:
    """Runs a command to its end or its deadline; its output is appended to the log, in which
    `where` finds how far it is."""
    started = time.monotonic()
    screen.start(title)
    process = begin(command, log, cwd, env)
    return finish(screen, title, process, lambda: where(log), started, deadline_s)


def begin(
    command: list[str], log: Path, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.Popen:
    """Starts a command, which is to be finished; its output is appended to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        words = " ".join(command)
        output.write(f"$ {words if len(words) < 300 else words[:300] + ' ...'}\n".encode())
        output.flush()
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )


def finish(
    screen: Screen,
    title: str,
    process: subprocess.Popen,
    where: Callable[[], str],
    started: float,
    deadline_s: float,
) -> Done:
    """Waits for the end of a command, or for its deadline; it has ended afterwards in any case."""
    try:
        timed_out = not _watch(screen, title, process, where, started, deadline_s)
    finally:
        if process.poll() is None:
            end_group(process)
    seconds = time.monotonic() - started
    done = Done(process.returncode, seconds, timed_out)
    word = "done" if done.status == 0 else "failed"
    if timed_out:
        word = f"stopped after {clock(deadline_s)}"
    screen.end(title, seconds, word, done.status == 0)
    return done


def _watch(
    screen: Screen,
    title: str,
    process: subprocess.Popen,
    where: Callable[[], str],
    started: float,
    deadline_s: float,
) -> bool:
    """Whether the command ended by itself."""
    told = started
    while True:
        try:
            process.wait(TICK_S)
            return True
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if now - started > deadline_s:
            return False
        screen.running(title, now - started, where())
        if now - told >= QUIET_INTERVAL_S:
            told = now
            screen.still_running(title, now - started, where())
