"""What makes a server revocable: a resource class of its own, set up by the reaper; its flavor;
several of these at once. And where room could be made, for those who ask beforehand."""

from contextlib import contextmanager
from typing import Any, Callable, Iterator

import pytest
import requests

from cloud import PATIENCE, Cloud, eventually
from fleet import Fleet, assert_freed, assert_none_deleted, fill
from lablib.ports import LOOPBACK, free_ports
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper

CLASS = "CUSTOM_PREEMPTIBLE"
SETUP = ("setup", "resource-tagging")
FULL = [("regular", "large", 1)]
MEDIUM = {"name": "spot", "vcpus": 5, "ram": 2048, "disk": 20}


@pytest.fixture
def flavor(cloud: OpenStackCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes the flavor `spot`, as large as `medium`, with these extra specs."""
    made: list[str] = []

    def make(specs: dict[str, str]) -> None:
        flavor = cloud.nova.post("/flavors", json={"flavor": MEDIUM}).json()["flavor"]["id"]
        made.append(flavor)
        cloud.nova.post(f"/flavors/{flavor}/os-extra_specs", json={"extra_specs": specs})
        monkeypatch.setitem(cloud.lab["flavors"], "spot", flavor)

    yield make
    cloud.reset()
    for flavor_id in made:
        cloud.nova.delete(f"/flavors/{flavor_id}")


def with_spot(cloud: Cloud, count: int) -> Fleet:
    """`count` servers of the flavor `spot`, of the regular project, on the first host; all is full."""
    first, *others = cloud.hosts
    rest = [("regular", "medium", 2 - count)] if count < 2 else []
    fleet = fill(cloud, {first: rest} | {host: FULL for host in others}, exactly=False)
    servers = cloud.ask("spot", "regular", count, first)
    cloud.wait_for(servers, "ACTIVE")
    fleet.by_host[first]["spot"] = servers
    return fleet


def freed_one_of(cloud: Cloud, reaper: Reaper, fleet: Fleet) -> None:
    """A regular server was refused, and one revocable server died for it."""
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    outcome = reaper.wait_outcome(refused.request)
    assert outcome["kind"] == "freed", outcome
    assert_freed(fleet, mark, 1, fleet.spot())


def revocable_by(reaper: Reaper) -> set[str | None]:
    servers = [server for host in reaper.json("hosts")["hosts"] for server in host["servers"]]
    return {server["revocable_by"] for server in servers if server["revocable"]}


def classes(cloud: OpenStackCloud) -> set[str]:
    listed = cloud.placement.get("/resource_classes").json()["resource_classes"]
    return {one["name"] for one in listed}


def providers(cloud: OpenStackCloud) -> set[str]:
    return {one["name"] for one in cloud.placement.get("/resource_providers").json()["resource_providers"]}


def actions(answer: dict[str, Any]) -> list[str]:
    return [step["action"] for step in answer["steps"]]


def test_resource_tagging_from_setup_to_undo(
    cloud: OpenStackCloud, install: Callable[..., Reaper], flavor: Callable[..., None]
) -> None:
    reaper = install()
    reaper.config["taggers"] = [{"name": "resource", "freed_room": "open"}]
    slots = {f"{host}-preemptible" for host in cloud.hosts}
    hosts = len(cloud.hosts)
    mark = cloud.mark()
    try:
        told = reaper.json(*SETUP, "--slots", "2")
        # Another test may have left the class: Placement keeps it.
        assert actions(told)[0] in ("create-class", "keep")
        assert actions(told)[1:] == ["create-provider"] * hosts
        assert cloud.reaper_writes(mark) == [] and not slots & providers(cloud)
        reaper.json(*SETUP, "--slots", "2", "--apply")
        assert CLASS in classes(cloud) and slots <= providers(cloud)
        mark = cloud.mark()
        assert set(actions(reaper.json(*SETUP, "--slots", "2", "--apply"))) == {"keep"}
        assert cloud.reaper_writes(mark) == []
        more = reaper.json(*SETUP, "--slots-per", "VCPU:2", "--hosts", cloud.hosts[0], "--apply")
        assert [(step["from"], step["to"]) for step in more["steps"][1:]] == [(2, 5)]

        flavor({f"resources1:{CLASS}": "1"})
        fleet = with_spot(cloud, 2)
        reaper.start()
        assert revocable_by(reaper) == {"resource"}
        freed_one_of(cloud, reaper, fleet)
        reaper.stop()

        done = reaper.command(*SETUP, "--undo", "--apply")
        assert done.returncode == 1, done.stdout + done.stderr
        assert "1 consumer holds something there" in done.stdout
        assert providers(cloud) & slots == {f"{cloud.hosts[0]}-preemptible"}
        assert CLASS in classes(cloud)
    finally:
        cloud.reset()
        done = reaper.command(*SETUP, "--undo", "--apply")
    assert done.returncode == 0, done.stdout + done.stderr
    assert CLASS not in classes(cloud) and not slots & providers(cloud)
    assert set(cloud.hosts) <= providers(cloud)


def test_setup_without_rights_names_the_one_that_is_missing(
    cloud: OpenStackCloud, install: Callable[..., Reaper]
) -> None:
    if CLASS in classes(cloud):  # another test left it
        cloud.placement.delete(f"/resource_classes/{CLASS}")
    done = install(user="onlooker").command(*SETUP, "--slots", "2", "--apply")
    assert done.returncode == 1
    assert "403" in done.stderr, done.stderr
    assert CLASS not in classes(cloud)


def test_servers_of_a_revocable_flavor(
    cloud: OpenStackCloud, install: Callable[..., Reaper], flavor: Callable[..., None]
) -> None:
    """In a regular project; the requester of such a flavor gets nothing."""
    flavor({"reaper:revocable": "True"})
    fleet = with_spot(cloud, 2)
    reaper = install()
    reaper.config["taggers"] = [{"name": "flavor"}, {"name": "project"}]
    reaper.start()
    assert "flavors with reaper:revocable=true" in reaper.command("check").stdout
    assert revocable_by(reaper) == {"flavor"}
    mark = cloud.mark()
    [revocable] = cloud.fail_to_boot("spot")
    assert reaper.wait_outcome(revocable.request)["kind"] == "refused"
    assert_none_deleted(fleet, mark)
    freed_one_of(cloud, reaper, fleet)
    reaper.stop()


def test_taggers_that_differ(
    cloud: OpenStackCloud, install: Callable[..., Reaper], flavor: Callable[..., None]
) -> None:
    """A regular project uses a revocable flavor: whether one word is enough, the configuration says."""
    flavor({"reaper:revocable": "true"})
    fleet = with_spot(cloud, 1)
    reaper = install()
    reaper.config["taggers"] = [{"name": "project"}, {"name": "flavor"}]
    reaper.config["tagger_conflict"] = "all"
    reaper.start()
    assert revocable_by(reaper) == set()
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "not-enough"
    assert_none_deleted(fleet, mark)
    reaper.stop()
    reaper.config["tagger_conflict"] = "any"
    reaper.start()
    assert revocable_by(reaper) == {"flavor"}
    freed_one_of(cloud, reaper, fleet)
    reaper.stop()


@contextmanager
def admin_api(reaper: Reaper) -> Iterator[str]:
    address = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"listen": address}
    reaper.start()
    yield f"http://{address}/v1"
    reaper.stop()


def test_culling_candidates(cloud: OpenStackCloud, install: Callable[..., Reaper]) -> None:
    """The command and the daemon answer alike: the only host with revocable servers could take one."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: [("spot", "medium", 1), ("regular", "medium", 1)], two: FULL, three: FULL})
    reaper = install()
    [spot] = fleet.spot()
    provider = cloud.providers[one]
    mark = cloud.mark()
    said = reaper.json("candidates", "--resources", "VCPU:5,MEMORY_MB:2048")
    assert list(said["provider_summaries"]) == [provider]
    summary = said["provider_summaries"][provider]
    assert summary["resources"]["VCPU"] == {"used": 10, "capacity": 10}
    assert said["preemptible_allocations"][provider][spot.id]["VCPU"] == 5
    assert not reaper.json("candidates", "--resources", "VCPU:6")["provider_summaries"]

    session = requests.Session()
    session.trust_env = False
    with admin_api(reaper) as api:
        question = f"{api}/culling_candidates"

        def ask(resources: str) -> requests.Response:
            return session.get(question, params={"resources": resources}, timeout=PATIENCE)

        eventually("the cloud was read", lambda: ask("VCPU:5").status_code == 200)
        live = ask("VCPU:5,MEMORY_MB:2048").json()
        for part in ("provider_summaries", "preemptible_allocations"):
            assert live[part] == said[part]
        assert ask("VCPU:6").json()["provider_summaries"] == {}
        assert ask("vcpus:6").status_code == 400
        assert session.get(api, timeout=PATIENCE).json()["routes"]
        assert session.post(question, timeout=PATIENCE).status_code == 405
    assert_none_deleted(fleet, mark)
