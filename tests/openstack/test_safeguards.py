"""What holds the reaper back: the kill switch, protected servers, limits, the circuit breaker."""

from contextlib import ExitStack, contextmanager
from typing import Any, Iterator

from between import between_plan_and_deletion, stand_before, wait_held
from cloud import Cloud, Server, eventually, wait_for_the_next_second
from fleet import Fleet, assert_freed, assert_none_deleted, assert_only_victims_died, fill
from gate import Gate
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
# Its neighbours are not of the shape that is asked for.
ONE_SPOT = [("spot", "medium", 1), ("regular", "small", 2)]


def full_but_for(cloud: Cloud, first: list, second: list = FULL) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: first, two: second, three: FULL}, exactly=False)


def refused_for(cloud: Cloud, reaper: Reaper, flavor: str, count: int = 1) -> dict[str, Any]:
    """The outcome of a request that finds no host."""
    refused, *_ = cloud.fail_to_boot(flavor, count=count)
    return reaper.wait_outcome(refused.request)


# The kill switch --------------------------------------------------------------


def test_paused_it_deletes_nothing_until_it_is_resumed(cloud: Cloud, reaper: Reaper) -> None:
    """Also after a restart, which an operator may try first."""
    fleet = full_but_for(cloud, HALF_SPOT)
    mark = cloud.mark()
    done = reaper.command("pause", "--reason", "host one burns")
    assert done.returncode == 0, done.stderr
    outcome = refused_for(cloud, reaper, "medium")
    assert outcome["kind"] == "refused" and outcome["safeguard"] == "paused", outcome
    assert "host one burns" in outcome["reason"], "it does not tell why it is paused"
    decision = reaper.json("plan", "--resources", "VCPU=5", "--project", "regular")
    assert any("host one burns" in remark for remark in decision["remarks"]), "nor does a plan"
    assert decision["paused"]["reason"] == "host one burns"
    told = reaper.command("plan", "--resources", "VCPU=5", "--project", "regular").stdout
    assert told.count("the reaper is paused by") == 1, told

    reaper.stop()
    reaper.start()
    assert refused_for(cloud, reaper, "medium")["safeguard"] == "paused"
    assert_none_deleted(fleet, mark)
    assert "host one burns" in reaper.command("status").stdout

    done = reaper.command("resume")
    assert done.returncode == 0 and "host one burns" in done.stdout, done.stderr
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_only_victims_died(fleet, mark, fleet.spot())


def test_paused_between_a_plan_and_its_deletions_it_deletes_nothing(cloud: Cloud, install) -> None:
    reaper = install()
    fleet = full_but_for(cloud, SPOT)
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        wait_held(gate, reaper, refused, mark)
        assert reaper.command("pause", "--reason", "host one burns").returncode == 0
        gate.let_pass()
        outcome = reaper.wait_outcome(refused.request)
        reaper.wait_messages_done()
    assert outcome["kind"] == "refused" and outcome["safeguard"] == "paused", outcome
    assert_none_deleted(fleet, mark)


def test_a_file_made_by_hand_pauses_it(cloud: Cloud, reaper: Reaper) -> None:
    fleet = full_but_for(cloud, HALF_SPOT)
    mark = cloud.mark()
    reaper.pause_file.touch()
    assert refused_for(cloud, reaper, "medium")["safeguard"] == "paused"
    assert_none_deleted(fleet, mark)
    reaper.pause_file.unlink()
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_only_victims_died(fleet, mark, fleet.spot())


# A cull that is under way -------------------------------------------------------


@contextmanager
def after_the_first_of_five(cloud: Cloud, reaper: Reaper, mark: int) -> Iterator[Server]:
    """A plan deletes five servers, one after the other; Nova's answer to the first deletion takes its
    time. The request."""
    with Gate(cloud.endpoint("compute")) as gate:
        gate.hold_answers("DELETE")
        stand_before(reaper, gate)
        reaper.config["cull"]["max_parallel_deletions"] = 1
        reaper.start()
        [refused] = cloud.fail_to_boot("large")
        gate.wait_held("the answer to the first deletion")
        yield refused
        gate.let_pass()
        assert reaper.wait_outcome(refused.request)["kind"] == "incomplete"
        reaper.wait_messages_done()
    assert len(cloud.reaper_deletions(mark)) == 1


def test_a_reload_holds_for_the_cull_in_hand(cloud: Cloud, install) -> None:
    fleet = full_but_for(cloud, [("spot", "small", 5)])
    reaper, mark = install(), cloud.mark()
    with after_the_first_of_five(cloud, reaper, mark):
        reaper.config["protect"] = {"projects": [cloud.project_id("spot")]}
        reaper.reload(applied="protect.projects")
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_a_tag_that_is_taken_off_holds_for_the_cull_in_hand(cloud: Cloud, install) -> None:
    fleet = full_but_for(cloud, [("spot", "small", 5)])
    reaper, mark = install(), cloud.mark()
    with ExitStack() as untagged:
        with after_the_first_of_five(cloud, reaper, mark):
            untagged.enter_context(cloud.no_longer_revocable("spot"))
    assert_freed(fleet, mark, 1, among=fleet.spot())


# Protected servers ------------------------------------------------------------


def test_a_tag_or_a_key_protects_a_server_where_owners_may(cloud: Cloud, install) -> None:
    """Set while the reaper runs. Without the tag, its server dies, and the other one lives."""
    one, two, _ = cloud.hosts
    reaper = install()
    reaper.config["protect"] = {"owners": True}
    reaper.start()
    fleet = full_but_for(cloud, HALF_SPOT, HALF_SPOT)
    [tagged], [keyed] = fleet.spot(one), fleet.spot(two)
    cloud.tag(tagged, "reaper-protected")
    cloud.set_metadata(keyed, "reaper:protected", "yes")
    mark = cloud.mark()
    # For two: the refusal of one would be repeated for the next one that comes within a second.
    outcome = refused_for(cloud, reaper, "medium", count=2)
    assert outcome["safeguard"] == "protected", outcome
    assert_none_deleted(fleet, mark)
    cloud.untag(tagged, "reaper-protected")
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_only_victims_died(fleet, mark, [tagged])


def test_an_operator_protects_a_server_for_a_while(cloud: Cloud, install, tmp_path) -> None:
    """It survives a restart, shows, and is ended by hand."""
    reaper = install()
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock")}
    reaper.start()
    one, two, _ = cloud.hosts
    fleet = full_but_for(cloud, HALF_SPOT, HALF_SPOT)
    [kept], [goes] = fleet.spot(one), fleet.spot(two)
    done = reaper.command("protect", kept.id, "--for", "1h", "--reason", "it moves")
    assert done.returncode == 0 and kept.id in done.stdout, done.stderr
    reaper.stop()
    reaper.start()
    mark = cloud.mark()
    outcome = refused_for(cloud, reaper, "medium", count=2)
    assert outcome["safeguard"] == "protected", outcome
    assert_none_deleted(fleet, mark)
    [shown] = reaper.json("protect")["protections"]
    assert shown["server"] == kept.id and shown["reason"] == "it moves"
    servers = {server["id"]: server for server in reaper.json("hosts", "--servers")["servers"]}
    assert "it moves" in servers[kept.id]["protected"] and "protected" not in servers[goes.id]
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_only_victims_died(fleet, mark, [goes])
    assert reaper.command("protect", "--remove", kept.id).returncode == 0
    kinds = [event["kind"] for event in reaper.json("history", "events")["events"]]
    assert "server-protected" in kinds and "server-unprotected" in kinds


def test_a_project_is_protected_and_then_young_servers_are(cloud: Cloud, install) -> None:
    """One installation, restarted with other settings. A project may be called by its id, case-insensitive,
    and by its name, with its domain or without."""
    fleet = full_but_for(cloud, HALF_SPOT)
    mark = cloud.mark()
    reaper = install()
    project = cloud.project_id("spot")
    for safeguard, protect in (
        ("protected", {"projects": [project.upper()]}),
        ("protected", {"projects": ["spot"]}),
        ("protected", {"projects": ["Default/spot"]}),
        ("protected", {"projects": ["regular", project]}),
        ("min-run-time", {"min_run_time": "1h"}),
    ):
        reaper.config["protect"] = protect
        reaper.start()
        outcome = refused_for(cloud, reaper, "medium")
        assert outcome["safeguard"] == safeguard, outcome
        assert_none_deleted(fleet, mark)
        reaper.stop()
    reaper.config["protect"] = {"min_run_time": "1s"}
    wait_for_the_next_second()
    reaper.start()
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_only_victims_died(fleet, mark, fleet.spot())


def test_no_server_is_deleted_while_a_protected_project_is_missing(cloud: Cloud, install) -> None:
    """It is not known what a name without a project protects. It is reported, and looked up again."""
    fleet = full_but_for(cloud, HALF_SPOT)
    reaper = install()
    reaper.config["protect"] = {"projects": ["gold"]}
    done = reaper.command("check")
    assert done.returncode == 4 and "FAIL protect.projects: " in done.stdout, done.stdout
    reaper.start()
    mark = cloud.mark()
    outcome = refused_for(cloud, reaper, "medium")
    assert outcome["kind"] == "refused" and "'gold'" in outcome["reason"], outcome
    assert_none_deleted(fleet, mark)
    eventually("it is reported", lambda: held_back(reaper))
    done = reaper.command("plan", "--resources", "VCPU=5", "--project", "regular")
    assert done.returncode == 3 and "Remark: protect.projects: " in done.stdout, done.stdout
    with cloud.new_project("gold"):
        eventually("it was found", lambda: not held_back(reaper))
        assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
        assert_only_victims_died(fleet, mark, fleet.spot())


def held_back(reaper: Reaper) -> bool:
    """Does it tell systemd so?"""
    assert reaper.notices is not None
    said = [line for line in reaper.notices.received() if line.startswith("STATUS=")]
    return "held back" in said[-1]


# Limits -----------------------------------------------------------------------


def test_a_request_may_not_cost_more_victims_than_the_limit(cloud: Cloud, install) -> None:
    reaper = install()
    reaper.config["limits"] = {"victims_per_request": 1}
    reaper.start()
    fleet = full_but_for(cloud, SPOT)
    mark = cloud.mark()
    outcome = refused_for(cloud, reaper, "large")
    assert outcome["safeguard"] == "limit-request", outcome
    assert_none_deleted(fleet, mark)
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_all_requests_together_may_not_cost_more_than_the_limit_of_the_window(cloud: Cloud, install) -> None:
    """What was spent is known after a restart."""
    reaper = install()
    reaper.config["limits"] = {"victims_per_window": 1}
    reaper.start()
    fleet = full_but_for(cloud, SPOT)
    mark = cloud.mark()
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")
    for restart in (False, True):
        if restart:
            reaper.kill()
            reaper.start()
        outcome = refused_for(cloud, reaper, "medium")
        assert outcome["safeguard"] == "limit-window", outcome
    assert_freed(fleet, mark, 1, among=fleet.spot())


# Thrash -----------------------------------------------------------------------


def test_a_workload_that_was_evicted_and_came_back_is_spared(cloud: Cloud, install) -> None:
    """It is the youngest and would be taken again."""
    one, two, three = cloud.hosts
    half = [("regular", "medium", 1)]
    fill(cloud, {one: half, two: half, three: FULL}, exactly=False)
    [steady] = cloud.boot("medium", "spot", one, metadata={"job": "steady"})
    wait_for_the_next_second()
    [restless] = cloud.boot("medium", "spot", two, metadata={"job": "restless"})
    reaper = install()
    reaper.config["thrash"] = {"after": 1, "workload_key": "job"}
    reaper.config["host_cooldown"] = "0s"  # the room is not taken by whom it was freed for
    reaper.start()
    mark = cloud.mark()
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert [d.server for d in cloud.reaper_deletions(mark)] == [restless.id]
    cloud.wait_gone([restless])
    [again] = cloud.boot("medium", "spot", two, metadata={"job": "restless"})
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert [d.server for d in cloud.reaper_deletions(mark)] == [restless.id, steady.id]
    assert cloud.look(again).status == "ACTIVE"


# The circuit breaker ----------------------------------------------------------


def assert_log_tells_how_to_close_it(reaper: Reaper) -> None:
    told = [line for line in reaper.log_text().splitlines() if "circuit breaker" in line]
    assert any("reaper resume" in line for line in told), told


def test_wasted_culls_open_the_breaker_until_an_operator_resumes(cloud: Cloud, install) -> None:
    one, *_ = cloud.hosts
    reaper = install()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.config["breaker"] = {"wasted": 2, "projects": 1}
    reaper.config["shape_cooldown"] = {"wasted": 0}
    reaper.start()
    fleet = full_but_for(cloud, ONE_SPOT)
    mark = cloud.mark()

    def wasted_cull() -> None:
        [refused] = cloud.fail_to_boot("medium")
        assert reaper.wait_outcome(refused.request)["kind"] == "freed"
        assert reaper.wait_freed_room(refused.request)["kind"] == "wasted"
        cloud.boot("medium", "spot", one)  # others take the room

    wasted_cull()
    wasted_cull()
    outcome = refused_for(cloud, reaper, "medium")
    assert outcome["safeguard"] == "paused" and "breaker" in outcome["reason"], outcome
    assert_log_tells_how_to_close_it(reaper)
    assert reaper.json("history", "totals")["freed_room"]["wasted"] == 2
    assert len(cloud.reaper_deletions(mark)) == 2
    done = reaper.command("resume")
    assert done.returncode == 0 and "breaker" in done.stdout, done.stdout + done.stderr
    assert refused_for(cloud, reaper, "medium")["kind"] == "freed"
    assert len(cloud.reaper_deletions(mark)) == 3
    for server in fleet.regular():
        assert cloud.look(server).status == "ACTIVE"


def events(reaper: Reaper) -> list[str]:
    return [event["kind"] for event in reaper.json("history", "events")["events"]]


def test_the_breaker_tries_again_by_itself(cloud: Cloud, install) -> None:
    reaper = install()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.config["breaker"] = {"wasted": 1, "projects": 1, "retry_after": "1s"}
    reaper.start()
    fleet = full_but_for(cloud, SPOT)
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_freed_room(refused.request)["kind"] == "wasted"
    eventually("the breaker is half open", lambda: "breaker-half-open" in events(reaper))
    assert reaper.json("status")["breaker"]["state"] == "half-open"
    # However busy the machine is, the next requester has time to come for its room.
    reaper.config["cull"] |= {"promise": "60s", "watch": "60s"}
    reaper.reload("cull.promise, cull.watch")
    [refused] = cloud.fail_to_boot("large")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    cloud.wait_for(cloud.ask("large"), "ACTIVE")
    assert reaper.wait_freed_room(refused.request)["kind"] == "taken"
    eventually("the breaker is closed", lambda: "breaker-closed" in events(reaper))
    assert reaper.json("status")["breaker"]["state"] == "closed"
    for server in fleet.regular():
        assert cloud.look(server).status == "ACTIVE"


def test_a_shape_whose_room_goes_unused_is_left_alone(cloud: Cloud, install) -> None:
    """Not what else its project asks for."""
    reaper = install()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.config["shape_cooldown"] = {"wasted": 1}
    reaper.start()
    one, *_ = cloud.hosts
    full_but_for(cloud, ONE_SPOT)
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_freed_room(refused.request)["kind"] == "wasted"
    cloud.boot("medium", "spot", one)
    outcome = refused_for(cloud, reaper, "medium")
    assert outcome["safeguard"] == "shape-cooldown", outcome
    [left_alone] = reaper.json("status")["left_alone"]
    assert left_alone["project"] == cloud.project_id("regular"), left_alone
    assert refused_for(cloud, reaper, "small")["kind"] == "freed"


def test_deletions_that_come_to_nothing_open_the_breaker(cloud: Cloud, install) -> None:
    """Nova accepts them, but their host's agent is away. No other host is tried in their place."""
    one, *_ = cloud.hosts
    reaper = install()
    reaper.config["cull"]["deadline"] = "8s"  # enough to ask for both deletions
    reaper.config["breaker"] = {"failed": 2, "projects": 1}
    reaper.start()
    fleet = full_but_for(cloud, SPOT, HALF_SPOT)
    mark = cloud.mark()
    with cloud.host_outage(one):
        assert refused_for(cloud, reaper, "large")["kind"] == "incomplete"
        outcome = refused_for(cloud, reaper, "medium")
        assert outcome["safeguard"] == "paused" and "breaker" in outcome["reason"], outcome
        assert_log_tells_how_to_close_it(reaper)
    cloud.wait_gone(fleet.spot(one))
    assert_only_victims_died(fleet, mark, fleet.spot(one))
