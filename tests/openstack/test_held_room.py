"""Where revocable servers hold a class of their own in Placement: while freed room is promised, no new
revocable server starts on its host; afterwards the class is as it was."""

from typing import Any, Callable, Iterator

import pytest

from cloud import Cloud, eventually
from fleet import Fleet, fill
from reaper_process import Reaper
from sim_cloud import SimCloud

pytestmark = pytest.mark.sim_only

CLASS = "CUSTOM_PREEMPTIBLE"
FULL = [("regular", "large", 1)]
TOTAL = 4


class SpotHost:
    """The first host, with a nested provider of the class; servers of the flavor `spot` hold one."""

    def __init__(self, cloud: SimCloud):
        self.cloud = cloud
        self.host = cloud.hosts[0]
        root = cloud.providers[self.host]
        cloud.placement.put(f"/resource_classes/{CLASS}")
        body = {"name": f"{self.host}-spot", "parent_provider_uuid": root}
        self.provider = cloud.placement.post("/resource_providers", json=body).json()["uuid"]
        self.set(total=TOTAL, reserved=0)
        flavor = {"name": "spot", "vcpus": 5, "ram": 2048, "disk": 20}
        self.flavor = cloud.nova.post("/flavors", json={"flavor": flavor}).json()["flavor"]["id"]
        specs = {"extra_specs": {f"resources:{CLASS}": "1"}}
        cloud.nova.post(f"/flavors/{self.flavor}/os-extra_specs", json=specs)

    def inventory(self) -> dict[str, Any]:
        path = f"/resource_providers/{self.provider}/inventories"
        return self.cloud.placement.get(path).json()

    def set(self, **inventory: int) -> None:
        generation = self.inventory()["resource_provider_generation"]
        body = inventory | {"resource_provider_generation": generation}
        self.cloud.placement.put(f"/resource_providers/{self.provider}/inventories/{CLASS}", json=body)

    def reserved(self) -> int:
        return self.inventory()["inventories"][CLASS]["reserved"]

    def remove(self) -> None:
        self.cloud.nova.delete(f"/flavors/{self.flavor}")
        self.cloud.placement.delete(f"/resource_providers/{self.provider}")
        self.cloud.placement.delete(f"/resource_classes/{CLASS}")

    def fill(self) -> Fleet:
        """Two revocable servers here, and regular ones that fill the other hosts."""
        others = {host: FULL for host in self.cloud.hosts if host != self.host}
        fleet = fill(self.cloud, {self.host: []} | others, exactly=False)
        spot = self.cloud.ask("spot", "spot", 2, self.host)
        self.cloud.wait_for(spot, "ACTIVE")
        fleet.by_host[self.host]["spot"] = spot
        return fleet


@pytest.fixture
def spot_host(cloud: SimCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpotHost]:
    made = SpotHost(cloud)
    monkeypatch.setitem(cloud.lab["flavors"], "spot", made.flavor)
    yield made
    cloud.reset()  # what holds room on the provider goes first
    made.remove()


def reaper_for(install: Callable[..., Reaper], promise: str) -> Reaper:
    reaper = install()
    reaper.config["taggers"] = [{"name": "resource"}]
    reaper.config["cull"] |= {"promise": promise, "watch": "1h"}
    reaper.start()
    return reaper


def freed(cloud: Cloud, reaper: Reaper, fleet: Fleet) -> None:
    """A regular server was refused, and one revocable server died for it."""
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    outcome = reaper.wait_outcome(refused.request)
    assert outcome["kind"] == "freed", outcome
    assert len(cloud.reaper_deletions(mark)) == 1


def test_a_revocable_server_that_comes_right_after_the_kill(
    cloud: SimCloud, spot_host: SpotHost, install: Callable[..., Reaper]
) -> None:
    """It is refused on that host, though there is room; the regular server gets it."""
    fleet = spot_host.fill()
    reaper = reaper_for(install, "1h")
    freed(cloud, reaper, fleet)
    assert spot_host.reserved() == TOTAL
    [hold] = reaper.json("status")["holds"]
    assert (hold["host"], hold["reserved_before"]) == (spot_host.host, 0), hold
    cloud.fail_to_boot("spot", "spot")
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == spot_host.host
    # The promise has an hour to go, but its requester has come.
    eventually("the class is as it was", lambda: spot_host.reserved() == 0)
    cloud.delete_without_waiting(again[0])
    cloud.wait_gone(again)
    cloud.wait_for(cloud.ask("spot", "spot"), "ACTIVE")
    reaper.stop()


def test_when_the_promise_is_over_the_host_takes_revocable_servers_again(
    cloud: SimCloud, spot_host: SpotHost, install: Callable[..., Reaper]
) -> None:
    spot_host.set(total=TOTAL, reserved=1)
    fleet = spot_host.fill()
    reaper = reaper_for(install, "2s")
    freed(cloud, reaper, fleet)
    eventually("the class is as it was", lambda: spot_host.reserved() == 1)
    cloud.wait_for(cloud.ask("spot", "spot"), "ACTIVE")
    reaper.stop()
    assert not reaper.json("status")["holds"]


def test_what_a_killed_reaper_held_the_next_one_gives_back(
    cloud: SimCloud, spot_host: SpotHost, install: Callable[..., Reaper]
) -> None:
    fleet = spot_host.fill()
    reaper = reaper_for(install, "1h")
    freed(cloud, reaper, fleet)
    reaper.kill()
    assert spot_host.reserved() == TOTAL
    reaper.config["cull"]["promise"] = "1s"
    reaper.start()
    eventually("the class is as it was", lambda: spot_host.reserved() == 0)
    reaper.stop()


def test_an_orderly_stop_gives_everything_back(
    cloud: SimCloud, spot_host: SpotHost, install: Callable[..., Reaper]
) -> None:
    fleet = spot_host.fill()
    reaper = reaper_for(install, "1h")
    freed(cloud, reaper, fleet)
    assert spot_host.reserved() == TOTAL
    reaper.stop()
    assert spot_host.reserved() == 0
