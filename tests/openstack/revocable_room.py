"""Oversubscribed room as Placement has it, whoever published it."""

import re

from fleet import OVERSOLD
from lab_cloud import LabCloud
from openstack_cloud import OpenStackCloud

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


def _about(cloud: OpenStackCloud, host: str, what: str) -> dict:
    provider = _provider(cloud, host)
    return cloud.placement.get(f"/resource_providers/{provider}/{what}").json()[what] if provider else {}


def _provider(cloud: OpenStackCloud, host: str) -> str | None:
    listed = cloud.placement.get(f"/resource_providers?name={host}-{WORD}").json()["resource_providers"]
    return listed[0]["uuid"] if listed else None
