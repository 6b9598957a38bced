"""Culls that a person approves: `reaper plan --save`, `reaper apply`."""

import json
from pathlib import Path
from typing import Any, Callable

import pytest

from cloud import Cloud, eventually
from fleet import Fleet, assert_none_deleted, assert_only_victims_died, fill
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
WANTED = ["--resources", "VCPU=5,MEMORY_MB=2048,DISK_GB=20", "--project", "regular"]
STALE = 7


@pytest.fixture
def fleet(cloud: Cloud) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})


@pytest.fixture
def serving(install: Callable[..., Reaper], tmp_path: Path) -> Reaper:
    """A daemon that takes requests."""
    reaper = install()
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock")}
    reaper.start()
    probe = ["request", "--resources", "VCPU=1", "--project", "spot"]
    eventually("it takes requests", lambda: "does not serve" not in reaper.command(*probe).stderr)
    return reaper


def saved(reaper: Reaper, path: Path) -> tuple[str, dict[str, Any]]:
    done = reaper.command("plan", *WANTED, "--save", str(path))
    assert done.returncode == 0, done.stderr
    return str(path), json.loads(path.read_text())


def test_a_saved_plan_is_applied_as_it_is(
    fleet: Fleet, serving: Reaper, tmp_path: Path, cloud: Cloud
) -> None:
    """Once, however often, and the journal has who approved it."""
    mark = cloud.mark()
    path, plan = saved(serving, tmp_path / "plan.json")
    [spot] = fleet.spot()
    assert [v["server"] for host in plan["decision"]["hosts"] for v in host["victims"]] == [spot.id]
    checked = serving.command("apply", path, "--dry-run")
    assert checked.returncode == 0 and spot.id in checked.stdout, checked.stdout + checked.stderr
    assert_none_deleted(fleet, mark)

    done = serving.command("apply", path)
    assert done.returncode == 0 and "freed: " in done.stdout, done.stdout + done.stderr
    assert_only_victims_died(fleet, mark, [spot])
    again = serving.command("apply", path)
    assert again.returncode == 0 and "freed: " in again.stdout, again.stdout + again.stderr
    assert_only_victims_died(fleet, mark, [spot])
    story = serving.json("history", "show", plan["request"]["id"])
    assert story["request"]["approved"]["by"] == plan["planned_by"]
    assert story["request"]["approved"]["victims"] == [spot.id]
    assert "approved by" in serving.command("history", "show", plan["request"]["id"]).stdout


def test_a_changed_cloud_makes_a_saved_plan_stale(
    fleet: Fleet, serving: Reaper, tmp_path: Path, cloud: Cloud
) -> None:
    path, plan = saved(serving, tmp_path / "plan.json")
    [spot] = fleet.spot()
    cloud.lock(spot)
    mark = cloud.mark()
    done = serving.command("apply", path)
    assert done.returncode == STALE and "the approved plan is stale" in done.stdout, done.stdout + done.stderr
    assert_none_deleted(fleet, mark)
    story = serving.json("history", "show", plan["request"]["id"])
    assert (story["outcome"]["kind"], story["outcome"]["safeguard"]) == ("refused", "stale-plan")


def test_room_that_came_free_makes_a_saved_plan_stale(cloud: Cloud, serving: Reaper, tmp_path: Path) -> None:
    """No server is deleted for room that is free."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    path, _ = saved(serving, tmp_path / "plan.json")
    [leaving] = fleet.regular(three)
    cloud.delete_without_waiting(leaving)
    cloud.wait_gone([leaving])
    mark = cloud.mark()
    done = serving.command("apply", path)
    assert done.returncode == STALE and "stale" in done.stdout, done.stdout + done.stderr
    assert cloud.reaper_deletions(mark) == []


def test_an_old_plan_is_refused(fleet: Fleet, serving: Reaper, tmp_path: Path, cloud: Cloud) -> None:
    path = tmp_path / "plan.json"
    _, plan = saved(serving, path)
    plan["planned_at"] = "2026-01-01T00:00:00.000Z"
    path.write_text(json.dumps(plan))
    mark = cloud.mark()
    for options in (["--dry-run"], []):
        done = serving.command("apply", str(path), *options)
        told = done.stdout + done.stderr
        assert done.returncode == STALE and "cull.approved_max_age" in told, told
    assert_none_deleted(fleet, mark)


def test_a_plan_without_deletions_needs_no_approval(
    cloud: Cloud, install: Callable[..., Reaper], tmp_path: Path
) -> None:
    """There is room, or there is not enough: no file is written."""
    one, two, three = cloud.hosts
    fill(cloud, {one: [], two: FULL, three: FULL}, exactly=False)
    reaper, path = install(), tmp_path / "plan.json"
    there = reaper.command("plan", *WANTED, "--save", str(path))
    assert there.returncode == 3 and "nothing to approve" in there.stderr, there.stderr
    less = reaper.command("plan", *WANTED, "--slots", "9", "--save", str(path))
    assert less.returncode == 3 and "nothing to approve" in less.stderr, less.stderr
    assert not path.exists()
