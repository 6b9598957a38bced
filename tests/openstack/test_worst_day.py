"""What goes wrong between a plan and its deletions, and the use of the room afterwards."""

import time
from typing import Callable

import pytest

from between import LOOK_IS_OLD, between_plan_and_deletion, planned_victim, stand_before, wait_held
from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed, assert_none_deleted, assert_only_victims_died, fill
from gate import Gate
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
# Its neighbours are not of the shape that is asked for.
ONE_SPOT = [("spot", "medium", 1), ("regular", "small", 2)]
TOKEN_SECONDS = 10


def full_but_for(cloud: Cloud, first: list, second: list = FULL) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: first, two: second, three: FULL}, exactly=False)


# The APIs ---------------------------------------------------------------------


@pytest.mark.long
def test_tokens_that_end_while_it_waits(cloud: Cloud, install) -> None:
    """It logs in again, and culls with a token that is not its first."""
    fleet = full_but_for(cloud, SPOT)
    with Gate(cloud.endpoint("identity")) as keystone, Gate(cloud.endpoint("compute")) as nova:
        reaper = install()
        reaper.config["cloud"]["auth"]["auth_url"] = keystone.url
        stand_before(reaper, nova)
        with cloud.short_tokens(TOKEN_SECONDS):
            reaper.start()
            first = eventually("it shows a token", lambda: set(nova.tokens))
            cloud.outlive(first)
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        reaper.wait_outcome(refused.request)
        logins = [asked for asked in keystone.asked if asked.startswith("POST")]
        assert nova.tokens > first, "it culled with a token that has ended"
    assert len(logins) >= 2, f"its first token has ended: {logins}"
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


@pytest.mark.long
def test_nova_and_placement_restart_and_its_token_is_revoked_in_mid_work(cloud: Cloud, install) -> None:
    """Between the plan and the first DELETE. In their restart the services forget the token, and
    Keystone knows it no more."""
    reaper = install()
    fleet = full_but_for(cloud, SPOT)
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        wait_held(gate, reaper, refused, mark)
        with cloud.api_outage("compute", "placement"):
            gate.let_pass()
            eventually("Nova is missed", lambda: gate.unanswered)
            for token in list(gate.tokens):
                cloud.revoke_token(token)
        reaper.wait_outcome(refused.request)
        reaper.wait_messages_done()
    assert len(gate.tokens) >= 2, "it came through with the token that was revoked"
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


@pytest.mark.long
def test_keystone_is_away_in_mid_work(cloud: Cloud, install) -> None:
    """Meanwhile it is not known which servers are revocable: none is deleted; then the right ones."""
    reaper = install()
    fleet = full_but_for(cloud, SPOT)
    with Gate(cloud.endpoint("identity")) as keystone:
        reaper.config["cloud"]["auth"]["auth_url"] = keystone.url
        with between_plan_and_deletion(cloud, reaper, fleet, identity=keystone.url) as gate:
            mark = cloud.mark()
            [refused] = cloud.fail_to_boot("large")
            wait_held(gate, reaper, refused, mark)
            with cloud.api_outage("identity"):
                gate.let_pass(after=LOOK_IS_OLD)
                eventually("Keystone is missed", lambda: keystone.unanswered)
                assert not cloud.reaper_deletions(mark)
            reaper.wait_outcome(refused.request)
            reaper.wait_messages_done()
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


# Hosts ------------------------------------------------------------------------


def test_the_host_of_a_victim_goes_down_after_its_deletion_was_accepted(cloud: Cloud, install) -> None:
    """The room does not come: the outcome says so, and no other host is taken instead. When the host
    comes back, the deletion comes to its end."""
    one, *_ = cloud.hosts
    reaper = install()
    reaper.config["cull"]["deadline"] = "6s"
    reaper.start()
    # Host one gives the room for one victim, host two for three.
    fleet = full_but_for(cloud, HALF_SPOT, [("spot", "small", 3), ("regular", "small", 2)])
    mark = cloud.mark()
    with cloud.host_outage(one):
        [refused] = cloud.fail_to_boot("medium")
        eventually("the victim is deleted", lambda: cloud.reaper_deletions(mark))
        cloud.say_that_it_is_down(one)
        outcome = reaper.wait_outcome(refused.request)
        assert outcome["kind"] == "incomplete" and "deadline" in outcome["reason"], outcome
        assert [deletion.server for deletion in cloud.reaper_deletions(mark)] == [
            server.id for server in fleet.spot(one)
        ]
        for server in fleet.regular() + fleet.spot(cloud.hosts[1]):
            assert cloud.look(server).status == "ACTIVE", f"{server.name}: {cloud.look(server)}"
        cloud.say_that_it_is_up(one)
    cloud.wait_gone(fleet.spot(one))
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == one
    reaper.wait_messages_done()
    assert_only_victims_died(fleet, mark, fleet.spot(one))


# Victims ----------------------------------------------------------------------


def moves_away(cloud: Cloud, victim: Server) -> None:
    """By a resize that its user has yet to confirm: its room stays taken."""
    cloud.resize_without_waiting(victim, "small")
    cloud.wait_for([victim], "VERIFY_RESIZE")


CHANGES: dict[str, Callable[[Cloud, Server], None]] = {
    "is-locked": lambda cloud, victim: cloud.lock(victim),
    "is-protected": lambda cloud, victim: cloud.set_metadata(victim, "reaper:protected", "yes"),
    "moves-away": moves_away,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_victim_that_is_no_longer_one_is_spared(cloud: Cloud, install, change: str) -> None:
    """Another one takes its place."""
    one, two, three = cloud.hosts
    reaper = install()
    reaper.config["protect"] = {"owners": change == "is-protected"}
    # What is left on host three is enough for a `small` alone.
    nearly_full = [("regular", "medium", 1), ("regular", "small", 1)]
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: nearly_full}, exactly=False)
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("medium")
        wait_held(gate, reaper, refused, mark)
        spared = planned_victim(gate, fleet)
        CHANGES[change](cloud, spared)
        gate.let_pass()
        assert reaper.wait_outcome(refused.request)["kind"] == "freed"
        reaper.wait_messages_done()
    [other] = [server for server in fleet.spot() if server is not spared]
    assert [deletion.server for deletion in cloud.reaper_deletions(mark)] == [other.id]
    cloud.wait_gone([other])
    for server in fleet.regular() + [spared]:
        assert cloud.look(server).status in ("ACTIVE", "VERIFY_RESIZE"), server.name
        assert cloud.room_held_by(server), f"{server.name} lost its room"
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")


def test_a_project_that_is_no_longer_revocable_loses_no_server(cloud: Cloud, install) -> None:
    reaper = install()
    fleet = full_but_for(cloud, SPOT)
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        wait_held(gate, reaper, refused, mark)
        with cloud.no_longer_revocable("spot"):
            gate.let_pass(after=LOOK_IS_OLD)
            assert reaper.wait_outcome(refused.request)["kind"] == "not-enough"
        reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


# The requester ----------------------------------------------------------------


def test_no_server_is_deleted_for_a_requester_that_its_user_deletes(cloud: Cloud, install) -> None:
    reaper = install()
    fleet = full_but_for(cloud, SPOT)
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        wait_held(gate, reaper, refused, mark)
        cloud.delete_without_waiting(refused)
        eventually("it is gone", lambda: cloud.look(refused).gone)
        gate.let_pass(after=LOOK_IS_OLD)
        outcome = reaper.wait_outcome(refused.request)
        reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)
    assert refused.id in outcome["reason"] and "gone" in outcome["reason"], outcome


def test_no_server_is_deleted_for_a_requester_that_found_room_elsewhere(cloud: Cloud, install) -> None:
    """A resize is refused; while the reaper is about to delete, a user gives room back on another
    host, and the resize, asked again, goes there."""
    one, two, three = cloud.hosts
    reaper = install()
    fleet = fill(
        cloud,
        {
            one: [("regular", "small", 2), ("spot", "medium", 1)],
            two: [("spot", "small", 3), ("regular", "small", 2)],
            three: FULL,
        },
        exactly=False,
    )
    server = fleet.regular(one)[0]
    with between_plan_and_deletion(cloud, reaper, fleet) as gate:
        mark = cloud.mark()
        request = cloud.resize_without_waiting(server, "medium")
        gate.wait_held("the look at a victim")
        cloud.wait_for([server], "ACTIVE")
        cloud.delete_without_waiting(fleet.regular(three)[0])
        cloud.wait_gone(fleet.regular(three))
        cloud.resize_without_waiting(server, "medium")
        cloud.wait_for([server], "VERIFY_RESIZE")
        assert cloud.look(server).host == three
        gate.let_pass(after=LOOK_IS_OLD)
        outcome = reaper.wait_outcome(request)
        reaper.wait_messages_done()
    assert cloud.reaper_writes(mark) == [], outcome
    for spot in fleet.spot():
        assert cloud.look(spot).status == "ACTIVE"


# Afterwards -------------------------------------------------------------------


def test_room_that_the_second_try_takes_was_taken(cloud: Cloud, reaper: Reaper) -> None:
    full_but_for(cloud, ONE_SPOT)
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    freed_room = reaper.wait_freed_room(refused.request)
    assert freed_room["kind"] == "taken" and again[0].id in freed_room["reason"], freed_room


def test_room_that_is_not_taken_was_wasted(cloud: Cloud, install) -> None:
    """Also if one of the same shape, of the requester's project, has been there before."""
    reaper = install()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.start()
    full_but_for(cloud, HALF_SPOT)
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    freed_room = reaper.wait_freed_room(refused.request)
    assert freed_room["kind"] == "wasted", freed_room
    assert reaper.json("history", "totals")["freed_room"]["wasted"] == 1


@pytest.mark.parametrize("taker", [("spot", "medium"), ("regular", "small")], ids=lambda taker: taker[0])
def test_room_that_others_took_first(cloud: Cloud, install, taker: tuple[str, str]) -> None:
    """Nova refuses the second try, and it says nothing against the host or the request."""
    one, *_ = cloud.hosts
    reaper = install()
    reaper.config["cull"]["watch"] = "1h"
    reaper.start()
    full_but_for(cloud, ONE_SPOT)
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    told = time.monotonic()
    project, flavor = taker
    [first] = cloud.boot(flavor, project, one)
    eventually("a second has passed", lambda: time.monotonic() - told > 1)
    [again] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(again.request)
    freed_room = reaper.wait_freed_room(refused.request)
    word = "taken-by-revocable" if project == "spot" else "taken-by-regular"
    assert freed_room["kind"] == word and first.id in freed_room["reason"], freed_room
    assert freed_room["untaken"] == [], freed_room


def test_room_that_is_not_taken_during_a_restart_was_wasted(cloud: Cloud, install) -> None:
    """The watch goes on; it ends as the new settings say."""
    reaper = install()
    reaper.config["cull"]["watch"] = "1h"
    reaper.start()
    full_but_for(cloud, ONE_SPOT)
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    reaper.kill()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.start()
    freed_room = reaper.wait_freed_room(refused.request)
    assert freed_room["kind"] == "wasted", freed_room
    assert reaper.json("history", "totals")["freed_room"]["wasted"] == 1


def test_a_host_whose_room_was_not_taken_ranks_lower(cloud: Cloud, install) -> None:
    """Host one still gives the room for one victim, but host two is taken, for three."""
    one, two, _ = cloud.hosts
    reaper = install()
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    reaper.start()
    fleet = full_but_for(cloud, ONE_SPOT, [("spot", "small", 3), ("regular", "small", 2)])
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert reaper.wait_freed_room(refused.request)["kind"] == "wasted"
    assert_freed(fleet, mark, 1, among=fleet.spot(one))
    cloud.boot("medium", "spot", one)  # others take the room
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    died = [deletion.server for deletion in cloud.reaper_deletions(mark)]
    assert sorted(died) == sorted(server.id for server in fleet.spot(two))
    [plan] = reaper.story(refused.request)["plans"]
    told = {host["host_name"]: host["code"] for host in plan["decision"]["rejected"]}
    assert told[one] == "in-cooldown", told


def test_room_that_is_held_for_its_requester_is_not_counted_for_another(cloud: Cloud, install) -> None:
    """With that room, one victim would be enough for the other."""
    reaper = install()
    reaper.config["cull"] |= {"promise": "1h", "watch": "1h"}
    reaper.start()
    fleet = full_but_for(cloud, SPOT)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    [other] = cloud.fail_to_boot("large")
    assert reaper.wait_outcome(other.request)["kind"] == "not-enough"
    assert_freed(fleet, mark, 1, among=fleet.spot())
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")
    reaper.wait_messages_done()


def test_room_that_nova_does_not_give_to_the_second_try_was_wasted(cloud: Cloud, reaper: Reaper) -> None:
    """Known at once, long before the watch is over; and no servers deleted a second time for it."""
    one, *_ = cloud.hosts
    fleet = full_but_for(cloud, SPOT)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    cloud.disable_host(one)
    # A refusal at the same time as the room comes free shows nothing.
    told = time.monotonic()
    eventually("a second has passed", lambda: time.monotonic() - told > 1)
    [again] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(again.request)
    freed_room = reaper.wait_freed_room(refused.request)
    assert freed_room["kind"] == "wasted" and again.request in freed_room["reason"], freed_room
    reaper.wait_messages_done()
    assert_freed(fleet, mark, 1, among=fleet.spot())
