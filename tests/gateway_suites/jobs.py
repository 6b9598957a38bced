"""Runs a suite, or a shard of it, in a process of its own."""

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from proxies import DIES_WITH_US
from verdict import Outcome

WORKER = Path(__file__).resolve().parent / "worker.py"
# Only there to end what hangs.
DEADLINE_S = 40 * 60
TEST_DEADLINE_S = 15 * 60
TAIL = 3000


_running: set[subprocess.Popen[bytes]] = set()
_ending = threading.Event()


@dataclass(frozen=True)
class Job:
    suite: str
    way: str
    shard: str = "1/1"
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        shard = "" if self.shard == "1/1" else f" {self.shard}"
        way = self.way if self.way == "direct" else f"through {self.way}"
        return f"{self.suite}{shard} {way}"


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the caller's cloud or home; what the suites leave behind is in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        kept.pop(name, None)
        kept.pop(name.upper(), None)
    captured = {f"OS_{stream}_CAPTURE": "1" for stream in ("STDOUT", "STDERR")}
    return kept | captured | {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "OS_TEST_TIMEOUT": str(TEST_DEADLINE_S),
        "PYTHONWARNINGS": "ignore",
    }


def _command(job: Job, folder: Path) -> list[str]:
    command = [*DIES_WITH_US, "/usr/bin/python3", "-B", str(WORKER), job.suite, "--through", job.way]
    command += ["--folder", str(folder), "--shard", job.shard]
    return command + (["--names", *job.names] if job.names else [])


def _summary(log: str) -> str:
    """The runner's own words."""
    lines = [line for line in log.splitlines() if line.startswith(("Ran ", "OK", "FAILED ("))]
    return ", ".join(lines[-2:])


def end_all() -> None:
    """Those that run now, and those to come."""
    _ending.set()
    for process in list(_running):
        process.kill()


def run(job: Job, folder: Path) -> tuple[Outcome, str]:
    """Its result, and what it says of itself."""
    folder.mkdir(parents=True)
    log, began = folder / "log", time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(job, folder),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        _running.add(process)
        try:
            process.wait(0 if _ending.is_set() else DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()  # its proxy goes with it
            process.wait()
        _running.discard(process)
    said = log.read_text(errors="replace")
    try:
        outcome = Outcome.read(folder / "outcome.json")
    except (OSError, ValueError):
        outcome = Outcome(broken=[f"{job}: ended with {process.returncode}\n{said[-TAIL:]}"])
    took = f"{time.monotonic() - began:.0f} s"
    return outcome, f"{job}: {_summary(said) or 'broken'}; {outcome.requests} requests; {took} in all"
