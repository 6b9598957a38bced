"""Room is freed only where the requester can land: what Nova's scheduler insists on, and the message
of the failure does not tell.

Each scenario makes the deletion of the cheapest victims useless if the constraint is not known: where they are,
Nova would not let the server in. In the first half they do die, by hand (see futile_deletions.py), and Nova
refuses as before; in the second half the reaper chooses.

There is none for a forced or requested host. Nova asks Placement for that host alone; when it is
full, there is no candidate, the scheduler does not begin to search, and the message of the failure
has the host's zone at most: the reaper can't know it. When the host has room, no server need be deleted.
"""

from typing import Any, Callable, Iterator

import pytest

from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed, assert_none_deleted, fill
from futile_deletions import (
    ROOM_FOR,
    assert_deletions_futile,
    assert_no_valid_host,
    boot_again,
    cheapest_on,
    futile_victims,
    refused_move,
)
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
FIVE_SPOTS = [("spot", "small", 5)]
HALF = [("spot", "medium", 1)]


def refused_boot(cloud: Cloud, flavor: str = "medium", **asked: Any) -> str:
    """The request of servers that find no host."""
    return cloud.fail_to_boot(flavor, **asked)[0].request


def refused(reaper: Reaper, request: str) -> dict[str, tuple[str, str]]:
    """Host to code and reason, of the last decision."""
    story = reaper.story(request)
    assert story is not None
    rejected = story["plans"][-1]["decision"]["rejected"]
    return {each["host_name"]: (each["code"], each["reason"]) for each in rejected}


def assert_served_on(
    fleet: Fleet,
    reaper: Reaper,
    host: str,
    price: int,
    flavor: str = "medium",
    refusing: tuple[str, str] | None = None,
    words: str = "",
    **asked: Any,
) -> list[Server]:
    """A request costs so many of the host's revocable servers, and Nova lets its second try in there;
    on another host (`refusing`) the reaper says that code and these words. Returns those that died."""
    cloud = fleet.cloud
    mark = cloud.mark()
    [failed] = cloud.fail_to_boot(flavor, **asked)
    reaper.wait_outcome(failed.request)
    freed = assert_freed(fleet, mark, price, among=fleet.spot(host))
    if refusing:
        code, reason = refused(reaper, failed.request)[refusing[0]]
        assert code == refusing[1] and words in reason, (code, reason)
    [again] = cloud.ask(flavor, **asked)
    cloud.wait_for([again], "ACTIVE")
    assert cloud.look(again).host == host
    return freed


def half_full_with(cloud: Cloud, member: Callable[[], list[Server]]) -> Fleet:
    """The first host: one revocable server of the right size, beside what `member` boots. The
    second: revocable servers of which three must go. The third: nothing to have."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF, two: FIVE_SPOTS, three: FULL}, exactly=False)
    fleet.by_host[one].setdefault("regular", []).extend(member())
    return fleet


def test_anti_affinity_sends_the_cull_elsewhere(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = half_full_with(cloud, lambda: cloud.boot("medium", "regular", one, hints=group))
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, hints=group))
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "server-group"), words="'apart'", hints=group)


def test_where_anti_affinity_leaves_no_host_none_is_deleted(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = fill(cloud, {one: HALF, two: HALF, three: FULL}, exactly=False)
    for host in (one, two):
        fleet.by_host[host]["regular"] = cloud.boot("medium", "regular", host, hints=group)
    mark = cloud.mark()
    [failed] = cloud.fail_to_boot("medium", hints=group)
    assert reaper.wait_outcome(failed.request)["kind"] == "not-enough"
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)
    # Nova agrees: with the room there, it still refuses.
    [in_the_way] = fleet.spot(one)
    cloud.delete_without_waiting(in_the_way)
    cloud.wait_gone([in_the_way])
    cloud.fail_to_boot("medium", hints=group)


def test_several_on_a_host_as_far_as_the_group_allows(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("two at most", "anti-affinity", max_on_a_host=2)
    fleet = half_full_with(cloud, lambda: cloud.boot("small", "regular", one, count=2, hints=group))
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, hints=group))
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "server-group"), hints=group)
    # With one of them gone, the first host may have another.
    leaves = fleet.by_host[one]["regular"].pop()
    cloud.delete_without_waiting(leaves)
    cloud.wait_gone([leaves])
    dead = [server for server in fleet.spot(two) if cloud.look(server).gone]
    fleet.by_host[two]["spot"] = [server for server in fleet.spot(two) if server not in dead]
    assert_served_on(fleet, reaper, one, 1, hints=group)


def test_affinity_sends_the_cull_to_the_group(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("together", "affinity")
    fleet = fill(
        cloud, {one: HALF_SPOT, two: [("spot", "small", 4)], three: FULL}, exactly=False
    )
    fleet.by_host[two]["regular"] = cloud.boot("small", "regular", two, hints=group)
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, hints=group))
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "server-group"), hints=group)


def test_servers_of_one_request_that_must_be_apart_get_a_host_each(
    cloud: Cloud, install: Callable[..., Reaper]
) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    fleet = fill(cloud, {one: [("spot", "medium", 2)], two: FIVE_SPOTS, three: FULL})
    reaper = install()
    # Of a group of its own: the first server gets a host before the second finds none, and Nova's
    # scheduler remembers it there as one of the group.
    alike = cloud.make_group("also apart", "anti-affinity")
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, count=2, hints=alike), slots=2)
    reaper.start()
    mark = cloud.mark()
    asked = cloud.fail_to_boot("medium", count=2, hints=group)
    reaper.wait_outcome(asked[0].request)
    assert len([d for d in cloud.reaper_deletions(mark)]) == 4  # one there, three here
    again = cloud.ask("medium", count=2, hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert sorted(str(cloud.look(server).host) for server in again) == [one, two]


def test_servers_of_one_request_that_must_be_together_get_one_host(
    cloud: Cloud, install: Callable[..., Reaper]
) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("together", "affinity")
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FIVE_SPOTS})
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one, two], lambda: refused_boot(cloud, count=2, hints=group), slots=2)
    reaper.start()
    mark = cloud.mark()
    asked = cloud.fail_to_boot("medium", count=2, hints=group)
    reaper.wait_outcome(asked[0].request)
    assert_freed(fleet, mark, 5, among=fleet.spot(three))
    again = cloud.ask("medium", count=2, hints=group)
    cloud.wait_for(again, "ACTIVE")
    assert [cloud.look(server).host for server in again] == [three, three]


def test_a_hint_that_the_message_lost_is_found_in_the_search(
    cloud: Cloud, install: Callable[..., Reaper]
) -> None:
    """Placement offers room on a host that is down: Nova's scheduler begins to search, and tells the
    hint then, not when it fails. (Without any offer it does not begin, and no message has the hint.)"""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: [("spot", "small", 4)], three: []}, exactly=False)
    [there] = cloud.boot("small", "regular", two)
    fleet.by_host[two]["regular"] = [there]
    cloud.say_that_it_is_down(three)
    hints = {"same_host": [there.id]}
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, hints=hints))
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, hints=hints)


def test_different_host_keeps_off_the_others(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF, two: FIVE_SPOTS, three: []}, exactly=False)
    [there] = cloud.boot("small", "regular", one)
    [elsewhere] = cloud.boot("medium", "regular", three)
    fleet.by_host[one]["regular"] = [there]
    fleet.by_host[three]["regular"] = [elsewhere]
    hints = {"different_host": [there.id, elsewhere.id]}
    # For its room the scheduler begins to search; down, no server can land there.
    cloud.say_that_it_is_down(three)
    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_boot(cloud, hints=hints))
    reaper.start()
    freed = assert_served_on(fleet, reaper, two, 3, hints=hints)
    # There are 3 VCPU on the first host: for a small one no server would have to be deleted.
    fleet.by_host[two]["spot"] = [server for server in fleet.spot(two) if server not in freed]
    assert_served_on(fleet, reaper, two, 1, "small", hints=hints)


# Aggregates -------------------------------------------------------------------


def test_an_aggregate_of_other_projects_is_kept_off(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cloud.make_aggregate("theirs", [one], {"filter_tenant_id": cloud.project_id("spot")})
    victims = futile_victims(fleet, install(), [one], lambda: refused_boot(cloud))
    boot_again(fleet, victims)
    reaper = install()
    cheapest_on(fleet, reaper, [one])
    reaper.config["scheduler"] = {"tenant_filter": True}
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "isolated"), words="'theirs'")


def test_an_aggregate_isolated_by_a_trait_is_kept_off(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    isolation = {"trait:HW_CPU_X86_AVX512F": "required"}
    cloud.make_aggregate("accelerated", [one], isolation)
    victims = futile_victims(fleet, install(), [one], lambda: refused_boot(cloud))
    cloud.remove_aggregate("accelerated")  # it would not let them in again, either
    boot_again(fleet, victims)
    cloud.make_aggregate("accelerated", [one], isolation)
    reaper = install()
    cheapest_on(fleet, reaper, [one])
    reaper.config["scheduler"] = {"trait_isolation": True}
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "isolated"))


def test_no_server_is_deleted_outside_the_watched_aggregates(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    uuid = cloud.make_aggregate("east", [two])
    cloud.make_aggregate("west", [three])
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    for watched in (["east|nowhere"], [uuid, "west"]):
        reaper = install()
        cheapest_on(fleet, reaper, [one])
        reaper.config["watched_aggregates"] = watched
        plan = reaper.json("plan", "--resources", ROOM_FOR["medium"], "--project", "regular")
        assert [host["host_name"] for host in plan["hosts"]] == [two], plan
    reaper.start()
    mark = cloud.mark()
    [failed] = cloud.fail_to_boot("medium")
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
    [failed] = cloud.fail_to_boot("medium", zone="nova")
    outcome: dict[str, Any] = reaper.wait_outcome(failed.request)
    assert outcome["kind"] == "refused" and "outside the watched aggregates (east)" in outcome["reason"]
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_a_zone_that_placement_does_not_know_is_no_place(cloud: Cloud, reaper: Reaper) -> None:
    """Nova's scheduler asks Placement for the members of a zone. Where Nova's own list was not
    mirrored there, it finds no host, whatever room there is. The reaper has read the list before it
    is lost: it is paused, not stopped, while the useless deletions are made."""
    one, two, three = cloud.hosts
    cloud.make_zone("east", [one, two])
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cloud.forget_aggregates_of(one)
    assert reaper.command("pause", "--reason", "useless deletions").returncode == 0

    def refused_while_paused() -> str:
        request = refused_boot(cloud, zone="east")
        assert reaper.wait_outcome(request)["safeguard"] == "paused"
        return request

    assert_deletions_futile(fleet, reaper, [one], refused_while_paused)
    assert reaper.command("resume").returncode == 0
    assert_served_on(fleet, reaper, two, 3, refusing=(one, "not-in-placement"), zone="east")


# Traits -----------------------------------------------------------------------


@pytest.fixture
def trait(cloud: OpenStackCloud) -> Iterator[str]:
    """Only the second host has it."""
    name = "CUSTOM_ACCELERATED"
    path = f"/resource_providers/{cloud.providers[cloud.hosts[1]]}/traits"
    cloud.placement.put(f"/traits/{name}")
    usual = cloud.placement.get(path).json()["traits"]

    def have(traits: list[str]) -> None:
        generation = cloud.placement.get(path).json()["resource_provider_generation"]
        cloud.placement.put(path, json={"traits": traits, "resource_provider_generation": generation})

    have([*usual, name])
    yield name
    have(usual)
    cloud.placement.delete(f"/traits/{name}")


@pytest.fixture
def accelerated(trait: str, make_flavor: Callable[..., str]) -> str:
    """A `medium` that requires the trait."""
    return make_flavor("accelerated", "medium", {f"trait:{trait}": "required"})


@pytest.fixture
def with_tpm(make_flavor: Callable[..., str]) -> str:
    """A `medium` that is to have a TPM; no host of the lab can emulate one."""
    return make_flavor("with-tpm", "medium", {"hw:tpm_version": "2.0"})


@pytest.fixture
def fast(make_flavor: Callable[..., str]) -> str:
    """A `medium` that wishes for aggregates with `ssd=true`."""
    return make_flavor("fast", "medium", {"aggregate_instance_extra_specs:ssd": "true"})


def test_an_aggregate_without_what_the_flavor_wishes_is_kept_off(
    cloud: Cloud, install: Callable[..., Reaper], fast: str
) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    cloud.make_aggregate("slow", [one], {"ssd": "false"})
    cloud.make_aggregate("fast", [two], {"ssd": "true"})
    victims = futile_victims(fleet, install(), [one], lambda: refused_boot(cloud, fast))
    boot_again(fleet, victims)
    reaper = install()
    cheapest_on(fleet, reaper, [one])
    reaper.config["scheduler"] = {"extra_specs_filter": True}
    reaper.start()
    assert_served_on(fleet, reaper, two, 3, fast, refusing=(one, "isolated"), words="ssd=true")


def assert_only_the_second_host_will_do(
    cloud: Cloud, install: Callable[..., Reaper], trait: str, ask: Callable[[], list[Server]]
) -> None:
    """`ask` asks for a server of the size of a `medium`."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})

    def refused_request() -> str:
        [failed] = ask()
        cloud.wait_for([failed], "ERROR")
        return failed.request

    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], refused_request)
    reaper.start()
    mark = cloud.mark()
    request = refused_request()
    reaper.wait_outcome(request)
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    code, reason = refused(reaper, request)[one]
    assert code == "missing-trait" and trait in reason
    again = ask()
    cloud.wait_for(again, "ACTIVE")
    assert cloud.look(again[0]).host == two


def test_a_trait_of_the_flavor_is_sought(
    cloud: Cloud, install: Callable[..., Reaper], trait: str, accelerated: str
) -> None:
    assert_only_the_second_host_will_do(cloud, install, trait, lambda: cloud.ask(accelerated))


@pytest.mark.lab_only  # cloudsim's images ask nothing of a host
def test_a_trait_of_the_image_is_sought(
    cloud: OpenStackCloud, install: Callable[..., Reaper], trait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has the image, without its traits."""
    image = cloud.make_image("accelerated", **{f"trait:{trait}": "required"})

    def ask() -> list[Server]:
        with monkeypatch.context() as with_image:
            with_image.setitem(cloud.lab, "image", image)
            return cloud.ask("medium")

    assert_only_the_second_host_will_do(cloud, install, trait, ask)


@pytest.mark.lab_only  # cloudsim's images and flavors ask nothing of a host
def test_what_no_host_can_give_costs_no_server(
    cloud: OpenStackCloud, install: Callable[..., Reaper], with_tpm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dedicated CPUs that only the image asks for, where no host offers PCPU; a TPM that the flavor asks
    for in its own words. There is room for both after one deletion, and Nova still refuses them."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
    pinned = cloud.make_image("pinned", hw_cpu_policy="dedicated")

    def refused_pinned() -> str:
        with monkeypatch.context() as with_image:
            with_image.setitem(cloud.lab, "image", pinned)
            return refused_boot(cloud)

    # As of 2026.1 also a trait for who may read the TPM's secret.
    wishes = {"PCPU": refused_pinned, "COMPUTE_SECURITY_TPM_": lambda: refused_boot(cloud, with_tpm)}
    reaper = install()
    reaper.start()
    mark = cloud.mark()
    for wish, refused_request in wishes.items():
        request = refused_request()
        assert reaper.wait_outcome(request)["kind"] == "not-enough"
        assert all(wish in reason for _, reason in refused(reaper, request).values())
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)
    victims = cheapest_on(fleet, reaper, [one])
    for victim in victims:
        cloud.delete_without_waiting(victim)
    cloud.wait_gone(victims)
    for refused_request in wishes.values():
        assert_no_valid_host(cloud, refused_request())


# Other things than boots ------------------------------------------------------


def test_a_live_migration_gets_room_elsewhere(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """Its message has the server's id alone: neither flavor nor hosts."""
    one, two, three = cloud.hosts
    fleet = fill(
        cloud, {one: [("regular", "small", 1), ("spot", "small", 4)], two: HALF_SPOT, three: FULL}
    )
    [server] = fleet.regular(one)
    reaper = install()
    move = cloud.live_migrate_without_waiting
    assert_deletions_futile(fleet, reaper, [one], lambda: refused_move(cloud, server, move), "small")
    reaper.start()
    mark = cloud.mark()
    request = cloud.live_migrate_without_waiting(server)
    reaper.wait_outcome(request)
    # A smaller one would do on its own host, where it is already.
    assert_freed(fleet, mark, 1, among=fleet.spot(two))
    cloud.wait_for([server], "ACTIVE")
    cloud.live_migrate_without_waiting(server)
    eventually("it is on the other host", lambda: cloud.look(server).host == two)


def test_an_evacuation_gets_room_elsewhere(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """Its own host is down: room there is of no use to any server."""
    one, two, three = cloud.hosts
    fleet = fill(
        cloud, {one: [("regular", "small", 1), ("spot", "small", 4)], two: HALF_SPOT, three: FULL}
    )
    [server] = fleet.regular(one)

    def refused_evacuation() -> str:
        cloud.say_that_it_is_down(one)
        request = refused_move(cloud, server, cloud.evacuate_without_waiting)
        cloud.say_that_it_is_up(one)
        return request

    reaper = install()
    assert_deletions_futile(fleet, reaper, [one], refused_evacuation, "small")
    cloud.say_that_it_is_down(one)
    reaper.start()
    mark = cloud.mark()
    request = cloud.evacuate_without_waiting(server)
    reaper.wait_outcome(request)
    assert [d.server for d in cloud.reaper_deletions(mark)] == [fleet.spot(two)[0].id]
    cloud.evacuate_without_waiting(server)
    eventually("it is on the other host", lambda: cloud.look(server).host == two)


def test_an_unshelving_that_found_no_host_is_heard_of(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """Nova sends no message: the server stays shelved, and its record of actions says why."""
    one, two, three = cloud.hosts
    [server] = cloud.boot("medium", "regular", one)
    cloud.shelve(server)
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    reaper = install()
    reaper.config["trigger"] |= {"unshelve_interval": "1s"}
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
