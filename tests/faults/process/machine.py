"""A machine that loses power, fills its disk and steps its clock; a reaper is installed on it."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from cloud import Server, eventually
from fleet import Fleet, fill
from reaper_process import Reaper
from sim_cloud import SimCloud
from sim_process import Simulation

KILLED = -9
# Enumerations of steps are shared out among so many tests, which can run side by side.
SHARES = 4
SPOT = [("spot", "medium", 2)]


class Machine:
    """See preload.cpp for what can happen to it."""

    def __init__(
        self,
        programs: tuple[Path, Path],
        cloud: SimCloud,
        simulation: Simulation,
        directory: Path,
        places: dict[str, Any],
    ):
        binary, self._preload = programs
        self.cloud = cloud
        self.simulation = simulation
        self.reaper = Reaper(binary, cloud, directory)
        self.reaper.config |= deepcopy(places)
        self.reaper.config["pause_file"] = str(directory / "paused")
        self.journal = Path(self.reaper.config["journal"]["path"])
        self.full = directory / "disk-is-full"
        self.clock = directory / "clock"
        self._syncs = directory / "syncs"
        self.fleet: Fleet
        self._mark = 0
        self._ended = False

    # The cloud around it -------------------------------------------------------

    def empty_cloud(self) -> None:
        """Full hosts, each with two revocable servers; nothing else can be placed."""
        self.simulation.cloudsim.post("reset", to="empty")
        self.cloud.asked.clear()
        self.fleet = fill(self.cloud, {host: SPOT for host in self.cloud.hosts})
        self._mark = self.cloud.mark()

    def deletions(self) -> list[str]:
        """Servers that really died since then, by the cloud's own record."""
        log = self.simulation.cloudsim.get(f"log?since={self._mark}&kind=effect&limit=100000")
        return [entry["server"] for entry in log["entries"] if entry["what"] == "deleted"]

    def asked_to_delete(self) -> set[str]:
        return {deletion.server for deletion in self.cloud.reaper_deletions(self._mark)}

    # The daemon ----------------------------------------------------------------

    def start(self, kill: str = "", full_at: int = 0, wait: bool = True) -> None:
        """`kill`: `before N` or `after N`; `full_at`: the disk is full from that sync on."""
        faults = {
            "REAPER_FAULT_FILES": str(self.journal.resolve()),
            "REAPER_FAULT_KILL": kill,
            "REAPER_FAULT_FULL": str(self.full),
            "REAPER_FAULT_FULL_AT": str(full_at),
            "REAPER_FAULT_CLOCK": str(self.clock),
            "REAPER_FAULT_SYNCS": str(self._syncs),
        }
        self.reaper.extra = {"LD_PRELOAD": str(self._preload)} | faults
        try:
            self.reaper.start(wait=wait)
        finally:
            self.reaper.extra = {}

    @property
    def died(self) -> bool:
        assert self.reaper.daemon is not None
        return self.reaper.daemon.poll() is not None

    def bury(self) -> int:
        """How it ended."""
        code = self.reaper.wait_stopped()
        return code

    def syncs(self) -> int:
        return self._syncs.stat().st_size if self._syncs.exists() else 0

    def logged(self, words: str) -> bool:
        return re.search(words, self.reaper.log_text()) is not None

    def end(self) -> None:
        """Once: what it told is shown if the test fails."""
        self.full.unlink(missing_ok=True)
        if not self._ended:
            self.reaper.end()
        self._ended = True

    # The journal, read beside the daemon -----------------------------------------

    def rows(self, sql: str, *values: Any) -> list[tuple]:
        return self.reaper.rows(sql, *values)

    def outcome(self, request: str) -> str | None:
        found = self.rows("SELECT outcome FROM request WHERE id = ? AND outcome IS NOT NULL", request)
        return found[0][0] if found else None

    def wait_outcome(self, request: str) -> str:
        def told() -> str | None:
            assert not self.died, f"it ended with {self.reaper.daemon.returncode}"  # type: ignore[union-attr]
            return self.outcome(request)

        return eventually(f"{request} has an outcome", told, every=0.05)  # type: ignore[return-value]

    # What must be true in the end ------------------------------------------------

    def assert_served(self, refused: Server) -> None:
        """Room for the requester, at the price of one host's two revocable servers: each died once,
        no other server was deleted, the story has one end and the message is gone. The daemon is ended."""
        assert self.wait_outcome(refused.request) == "freed", self.rows(
            "SELECT outcome, outcome_reason FROM request"
        )
        self.reaper.wait_messages_done()
        dead = self.deletions()
        victims = [host for host in self.cloud.hosts if {s.id for s in self.fleet.spot(host)} == set(dead)]
        assert len(dead) == 2 and len(victims) == 1, f"died: {dead}"
        assert self.cloud.used_vcpus(victims[0]) == 0
        assert self.rows("SELECT count(*) FROM request") == [(1,)]
        planned = self.rows("SELECT server FROM chosen")
        assert {server for (server,) in planned} >= set(dead), "one died without a plan"
        assert self.reaper.command("history").returncode == 0
