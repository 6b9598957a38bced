"""Reapers over one journal in a Galera cluster, one of whose nodes is hit while requests come in: each
request is served once, nobody else dies, and each search is answered. What counts is the cloud's own
record."""

import random
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, ContextManager, Iterator

import pytest

from cloud import Server, eventually
from fleet import Fleet, assert_freed, fill
from galera import Galera, Node
from lablib.ports import LOOPBACK, answers, free_ports
from mariadb_process import DIES_WITH_US
from relay import Relay
from sim_cloud import SimCloud
from test_standby import FULL, Install, Member, Record, searching, standing_by

pytestmark = pytest.mark.sim_only

SMALL = [("spot", "small", 5)]
LEASE_S = 15
CONFLICTS = 3000  # until the case is over, and not forever


@pytest.fixture(scope="session")
def running() -> Iterator[Galera]:
    cluster = Galera()
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(running: Galera) -> Galera:
    running.heal()
    return running


@dataclass
class Scene:
    """Regular servers are asked for, one at a time; each needs the room of one revocable server."""

    cloud: SimCloud
    cluster: Galera
    members: list[Member]
    database: str
    fleet: Fleet
    mark: int
    served: int = 0

    def ask_and_hold(self) -> Server:
        """The victim is deleted, and the answer is on its way."""
        for member in self.members:
            member.nova.hold_answers("DELETE")
        [refused] = self.cloud.fail_to_boot("small")
        held = lambda: any(member.nova.held for member in self.members)  # noqa: E731
        eventually("the answer to the deletion is held", held)
        return refused

    def serve(self, refused: Server | None = None) -> None:
        for member in self.members:
            member.nova.let_pass()
        if refused is None:
            [refused] = self.cloud.fail_to_boot("small")
        assert eventually("it is served", lambda: self._outcome(refused), every=0.2) == "freed"
        self.cloud.wait_for(self.cloud.ask("small"), "ACTIVE")
        self.served += 1

    def _outcome(self, refused: Server) -> str:
        for member in self.members:
            self.restart_ended(member)
        told = self.cluster.ask(f"SELECT outcome FROM {self.database}.request WHERE id = '{refused.request}'")
        return told.replace("NULL", "")

    @staticmethod
    def restart_ended(member: Member) -> None:
        """As systemd does with one that lost its lease."""
        daemon = member.reaper.daemon
        if daemon is not None and daemon.poll() is not None:
            assert member.reaper.wait_stopped() == 1, member.reaper.log_text()
            member.reaper.start(wait=False)

    def judge(self) -> None:
        self.members[0].reaper.wait_acknowledged()
        assert_freed(self.fleet, self.mark, self.served, among=self.fleet.spot())
        for member in self.members:
            if member.reaper.daemon is not None:
                member.reaper.ask_to_stop()
                member.reaper.wait_stopped()
        assert_freed(self.fleet, self.mark, self.served, among=self.fleet.spot())


@contextmanager
def scene(cloud: SimCloud, install: Install, cluster: Galera, ports: list[list[int]]) -> Iterator[Scene]:
    """A reaper for each list of ports of the database."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SMALL, two: FULL, three: SMALL})
    name = cluster.new_database()

    def journal(of: list[int]) -> dict[str, Any]:
        hosts = ",".join(f"{LOOPBACK}:{port}" for port in of)
        return {"url": f"mysql://reaper@{hosts}/{name}", "tls": False, "timeout": "5s"}

    with standing_by(cloud, install, [journal(of) for of in ports]) as members:
        with searching(cloud, members[-1]) as codes:
            at = Scene(cloud, cluster, members, name, fleet, cloud.mark())
            yield at
        assert set(codes) == {200}
        at.judge()


def each_its_own_first(cluster: Galera, count: int = 2) -> list[list[int]]:
    """Each reaper begins with another node."""
    ports = [node.port for node in cluster.nodes]
    return [ports[number:] + ports[:number] for number in range(count)]


# What is done to a node ------------------------------------------------------------------------------


@contextmanager
def out(at: Scene, node: Node) -> Iterator[None]:
    at.cluster.out = [node]
    yield
    at.cluster.wait_whole()
    at.cluster.out = []


@contextmanager
def killed(at: Scene, node: Node) -> Iterator[None]:
    with out(at, node):
        node.signal(signal.SIGKILL)
        yield
        node.start()


@contextmanager
def frozen(at: Scene, node: Node) -> Iterator[None]:
    with out(at, node):
        node.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            node.signal(signal.SIGCONT)


@contextmanager
def set_back(at: Scene, node: Node) -> Iterator[None]:
    """It starts with what it had earlier, and without its memory of what it was."""
    earlier = node.folder / "earlier"
    with out(at, node):
        node.signal(signal.SIGTERM)
        shutil.copytree(node.data, earlier)
        yield
        shutil.rmtree(node.data)
        earlier.rename(node.data)
        for path in [node.data, *node.data.rglob("*")]:
            shutil.chown(path, node.folder.owner())
        node.start()


@contextmanager
def full(at: Scene, node: Node) -> Iterator[None]:
    """It has no room for one more page. Where it can't follow the others, it leaves them."""
    make = "SET SESSION wsrep_on = OFF; CREATE DATABASE filler; CREATE TABLE filler.rows (text LONGTEXT);"
    row = "INSERT INTO filler.rows VALUES (repeat('x', {}));\n"
    rows = (row.format(size) * 400 for size in (250_000, 12_000, 2_000))
    with out(at, node):
        filled = node.client(make + "".join(rows), "--force")
        assert "is full" in filled.stderr, filled.stderr
        yield
        node.signal(signal.SIGKILL)
        shutil.rmtree(node.data / "filler", ignore_errors=True)
        for name in ("ibdata1", "grastate.dat"):  # an SST brings all
            (node.data / name).unlink()
        node.start()


@contextmanager
def crowded(at: Scene, node: Node) -> Iterator[None]:
    """max_connections: others hold them all."""
    connected = "SELECT count(*) FROM information_schema.processlist WHERE user = 'unauthenticated user'"
    with out(at, node):
        with ExitStack() as held:
            for _ in range(12):
                held.enter_context(socket.create_connection((LOOPBACK, node.port)))
            eventually("they are taken", lambda: int(node.execute(connected)) >= 12)
            node.execute("SET GLOBAL max_connections = 10; KILL CONNECTION USER reaper")
            yield
        more = lambda: node.client("SET GLOBAL max_connections = 151").returncode == 0  # noqa: E731
        eventually("there are some again", more)


@contextmanager
def read_only(at: Scene, node: Node) -> Iterator[None]:
    node.execute("SET GLOBAL read_only = ON; KILL CONNECTION USER reaper")
    yield
    node.execute("SET GLOBAL read_only = OFF")


@contextmanager
def in_conflict(at: Scene, node: Node) -> Iterator[None]:
    """Another node writes the row of the lease all the time: transactions fail their certification."""
    other = at.cluster.nodes[1]

    def failures() -> int:
        return int(node.status("local_cert_failures")) + int(node.status("local_bf_aborts"))

    before = failures()
    update = f"UPDATE {at.database}.lease SET writes = writes + 1; DO SLEEP(0.005);\n"
    command = ["/usr/bin/mariadb", "--no-defaults", f"--socket={other.folder / 'socket'}", "--force"]
    command = [*DIES_WITH_US, *command]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        assert writer.stdin is not None
        writer.stdin.write((update * CONFLICTS).encode())
        writer.stdin.close()
        yield
        eventually("one has failed", lambda: failures() > before)
        writer.kill()


@contextmanager
def isolated(at: Scene, node: Node) -> Iterator[None]:
    """It is up, and no longer Primary."""
    with out(at, node):
        node.execute("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")
        eventually("it has noticed", lambda: node.status("cluster_status") == "non-Primary")
        yield
        node.execute("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'")


@contextmanager
def all_down(at: Scene, node: Node) -> Iterator[None]:
    at.cluster.kill()
    yield
    at.cluster.start()


# What is between ------------------------------------------------------------------------------------


@contextmanager
def straight(cluster: Galera, folder: Path) -> Iterator[list[list[int]]]:
    yield each_its_own_first(cluster)


@contextmanager
def slow(cluster: Galera, folder: Path) -> Iterator[list[list[int]]]:
    """50 ms each way; one piece in ten is lost, and comes a quarter of a second later."""
    relays = [Relay(node.port) for node in cluster.nodes]
    for relay in relays:
        relay.delay = lambda: random.choice([0.05] * 9 + [0.25])
        relay.open()
    ports = [relay.port for relay in relays]
    yield [ports, ports]
    for relay in relays:
        relay.close()


@contextmanager
def through_haproxy(cluster: Galera, folder: Path) -> Iterator[list[list[int]]]:
    """As Kolla sets it up: one node, the others in reserve."""
    port, config = free_ports(["haproxy"])["haproxy"], folder / "haproxy.cfg"
    lines = ["defaults", " mode tcp", " timeout connect 5s", " timeout client 1h", " timeout server 1h"]
    lines += ["listen database", f" bind {LOOPBACK}:{port}"]
    for number, node in enumerate(cluster.nodes):
        end = "on-marked-down shutdown-sessions" + (" backup" if number else "")
        lines.append(f" server node-{number} {LOOPBACK}:{node.port} check inter 1s {end}")
    config.write_text("\n".join(lines) + "\n")
    command = [*DIES_WITH_US, shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-q", "-f", str(config)]
    with subprocess.Popen(command) as process:
        eventually("haproxy listens", lambda: answers(port))
        yield [[port], [port]]
        process.terminate()


@contextmanager
def nothing(at: Scene, node: Node) -> Iterator[None]:
    yield


@dataclass
class Fault:
    strike: Callable[[Scene, Node], ContextManager[None]]
    between: Callable[[Galera, Path], ContextManager[list[list[int]]]] = straight
    nodes: tuple[int, ...] = (0,)


FAULTS = {
    "each-killed": Fault(killed, nodes=(0, 1, 2)),
    "frozen": Fault(frozen),
    "not-primary": Fault(isolated),
    "old-state": Fault(set_back),
    "disk-full": Fault(full),
    "max-connections": Fault(crowded),
    "read-only": Fault(read_only),
    "conflicts": Fault(in_conflict),
    "slow": Fault(nothing, slow),
    "haproxy": Fault(killed, through_haproxy),
}


@pytest.mark.parametrize("name", FAULTS)
def test_requests_are_served(
    cloud: SimCloud, install: Install, cluster: Galera, name: str, tmp_path: Path, record_property: Record
) -> None:
    fault = FAULTS[name]
    with fault.between(cluster, tmp_path) as ports, scene(cloud, install, cluster, ports) as at:
        for number in fault.nodes:
            refused = at.ask_and_hold()
            with fault.strike(at, cluster.nodes[number]):
                struck = datetime.now()
                at.serve(refused)
                record_property("served_s", (datetime.now() - struck).total_seconds())
                at.serve()
            at.serve()


def test_nobody_dies_while_no_node_answers(cloud: SimCloud, install: Install, cluster: Galera) -> None:
    with scene(cloud, install, cluster, each_its_own_first(cluster)) as at:
        at.serve()
        with all_down(at, cluster.nodes[0]):
            active, struck = at.members[0], time.monotonic()
            eventually("it is noticed", lambda: active.get("/readyz").status_code == 503)
            [refused] = cloud.fail_to_boot("small")
            eventually("it has come", lambda: f"{refused.request}: " in active.reaper.log_text())
            eventually("the lease has ended", lambda: time.monotonic() > struck + LEASE_S)
            assert len(cloud.reaper_deletions(at.mark)) == at.served
        at.serve(refused)
        at.serve()


def test_one_after_the_other_of_three(
    cloud: SimCloud, install: Install, cluster: Galera, record_property: Record
) -> None:
    """The active reaper and the node that it writes to die at once, twice."""
    with scene(cloud, install, cluster, each_its_own_first(cluster, 3)) as at:
        for number in (0, 1):
            refused = at.ask_and_hold()
            [active] = [member for member in at.members if member.nova.held]
            with killed(at, cluster.nodes[number]):
                struck = datetime.now()
                active.reaper.kill()
                at.serve(refused)
                others = [member for member in at.members if member is not active]
                taken = [member.reaper.first_said("takes over: ") for member in others]
                later = [(time - struck).total_seconds() for time in taken if time and time > struck]
                record_property(f"takeover_{number}_s", later)
                assert len(later) == 1, "one takes over"
            active.reaper.start(wait=False)
            at.serve()
