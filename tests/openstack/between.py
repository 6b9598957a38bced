"""The time between a plan and its first deletion."""

from contextlib import contextmanager
from typing import Iterator

from cloud import Cloud, Server
from fleet import Fleet
from gate import Gate
from reaper_process import Reaper

ANY_SERVER = "/servers/[0-9a-f-]{36}"

# What was asked beside a victim that is held is too old by then: the reaper looks at all of it again.
LOOK_IS_OLD = 5.5


@contextmanager
def between_plan_and_deletion(
    cloud: Cloud, reaper: Reaper, fleet: Fleet, **endpoints: str
) -> Iterator[Gate]:
    """Starts the reaper with a gate before Nova. Its look at a victim, which comes before the first
    deletion, waits there for `let_pass`."""
    with Gate(cloud.endpoint("compute")) as gate:
        stand_before(reaper, gate, **endpoints)
        reaper.start()
        gate.asked.clear()
        gate.hold_reads(looks_at(fleet.spot()))
        yield gate


def stand_before(reaper: Reaper, gate: Gate, **endpoints: str) -> None:
    reaper.config["cloud"]["endpoints"] = {"compute": gate.url} | endpoints
    reaper.config["http"] = {"call_timeout": "1h"}  # it must not give up what is held


def looks_at(servers: list[Server]) -> str:
    """The paths of reads of these servers, as Gate.hold_reads wants them."""
    return f"/servers/({'|'.join(server.id for server in servers)})"


def wait_held(gate: Gate, reaper: Reaper, refused: Server, mark: int) -> None:
    gate.wait_held("the look at a victim")
    story = reaper.story(refused.request)
    assert story is not None and story["plans"], "there is no plan yet"
    assert not reaper.cloud.reaper_deletions(mark)


def planned_victim(gate: Gate, fleet: Fleet) -> Server:
    """Of a plan with one victim, whose look is held."""
    looked_at = [asked.rpartition("/")[2] for asked in list(gate.asked) if asked.startswith("GET ")]
    [victim] = [server for server in fleet.spot() if server.id in looked_at]
    return victim
