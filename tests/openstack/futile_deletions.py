"""Why a constraint must be known: whom a plan kills that sees room alone is deleted here by hand, and
Nova refuses as before.

The daemon does not run meanwhile, or is paused: it is not to answer these refusals. Afterwards servers
like those that died are in their places, so that the same temptation awaits the reaper.
"""

from typing import Callable

from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed
from reaper_process import Reaper

ROOM_FOR = {
    "small": "VCPU=2,MEMORY_MB=1024,DISK_GB=20",
    "medium": "VCPU=5,MEMORY_MB=2048,DISK_GB=20",
}


def cheapest_on(
    fleet: Fleet, reaper: Reaper, hosts: list[str], flavor: str = "medium", slots: int = 1
) -> list[Server]:
    """The victims without what the message does not tell. They are on these hosts, at least one on each."""
    asked = ("--resources", ROOM_FOR[flavor], "--slots", str(slots), "--project", "regular")
    plan = reaper.json("plan", *asked)
    chosen = {host["host_name"]: [victim["server"] for victim in host["victims"]] for host in plan["hosts"]}
    assert sorted(chosen) == sorted(hosts) and all(chosen.values()), plan
    dying = sum(chosen.values(), [])
    victims = [server for server in fleet.spot(*hosts) if server.id in dying]
    assert len(victims) == len(dying), plan
    return victims


def assert_deletions_futile(
    fleet: Fleet,
    reaper: Reaper,
    hosts: list[str],
    refused_request: Callable[[], str],
    flavor: str = "medium",
    slots: int = 1,
) -> None:
    """A plan that sees room alone takes it on `hosts`, and none of it is of use: Nova refuses what
    `refused_request` asks for, and whose id it returns, also with those victims gone."""
    victims = cheapest_on(fleet, reaper, hosts, flavor, slots)
    for victim in victims:
        fleet.cloud.delete_without_waiting(victim)
    fleet.cloud.wait_gone(victims)
    assert_no_valid_host(fleet.cloud, refused_request(), slots)
    boot_again(fleet, victims)
    cheapest_on(fleet, reaper, hosts, flavor, slots)


def futile_victims(
    fleet: Fleet, blind: Reaper, hosts: list[str], refused_request: Callable[[], str]
) -> list[Server]:
    """The same by a reaper to which the configuration does not tell the constraint: it deletes them
    itself. Returns those that died; their places stay empty."""
    victims = cheapest_on(fleet, blind, hosts)
    blind.start()
    mark = fleet.cloud.mark()
    blind.wait_outcome(refused_request())
    assert_freed(fleet, mark, len(victims), among=victims)
    blind.stop()  # it would look for other victims
    assert_no_valid_host(fleet.cloud, refused_request())
    return victims


def boot_again(fleet: Fleet, gone: list[Server]) -> None:
    """Others like those that are gone, on the same hosts, and in their places in the fleet."""
    booting: list[Server] = []
    for host, projects in fleet.by_host.items():
        for project, servers in projects.items():
            for at, server in enumerate(servers):
                if server in gone:
                    flavor = server.name.split("-")[1]
                    [servers[at]] = fleet.cloud.ask(flavor, project, host=host)
                    booting.append(servers[at])
    assert len(booting) == len(gone)
    fleet.cloud.wait_for(booting, "ACTIVE")


def assert_no_valid_host(cloud: Cloud, request: str, servers: int = 1) -> None:
    """So Nova's own messages say, one for each server, and it is not another failure. None of them
    can reach a reaper that starts afterwards."""
    for _ in range(servers):
        while request.encode() not in (message := cloud.failure_messages(1)[0]):
            pass
        assert b"NoValidHost" in message, message


def refused_move(cloud: Cloud, server: Server, move: Callable[[Server], str]) -> str:
    """A move of a server that finds no host; returns the id of its request."""
    host = cloud.look(server).host
    request = move(server)
    eventually(f"{server.name} moves no more", lambda: cloud.look(server).task is None)
    assert cloud.look(server).host == host
    return request
