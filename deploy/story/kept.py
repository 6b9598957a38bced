"""What `deploy/quickstart --keep` leaves: a process behind that holds cloud and daemon, and its number.

All that it started ends with it.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from box import NovaUser

END_DEADLINE_S = 5 * 60
ASK_DEADLINE_S = 60
_caller = 0  # who waits for us


class State:
    """The kept quickstart of a build directory."""

    def __init__(self, build: Path):
        self._file = build.absolute() / "quickstart-kept.json"

    def write(self, ready: dict[str, Any]) -> None:
        self._file.touch(mode=0o600)
        self._file.write_text(json.dumps({"process": os.getpid(), "born": born(os.getpid()), "ready": ready}))

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)

    def running(self) -> dict[str, Any] | None:
        """Nothing, too, if the number is another process's by now."""
        if not self._file.exists():
            return None
        found = json.loads(self._file.read_text())
        return found if born(found["process"]) == found["born"] else None

    def stop(self) -> int:
        found = self.running()
        if found is None:
            print("quickstart: nothing is running here")
            return 0
        os.kill(found["process"], signal.SIGTERM)
        deadline = time.monotonic() + END_DEADLINE_S
        while born(found["process"]) == found["born"]:
            if time.monotonic() > deadline:
                print(f"quickstart: process {found['process']} did not end", file=sys.stderr)
                return 1
            time.sleep(0.1)
        print("quickstart: ended, nothing is left")
        return 0

    def ask(self) -> int:
        """alice asks for a server as in the story."""
        found = self.running()
        if found is None or not found["ready"]:
            print("quickstart: no simulated cloud is running here: deploy/quickstart --keep", file=sys.stderr)
            return 1
        alice = NovaUser(found["ready"], "alice")
        flavors = alice.call("GET", "/flavors")[1]["flavors"]
        huge = next(flavor["id"] for flavor in flavors if flavor["name"] == "huge")
        request, [server] = alice.ask("more", huge, 1)
        deadline = time.monotonic() + ASK_DEADLINE_S
        while (look := alice.look(server["id"]))["status"] == "BUILD" and time.monotonic() < deadline:
            time.sleep(0.1)
        print(f"{look['name']}  {look['status']}  {look.get('fault', {}).get('message', '')}".rstrip())
        if look["status"] == "ERROR":
            print(f"The reaper makes room for it: reaper history show {request}. Then ask again.")
        return 0


def born(process: int) -> str:
    """When it started, in the kernel's ticks; empty if there is none, or if it only waits to be buried."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if words[0] == "Z" else words[19]


def go_behind() -> None:
    """Goes on in a child, which may stay; the caller's process waits until it does, or ends."""
    global _caller
    sys.stdout.flush()
    _caller = os.getpid()
    child = os.fork()
    if child == 0:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the child, too
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


def stay(log: Path) -> None:
    """Lets the waiting parent go, and holds everything until it is asked to end."""
    sys.stdout.flush()
    os.setsid()
    if os.getppid() == _caller:
        os.kill(_caller, signal.SIGUSR1)
    with open(os.devnull, "rb") as nothing, log.open("ab") as output:
        os.dup2(nothing.fileno(), 0)
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    while True:
        signal.pause()
