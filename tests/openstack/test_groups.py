"""Granular groups of a flavor: each comes from one resource provider, with `group_policy=isolate` no two
from the same. What is freed on another provider of the host does not help."""

from typing import Callable, Iterator

import pytest

from cloud import Server
from fleet import Fleet, assert_freed
from futile_deletions import assert_no_valid_host
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper

SMALL = {"vcpus": 1, "ram": 512, "disk": 1}
TWO = {"resources1:VGPU": "1", "resources2:VGPU": "1"}
FLAVORS = {
    "one-gpu": {"resources1:VGPU": "1"},
    "two-of-a-gpu": {"resources1:VGPU": "2"},
    "two-gpus": TWO | {"group_policy": "isolate"},
    "two-somewhere": TWO | {"group_policy": "none"},
    "no-policy": TWO,
}


@pytest.fixture
def flavors(cloud: OpenStackCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made = []
    for name, specs in FLAVORS.items():
        flavor = cloud.nova.post("/flavors", json={"flavor": SMALL | {"name": name}}).json()["flavor"]["id"]
        made.append(flavor)
        cloud.nova.post(f"/flavors/{flavor}/os-extra_specs", json={"extra_specs": specs})
        monkeypatch.setitem(cloud.lab["flavors"], name, flavor)
    # AggregateInstanceExtraSpecsFilter takes the policy for a wish.
    for policy in ("isolate", "none"):
        cloud.make_aggregate(policy, cloud.hosts, {"group_policy": policy})
    yield
    for flavor in made:
        cloud.nova.delete(f"/flavors/{flavor}")


@pytest.fixture
def gpus(cloud: OpenStackCloud) -> Iterator[Callable[..., None]]:
    """Makes GPUs of a host, of so many VGPU each."""
    made = []

    def make(host: str, *totals: int) -> None:
        for number, total in enumerate(totals):
            body = {"name": f"{host}_gpu{number}", "parent_provider_uuid": cloud.providers[host]}
            gpu = cloud.placement.post("/resource_providers", json=body).json()
            made.append(gpu["uuid"])
            inventories = {"inventories": {"VGPU": {"total": total}}}
            inventories["resource_provider_generation"] = gpu["generation"]
            cloud.placement.put(f"/resource_providers/{gpu['uuid']}/inventories", json=inventories)

    yield make
    cloud.reset()
    for gpu in made:
        cloud.placement.delete(f"/resource_providers/{gpu}")


def test_groups_that_exclude_each_other_get_a_provider_each(
    cloud: OpenStackCloud, install: Callable[..., Reaper], flavors: None, gpus: Callable[..., None]
) -> None:
    one, two, _ = cloud.hosts
    gpus(one, 2, 1)
    gpus(two, 1, 1)
    fleet = Fleet(cloud, {host: {} for host in cloud.hosts})

    def boot(flavor: str, project: str, host: str, count: int = 1) -> list[Server]:
        servers = cloud.boot(flavor, project, host, count)
        fleet.by_host[host].setdefault(project, []).extend(servers)
        return servers

    # On the first host: two of one GPU would come free, and the other one stays taken.
    [pair] = boot("two-of-a-gpu", "spot", one)
    boot("one-gpu", "regular", one)
    # One by one: Nova tries one GPU of the host for all servers of a request.
    boot("one-gpu", "spot", two)
    boot("one-gpu", "spot", two)
    cloud.delete_without_waiting(pair)
    cloud.wait_gone([pair])
    [refused] = cloud.fail_to_boot("two-gpus")
    assert_no_valid_host(cloud, refused.request)
    fleet.by_host[one]["spot"] = cloud.boot("two-of-a-gpu", "spot", one)

    reaper = install()
    reaper.start()
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("two-gpus")
    reaper.wait_outcome(refused.request)
    assert_freed(fleet, mark, 2, among=fleet.spot(two))
    fleet.by_host[two]["spot"].clear()
    story = reaper.story(refused.request)
    assert story is not None and story["request"]["group_policy"] == "isolate", story
    [reason] = [e["reason"] for e in story["plans"][-1]["decision"]["rejected"] if e["host_name"] == one]
    assert "a provider for" in reason, reason
    [again] = cloud.ask("two-gpus")
    cloud.wait_for([again], "ACTIVE")
    assert cloud.look(again).host == two

    # Those that may share one do.
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("two-somewhere")
    reaper.wait_outcome(refused.request)
    assert_freed(fleet, mark, 1, among=fleet.spot(one))
    fleet.by_host[one]["spot"].clear()
    [shared] = cloud.ask("two-somewhere")
    cloud.wait_for([shared], "ACTIVE")
    assert cloud.look(shared).host == one

    # What Placement would not even search for is refused.
    [refused] = cloud.fail_to_boot("no-policy")
    outcome = reaper.wait_outcome(refused.request)
    assert outcome["kind"] == "refused" and "group_policy" in outcome["reason"], outcome
