"""What a scenario saw, in words that are the same on every cloud: to compare a simulated cloud with
a real one. Names, ids and times differ from run to run and are left out."""

import json
from pathlib import Path
from typing import Any

from cloud import Cloud, Server
from reaper_process import Reaper

Trace = dict[str, Any]


def trace_of(cloud: Cloud, since: int, servers: list[Server], reapers: list[Reaper]) -> Trace:
    """`servers`: all that the scenario asked for."""
    kinds = {server.id: kind_of(server) for server in servers}
    deletions = cloud.reaper_deletions(since)
    return {
        # Those of one cull go out together, in no order of their own.
        "deletions": sorted(f"{d.kind} {kinds.get(d.server, '?')} {d.status}" for d in deletions),
        "kinds in order": squeezed([deletion.kind for deletion in deletions]),
        "victims": len({deletion.server for deletion in deletions}),
        "servers": states_of(cloud, servers),
        "outcomes": sorted(outcome for reaper in reapers for outcome in outcomes_of(reaper)),
    }


def states_of(cloud: Cloud, servers: list[Server]) -> list[str]:
    """How often a scenario was refused until the reaper heard it is a matter of luck: those in ERROR
    count once for each kind."""
    all_of_them = [f"{kind_of(server)} {cloud.look(server).status}" for server in servers]
    lucky = [what for what in all_of_them if not what.endswith(" ERROR")]
    return sorted(lucky + list(set(all_of_them) - set(lucky)))


def kind_of(server: Server) -> str:
    """`spot-medium`: the name without its number."""
    project, flavor, *_ = server.name.split("-")
    return f"{project}-{flavor}"


def squeezed(words: list[str]) -> list[str]:
    """Repetitions in a row count as one."""
    return [word for at, word in enumerate(words) if at == 0 or words[at - 1] != word]


def outcomes_of(reaper: Reaper) -> list[str]:
    if not (reaper.directory / "journal.db").exists():
        return []
    stories = reaper.json("history")["requests"]
    return [story["outcome"]["kind"] if story["outcome"] else "open" for story in stories]


class Traces:
    """Kept in DIR/CLOUD/SCENARIO.json."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.compared: set[str] = set()
        self.alone: set[str] = set()  # seen in the lab, and on cloudsim not yet

    def keep(self, cloud: str, scenario: str, trace: Trace) -> None:
        path = self._path(cloud, scenario)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(trace, indent=1, sort_keys=True) + "\n")

    def read(self, cloud: str, scenario: str) -> Trace | None:
        path = self._path(cloud, scenario)
        return json.loads(path.read_text()) if path.exists() else None

    def differences(self, scenario: str) -> list[str]:
        """Lines that say what the simulated cloud saw and the real one did not, or the reverse."""
        sim, lab = self.read("sim", scenario), self.read("lab", scenario)
        if sim is None or lab is None:
            self.alone |= {scenario} if sim is None else set()
            return []
        self.compared.add(scenario)
        return [
            f"{what}: on cloudsim {sim.get(what)}, in the lab {lab.get(what)}"
            for what in sorted(sim.keys() | lab.keys())
            if sim.get(what) != lab.get(what)
        ]

    def _path(self, cloud: str, scenario: str) -> Path:
        return self.directory / cloud / f"{scenario}.json"
