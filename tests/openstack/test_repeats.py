"""The same room is never freed twice: messages that come again, at any time, and
victims that are already on their way."""

from cloud import Cloud, eventually
from fleet import Fleet, assert_freed, assert_only_victims_died, fill
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
REPEATS = 3


def publish_again(cloud: Cloud, message: bytes) -> None:
    for _ in range(REPEATS):
        cloud.publish(message)


def plenty_of_spot(cloud: Cloud) -> Fleet:
    """More victims than needed: a repeated message would find some."""
    one, two, three = cloud.hosts
    return fill(cloud, {one: SPOT, two: FULL, three: SPOT})


def test_a_message_that_comes_again_afterwards(cloud: Cloud, reaper: Reaper) -> None:
    fleet = plenty_of_spot(cloud)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    [message] = cloud.failure_messages(1)
    reaper.wait_outcome(refused.request)
    # Take the room, or a second plan would rightly find that nothing is to do.
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")
    publish_again(cloud, message)
    reaper.wait_messages_done(others=REPEATS)
    assert_freed(fleet, mark, 1, among=fleet.spot())

    reaper.start()
    publish_again(cloud, message)
    reaper.wait_messages_done(others=2 * REPEATS)
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_a_message_that_comes_again_while_in_work(cloud: Cloud, reaper: Reaper) -> None:
    fleet = plenty_of_spot(cloud)
    mark = cloud.mark()
    one, _, three = cloud.hosts
    with cloud.hold_deletions(one), cloud.hold_deletions(three):
        [refused] = cloud.fail_to_boot("medium")
        [message] = cloud.failure_messages(1)
        eventually("a victim is deleted", lambda: cloud.reaper_deletions(mark))
        publish_again(cloud, message)
    reaper.wait_outcome(refused.request)
    reaper.wait_messages_done(others=REPEATS)
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_a_server_that_its_user_deletes_is_not_deleted_again(cloud: Cloud, reaper: Reaper) -> None:
    """While it is on its way it is no victim, and its room is not free yet: no server
    dies until it is gone. Then only what is still missing dies."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    leaving, staying = fleet.spot(one)
    mark = cloud.mark()
    with cloud.hold_deletions(one):
        cloud.delete_without_waiting(leaving)
        [refused] = cloud.fail_to_boot("large")
        eventually("there is a plan", lambda: (reaper.story(refused.request) or {}).get("plans"))
        assert not cloud.reaper_deletions(mark)
    reaper.wait_outcome(refused.request)
    assert [d.server for d in cloud.reaper_deletions(mark)] == [staying.id]
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


def test_a_victim_that_its_user_deletes_in_mid_plan(cloud: Cloud, reaper: Reaper) -> None:
    """Both are being deleted by the reaper; the user deletes one as well."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: SPOT, three: FULL})
    mark = cloud.mark()
    with cloud.hold_deletions(one), cloud.hold_deletions(two):
        refused = cloud.fail_to_boot("medium", count=2)
        eventually("both victims are deleted", lambda: len(cloud.reaper_deletions(mark)) == 2)
        victims = {deletion.server for deletion in cloud.reaper_deletions(mark)}
        [first, *_] = [server for server in fleet.spot() if server.id in victims]
        cloud.delete_without_waiting(first)
    reaper.wait_outcome(refused[0].request)
    reaper.wait_messages_done(others=1)
    assert_freed(fleet, mark, 2, among=fleet.spot())
    cloud.wait_for(cloud.ask("medium", count=2), "ACTIVE")


def test_two_requests_at_once_get_a_slot_each(cloud: Cloud, reaper: Reaper) -> None:
    """The second must not be content with the room that the first one gets."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    with cloud.hold_deletions(one):
        [first] = cloud.fail_to_boot("medium")
        eventually("a victim is deleted", lambda: cloud.reaper_deletions(mark))
        [second] = cloud.fail_to_boot("medium")
    for server in (first, second):
        reaper.wait_outcome(server.request)
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    cloud.wait_for(cloud.ask("medium") + cloud.ask("medium"), "ACTIVE")
