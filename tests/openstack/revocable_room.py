"""Oversubscribed room as Placement has it, whichever reaper published it, and servers with and without it."""

import re

import pytest

from cloud import Server, eventually, wait_for_the_next_second
from fleet import OVERSOLD
from lab_cloud import LabCloud
from openstack_cloud import OpenStackCloud

# Extra specs of a flavor whose servers take such room in place of VCPU.
THIN = {"resources:VCPU": "0", f"resources_revocable:{OVERSOLD}": "2"}
WORD = OVERSOLD.removeprefix("CUSTOM_").replace("_", "-").lower()


def provider_names(cloud: OpenStackCloud) -> set[str]:
    """Of the nested providers that hold it."""
    listed = cloud.placement.get("/resource_providers").json()["resource_providers"]
    return {each["name"] for each in listed if each["name"].endswith(f"-{WORD}")}


def published(cloud: OpenStackCloud, host: str) -> int:
    """vCPUs; 0 also if nothing may start on it."""
    found = _about(cloud, host, "inventories").get(OVERSOLD)
    return found["total"] if found and found["min_unit"] <= found["total"] else 0


def held(cloud: OpenStackCloud, host: str) -> int:
    found: int = _about(cloud, host, "usages").get(OVERSOLD, 0)
    return found


def publications(cloud: LabCloud, host: str, since: int) -> int:
    """How often the reaper changed the inventory after a mark."""
    path = re.compile(f"/resource_providers/{_provider(cloud, host)}/inventories(/{OVERSOLD})?")
    asked = cloud.access.since(since, user="reaper")
    return sum(each.is_write and each.status < 300 and bool(path.fullmatch(each.path)) for each in asked)


def fill_with_regular_servers(cloud: LabCloud) -> dict[str, Server]:
    """One on each host, which leaves no VCPU and much memory."""
    servers = {host: cloud.ask("dense", "regular", host=host)[0] for host in cloud.hosts}
    cloud.wait_for(list(servers.values()), "ACTIVE")
    return servers


def becomes(cloud: LabCloud, host: str, vcpus: int) -> None:
    eventually(f"{vcpus} vCPUs are published on {host}", lambda: published(cloud, host) == vcpus)


def boot_one(cloud: LabCloud, flavor: str = "thin", project: str = "spot") -> Server:
    """Later than others by its age; it must have found oversubscribed room by itself."""
    wait_for_the_next_second()
    [server] = cloud.ask(flavor, project)
    cloud.wait_for([server], "ACTIVE")
    room = cloud.room_held_by(server)
    assert room[OVERSOLD] == 2 and "VCPU" not in room, room
    return server


def assert_lives(cloud: LabCloud, *servers: Server) -> None:
    for server in servers:
        look = cloud.look(server)
        assert look.status == "ACTIVE" and look.task is None, f"{server.name}: {look}"


def deleted(cloud: LabCloud, since: int) -> list[str]:
    return sorted(deletion.server for deletion in cloud.reaper_deletions(since))


def ids(*servers: Server) -> list[str]:
    return sorted(server.id for server in servers)


def know_flavors(cloud: LabCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that the setup made can be asked for by their names."""
    marker = ""
    while listed := cloud.nova.get(f"/flavors?is_public=None{marker}").json()["flavors"]:
        for flavor in listed:
            monkeypatch.setitem(cloud.lab["flavors"], flavor["name"], flavor["id"])
        marker = f"&marker={listed[-1]['id']}"


def _about(cloud: OpenStackCloud, host: str, what: str) -> dict:
    provider = _provider(cloud, host)
    return cloud.placement.get(f"/resource_providers/{provider}/{what}").json()[what] if provider else {}


def _provider(cloud: OpenStackCloud, host: str) -> str | None:
    listed = cloud.placement.get(f"/resource_providers?name={host}-{WORD}").json()["resource_providers"]
    return listed[0]["uuid"] if listed else None
