"""Seeded questions about room, and what a real cloud says to them: its own boots.

A round fills the hosts at random, asks all its questions while nothing changes, and then looks whether
each answer was right: such servers are booted until one finds no host, with the victims gone that were
named, with one of them still there, and at last without all revocable servers.
"""

import random
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator

import requests

from cloud import PATIENCE, Look, Server, eventually
from fleet import VCPUS_OF_A_HOST
from lablib.ports import LOOPBACK, free_ports
from reaper_process import Reaper
from sim_cloud import SimCloud

MEMORY_OF_A_HOST = 8192
# Not the default zone `nova`, which no aggregate makes: by its standard filters Nova boots such a server
# anywhere, and the reaper counts the hosts in no other zone, and says so.
ZONES = (None, None, "west", "east")


class Api:
    """The daemon's, on a port."""

    def __init__(self, address: str):
        self.url = f"http://{address}/v1"
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, path: str, **query: Any) -> requests.Response:
        return self.session.get(f"{self.url}/{path}", params=query, timeout=PATIENCE)

    def has_read_all(self) -> bool:
        hosts = self.get("hosts")
        return hosts.ok and not any(host["estimated"] for host in hosts.json()["hosts"])


@contextmanager
def admin_api(reaper: Reaper, *options: str) -> Iterator[Api]:
    address = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"listen": address}
    reaper.start(*options)
    api = Api(address)
    eventually("each host was read", api.has_read_all)
    yield api
    reaper.stop()


@dataclass(frozen=True)
class Shape:
    """What is asked about, the number of servers aside."""

    flavor: str
    zone: str | None
    project: str


@dataclass
class Question:
    shape: Shape
    count: int
    query: dict[str, str]
    answer: dict[str, Any] = field(default_factory=dict)

    def victims(self) -> list[str]:
        hosts = (self.answer["decision"] or {}).get("hosts", [])
        return sorted(victim["server"] for host in hosts for victim in host["victims"])


def random_question(dice: random.Random, flavors: dict[str, dict[str, int]], ids: dict[str, str]) -> Question:
    name = dice.choice(sorted(flavors))
    project = dice.choice(("regular", "regular", "regular", "spot"))
    shape = Shape(name, dice.choice(ZONES), project)
    query = {"count": str(dice.randint(1, 6)), "project": project}
    way = dice.choice(("name", "id", "resources"))
    size = flavors[name]
    if way == "resources" and "trait" not in size:
        query["resources"] = f"VCPU:{size['vcpus']},MEMORY_MB:{size['ram']},DISK_GB:{size['disk']}"
    else:
        query["flavor"] = ids[name] if way == "id" else name
    if shape.zone:
        query["zone"] = shape.zone
    return Question(shape, int(query["count"]), query)


class Round:
    """One random filling of the cloud."""

    def __init__(self, cloud: SimCloud, dice: random.Random, flavors: dict[str, dict[str, int]]):
        self.cloud, self.dice, self.flavors = cloud, dice, flavors
        self.now: dict[str, Server] = {}  # by the id that the server had when the questions were asked
        self.place: dict[str, tuple[str, str]] = {}  # flavor and host, by the same
        self.locked: set[str] = set()
        self.known: dict[tuple[Any, ...], Any] = {}

    def fill(self) -> None:
        asked = []
        for host in self.cloud.hosts:
            vcpus, memory = VCPUS_OF_A_HOST, MEMORY_OF_A_HOST
            for _ in range(self.dice.randint(0, 6)):
                flavor = self.dice.choice(sorted(self.flavors))
                size = self.flavors[flavor]
                if size["vcpus"] > vcpus or size["ram"] > memory or "trait" in size:
                    continue
                vcpus, memory = vcpus - size["vcpus"], memory - size["ram"]
                project = self.dice.choice(("regular", "spot", "spot"))
                [server] = self.cloud.ask(flavor, project, host=host)
                asked.append((server, flavor, host))
        for server, flavor, host in asked:
            self.cloud.wait_for([server], "ACTIVE")
            self.now[server.id], self.place[server.id] = server, (flavor, host)
            if server.project == "spot" and self.dice.random() < 0.1:
                self.cloud.lock(server)
                self.locked.add(server.id)

    # How it is -----------------------------------------------------------------

    def boots(self, shape: Shape, most: int) -> Counter[str]:
        """Where servers boot, each in a request of its own; nothing of them is left."""
        servers = [self.cloud.ask(shape.flavor, shape.project, zone=shape.zone)[0] for _ in range(most)]
        looks = [self._settled(server) for server in servers]
        self._delete(servers)
        return Counter(look.host for look in looks if look.status == "ACTIVE")

    def _settled(self, server: Server) -> Look:
        def settled() -> Look | None:
            look = self.cloud.look(server)
            return look if look.status in ("ACTIVE", "ERROR") and look.task is None else None

        look = eventually(f"{server.name} has settled", settled, every=0.01)
        assert look is not None
        return look

    def _delete(self, servers: list[Server]) -> None:
        for server in servers:
            self.cloud.delete_without_waiting(server)
        self.cloud.wait_gone(servers)

    # Whether the answers are right ---------------------------------------------------

    def check_now(self, question: Question) -> None:
        answer, shape = question.answer, question.shape
        fits = answer["fits_now"]
        if shape not in self.known:
            self.known[shape] = self.boots(shape, fits + 1)
        booted = self.known[shape]
        assert booted.total() == fits, f"{booted.total()} boot: {question}"
        told = {host["name"]: host["slots"] for host in answer["hosts"] if host["slots"]}
        assert dict(booted) == told, question
        assert (answer["answer"] == "fits-now") == (booted.total() >= question.count), question

    def check_victims(self, question: Question) -> None:
        """Without the victims all boot; with one of them, not all do."""
        victims = question.victims()
        assert victims and len(victims) == question.answer["victims"], question
        key = (question.shape, question.count, *victims)
        if key in self.known:
            return
        self.known[key] = True
        for victim in victims:
            server = self.now[victim]
            assert server.project == "spot" and victim not in self.locked, question
        left = self.dice.choice(victims)
        self._delete([self.now[victim] for victim in victims if victim != left])
        some = self.boots(question.shape, question.count)
        assert some.total() < question.count, f"{left} could have stayed: {question}"
        self._delete([self.now[left]])
        all_of_them = self.boots(question.shape, question.count)
        assert all_of_them.total() == question.count, f"{all_of_them.total()} boot: {question}"
        for victim in victims:
            flavor, host = self.place[victim]
            [self.now[victim]] = self.cloud.ask(flavor, "spot", host=host)
        self.cloud.wait_for([self.now[victim] for victim in victims], "ACTIVE")

    def end_revocable(self) -> None:
        ends = [id for id, server in self.now.items() if server.project == "spot" and id not in self.locked]
        self._delete([self.now.pop(id) for id in ends])

    def end_all(self) -> None:
        for id in self.locked:
            self.cloud.nova.post(f"/servers/{id}/action", json={"unlock": None})
        self._delete(list(self.now.values()))

    def check_possible(self, question: Question) -> None:
        """After `end_revocable`."""
        answer, shape = question.answer, question.shape
        if shape.project == "spot":  # no server is deleted for it
            assert answer["possible"] == answer["fits_now"], question
            assert answer["answer"] in ("fits-now", "free-room-only", "never"), question
            if answer["answer"] == "never":  # whichever servers leave
                assert self.boots(shape, question.count).total() < question.count, question
            return
        key = ("possible", shape)
        if key not in self.known:
            self.known[key] = self.boots(shape, answer["possible"] + 1).total()
        assert self.known[key] == answer["possible"], f"{self.known[key]} boot: {question}"
        assert (answer["answer"] == "never") == (self.known[key] < question.count), question
