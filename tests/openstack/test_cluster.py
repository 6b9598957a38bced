"""Two reapers on a cluster of three RabbitMQ nodes that go down one after the other, and of which one is
cut off with the reaper that serves, while Nova refuses requests: each is served, and once."""

from pathlib import Path
from typing import Callable, Iterator

import pytest

from cloud import eventually
from conftest import HOSTS, binary_at
from fleet import assert_freed, fill
from reaper_process import Reaper
from relay import Relay
from sim_cloud import SimCloud
from sim_process import Broker, Simulation

pytestmark = [pytest.mark.sim_only, pytest.mark.long]

NODES = 3
FULL = [("regular", "large", 1)]
SMALL = [("spot", "small", 5)]
# Silence of a reaper, and the time of its lease.
HEARTBEAT = "3s"


@pytest.fixture
def way(cluster: Broker) -> Iterator[Relay]:
    """Nova's, to a node that is there."""
    relay = Relay(cluster.ports[0])
    relay.open()
    yield relay
    relay.close()


@pytest.fixture
def cluster() -> Iterator[Broker]:
    broker = Broker(NODES)
    yield broker
    broker.close()


@pytest.fixture
def shared_cloud(
    request: pytest.FixtureRequest, where: str, tmp_path: Path, cluster: Broker, way: Relay
) -> Iterator[SimCloud]:
    """Instead of the one that all other scenarios share."""
    binary = binary_at(request.config, "cloudsim")
    with Simulation(binary, tmp_path, HOSTS, cluster, way.port) as simulation:
        cloud = SimCloud(simulation)
        yield cloud
        cloud.close()


def test_each_request_is_served_once(
    cloud: SimCloud, cluster: Broker, way: Relay, install: Callable[..., Reaper]
) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SMALL, two: FULL, three: SMALL})
    reapers = [install(), install()]
    for number, reaper in enumerate(reapers):
        broker = reaper.config["broker"]
        ports = cluster.ports[number:] + cluster.ports[:number]
        broker.update(queue=reapers[0].queue, dead_letter_queue=f"{reapers[0].queue}.dead-letter")
        broker.update(heartbeat=HEARTBEAT, urls=[cluster.url_at(port) for port in ports])
        reaper.start()
    mark = cloud.mark()
    asked = []

    def refuse(count: int, by: int) -> None:
        """Requests that Nova refuses, told to this node; each of them needs one victim."""
        way.lead_to(cluster.ports[by])
        for _ in range(count):
            asked.extend(cloud.fail_to_boot("small"))

    def without_a_plan() -> list[set[str]]:
        """By reaper."""
        sql = "SELECT DISTINCT id FROM request JOIN plan ON plan.request = request.seq"
        planned = [{row[0] for row in reaper.rows(sql)} for reaper in reapers]
        return [{refused.request for refused in asked} - known for known in planned]

    def wait_for_plans() -> None:
        """One has a plan for each. It has not deleted each yet if it must wait for a server that the
        other one deletes."""
        try:
            eventually("one has a plan for each", lambda: not all(without_a_plan()))
        except AssertionError as late:
            publisher = cloud.publisher_state()
            raise AssertionError(f"{late}; without one: {without_a_plan()}; cloudsim: {publisher}") from None

    # Room that is freed early would serve the next request without a deletion.
    with cloud.hold_deletions(one), cloud.hold_deletions(three):
        for node in range(NODES):
            refuse(1, by=(node + 1) % NODES)
            cluster.do("kill", node)
            refuse(1, by=(node + 1) % NODES)
            wait_for_plans()
            cluster.do("start", node)
        cluster.do("part", 0)
        refuse(2, by=1)
        wait_for_plans()
        cluster.do("heal", 0)
        # What it did while it was cut off has no effect.
        cluster.do("kill", 0)
        cluster.do("start", 0)

    def served(request: str) -> bool:
        """By each that took it: one may have planned more for it while the other one's victims went."""
        stories = [story for reaper in reapers if (story := reaper.story(request))]
        return bool(stories) and all(story["outcome"] for story in stories)

    for refused in asked:
        eventually("it has an outcome", lambda: served(refused.request))  # noqa: B023
    way.lead_to(cluster.ports[1])
    cloud.wait_for([server for _ in asked for server in cloud.ask("small")], "ACTIVE")
    reapers[0].wait_acknowledged()
    for reaper in reapers:
        reaper.stop()
    assert_freed(fleet, mark, len(asked), among=fleet.spot())
