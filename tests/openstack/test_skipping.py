"""Servers that must not die, owners who would rather keep theirs, hosts that would not help, and
looking without touching."""

import pytest

from cloud import Cloud, eventually
from fleet import Fleet, assert_none_deleted, assert_only_victims_died, fill
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


def two_half_spot_hosts(cloud: Cloud) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FULL})


# Whichever the strategy would take, one of the two cases catches it.
@pytest.mark.parametrize("kept", [0, 1])
def test_a_locked_server_is_spared(cloud: Cloud, reaper: Reaper, kept: int) -> None:
    """An administrator's DELETE would not be stopped by the lock."""
    fleet = two_half_spot_hosts(cloud)
    [locked] = fleet.spot(cloud.hosts[kept])
    cloud.lock(locked)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(cloud.hosts[1 - kept]))


def test_if_all_are_locked_none_is_deleted(cloud: Cloud, reaper: Reaper) -> None:
    fleet = two_half_spot_hosts(cloud)
    for server in fleet.spot():
        cloud.lock(server)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


# Owners ------------------------------------------------------------------------


def test_owners_can_not_refuse_and_an_administrator_can(cloud: Cloud, reaper: Reaper) -> None:
    """Both owners lock, tag and mark their server; an administrator locks one of them over that."""
    fleet = two_half_spot_hosts(cloud)
    [kept], [goes] = fleet.spot(cloud.hosts[0]), fleet.spot(cloud.hosts[1])
    for server in kept, goes:
        cloud.tag(server, "reaper-protected")
        cloud.set_metadata(server, "reaper:protected", "yes")
        cloud.lock_as_owner(server)
    cloud.lock(kept)
    mark = cloud.mark()
    # Both would have to go.
    refused, *_ = cloud.fail_to_boot("medium", count=2)
    assert reaper.wait_outcome(refused.request)["kind"] == "not-enough"
    assert_none_deleted(fleet, mark)
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert_only_victims_died(fleet, mark, [goes])
    cloud.unlock(kept)
    cloud.lock_as_owner(kept)
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    reaper.stop()
    reaper.start()  # it does not remember whose lock it was
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert_only_victims_died(fleet, mark, [goes, kept])


@pytest.mark.lab_only
def test_a_server_goes_in_whatever_state_its_owner_leaves_it(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: [("spot", "small", 5)], two: FULL, three: FULL})
    for server, status in zip(fleet.spot(), ("PAUSED", "SUSPENDED", "RESCUE", "SHUTOFF", "ERROR"), strict=True):
        cloud.leave_in(server, status)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("large")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


@pytest.mark.parametrize("closed", ["neither", "new", "old"])
def test_an_unconfirmed_resize_keeps_no_room_on_either_host(cloud: Cloud, reaper: Reaper, closed: str) -> None:
    """Its owner leaves it unconfirmed: it holds 2 VCPU on its old host, and 5 on its new one."""
    old, new, full = cloud.hosts
    fleet = fill(
        cloud,
        {old: [("spot", "small", 1), ("regular", "small", 4)], new: [("regular", "medium", 1)], full: FULL},
        exactly=False,
    )
    [server] = fleet.spot()
    cloud.resize_without_waiting(server, "medium")
    cloud.wait_for([server], "VERIFY_RESIZE")
    assert cloud.look(server).host == new
    if closed != "neither":
        cloud.disable_host({"new": new, "old": old}[closed])
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("small")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    cloud.wait_gone([server])  # Nova confirms the resize before it deletes: the old host has its room first
    assert_only_victims_died(fleet, mark, [server])
    eventually("both hosts have their room", lambda: (cloud.used_vcpus(old), cloud.used_vcpus(new)) == (8, 5))


@pytest.mark.parametrize("disabled", [0, 1])
def test_a_disabled_host_gives_no_room(cloud: Cloud, reaper: Reaper, disabled: int) -> None:
    fleet = two_half_spot_hosts(cloud)
    cloud.disable_host(cloud.hosts[disabled])
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(cloud.hosts[1 - disabled]))
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == cloud.hosts[1 - disabled]


def test_a_host_that_is_down_gives_no_room(cloud: Cloud, reaper: Reaper) -> None:
    """It would be the cheaper one."""
    one, two, three = cloud.hosts
    three_small = [("spot", "small", 3), ("regular", "small", 2)]
    fleet = fill(cloud, {one: HALF_SPOT, two: three_small, three: FULL})
    cloud.say_that_it_is_down(one)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(two))
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_a_dry_run_plans_and_writes_nothing(cloud: Cloud, install) -> None:
    reaper = install()
    reaper.start("--dry-run")
    fleet = two_half_spot_hosts(cloud)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    plan = eventually("a plan is printed", lambda: refused.request in reaper.printed() and reaper.printed())
    assert any(server.id in plan or server.name in plan for server in fleet.spot())
    reaper.stop()
    assert_none_deleted(fleet, mark)
    assert not (reaper.directory / "journal.db").exists(), "a dry run keeps no journal"
