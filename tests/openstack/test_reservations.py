"""Room that is kept for roles, in Placement: Nova places no other servers there, and servers of the role get it."""

from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import requests

from cloud import PATIENCE, Cloud, Server, eventually
from fleet import Fleet, assert_none_deleted, fill
from gateway_process import Addresses, asking_the_gateway
from lab_cloud import LabCloud
from lablib import catalog
from lablib.ports import LOOPBACK, free_ports
from reaper_process import Reaper
from test_gateway import set_up, wait_until_asked
from test_rights import refused, role_with_the_least_rights, rules_of, used_rights

# The scheduler is restarted once, as for the gateway.
pytestmark = [pytest.mark.lab_only, pytest.mark.xdist_group("gateway")]

FULL = [("regular", "large", 1)]
PROJECTS = ("regular", "spot")
HOST = 10  # VCPU
FRONT = "web/front"
REGISTER = "openstack-reaper-reservations"


@pytest.fixture(scope="module")
def listen(lab_cloud: LabCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with asking_the_gateway(lab_cloud, tmp_path_factory.mktemp("gateway")) as addresses:
        yield addresses


@pytest.fixture
def keeper(
    cloud: Cloud, lab_cloud: LabCloud, listen: Addresses, install: Callable[..., Reaper], tmp_path: Path
) -> Iterator[Reaper]:
    """It keeps reservations, and what of them is left is given up in the end."""
    reaper = install()
    set_up(reaper, listen.gateway)
    port = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock"), "listen": port, "auth": "keystone"}
    reaper.config["reservations"] = {"enabled": True, "interval": "1s"}
    assert reaper.command("setup", "reservations", "--apply").returncode == 0
    reaper.start()
    wait_until_asked(listen.front)
    eventually("it knows the reservations", lambda: reaper.command("reservations").returncode == 0)
    yield reaper
    give_up(lab_cloud, reaper)


def give_up(cloud: LabCloud, reaper: Reaper) -> None:
    """All of its reservations, and what they are kept with."""
    if reaper.daemon is not None:
        reaper.stop()
    for consumer in left(cloud):
        cloud.placement.delete(f"/allocations/{consumer}")
    done = reaper.command("setup", "reservations", "--undo", "--apply")
    assert done.returncode == 0, done.stderr


def left(cloud: LabCloud) -> list[str]:
    """The reservations that there are in Placement: those of a scenario that failed."""
    [register] = cloud.placement.get(f"/resource_providers?name={REGISTER}").json()["resource_providers"]
    found: dict[str, Any] = cloud.placement.get(
        f"/resource_providers/{register['uuid']}/allocations"
    ).json()["allocations"]
    return list(found)


def reserve(reaper: Reaper, word: str, host: str, vcpus: int, *more: str, role: str = "web") -> None:
    order = ("--host", host, "--role", role, "--resources", f"VCPU={vcpus}", "--principal", "ops")
    done = reaper.command(word, *order, *more)
    assert done.returncode == 0, done.stderr
    assert f"{word} {vcpus} VCPU for {role} on {host}" in done.stdout, done.stdout


def token_of(cloud: LabCloud, user: str) -> str:
    token = catalog.client(cloud.lab, "identity", user=user).get_token()
    assert token is not None
    return token


def ask_port(reaper: Reaper, word: str, order: dict[str, Any], token: str) -> requests.Response:
    session = requests.Session()
    session.trust_env = False
    headers = {"X-Auth-Token": token} if token else {}
    url = f"http://{reaper.config['admin']['listen']}/v1/{word}"
    return session.post(url, json={"reservations": [order]}, headers=headers, timeout=PATIENCE)


def shown(reaper: Reaper, role: str = "web") -> dict[str, int]:
    """The state of the VCPU of its only reservation."""
    [found] = reaper.json("reservations", "--role", role)["reservations"]
    assert not found["trouble"], found
    words = ("resources", "used", "held", "lent", "owed")
    return {word: found[word].get("VCPU", 0) for word in words}


def becomes(reaper: Reaper, role: str = "web", **wanted: int) -> None:
    def so() -> bool:
        if not reaper.json("reservations", "--role", role)["reservations"]:
            return False
        found = shown(reaper, role)
        return all(found[word] == amount for word, amount in wanted.items())

    eventually(f"the reservation of {role} becomes {wanted}", so)


def one_idle_host(cloud: Cloud, *first: Any) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: list(first), two: FULL, three: FULL}, exactly=False)


def test_a_day_of_a_reservation(cloud: Cloud, lab_cloud: LabCloud, keeper: Reaper) -> None:
    one = cloud.hosts[0]
    fleet = one_idle_host(cloud)
    reserve(keeper, "reserve", one, HOST)
    mark = cloud.mark()
    assert shown(keeper) == {"resources": HOST, "used": 0, "held": HOST, "lent": 0, "owed": 0}
    assert cloud.used_vcpus(one) == HOST

    # Nova places no other server there, and none is deleted for a stranger.
    [stranger] = cloud.fail_to_boot("small")
    assert keeper.wait_outcome(stranger.request)["kind"] == "not-enough"
    assert_none_deleted(fleet, mark)
    assert keeper.command("reserve", "--host", one, "--role", "db", "--resources", "VCPU=1").returncode == 3

    # On its port a token of Keystone says who reserves.
    body = {"host": one, "role": "web", "labels": {"by": "token"}, "resources": {"VCPU": 1}}
    assert ask_port(keeper, "reserve", body, "").status_code == 401
    assert ask_port(keeper, "reserve", body, "no-token").status_code == 401
    user, admin = token_of(lab_cloud, "onlooker"), token_of(lab_cloud, "admin")
    refused = ask_port(keeper, "reserve", body, user)
    assert refused.status_code == 403 and "none of the roles" in refused.json()["error"]["message"]
    reserve(keeper, "unreserve", one, 1)
    assert ask_port(keeper, "reserve", body, admin).status_code == 202
    [by_token] = [each for each in keeper.json("reservations")["reservations"] if each["labels"]]
    assert by_token["principal"] == "admin@Default" and by_token["held"] == {"VCPU": 1}
    assert ask_port(keeper, "unreserve", body, admin).status_code == 202
    reserve(keeper, "reserve", one, 1)
    becomes(keeper, resources=HOST, held=HOST)
    log = keeper.log_text()
    assert not any(token in log for token in (user, admin)), "a token is in the log"

    # Refined, and back.
    reserve(keeper, "reserve", one, 4, "--refines", "web", role="web/front")
    becomes(keeper, "web/front", held=4)
    becomes(keeper, held=HOST - 4)
    reserve(keeper, "unreserve", one, 4, role="web/front")
    becomes(keeper, held=HOST)

    # Its own servers get in at the first try, and count as part of it.
    keeper.config["reservations"]["roles"] = [{"role": "web", "projects": ["regular"]}]
    keeper.reload("reservations.roles")
    planned = keeper.json("plan", "--project", "regular", "--resources", "VCPU:5,MEMORY_MB:2048")
    assert f"releases 5 VCPU of web on {one}" in planned["reason"], planned
    becomes(keeper, held=HOST)
    fits = {name: keeper.command("room", "--flavor", "medium", "--project", name) for name in PROJECTS}
    assert "there is room for 2 such servers" in fits["regular"].stdout, fits
    assert fits["spot"].returncode != 0, "it is not lent"
    assert "ok   reservations: 1 reservation in" in keeper.command("check").stdout
    [member] = cloud.ask("medium")
    cloud.wait_for([member], "ACTIVE")
    assert cloud.look(member).host == one
    becomes(keeper, resources=HOST, used=5, held=HOST - 5)
    assert cloud.used_vcpus(one) == HOST
    assert keeper.wait_outcome(member.request)["kind"] == "already-there"

    # It goes, and the reservation grows back; then nothing is left of it.
    cloud.delete_without_waiting(member)
    cloud.wait_gone([member])
    becomes(keeper, used=0, held=HOST)
    reserve(keeper, "unreserve", one, HOST)
    assert keeper.json("reservations")["reservations"] == []
    assert cloud.used_vcpus(one) == 0
    events = [event["reason"] for event in keeper.json("history", "events")["events"]]
    assert any(f"reserve {HOST} VCPU for web on {one}" in reason for reason in events), events


def test_a_restart_and_a_stranger_in_the_way(cloud: Cloud, keeper: Reaper) -> None:
    """What the configuration reserves is collected when the room comes free, and no server is deleted for it."""
    one = cloud.hosts[0]
    fleet = one_idle_host(cloud, ("regular", "medium", 1))
    static = {"role": "db", "hosts": [one], "resources": {"VCPU": HOST}}
    keeper.config["reservations"]["static"] = [static]
    keeper.reload("reservations.static")
    becomes(keeper, "db", resources=HOST, held=5, owed=5)
    mark = cloud.mark()
    keeper.stop()
    keeper.start()
    eventually("it knows the reservations", lambda: keeper.command("reservations").returncode == 0)
    becomes(keeper, "db", resources=HOST, held=5, owed=5)
    assert_none_deleted(fleet, mark)
    [stranger] = fleet.by_host[one].pop("regular")
    cloud.delete_without_waiting(stranger)
    cloud.wait_gone([stranger])
    becomes(keeper, "db", held=HOST, owed=0)
    keeper.config["reservations"]["static"] = []
    keeper.reload("reservations.static")
    eventually("nothing is left", lambda: cloud.used_vcpus(one) == 0)
    assert keeper.json("reservations")["reservations"] == []


def test_lender_and_tenants(cloud: Cloud, keeper: Reaper) -> None:
    """Room of a role is refined, lent, taken back for a role below it, and returned."""
    one = cloud.hosts[0]
    fleet = one_idle_host(cloud)
    keeper.config["reservations"]["calm"] = "30min"
    keeper.reload("reservations.calm")
    reserve(keeper, "reserve", one, HOST)
    reserve(keeper, "reserve", one, HOST, "--refines", "web", "--lend", role=FRONT)
    becomes(keeper, FRONT, resources=HOST, held=HOST)

    # A revocable server borrows at its first try, and the reservation keeps the rest.
    [tenant] = cloud.ask("medium", "spot")
    cloud.wait_for([tenant], "ACTIVE")
    assert cloud.look(tenant).host == one
    becomes(keeper, FRONT, held=5, lent=5)
    assert keeper.wait_outcome(tenant.request)["kind"] == "already-there"
    [shown_one] = keeper.json("reservations", "--role", FRONT)["reservations"]
    assert shown_one["tenants"] == [tenant.id] and shown_one["calm_for_s"] == 0
    assert keeper.command("candidates", "--resources", "VCPU:5", "-o", "name").stdout == ""
    lendable = keeper.json("room", "--flavor", "small", "--project", "spot")
    assert lendable["fits_now"] == 2, lendable

    # Who is of no role gets neither what is idle nor what is lent. (A label is a write of its own.)
    eventually("it is labelled", lambda: cloud.metadata_of(tenant).get("res-type") == "revocable")
    mark = cloud.mark()
    [stranger] = cloud.fail_to_boot("small")
    assert keeper.wait_outcome(stranger.request)["kind"] == "not-enough"
    assert_none_deleted(fleet, mark)
    assert cloud.look(tenant).status == "ACTIVE"

    # When a tenant leaves, it is as before; the next one comes.
    cloud.delete_without_waiting(tenant)
    cloud.wait_gone([tenant])
    becomes(keeper, FRONT, held=HOST, lent=0)
    tenants = cloud.ask("small", "spot") + cloud.ask("medium", "spot")
    cloud.wait_for(tenants, "ACTIVE")
    becomes(keeper, FRONT, held=HOST - 7, lent=7)

    # The lender comes: what is idle goes first, then of the tenants no more than it needs.
    keeper.config["reservations"]["roles"] = [{"role": f"{FRONT}/api", "projects": ["regular"]}]
    keeper.reload("reservations.roles")
    [first] = cloud.ask("small")
    cloud.wait_for([first], "ACTIVE")
    assert all(cloud.look(each).status == "ACTIVE" for each in tenants)
    becomes(keeper, FRONT, used=2, held=1, lent=7)
    [second] = cloud.ask("medium")
    cloud.wait_for([second], "ACTIVE")
    assert cloud.look(second).host == one
    cloud.wait_gone([tenants[1]])
    assert cloud.look(tenants[0]).status == "ACTIVE"
    becomes(keeper, FRONT, used=7, held=1, lent=2)

    # It goes, and its room is not lent at once.
    cloud.delete_without_waiting(second)
    cloud.wait_gone([second])
    becomes(keeper, FRONT, used=2, held=6, lent=2)
    [shown_one] = keeper.json("reservations", "--role", FRONT)["reservations"]
    assert shown_one["calm_for_s"] > 0
    cloud.fail_to_boot("medium", "spot")
    becomes(keeper, FRONT, used=2, held=6, lent=2)
    # Unreserved, it is the role's above again; existing room is the lower one's first.
    reserve(keeper, "unreserve", one, 6, role=FRONT)
    becomes(keeper, FRONT, resources=4, used=2, held=2, lent=0)
    becomes(keeper, resources=6, held=4, lent=2)
    reserve(keeper, "unreserve", one, 4)
    # Room that is free by now replaces what was lent: the tenant is an ordinary one.
    becomes(keeper, resources=2, held=2, lent=0)
    cloud.delete_without_waiting(tenants[0])
    cloud.delete_without_waiting(first)
    cloud.wait_gone([tenants[0], first])
    becomes(keeper, FRONT, used=0, held=4, lent=0)
    reserve(keeper, "unreserve", one, 4, role=FRONT)
    reserve(keeper, "unreserve", one, 6)
    assert cloud.used_vcpus(one) == 0

    # What is lent is taken back after a while, or when it is to be unreserved.
    reserve(keeper, "reserve", one, HOST, "--lend", "--longest-loan", "15s")
    [late] = cloud.ask("medium", "spot")
    # Its time may be over before a busy machine has booted it.
    assert keeper.wait_outcome(late.request)["kind"] == "already-there"
    cloud.wait_gone([late])
    becomes(keeper, held=HOST, lent=0)
    reserve(keeper, "unreserve", one, HOST)
    reserve(keeper, "reserve", one, HOST, "--lend")
    [last] = cloud.ask("medium", "spot")
    cloud.wait_for([last], "ACTIVE")
    becomes(keeper, held=5, lent=5)
    reserve(keeper, "unreserve", one, HOST, "--lent-too")
    cloud.wait_gone([last])
    eventually("nothing is left", lambda: cloud.used_vcpus(one) == 0)
    assert keeper.json("reservations")["reservations"] == []
    events = [event["reason"] for event in keeper.json("history", "events")["events"]]
    assert any("lends 5 VCPU of web" in reason for reason in events), events


def test_races_of_lender_and_tenants(cloud: Cloud, keeper: Reaper) -> None:
    """The races that the design of Mesos names, by real Nova's timing."""
    one, two, _ = cloud.hosts
    fleet = one_idle_host(cloud)
    keeper.config["reservations"]["calm"] = "0s"
    keeper.reload("reservations.calm")
    # The project has the role of its path in Keystone.
    keeper.config["reservations"]["roles_by_hierarchy"] = True
    keeper.reload("reservations.roles_by_hierarchy")
    reserve(keeper, "reserve", one, HOST, "--lend", role="regular")
    tenants = cloud.ask("small", "spot", count=5)
    cloud.wait_for(tenants, "ACTIVE")
    becomes(keeper, "regular", held=0, lent=HOST)

    # Over-evicting 1: a tenant terminates by itself when its lender comes. No other server is deleted.
    # (Before Nova tells of it, only Nova's list of servers, which is slow, would show it.)
    cloud.delete_without_waiting(tenants[0])
    becomes(keeper, "regular", lent=HOST - 2)
    [first] = cloud.ask("small")
    cloud.wait_for([first], "ACTIVE")
    cloud.wait_gone([tenants[0]])
    becomes(keeper, "regular", used=2, held=0, lent=HOST - 2)
    assert how_many_live(cloud, tenants) == 4

    # Over-evicting 2: another lender comes while a tenant goes for the first. One goes for each.
    lenders = cloud.ask("small") + cloud.ask("small")
    cloud.wait_for(lenders, "ACTIVE")
    becomes(keeper, "regular", used=6, held=0, lent=4)
    assert how_many_live(cloud, tenants) == 2

    # Unnecessary reject: a revocable server comes while a tenant goes for its lender. Room that is
    # idle elsewhere is still lent to it.
    regular = fleet.by_host[two].pop("regular")
    for server in regular:
        cloud.delete_without_waiting(server)
    cloud.wait_gone(regular)
    reserve(keeper, "reserve", two, HOST, "--lend", role="db")
    # (Of two that ask at once and are alike, the gateway could not tell who is the lender's.)
    late = cloud.ask("small") + cloud.ask("medium", "spot")
    cloud.wait_for(late, "ACTIVE")
    assert [cloud.look(server).host for server in late] == [one, two]
    becomes(keeper, "regular", used=8, held=0, lent=2)
    assert how_many_live(cloud, tenants) == 1
    assert how_many_live(cloud, [first, *lenders, *fleet.all()]) == 3 + len(fleet.all())


def how_many_live(cloud: Cloud, servers: list[Server]) -> int:
    return sum(cloud.look(server).status == "ACTIVE" for server in servers)


def test_with_the_least_rights(
    cloud: Cloud, lab_cloud: LabCloud, install: Callable[..., Reaper], tmp_path: Path
) -> None:
    """Set up, requested with a user's token, given back and taken down, without the gateway."""
    one = cloud.hosts[0]
    one_idle_host(cloud)
    reaper = install(user="least")
    port = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock"), "listen": port, "auth": "keystone"}
    reaper.config["reservations"] = {"enabled": True, "interval": "1s"}
    with role_with_the_least_rights(lab_cloud, features="look,delete,labels,reservations,setup,admin"):
        mark = cloud.mark()
        assert reaper.command("setup", "reservations", "--apply").returncode == 0
        try:
            reaper.start()
            eventually("it knows the reservations", lambda: reaper.command("reservations").returncode == 0)
            order = {"host": one, "role": "web", "resources": {"VCPU": 1}}
            token = token_of(lab_cloud, "admin")
            assert ask_port(reaper, "reserve", order, token).status_code == 202
            becomes(reaper, resources=1, held=1)
            assert ask_port(reaper, "unreserve", order, token).status_code == 202
            eventually("it is given back", lambda: not left(lab_cloud))
        finally:
            give_up(lab_cloud, reaper)
        assert not refused(lab_cloud, mark)
        assert rules_of("reservations", "admin") <= used_rights(lab_cloud, mark)
