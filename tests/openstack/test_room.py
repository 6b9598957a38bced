"""Room: what `reaper room` and GET /v1/room tell is what boots tell."""

import json
from typing import Callable

from cloud import Cloud
from fleet import assert_none_deleted, fill
from reaper_process import Reaper
from room_questions import Question, admin_api

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


def test_room_is_answered_with_now_after_victims_and_never(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """The command and the daemon answer alike; names that lead nowhere are no shortage."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: [("regular", "medium", 1)]}, exactly=False)
    reaper = install()
    mark = cloud.mark()

    now = reaper.json("room", "--flavor", "medium", "--project", "regular")
    assert (now["answer"], now["fits_now"], now["possible"]) == ("fits-now", 1, 2)
    assert [host["name"] for host in now["hosts"]] == [three] and now["decision"] is None
    both = reaper.json("room", "--flavor", cloud.flavor_id("medium"), "--count", "2")
    assert (both["answer"], both["victims"]) == ("after-victims", 1)
    [spot] = fleet.spot()
    assert Question(None, 2, {}, both).victims() == [spot.id]  # type: ignore[arg-type]
    never = reaper.command("--json", "room", "--flavor", "medium", "--count", "3")
    assert never.returncode == 3 and json.loads(never.stdout)["answer"] == "never", never.stderr
    told = reaper.command("room", "--flavor", "medium", "--count", "2").stdout
    assert "fits after 1 victim" in told and spot.name in told, told
    for unknown in (
        ["--flavor", "huge"],
        ["--resources", "VCPU=1", "--zone", "mars"],
        ["--resources", "CUSTOM_UNHEARD=1"],
        ["--resources", "VCPU=1", "--project", "no-such"],
    ):
        done = reaper.command("room", *unknown)
        assert done.returncode == 6 and unknown[-1].partition("=")[0] in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1 and not done.stdout, done.stderr
    for wanted in (
        ["--project", "no-such", "--resources", "VCPU=1"],
        ["--project", "regular", "--resources", "VCPU=1", "--az", "mars"],
        ["--project", "regular", "--resources", "VCPU=1,CUSTOM_UNHEARD=1"],
    ):
        done = reaper.command("plan", *wanted)
        assert done.returncode == 6 and done.stderr.count("\n") == 1 and not done.stdout, done.stderr

    with admin_api(reaper) as api:
        live = api.get("room", flavor="medium", count=2).json()
        for part in ("answer", "fits_now", "possible", "hosts", "victims", "summary"):
            assert live[part] == both[part]
        assert api.get("room", flavor="huge").status_code == 404
        assert api.get("room", resources="VCPU:1", zone="mars").status_code == 404
        assert api.get("room", flavor="medium", count="some").status_code == 400
    assert_none_deleted(fleet, mark)
