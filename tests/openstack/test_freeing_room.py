"""A regular server finds no host: the right revocable servers die, no more, and
asked again it boots."""

from typing import Callable

from cloud import Cloud
from fleet import assert_freed, assert_none_deleted, assert_only_victims_died, fill
from futile_deletions import assert_deletions_futile, refused_move
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


def test_a_refused_server_boots_when_asked_again(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == one
    reaper.wait_messages_done()


def test_three_servers_of_one_request_cost_three_victims(cloud: Cloud, reaper: Reaper) -> None:
    """Nova sends three messages, one for each; 3x3 slots would be freed by who
    takes each at its word."""
    fleet = fill(cloud, {host: [("spot", "medium", 2)] for host in cloud.hosts})
    mark = cloud.mark()
    refused = cloud.fail_to_boot("medium", count=3)
    reaper.wait_outcome(refused[0].request)
    reaper.wait_messages_done(others=2)
    victims = assert_freed(fleet, mark, 3, among=fleet.spot())
    again = cloud.ask("medium", count=3)
    cloud.wait_for(again, "ACTIVE")
    died_on = sorted(host for host in cloud.hosts for victim in victims if victim in fleet.spot(host))
    assert sorted(str(cloud.look(server).host) for server in again) == died_on


def test_several_victims_on_one_host_make_one_slot(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: [("spot", "small", 4), ("regular", "small", 1)], two: FULL, three: FULL})
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    # Two give 4 VCPU of the 5 that it needs; four would be one too many.
    assert_freed(fleet, mark, 3, among=fleet.spot(one))
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")


def test_room_spread_over_hosts_does_not_help(cloud: Cloud, reaper: Reaper) -> None:
    """Each host could give 4 VCPU, the cloud 12, but 5 are needed in one place."""
    holding = [("spot", "small", 2), ("regular", "small", 3)]
    fleet = fill(cloud, {host: holding for host in cloud.hosts})
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_not_enough_slots_for_all_means_no_deletion(cloud: Cloud, reaper: Reaper) -> None:
    """Two of the three could be had, but Nova gives all or none."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FULL})
    mark = cloud.mark()
    refused = cloud.fail_to_boot("medium", count=3)
    reaper.wait_outcome(refused[0].request)
    reaper.wait_messages_done(others=2)
    assert_none_deleted(fleet, mark)


def test_a_revocable_requester_costs_no_server(cloud: Cloud, reaper: Reaper) -> None:
    fleet = fill(cloud, {host: [("spot", "medium", 2)] for host in cloud.hosts})
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium", project="spot")
    reaper.wait_outcome(refused.request)
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_victims_are_sought_in_the_availability_zone_of_the_request(
    cloud: Cloud, install: Callable[..., Reaper]
) -> None:
    """Outside the zone one victim would suffice, without effect; inside it three are needed."""
    one, two, three = cloud.hosts
    cloud.make_zone("east", [two])
    fleet = fill(cloud, {one: HALF_SPOT, two: [("spot", "small", 5)], three: FULL})
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: cloud.fail_to_boot("medium", zone="east")[0].request)
    reaper.start()
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium", zone="east")
    reaper.wait_outcome(refused.request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    again = cloud.ask("medium", zone="east")
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_a_resize_gets_room_on_another_host(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """Nova does not resize within a host: the one victim there would not
    help, so the three elsewhere must. The message does not tell that."""
    one, two, three = cloud.hosts
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
    reaper = install()
    resize = lambda moving: cloud.resize_without_waiting(moving, "medium")  # noqa: E731
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_move(cloud, server, resize))
    reaper.start()
    mark = cloud.mark()
    request = cloud.resize_without_waiting(server, "medium")
    reaper.wait_outcome(request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    cloud.resize_without_waiting(server, "medium")
    cloud.wait_for([server], "VERIFY_RESIZE")
    assert cloud.look(server).host == two
    cloud.confirm_resize(server)
    assert cloud.room_held_by(server)["VCPU"] == 5
