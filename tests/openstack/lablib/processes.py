"""Starting, finding and ending the lab's processes, by pid only.

Every process leads a session of its own, so that its children can be ended
with it. What was started is recorded in DIR/run/NAME.json with the pid and the
time of its start: a pid that the kernel gave to another process meanwhile is
never taken for ours. All of them, and all that they start in turn, carry the
variable REAPER_LAB=DIR in their environment: `strays` finds those that left
their session (Erlang's helpers do).
"""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterable

from .place import LabError, Place

MARK = "REAPER_LAB"
TAIL_LINES = 15
# For the kernel to end what was killed, on a busy machine.
KILLED_PATIENCE = 60
COLORS = re.compile(r"\x1b\[\d*m")


def environment(place: Place, extra: dict[str, str] | None = None) -> dict[str, str]:
    """A clean environment: the caller's Python paths, proxies and locale must
    not reach the services, and Debian's own python3 must come first."""
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(place.path("home")),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).parent / "hidden"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "no_proxy": "*",
        MARK: str(place.root),
        **(extra or {}),
    }


def start(place: Place, name: str, argv: list[str], extra_env: dict[str, str] | None = None) -> int:
    """Starts a service in the background; its output goes to DIR/log/NAME.log."""
    child = _spawn(place, name, argv, extra_env)
    # The service outlives us on purpose: don't let Popen warn about it.
    child.returncode = 0
    return child.pid


def run(
    place: Place,
    name: str,
    argv: list[str],
    extra_env: dict[str, str] | None = None,
    timeout: float = 600,
    stdin: Path | None = None,
) -> None:
    """Runs a command to its end; its output goes to DIR/log/NAME.log."""
    child = _spawn(place, name, argv, extra_env, stdin)
    try:
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        stop(place, [name], patience=1)
        raise LabError(f"{name}: not done after {timeout:.0f} s\n{tail(place, name)}") from None
    finally:
        _record(place, name).unlink(missing_ok=True)
    if code != 0:
        raise LabError(f"{name}: ended with {code}\n{tail(place, name)}")


def wait_ready(place: Place, name: str, ready: Callable[[], bool], timeout: float = 600) -> None:
    """Waits until a started service is ready, or tells how it failed."""
    deadline = time.monotonic() + timeout
    while not ready():
        if not is_running(place, name):
            raise LabError(f"{name}: ended while starting\n{tail(place, name)}")
        if time.monotonic() > deadline:
            raise LabError(f"{name}: not ready after {timeout:.0f} s\n{tail(place, name)}")
        time.sleep(0.1)


def tail(place: Place, name: str) -> str:
    """The last lines of a service's log, indented for a message."""
    path = place.log(name)
    try:
        text = COLORS.sub("", path.read_text(errors="replace"))
        lines = text.splitlines()[-TAIL_LINES:]
    except FileNotFoundError:
        lines = []
    return "\n".join([f"    the end of {path}:", *(f"    | {line}" for line in lines)])


def names(place: Place) -> list[str]:
    """The names of all processes that were started and not yet ended."""
    return sorted(path.stem for path in place.path("run").glob("*.json"))


def is_running(place: Place, name: str) -> bool:
    return pid_of(place, name) is not None


def pid_of(place: Place, name: str) -> int | None:
    """The pid of a recorded process that still runs."""
    try:
        record = json.loads(_record(place, name).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    started = _start_time(record["pid"])
    return record["pid"] if started is not None and started == record["started"] else None


def stop(place: Place, services: Iterable[str], patience: float = 10) -> None:
    """Ends processes and their groups: first politely and all at once, then,
    after `patience` seconds, for good. Returns when they are gone."""
    pids = {name: pid for name in services if (pid := pid_of(place, name)) is not None}
    _signal_groups(pids.values(), signal.SIGTERM)
    if not _wait_gone(pids.values(), patience):
        _signal_groups(pids.values(), signal.SIGKILL)
        if not _wait_gone(pids.values(), KILLED_PATIENCE):
            raise LabError(f"still there after SIGKILL: {', '.join(f'{n} ({p})' for n, p in pids.items())}")
    for name, pid in pids.items():
        _reap(pid)
        _record(place, name).unlink(missing_ok=True)


def stop_everything(place: Place, patience: float) -> int:
    """Ends all recorded processes and then all others that carry our mark.
    Returns how many had to be found by the mark."""
    stop(place, names(place), patience)
    left = strays(place)
    for sign, seconds in ((signal.SIGTERM, 3), (signal.SIGKILL, KILLED_PATIENCE)):
        for pid in strays(place):
            _send(pid, sign)
        deadline = time.monotonic() + seconds
        while strays(place) and time.monotonic() < deadline:
            time.sleep(0.05)
    remaining = strays(place)
    if remaining:
        raise LabError(f"could not end the processes {remaining}")
    return len(left)


def strays(place: Place) -> list[int]:
    """Living processes that carry this lab's mark."""
    mark = f"{MARK}={place.root}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = entry.joinpath("environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in variables and _start_time(int(entry.name)) is not None:
            found.append(int(entry.name))
    return found


def _spawn(
    place: Place, name: str, argv: list[str], extra_env: dict[str, str] | None, stdin: Path | None = None
) -> subprocess.Popen:
    with open(place.log(name), "ab") as log, open(stdin or os.devnull, "rb") as source:
        child = subprocess.Popen(
            argv,
            stdin=source,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=place.root,
            env=environment(place, extra_env),
            start_new_session=True,
        )
    record = {"pid": child.pid, "started": _start_time(child.pid)}
    _record(place, name).write_text(json.dumps(record))
    return child


def _record(place: Place, name: str) -> Path:
    return place.path("run", f"{name}.json")


def _reap(pid: int) -> None:
    """If it was our own child, let the kernel forget it."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def _start_time(pid: int) -> int | None:
    """When a process started, in the kernel's ticks; None if it is gone or
    only waits for its parent to notice its end."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _signal_groups(pids: Iterable[int], sign: signal.Signals) -> None:
    for pid in pids:
        try:
            os.killpg(pid, sign)
        except ProcessLookupError:
            pass


def _send(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        pass


def _wait_gone(pids: Iterable[int], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while any(_group_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.03)
    return True


def _group_alive(group: int) -> bool:
    """Is any process of the group alive (zombies do not count)?"""
    if _start_time(group) is not None:
        return True
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return any(_group_of(entry) == group for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _group_of(entry: Path) -> int | None:
    try:
        fields = entry.joinpath("stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[2])
