"""Requests say which kind of room they admit: in the server's metadata, the flavor or the image. Only
regular room is made by deletions; revocable room is only reported."""

from typing import Any, Callable

import pytest

from fleet import OVERSOLD, assert_freed, assert_none_deleted, fill
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]


def outcome_of(
    reaper: Reaper, cloud: OpenStackCloud, flavor: str = "medium", **asked: Any
) -> dict[str, Any]:
    [refused] = cloud.fail_to_boot(flavor, **asked)
    return reaper.wait_outcome(refused.request)


@pytest.fixture
def reaper(install: Callable[..., Reaper]) -> Reaper:
    """One that knows both kinds of revocable servers."""
    made = install()
    oversold = {"name": "resource", "class": OVERSOLD, "freed_room": "open"}
    made.config["taggers"] = [{"name": "project"}, oversold]
    made.start()
    return made


def test_a_request_for_revocable_room_costs_no_server(cloud: OpenStackCloud, reaper: Reaper) -> None:
    fleet = fill(cloud, {host: SPOT for host in cloud.hosts})
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud, metadata={"res-type": "revocable"})
    assert outcome["kind"] == "revocable-only", outcome
    assert_none_deleted(fleet, mark)
    reaper.wait_messages_done()


def test_regular_first_gets_revocable_room(
    cloud: OpenStackCloud, oversold_host: str, reaper: Reaper
) -> None:
    """No server could be deleted for it: all are regular."""
    fleet = fill(cloud, {host: FULL for host in cloud.hosts})
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud, metadata={"res-type": "~regular"})
    assert outcome["kind"] == "revocable-room", outcome
    assert oversold_host in outcome["reason"], outcome
    assert_none_deleted(fleet, mark)
    labels = {host["name"]: host["res_type"] for host in reaper.json("hosts")["hosts"]}
    assert labels == {host: "any" if host == oversold_host else "regular" for host in cloud.hosts}


def test_revocable_first_culls_when_there_is_no_revocable_room(
    cloud: OpenStackCloud, oversold_host: str, reaper: Reaper
) -> None:
    fleet = fill(cloud, {host: SPOT for host in cloud.hosts})
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud, metadata={"res-type": "~revocable"})
    assert outcome["kind"] == "revocable-room", outcome
    assert_none_deleted(fleet, mark)
    # Two slots are more than the one that is oversold.
    refused = cloud.fail_to_boot("medium", count=2, metadata={"res-type": "~revocable"})
    outcome = reaper.wait_outcome(refused[0].request)
    assert outcome["kind"] == "freed", outcome
    assert_freed(fleet, mark, 2, among=fleet.spot())


def test_a_constraint_that_leaves_nothing_is_refused(cloud: OpenStackCloud, reaper: Reaper) -> None:
    fleet = fill(cloud, {host: SPOT for host in cloud.hosts})
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud, metadata={"res-type": "res-type!=re*"})
    assert outcome["kind"] == "refused", outcome
    assert "res-type!=re*" in outcome["reason"], outcome
    assert_none_deleted(fleet, mark)
    reaper.wait_messages_done()


def test_the_flavor_says_it(
    cloud: OpenStackCloud, reaper: Reaper, make_flavor: Callable[..., str]
) -> None:
    flavor = make_flavor("medium-revocable", "medium", {"reaper:res_type": "revocable"})
    fleet = fill(cloud, {host: SPOT for host in cloud.hosts})
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud, flavor=flavor)
    assert outcome["kind"] == "revocable-only", outcome
    assert_none_deleted(fleet, mark)


def test_the_image_says_it_unless_the_server_does(
    cloud: OpenStackCloud, reaper: Reaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = fill(cloud, {host: SPOT for host in cloud.hosts})
    monkeypatch.setitem(cloud.lab, "image", cloud.make_image("with-res-type", res_type="revocable"))
    mark = cloud.mark()
    outcome = outcome_of(reaper, cloud)
    assert outcome["kind"] == "revocable-only", outcome
    assert "res_type=revocable" in because(reaper)
    assert_none_deleted(fleet, mark)
    outcome = outcome_of(reaper, cloud, metadata={"res-type": "regular"})
    assert outcome["kind"] == "freed", outcome
    assert_freed(fleet, mark, 1, among=fleet.spot())


def because(reaper: Reaper) -> str:
    """Where the newest request says what it admits."""
    return reaper.json("history")["requests"][0]["request"]["res_type_because"]
