"""nova-scheduler asks the gateway: the regular server boots at the first try, and no user sees an error."""

import threading
import time
import urllib.error
import urllib.request
from typing import Any, Callable, Iterator

import pytest

from between import stand_before
from cloud import Cloud, Server, eventually
from fleet import OVERSOLD, Fleet, assert_freed, assert_none_deleted, fill
from gate import Gate
from gateway_process import Addresses, asking_the_gateway
from lab_cloud import LabCloud
from reaper_process import Reaper
from test_rights import listed_rights, refused, role_with_the_least_rights, used_rights

# One worker has it all: the scheduler is restarted once.
pytestmark = [pytest.mark.lab_only, pytest.mark.xdist_group("gateway")]

FULL_OF_SPOT = [("spot", "small", 5)]
FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


@pytest.fixture(scope="module")
def listen(lab_cloud: LabCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """Where the gateway of each scenario listens, and where it is asked."""
    with asking_the_gateway(lab_cloud, tmp_path_factory.mktemp("gateway")) as addresses:
        yield addresses


@pytest.fixture
def gateway(cloud: Cloud, listen: Addresses, install: Callable[..., Reaper]) -> Reaper:
    return helping(install(), listen)


def helping(reaper: Reaper, listen: Addresses, **more: Any) -> Reaper:
    set_up(reaper, listen.gateway)
    reaper.config["gateway"] |= more
    reaper.start()
    wait_until_asked(listen.front)
    return reaper


def set_up(reaper: Reaper, address: str) -> None:
    reaper.config["gateway"] = {"listen": address, "deadline": "5min"}  # the machine may be busy


def wait_until_asked(haproxy: str) -> None:
    """It helps, and haproxy knows: Placement, the backup, has no such path."""

    def helps() -> bool:
        with urllib.request.urlopen(f"http://{haproxy}/reaper-gateway") as answer:
            return bool(answer.status == 200)

    eventually("the gateway helps", lambda: tried(helps))


def tried(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError:
        return False


def filled(cloud: Cloud, *holdings: Any) -> Fleet:
    return fill(cloud, dict(zip(cloud.hosts, holdings)), exactly=False)


def assert_served(reaper: Reaper, request: str, operation: str, slots: int = 1) -> None:
    story = reaper.story(request)
    assert story is not None, "the request is not in the journal"
    assert story["request"]["source"] == "gateway"
    assert story["request"]["operation"] == operation
    assert story["request"]["slots"] == slots
    assert story["outcome"]["kind"] == "freed", story["outcome"]


def gone(cloud: LabCloud, server: Server) -> None:
    cloud.delete_without_waiting(server)
    eventually("it holds nothing", lambda: not cloud.room_held_by(server))


def hosts_of(cloud: Cloud, servers: list[Server]) -> list[str | None]:
    return [cloud.look(server).host for server in servers]


def test_a_boot(cloud: Cloud, gateway: Reaper) -> None:
    fleet = filled(cloud, HALF_SPOT, FULL_OF_SPOT, FULL)
    mark = cloud.mark()
    [server] = cloud.ask("medium")
    cloud.wait_for([server], "ACTIVE")
    assert hosts_of(cloud, [server]) == [cloud.hosts[0]]
    assert_freed(fleet, mark, 1, among=fleet.spot(cloud.hosts[0]))
    assert_served(gateway, server.request, "build")
    checked = gateway.command("check").stdout
    assert gateway.json("status")["gateway"]["helps"], gateway.json("status")
    assert "nova-scheduler looked for hosts here" in checked and "1 got room that was freed" in checked, checked


def test_several_servers_where_there_are_fewer_places(cloud: Cloud, gateway: Reaper) -> None:
    fleet = filled(cloud, [("spot", "small", 4)], FULL, FULL)
    mark = cloud.mark()
    servers = cloud.ask("small", count=3)
    cloud.wait_for(servers, "ACTIVE")
    assert_freed(fleet, mark, 2, among=fleet.spot())
    assert_served(gateway, servers[0].request, "build", slots=3)


def test_a_forced_host_and_a_victim_that_nova_does_not_delete(
    cloud: Cloud, listen: Addresses, install: Callable[..., Reaper]
) -> None:
    one, two, three = cloud.hosts
    fleet = filled(cloud, FULL_OF_SPOT, FULL_OF_SPOT, FULL)
    with Gate(cloud.endpoint("compute")) as gate:
        gateway = install()
        stand_before(gateway, gate)
        helping(gateway, listen)
        gate.refuse("DELETE .*", 409, times=1)
        mark = cloud.mark()
        [server] = cloud.ask("small", host=two)
        cloud.wait_for([server], "ACTIVE")
    assert hosts_of(cloud, [server]) == [two]
    [deletion] = gate.refused
    others = [each for each in fleet.spot(two) if not deletion.endswith(each.id)]
    # The one that lives has its room again, which was handed over before.
    assert_freed(fleet, mark, 1, among=others)
    handed_over = [write for write in cloud.reaper_writes(mark) if "POST /allocations" in write]
    assert len(handed_over) >= 3, handed_over  # and back, and that of another one


def test_a_group_that_has_to_be_apart(cloud: Cloud, gateway: Reaper) -> None:
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    [member] = cloud.boot("small", "regular", one, hints=group)
    fleet = filled(cloud, [("spot", "small", 4)], [("spot", "medium", 2)], FULL)
    mark = cloud.mark()
    [server] = cloud.ask("small", hints=group)
    cloud.wait_for([server], "ACTIVE")
    assert hosts_of(cloud, [member, server]) == [one, two]
    assert_freed(fleet, mark, 1, among=fleet.spot(two))


def test_one_that_has_to_be_there_and_several_that_have_to_be_apart(cloud: Cloud, gateway: Reaper) -> None:
    one, two, three = cloud.hosts
    together, apart = cloud.make_group("there", "affinity"), cloud.make_group("several apart", "anti-affinity")
    cloud.boot("small", "regular", three, hints=together)
    fleet = filled(cloud, FULL_OF_SPOT, FULL_OF_SPOT, [("spot", "small", 1), ("regular", "small", 3)])
    mark = cloud.mark()
    [beside] = cloud.ask("small", hints=together)
    cloud.wait_for([beside], "ACTIVE")
    assert hosts_of(cloud, [beside]) == [three]
    servers = cloud.ask("small", count=2, hints=apart)
    cloud.wait_for(servers, "ACTIVE")
    assert sorted(map(str, hosts_of(cloud, servers))) == [one, two]
    assert_freed(fleet, mark, 3, among=fleet.spot())
    assert_served(gateway, beside.request, "build")
    assert_served(gateway, servers[0].request, "build", slots=2)


def test_a_resize_of_a_member_of_a_group(cloud: Cloud, gateway: Reaper) -> None:
    """Where the other one is, room would cost one server less."""
    one, two, three = cloud.hosts
    group = cloud.make_group("apart", "anti-affinity")
    [server] = cloud.boot("small", "regular", three, hints=group)
    cloud.boot("small", "regular", one, hints=group)
    beside = [("spot", "medium", 1), ("regular", "small", 1)]
    fleet = filled(cloud, beside, FULL_OF_SPOT, [("regular", "small", 4)])
    mark = cloud.mark()
    request = cloud.resize_without_waiting(server, "medium")
    cloud.wait_for([server], "VERIFY_RESIZE")
    assert hosts_of(cloud, [server]) == [two]
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert_served(gateway, request, "resize")


def test_migrations_and_an_unshelving(cloud: Cloud, gateway: Reaper) -> None:
    one, two, three = cloud.hosts
    servers = cloud.boot("small", "regular", three, count=3)
    # Of its own host's room a server has nothing.
    fleet = filled(cloud, FULL_OF_SPOT, [("spot", "small", 1), ("regular", "small", 4)], [("regular", "small", 1)])
    cold, live, shelved = servers
    mark = cloud.mark()

    requests = {"migrate": cloud.migrate_without_waiting(cold, host=two)}
    cloud.wait_for([cold], "VERIFY_RESIZE")
    assert hosts_of(cloud, [cold]) == [two]
    gateway.wait_freed_room(requests["migrate"])

    requests["live-migrate"] = cloud.live_migrate_without_waiting(live)
    eventually("it is there", lambda: cloud.look(live).host == one)
    cloud.wait_for([live], "ACTIVE")
    gateway.wait_freed_room(requests["live-migrate"])  # it was in the right cell

    cloud.shelve(shelved)
    cloud.boot("small", "regular", three, count=3)
    requests["unshelve"] = cloud.unshelve_without_waiting(shelved)
    cloud.wait_for([shelved], "ACTIVE")
    assert hosts_of(cloud, [shelved]) == [one]

    assert_freed(fleet, mark, 3, among=fleet.spot())
    for operation, request in requests.items():
        assert_served(gateway, request, operation)


def test_two_evacuations(
    cloud: Cloud, listen: Addresses, install: Callable[..., Reaper]
) -> None:
    gateway = install()
    # Else moves go one after the other.
    gateway.config["scheduler"] = {"cells": [{"name": "all", "hosts": ["*"]}]}
    helping(gateway, listen)
    one, two, three = cloud.hosts
    servers = cloud.boot("small", "regular", three, count=2)
    fleet = filled(cloud, FULL_OF_SPOT, FULL, [("regular", "small", 3)])
    cloud.say_that_it_is_down(three)
    mark = cloud.mark()
    requests = [cloud.evacuate_without_waiting(server) for server in servers]
    eventually("they are there", lambda: hosts_of(cloud, servers) == [one, one])
    cloud.wait_for(servers, "ACTIVE")
    assert_freed(fleet, mark, 2, among=fleet.spot(one))
    for request in requests:
        assert_served(gateway, request, "evacuate")


def test_a_requester_without_the_right_is_refused_as_before(cloud: Cloud, gateway: Reaper) -> None:
    fleet = filled(cloud, FULL_OF_SPOT, FULL, FULL)
    mark = cloud.mark()
    cloud.fail_to_boot("small", project="spot")
    # As large as no host can be made.
    cloud.fail_to_boot("large", count=2)
    assert gateway.command("pause", "--reason", "maintenance").returncode == 0
    told = gateway.command("status").stdout
    assert "passes everything through: paused by" in told, told
    cloud.fail_to_boot("small")
    assert_none_deleted(fleet, mark)


def test_freed_room_is_offered_to_no_other_request(cloud: Cloud, gateway: Reaper) -> None:
    """Revocable servers are asked for all the time, and room is freed for a regular one."""
    fleet = filled(cloud, FULL_OF_SPOT, FULL, FULL)
    stop = threading.Event()
    others: list[Server] = []
    bypassed: list[int] = []

    def boot_spot() -> None:
        # As many as Nova gets through: it is not to be slow for the regular ones.
        while not stop.is_set():
            asked = cloud.ask("small", project="spot")
            others.extend(asked)
            cloud.wait_for(asked, "ERROR")

    def claim_directly() -> None:
        while not stop.is_set():
            bypassed.append(cloud.claim_directly(cloud.hosts[0], {"VCPU": 1}))

    mark = cloud.mark()
    crowd = [threading.Thread(target=each) for each in (boot_spot, boot_spot, claim_directly)]
    for each in crowd:
        each.start()
    try:
        regular = [cloud.ask("small")[0] for _ in range(3)]
        cloud.wait_for(regular, "ACTIVE")
    finally:
        stop.set()
        for each in crowd:
            each.join()
    # Nor to a client that asks Placement itself: the room was never free.
    assert len(bypassed) > 10 and set(bypassed) == {409}, bypassed
    cloud.wait_for(others, "ERROR")
    assert_freed(fleet, mark, 3, among=fleet.spot())


def test_with_the_least_rights(
    cloud: LabCloud, listen: Addresses, install: Callable[..., Reaper]
) -> None:
    of_the_gateway = {rule for _, feature, rule in listed_rights() if feature == "gateway"}
    with role_with_the_least_rights(cloud, features="look,delete,labels,gateway"):
        filled(cloud, FULL_OF_SPOT, FULL, FULL)
        mark = cloud.mark()  # what others kept is looked for at the start
        reaper = helping(install(user="least"), listen)
        [server] = cloud.ask("small")
        cloud.wait_for([server], "ACTIVE")
        assert_served(reaper, server.request, "build")
        assert not refused(cloud, mark)
        assert of_the_gateway <= used_rights(cloud, mark)


def test_flavors_and_images_say_which_kind_of_room_they_admit(
    cloud: LabCloud,
    listen: Addresses,
    oversold_host: str,
    install: Callable[..., Reaper],
    make_flavor: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reaper = install()
    reaper.config["taggers"] = [{"name": "project"}, {"name": "resource", "class": OVERSOLD}]
    helping(reaper, listen)
    for kind in ("REVOCABLE", "PREFER_REVOCABLE", "PREFER_REGULAR"):
        make_flavor(kind, "medium", {f"trait:CUSTOM_RES_TYPE_{kind}": "required"})
    one, two, three = cloud.hosts
    assert one == oversold_host
    fleet = filled(cloud, FULL, FULL_OF_SPOT, FULL)
    mark = cloud.mark()
    [revocable] = cloud.ask("PREFER_REVOCABLE")
    cloud.wait_for([revocable], "ACTIVE")
    assert hosts_of(cloud, [revocable]) == [one]
    held = cloud.room_held_by(revocable)
    assert held.pop(OVERSOLD) == 5 and "VCPU" not in held, held
    cloud.fail_to_boot("REVOCABLE")
    assert not cloud.reaper_deletions(mark)
    eventually("it is labelled", lambda: cloud.metadata_of(revocable).get("res-type") == "revocable")

    [regular] = cloud.ask("PREFER_REVOCABLE")
    cloud.wait_for([regular], "ACTIVE")
    assert hosts_of(cloud, [regular]) == [two]
    assert cloud.room_held_by(regular)["VCPU"] == 5
    assert_freed(fleet, mark, 3, among=fleet.spot(two))
    assert_served(reaper, regular.request, "build")

    # The rest of the host is a regular server's, and then there is no victim.
    [last] = cloud.ask("PREFER_REGULAR")
    cloud.wait_for([last], "ACTIVE")
    assert hosts_of(cloud, [last]) == [two]
    assert_freed(fleet, mark, 5, among=fleet.spot(two))
    gone(cloud, revocable)
    [again] = cloud.ask("PREFER_REGULAR")
    cloud.wait_for([again], "ACTIVE")
    assert hosts_of(cloud, [again]) == [one]
    assert cloud.room_held_by(again)[OVERSOLD] == 5

    gone(cloud, again)
    image = cloud.make_image("admits", **{"trait:CUSTOM_RES_TYPE_PREFER_REVOCABLE": "required"})
    monkeypatch.setitem(cloud.lab, "image", image)
    [by_image] = cloud.ask("medium")
    cloud.wait_for([by_image], "ACTIVE")
    assert cloud.room_held_by(by_image)[OVERSOLD] == 5


def test_a_placement_that_fails(cloud: Cloud, listen: Addresses, install: Callable[..., Reaper]) -> None:
    """For a short time: nova-scheduler asks again. For good: no server finds a host, and none is deleted, as
    room is there."""
    gateway = install()
    with Gate(cloud.endpoint("placement")) as gate:
        helping(gateway, listen, placement_url=gate.url)
        fleet = filled(cloud, FULL_OF_SPOT, [], FULL)
        mark = cloud.mark()
        gate.refuse("GET /.*allocation_candidates", 503, times=3)
        [server] = cloud.ask("small")
        cloud.wait_for([server], "ACTIVE")
        assert len(gate.refused) == 3
    [refused] = cloud.fail_to_boot("small")
    assert gateway.wait_outcome(refused.request)["kind"] == "already-there"
    assert_none_deleted(fleet, mark)


def test_a_gateway_that_dies_in_the_middle_of_it(cloud: Cloud, gateway: Reaper, listen: Addresses) -> None:
    fleet = filled(cloud, FULL_OF_SPOT, FULL, FULL)
    mark = cloud.mark()
    with cloud.hold_deletions(cloud.hosts[0]):
        [server] = cloud.ask("small")
        eventually("a victim is chosen", lambda: cloud.reaper_deletions(mark))
        gateway.kill()
        cloud.wait_for([server], "ERROR")  # Placement itself is asked again, and has no room
        cloud.failure_messages(1)  # sent after that, and not to come beside the next request
    gateway.start()
    gateway.wait_outcome(server.request)
    gateway.wait_acknowledged()
    wait_until_asked(listen.front)
    [again] = cloud.ask("small")
    cloud.wait_for([again], "ACTIVE")
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_two_reapers_behind_haproxy(
    cloud: LabCloud, listen: Addresses, install: Callable[..., Reaper]
) -> None:
    """The active one is asked, the other one (by TLS, as all that it asks) when it takes over, and Placement
    when none is left."""
    fleet = filled(cloud, FULL_OF_SPOT, FULL, FULL)
    mark = cloud.mark()
    first, second = helping(install(), listen), install(region="TlsRegion", tls=True)
    set_up(second, listen.second)
    tls = cloud.lab["tls"]
    second.config["gateway"]["tls"] = {"cert_file": tls["server_cert_file"], "key_file": tls["server_key_file"]}
    second.start()
    for reaper in (first, second):
        wait_until_asked(listen.front)
        [server] = cloud.ask("small")
        cloud.wait_for([server], "ACTIVE")
        assert_served(reaper, server.request, "build")
        reaper.kill()
    died = assert_freed(fleet, mark, 2, among=fleet.spot())
    gone(cloud, next(server for server in fleet.spot() if server not in died))
    [server] = cloud.ask("small")
    cloud.wait_for([server], "ACTIVE")


def test_no_boot_fails_while_it_is_upgraded(cloud: Cloud, gateway: Reaper) -> None:
    servers: list[Server] = []

    def boot() -> None:
        for _ in range(8):
            servers.extend(cloud.ask("small"))
            time.sleep(0.4)

    user = threading.Thread(target=boot)
    user.start()
    for _ in range(2):
        gateway.stop()
        gateway.start()
    user.join()
    cloud.wait_for(servers, "ACTIVE")


def test_no_boot_fails_whose_room_is_freed_while_it_is_upgraded(
    cloud: Cloud, gateway: Reaper, listen: Addresses
) -> None:
    """The stop waits for the cull; the claim then comes to Placement itself."""

    def placement_is_asked() -> bool:
        try:
            urllib.request.urlopen(f"http://{listen.front}/reaper-gateway").close()
        except urllib.error.HTTPError as answer:
            return answer.code in (401, 404)  # it has no such path
        return False

    fleet = filled(cloud, FULL_OF_SPOT, FULL, FULL)
    mark = cloud.mark()
    with cloud.hold_deletions(cloud.hosts[0]):
        [server] = cloud.ask("small")
        eventually("a victim is chosen", lambda: cloud.reaper_deletions(mark))
        gateway.ask_to_stop()
        eventually("haproxy asks Placement", placement_is_asked)
    assert gateway.wait_stopped() == 0
    cloud.wait_for([server], "ACTIVE")
    gateway.start()
    assert_freed(fleet, mark, 1, among=fleet.spot())
    assert_served(gateway, server.request, "build")
