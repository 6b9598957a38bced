"""Fills the hosts of a cloud for a scenario, and checks which of them live."""

from dataclasses import dataclass

from cloud import Cloud, Server

VCPUS_OF_A_HOST = 10
FLAVORS = {"small": 2, "medium": 5, "large": 10}

# Stands for VCPU: oversubscribed CPU, for revocable servers alone.
OVERSOLD = "CUSTOM_REVOCABLE_VCPU"

# What a host holds: (project, flavor, how many).
Holding = tuple[str, str, int]


@dataclass
class Fleet:
    """The servers that a scenario begins with."""

    cloud: Cloud
    by_host: dict[str, dict[str, list[Server]]]

    def spot(self, *hosts: str) -> list[Server]:
        """The revocable servers on some hosts, or on all."""
        return self._of("spot", hosts)

    def regular(self, *hosts: str) -> list[Server]:
        return self._of("regular", hosts)

    def _of(self, project: str, hosts: tuple[str, ...]) -> list[Server]:
        return [server for host in hosts or self.by_host for server in self.by_host[host].get(project, [])]

    def all(self) -> list[Server]:
        return self.spot() + self.regular()


def fill(cloud: Cloud, holdings: dict[str, list[Holding]], exactly: bool = True) -> Fleet:
    """Boots what each host is to hold, all at once; by default the hosts must
    then be full to the last VCPU, so that nothing else can be placed."""
    fleet = Fleet(cloud, {host: {} for host in cloud.hosts})
    for host in cloud.hosts:
        vcpus = sum(FLAVORS[flavor] * count for _, flavor, count in holdings[host])
        assert vcpus == VCPUS_OF_A_HOST or not exactly, f"{host} would hold {vcpus} VCPU"
        for project, flavor, count in holdings[host]:
            servers = cloud.ask(flavor, project, count, host)
            fleet.by_host[host].setdefault(project, []).extend(servers)
    for host, projects in fleet.by_host.items():
        for servers in projects.values():
            for look in cloud.wait_for(servers, "ACTIVE"):
                assert look.host == host
    return fleet


def assert_only_victims_died(fleet: Fleet, since: int, victims: list[Server]) -> None:
    """The reaper deleted these, each once and nothing else; they are gone with
    their room, and all the others live."""
    cloud = fleet.cloud
    deletions = cloud.reaper_deletions(since)
    assert sorted(d.server for d in deletions) == sorted(v.id for v in victims)
    # Nothing else was written to Nova. Who took freed room is marked, at any time after; a guest is
    # stopped before its end, or started again; Placement's `reserved` is what holds freed room. A
    # failed unshelving may be asked again.
    nova = [write for write in cloud.reaper_writes(since) if write.startswith("nova-api")]
    others = ("/metadata", "(os-st", "(unshelve)")
    writes = [write for write in nova if not any(other in write for other in others)]
    assert len(writes) == len(deletions), writes
    for server in fleet.all():
        look = cloud.look(server)
        if server in victims:
            assert look.gone and not cloud.room_held_by(server), f"{server.name}: {look}"
        else:
            assert look.status == "ACTIVE" and look.task is None, f"{server.name}: {look}"
            assert cloud.room_held_by(server), f"{server.name} lost its room"


def assert_none_deleted(fleet: Fleet, since: int) -> None:
    """Not one write of the reaper, and all live."""
    assert fleet.cloud.reaper_writes(since) == []
    assert_only_victims_died(fleet, since, [])


def assert_freed_softly(fleet: Fleet, since: int, count: int) -> list[Server]:
    """Where deletion is deferred: exactly `count` revocable servers died, each deleted once and forced
    once, by whichever reaper."""
    deletions = [(deletion.server, deletion.kind) for deletion in fleet.cloud.reaper_deletions(since)]
    died = {server for server, _ in deletions}
    victims = [server for server in fleet.spot() if server.id in died]
    assert len(victims) == len(died) == count, deletions
    assert sorted(deletions) == sorted((s.id, kind) for s in victims for kind in ("delete", "forceDelete"))
    for server in fleet.all():
        look = fleet.cloud.look(server)
        assert look.gone if server in victims else look.status == "ACTIVE", f"{server.name}: {look}"
    return victims


def assert_freed(fleet: Fleet, since: int, count: int, among: list[Server]) -> list[Server]:
    """Exactly `count` of these servers died, and nothing else; returns them."""
    died = [d.server for d in fleet.cloud.reaper_deletions(since)]
    victims = [server for server in among if server.id in died]
    assert len(victims) == count, f"{len(victims)} of {[s.name for s in among]} died, not {count}"
    assert_only_victims_died(fleet, since, victims)
    return victims
