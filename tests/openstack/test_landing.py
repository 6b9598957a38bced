"""Room is freed only where the requester can land: what Nova's scheduler insists on, and the message
of the failure does not tell.

Each scenario makes the cheapest victims die in vain if the constraint is not known: where they are,
Nova would not let the server in.
"""

from typing import Any, Callable

from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed, assert_nobody_died, fill
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
MEDIUM = "VCPU=5,MEMORY_MB=2048,DISK_GB=20"
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
FIVE_SPOTS = [("spot", "small", 5)]
HALF = [("spot", "medium", 1)]


def cheapest_is(reaper: Reaper, victims: list[Server]) -> None:
    """Without what the message does not tell, these would die."""
    plan = reaper.json("plan", "--resources", MEDIUM, "--project", "regular")
    found = [victim["server"] for host in plan["hosts"] for victim in host["victims"]]
    assert found == [victim.id for victim in victims], plan


def refused(reaper: Reaper, request: str) -> dict[str, tuple[str, str]]:
    """Host to code and reason, of the last decision."""
    story = reaper.story(request)
    assert story is not None
    rejected = story["plans"][-1]["decision"]["rejected"]
    return {each["host_name"]: (each["code"], each["reason"]) for each in rejected}


def half_full_with(cloud: Cloud, member: Callable[[], list[Server]]) -> Fleet:
    """The first host: one revocable server of the right size, beside what `member` boots. The
    second: revocable servers of which three must go. The third: nothing to have."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF, two: FIVE_SPOTS, three: FULL}, exactly=False)
    fleet.by_host[one].setdefault("regular", []).extend(member())
    return fleet


def test_anti_affinity_sends_the_cull_elsewhere(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = half_full_with(cloud, lambda: cloud.boot("medium", "regular", one, hints=group))
    cheapest_is(reaper, fleet.spot(one))
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", hints=group)
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    code, reason = refused(reaper, failed.request)[one]
    assert code == "server-group" and "'apart'" in reason
    again = cloud.ask("medium", hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_where_anti_affinity_leaves_no_host_nobody_dies(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = fill(cloud, {one: HALF, two: HALF, three: FULL}, exactly=False)
    for host in (one, two):
        fleet.by_host[host]["regular"] = cloud.boot("medium", "regular", host, hints=group)
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", hints=group)
    assert reaper.wait_outcome(failed.request)["kind"] == "not-enough"
    reaper.wait_messages_done()
    assert_nobody_died(fleet, mark)
    # Nova agrees: with the room there, it refuses all the same.
    [in_the_way] = fleet.spot(one)
    cloud.delete_without_waiting(in_the_way)
    cloud.wait_gone([in_the_way])
    cloud.ask_in_vain("medium", hints=group)


def test_several_on_a_host_as_far_as_the_group_allows(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("two at most", "anti-affinity", most_on_a_host=2)
    fleet = half_full_with(cloud, lambda: cloud.boot("medium", "regular", one, hints=group))
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", hints=group)
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 1, among=fleet.spot(one))
    again = cloud.ask("medium", hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == one


def test_affinity_sends_the_cull_to_the_group(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("together", "affinity")
    fleet = fill(
        cloud, {one: HALF_SPOT, two: [("spot", "small", 4)], three: FULL}, exactly=False
    )
    fleet.by_host[two]["regular"] = cloud.boot("small", "regular", two, hints=group)
    cheapest_is(reaper, fleet.spot(one))
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", hints=group)
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert refused(reaper, failed.request)[one][0] == "server-group"
    again = cloud.ask("medium", hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_servers_of_one_request_that_must_be_apart_get_a_host_each(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = fill(cloud, {one: [("spot", "medium", 2)], two: FIVE_SPOTS, three: FULL})
    mark = cloud.mark()
    asked = cloud.ask_in_vain("medium", count=2, hints=group)
    reaper.wait_outcome(asked[0].request)
    assert len([d for d in cloud.reaper_deletions(mark)]) == 4  # one there, three here
    again = cloud.ask("medium", count=2, hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert sorted(str(cloud.look(server).host) for server in again) == [one, two]


def test_servers_of_one_request_that_must_be_together_get_one_host(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("together", "affinity")
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FIVE_SPOTS})
    mark = cloud.mark()
    asked = cloud.ask_in_vain("medium", count=2, hints=group)
    reaper.wait_outcome(asked[0].request)
    assert_freed(fleet, mark, 5, among=fleet.spot(three))
    again = cloud.ask("medium", count=2, hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert [cloud.look(server).host for server in again] == [three, three]


def test_a_hint_that_the_message_lost_is_found_in_the_search(cloud: Cloud, reaper: Reaper) -> None:
    """A host has room, but the request is not to go there: Nova's scheduler tells that when it
    begins to search, not when it fails."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF, two: [("spot", "small", 4)], three: FULL}, exactly=False)
    [there] = cloud.boot("small", "regular", two)
    fleet.by_host[two]["regular"] = [there]
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", hints={"same_host": [there.id]})
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    again = cloud.ask("medium", hints={"same_host": [there.id]})
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_different_host_keeps_off_the_others(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF, two: FIVE_SPOTS, three: HALF}, exactly=False)
    [there] = cloud.boot("small", "regular", one)
    [elsewhere] = cloud.boot("medium", "regular", three)
    fleet.by_host[one]["regular"] = [there]
    fleet.by_host[three]["regular"] = [elsewhere]
    hints = {"different_host": [there.id, elsewhere.id]}
    # 3 VCPU are free on the first host: the scheduler gets a candidate for a small one only.
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("small", hints=hints)
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 1, among=fleet.spot(two))
    again = cloud.ask("small", hints=hints)
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


# Aggregates -------------------------------------------------------------------


def test_an_aggregate_of_other_projects_is_kept_off(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cloud.make_aggregate("theirs", [one], {"filter_tenant_id": cloud.project_id("spot")})
    reaper = install()
    cheapest_is(reaper, fleet.spot(one))
    reaper.config["landing"] = {"tenant_filter": True}
    reaper.start()
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium")
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    code, reason = refused(reaper, failed.request)[one]
    assert code == "isolated" and "'theirs'" in reason
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_an_aggregate_isolated_by_a_trait_is_kept_off(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cloud.make_aggregate("accelerated", [one], {"trait:HW_CPU_X86_AVX512F": "required"})
    reaper = install()
    cheapest_is(reaper, fleet.spot(one))
    reaper.config["landing"] = {"trait_isolation": True}
    reaper.start()
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium")
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert refused(reaper, failed.request)[one][0] == "isolated"
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_nobody_dies_outside_the_watched_aggregates(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    uuid = cloud.make_aggregate("east", [two])
    cloud.make_aggregate("west", [three])
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    for watched in (["east|nowhere"], [uuid, "west"]):
        reaper = install()
        cheapest_is(reaper, fleet.spot(one))
        reaper.config["watched_aggregates"] = watched
        plan = reaper.json("plan", "--resources", MEDIUM, "--project", "regular")
        assert [host["host_name"] for host in plan["hosts"]] == [two], plan
    reaper.start()
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium")
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert refused(reaper, failed.request)[one][0] == "unwatched"


def test_a_request_outside_every_shard_is_refused(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    cloud.make_zone("east", [two])
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FULL})
    reaper = install()
    reaper.config["watched_aggregates"] = ["east"]
    reaper.start()
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", zone="nova")
    outcome: dict[str, Any] = reaper.wait_outcome(failed.request)
    assert outcome["kind"] == "refused" and "outside the watched aggregates (east)" in outcome["reason"]
    reaper.wait_messages_done()
    assert_nobody_died(fleet, mark)


def test_a_zone_that_placement_does_not_know_is_no_place(cloud: Cloud, reaper: Reaper) -> None:
    """Nova's scheduler asks Placement for the members of a zone. Where Nova's own list was not
    mirrored there, it finds no host, whatever room there is."""
    one, two, three = cloud.hosts
    cloud.make_zone("east", [one, two])
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cheapest_is(reaper, fleet.spot(one))
    cloud.forget_aggregates_of(one)
    mark = cloud.mark()
    [failed] = cloud.ask_in_vain("medium", zone="east")
    reaper.wait_outcome(failed.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert refused(reaper, failed.request)[one][0] == "not-in-placement"
    again = cloud.ask("medium", zone="east")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


# Other things than boots ------------------------------------------------------


def test_a_live_migration_gets_room_elsewhere(cloud: Cloud, reaper: Reaper) -> None:
    """Its message has the server's id alone: neither flavor nor hosts."""
    one, two, three = cloud.hosts
    fleet = fill(
        cloud, {one: [("regular", "small", 1), ("spot", "small", 4)], two: HALF_SPOT, three: FULL}
    )
    [server] = fleet.regular(one)
    mark = cloud.mark()
    request = cloud.live_migrate_without_waiting(server)
    reaper.wait_outcome(request)
    # A smaller one would do on its own host, where it is already.
    assert_freed(fleet, mark, 1, among=fleet.spot(two))
    cloud.wait_for([server], "ACTIVE")
    cloud.live_migrate_without_waiting(server)
    eventually("it is on the other host", lambda: cloud.look(server).host == two)


def test_an_evacuation_gets_room_elsewhere(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(
        cloud, {one: [("regular", "small", 1), ("spot", "small", 4)], two: HALF_SPOT, three: FULL}
    )
    [server] = fleet.regular(one)
    cloud.say_that_it_is_down(one)
    mark = cloud.mark()
    request = cloud.evacuate_without_waiting(server)
    reaper.wait_outcome(request)
    assert [d.server for d in cloud.reaper_deletions(mark)] == [fleet.spot(two)[0].id]
    cloud.evacuate_without_waiting(server)
    eventually("it is on the other host", lambda: cloud.look(server).host == two)


def test_an_unshelving_that_found_no_host_is_heard_of(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """Nova tells nobody: the server stays shelved, and its record of actions says why."""
    one, two, three = cloud.hosts
    [server] = cloud.boot("medium", "regular", one)
    cloud.shelve(server)
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    reaper = install()
    reaper.config["trigger"] = {"unshelve_interval": "1s"}
    reaper.start()
    mark = cloud.mark()
    request = cloud.unshelve_without_waiting(server)
    outcome = reaper.wait_outcome(request)
    assert outcome["kind"] == "freed", outcome
    assert_freed(fleet, mark, 1, among=fleet.spot(one))
    cloud.unshelve_without_waiting(server)
    cloud.wait_for([server], "ACTIVE")
    assert cloud.look(server).host == one
    reaper.wait_messages_done()
