"""Revocable servers that go although no request waits: above a watermark, and at the end of their life
spans."""

from datetime import datetime, timedelta

from cloud import Cloud, eventually
from fleet import assert_freed, assert_none_deleted, assert_only_victims_died, fill
from reaper_process import Reaper

AFTER_S = 5


def corrections(reaper: Reaper, prefix: str) -> list[str]:
    """The ids of those that ended."""
    sql = "SELECT id FROM request WHERE id LIKE ? AND outcome IS NOT NULL ORDER BY id"
    return [request for (request,) in reaper.rows(sql, prefix + "%")]


def wait_looks(reaper: Reaper, count: int) -> None:
    def looks() -> int:
        return reaper.log_text().count("looking for servers that have to go")

    before = looks()
    eventually("it looks again", lambda: looks() >= before + count)


def test_above_the_high_mark_revocable_servers_go_down_to_the_low_one(cloud: Cloud, install) -> None:
    """All of 30 VCPU are used; two servers of 5 must go to reach 70 %. Paused, none does.

    Whichever two are the youngest, they are on two hosts: two requests.
    """
    half = [("spot", "medium", 1), ("regular", "medium", 1)]
    fleet = fill(cloud, {host: half for host in cloud.hosts})
    reaper = install()
    reaper.config["watermark"] = {"marks": [{"class": "VCPU", "high": 90, "low": 70}], "cooldown": "1min"}
    reaper.pause_file.touch()
    mark = cloud.mark()
    reaper.start()
    wait_looks(reaper, 1)
    assert_none_deleted(fleet, mark)
    assert reaper.command("resume").returncode == 0
    eventually("enough are deleted", lambda: len(cloud.reaper_deletions(mark)) >= 2)
    victims = [s for s in fleet.spot() if s.id in {d.server for d in cloud.reaper_deletions(mark)}]
    cloud.wait_gone(victims)
    wait_looks(reaper, 2)
    assert_freed(fleet, mark, 2, fleet.spot())
    eventually("its requests have ended", lambda: corrections(reaper, "watermark-"))
    told = reaper.command("explain", victims[0].id).stdout
    assert "more of the cloud was used than its high mark" in told, told
    reason = "100 % of VCPU in the cloud are used (high mark 90 %, low mark 70 %)"
    assert reason in reaper.log_text() and "9 VCPU must come free; 2 servers chosen" in reaper.log_text()


def test_a_revocable_server_ends_at_its_time_and_not_before(cloud: Cloud, install) -> None:
    """One that is protected stays, and regular ones do; one that is younger ends later."""
    one, two, three = cloud.hosts
    fleet = fill(
        cloud,
        {one: [("spot", "small", 1)], two: [("spot", "small", 1)], three: [("regular", "large", 1)]},
        exactly=False,
    )
    [old], [kept] = fleet.spot(one), fleet.spot(two)
    reaper = install()
    reaper.config["life_span"] = {"after": f"{AFTER_S}s", "jitter": "0s"}
    reaper.config["protect"] = {"owners": True}
    cloud.tag(kept, "reaper-protected")
    mark = cloud.mark()
    reaper.start()
    cloud.wait_gone([old])
    assert_only_victims_died(fleet, mark, [old])
    young = cloud.boot("small", "spot", one)
    fleet.by_host[one]["spot"] += young
    cloud.wait_gone(young)
    assert_only_victims_died(fleet, mark, [old, *young])
    eventually("both requests have ended", lambda: len(corrections(reaper, "life-span-")) == 2)
    for request in corrections(reaper, "life-span-"):
        story = reaper.json("history", "show", request)
        [victim] = story["plans"][0]["decision"]["hosts"][0]["victims"]
        [sent] = [step["at"] for step in story["steps"] if step["step"] == "delete-sent"]
        lived = datetime.fromisoformat(sent[:-1]) - datetime.fromisoformat(victim["created"][:-1])
        assert lived >= timedelta(seconds=AFTER_S), victim
        assert f"its life span of {AFTER_S}s (that of all revocable servers) ended" in victim["reason"]
