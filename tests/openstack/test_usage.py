"""Who runs as what: marks in the metadata, and resource-hours for billing."""

from typing import Any

from cloud import Cloud, eventually
from fleet import assert_only_victims_died, fill
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


def used(cloud: Cloud, reaper: Reaper, project: str) -> dict[str, dict[str, Any]]:
    """By type. A real Nova still tells of servers that earlier tests deleted."""
    lines = reaper.json("usage")["usage"]
    return {line["type"]: line for line in lines if line["project"] == cloud.project_id(project)}


def test_who_takes_freed_room_is_marked_and_usage_tells_all_apart(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    spot, regular = used(cloud, reaper, "spot"), used(cloud, reaper, "regular")
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    [again] = cloud.ask("medium")
    cloud.wait_for([again], "ACTIVE")
    eventually("a mark", lambda: cloud.metadata_of(again).get("res-type") == "regular")
    for server in fleet.all():
        if server not in fleet.spot(one):
            assert "res-type" not in cloud.metadata_of(server), "it took no freed room"

    now = used(cloud, reaper, "spot")
    assert list(now) == ["revocable"]
    assert now["revocable"]["servers"] == spot["revocable"]["servers"], "it is gone, and counts"
    assert now["revocable"]["reclaimed"] == spot["revocable"]["reclaimed"] + 1
    now = used(cloud, reaper, "regular")
    assert list(now) == ["regular"]
    assert now["regular"]["servers"] == regular["regular"]["servers"] + 1
    assert now["regular"]["reclaimed"] == 0
    assert now["regular"]["resource_hours"]["VCPU"] > regular["regular"]["resource_hours"]["VCPU"]
    csv = reaper.command("usage", "--csv").stdout.splitlines()
    assert csv[0].startswith("project,type,servers,reclaimed,hours,VCPU_hours,")
    assert len(csv) == len(reaper.json("usage")["usage"]) + 1


def test_a_server_that_its_user_deleted_still_counts(cloud: Cloud, install) -> None:
    reaper = install()
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    before = used(cloud, reaper, "spot")["revocable"]
    mark = cloud.mark()
    [gone] = fleet.spot(one)
    cloud.delete_without_waiting(gone)
    eventually("its end", lambda: cloud.look(gone).gone)

    def after() -> dict[str, Any]:
        now = used(cloud, reaper, "spot")
        assert list(now) == ["revocable"]
        return now["revocable"]

    # Nova 2025.1 lists its end some moments after it no longer knows the server.
    eventually("it counts", lambda: after()["servers"] == before["servers"])
    assert after()["reclaimed"] == before["reclaimed"]
    assert cloud.reaper_writes(mark) == []


def test_all_servers_are_marked_whatever_their_users_wrote(cloud: Cloud, install) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: [("spot", "small", 1)]}, exactly=False)
    [own] = fleet.spot(three)
    cloud.set_metadata(own, "res-type", "mine")
    mark = cloud.mark()
    reaper = install()
    reaper.config["labels"] = {"servers": "all"}
    reaper.start()

    def marks() -> dict[str, str]:
        return {server.id: cloud.metadata_of(server).get("res-type", "") for server in fleet.all()}

    eventually("all marks", lambda: all(marks().values()) and marks()[own.id] != "mine")
    assert cloud.reaper_deletions(mark) == []
    for server in fleet.all():
        wanted = "revocable" if server in fleet.spot() else "regular"
        assert marks()[server.id] == wanted
