"""Several reapers on one journal in MariaDB: one is active, the others stand by, and one of them goes on
where the active one ended, froze or was killed. Meanwhile their gateways, APIs and the pause work on each."""

import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Iterator

import pytest
import requests

from between import ANY_SERVER, stand_before
from cloud import Server, eventually
from fleet import Fleet, assert_freed, assert_none_deleted, assert_only_victims_died, fill
from gate import Gate
from lablib import ports
from mariadb_process import MariaDb
from reaper_process import Reaper
from sim_cloud import SimCloud
from test_held_room import TOTAL, SpotHost, spot_host  # noqa: F401
from test_notice import at, one_spot, told

pytestmark = pytest.mark.sim_only

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
NEEDED = 2
SEARCH = "/placement/allocation_candidates?resources=VCPU:1&limit=10"

Install = Callable[..., Reaper]
Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    server = MariaDb(tmp_path_factory.mktemp("mariadb"))
    yield server
    server.close()


@dataclass
class Member:
    reaper: Reaper
    nova: Gate
    gateway: str  # IP:PORT
    metrics: str

    @property
    def name(self) -> str:
        assert self.reaper.daemon is not None
        return f"process {self.reaper.daemon.pid}"

    def get(self, path: str) -> Any:
        """Of its port for metrics and probes."""
        return requests.get(f"http://{self.metrics}{path}", timeout=60)

    def statuses(self) -> list[str]:
        assert self.reaper.notices is not None
        return [line for line in self.reaper.notices.received() if line.startswith("STATUS=")]

    def is_active(self) -> bool:
        return self.get("/readyz").status_code == 200 and not self.stands_by()

    def stands_by(self) -> bool:
        said = self.get("/readyz").json()
        return any(note["name"] == "standby" for note in said["notes"])

    def by_its_api(self, *command: str) -> None:
        socket = self.reaper.config["admin"]["socket"]
        done = self.reaper.elsewhere("--api", f"unix:{socket}", *command)
        assert done.returncode == 0, done.stderr

    def stand_by(self) -> None:
        self.reaper.start(wait=False)
        self.reaper.wait_ready()
        assert self.stands_by(), self.reaper.log_text()

    def wait_outcome(self, server: Server) -> str:
        def outcome() -> str | None:
            story = self.reaper.story(server.request)
            return story["outcome"]["kind"] if story and story["outcome"] else None

        return eventually("it is served", outcome)  # type: ignore[return-value]


@dataclass
class Pair:
    cloud: SimCloud
    first: Member
    second: Member


@contextmanager
def searching(cloud: SimCloud, member: Member) -> Iterator[list[int]]:
    """nova-scheduler asks that one's gateway the whole time."""
    answers: list[int] = []
    ended = threading.Event()
    token = {"X-Auth-Token": cloud.placement.get_token()}

    def search() -> None:
        while not ended.wait(0.01):
            url = f"http://{member.gateway}{SEARCH}"
            try:
                answers.append(requests.get(url, headers=token, timeout=300).status_code)
            except requests.RequestException:
                answers.append(0)

    asking = threading.Thread(target=search)
    asking.start()
    try:
        yield answers
    finally:
        ended.set()
        asking.join()


@contextmanager
def standing_by(
    cloud: SimCloud, install: Install, journals: list[dict[str, Any]], **sections: Any
) -> Iterator[list[Member]]:
    """A reaper for each `journal` of a configuration; the first one is active, the others stand by. All
    have these sections."""
    count = range(len(journals))
    free = ports.free_ports([f"{name}-{number}" for number in count for name in ("gateway", "metrics")])
    with ExitStack() as gates:
        members: list[Member] = []
        for number, journal in enumerate(journals):
            address, metrics = (f"{ports.LOOPBACK}:{free[f'{name}-{number}']}" for name in ("gateway", "metrics"))
            gate = gates.enter_context(Gate(cloud.endpoint("compute")))
            reaper = install()
            members.append(Member(reaper, gate, address, metrics))
            stand_before(reaper, gate)
            reaper.config["broker"]["queue"] = members[0].reaper.queue
            reaper.config["broker"]["dead_letter_queue"] = f"{reaper.queue}.dead-letter"
            reaper.config |= sections
            reaper.config["cull"]["max_parallel_deletions"] = 1
            reaper.config["admin"] = {"socket": str(reaper.directory / "admin.sock")}
            reaper.config["journal"] = journal
            reaper.config["gateway"] = {"listen": address}
            reaper.config["metrics"] = {"listen": metrics}
        made = members[0].reaper.command("journal", "migrate")
        assert made.returncode == 0, made.stderr
        members[0].reaper.start()
        for member in members[1:]:
            member.stand_by()
        yield members


@contextmanager
def standing_by_for(cloud: SimCloud, install: Install, database: MariaDb, **sections: Any) -> Iterator[Pair]:
    """One is active, the other one stands by."""
    journal = {"url": database.new_database(), "timeout": "10s"}
    with standing_by(cloud, install, [journal, journal], **sections) as members:
        yield Pair(cloud, *members)


@pytest.fixture
def pair(cloud: SimCloud, install: Install, database: MariaDb) -> Iterator[Pair]:
    with standing_by_for(cloud, install, database) as pair:
        yield pair


def plenty_of_spot(cloud: SimCloud) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: SPOT, two: FULL, three: SPOT})


def readings(member: Member) -> int:
    """Of the whole cloud."""
    return member.reaper.log_text().count(" servers, read in ")


def test_it_takes_over_from_one_that_ends(cloud: SimCloud, pair: Pair, record_property: Record) -> None:
    fleet = plenty_of_spot(cloud)
    mark = cloud.mark()
    first, second = pair.first, pair.second
    eventually("it has read the cloud", lambda: readings(second) == 1)
    with searching(cloud, second) as answers:
        eventually("it answers", lambda: len(answers) > 5)
        first.reaper.stop()
        struck = datetime.now()
        eventually("the other one is active", second.is_active)
        [refused] = cloud.fail_to_boot("large")
        assert second.wait_outcome(refused) == "freed"
        eventually("it answers still", lambda count=len(answers): len(answers) > count + 5)
    assert set(answers) == {200}
    taken = second.reaper.first_said("takes over")
    assert taken is not None
    record_property("takeover_s", (taken - struck).total_seconds())
    assert readings(second) == 1, "what it read as a standby is good"
    assert_freed(fleet, mark, NEEDED, among=fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")
    first.stand_by()
    eventually("it names the active one", lambda: second.name in first.statuses()[-1])
    second.reaper.stop()
    eventually("the first one is active again", first.is_active)
    first.reaper.wait_acknowledged()
    first.reaper.stop()
    assert_freed(fleet, mark, NEEDED, among=fleet.spot())


@pytest.mark.parametrize("way", ["frozen", "killed"])
def test_it_takes_over_from_one_that_is(
    cloud: SimCloud, pair: Pair, way: str, record_property: Record
) -> None:
    """In the middle of a cull: the first victim is deleted, and the answer has not come."""
    fleet = plenty_of_spot(cloud)
    mark = cloud.mark()
    first, second = pair.first, pair.second
    first.nova.hold_answers("DELETE")
    with searching(cloud, second) as answers:
        [refused] = cloud.fail_to_boot("large")
        first.nova.wait_held("the answer to the first deletion")
        struck = datetime.now()
        first.reaper.kill() if way == "killed" else first.reaper.freeze()
        assert second.wait_outcome(refused) == "freed"
        record_property("served_s", (datetime.now() - struck).total_seconds())
        eventually("it answers still", lambda count=len(answers): len(answers) > count + 5)
    assert set(answers) == {200}
    taken = second.reaper.first_said("takes over")
    assert taken is not None
    record_property("takeover_s", (taken - struck).total_seconds())
    assert_freed(fleet, mark, NEEDED, among=fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")
    first.nova.let_pass()
    if way == "frozen":
        first.reaper.thaw()
        assert first.reaper.wait_stopped() == 1, "systemd starts it again"
        assert "has taken its lease" in first.reaper.log_text()
    first.stand_by()
    second.reaper.wait_acknowledged()
    assert_freed(fleet, mark, NEEDED, among=fleet.spot())


def test_what_a_killed_one_held_the_next_one_gives_back(
    cloud: SimCloud,
    spot_host: SpotHost,  # noqa: F811
    install: Install,
    database: MariaDb,
) -> None:
    """It never comes back, and `reserved` is raised until the end of its promise."""
    cull = {"poll_interval": "100ms", "deadline": "20min", "promise": "1h", "watch": "1h"}
    with standing_by_for(cloud, install, database, taggers=[{"name": "resource"}], cull=cull) as pair:
        spot_host.fill()
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("medium")
        assert pair.second.wait_outcome(refused) == "freed"
        assert spot_host.reserved() == TOTAL
        pair.first.reaper.kill()
        pair.second.reaper.config["cull"] = cull | {"promise": "1s"}
        pair.second.reaper.reload("cull.promise")
        assert spot_host.reserved() == TOTAL
        eventually("the class is as it was", lambda: spot_host.reserved() == 0)
        eventually("it is the active one", pair.second.is_active)
        assert not pair.second.reaper.json("status")["holds"]
        assert len(cloud.reaper_deletions(mark)) == 1
        pair.second.reaper.stop()


def test_the_notice_of_a_killed_one_is_kept_by_the_next_one(
    cloud: SimCloud, install: Install, database: MariaDb
) -> None:
    with standing_by_for(cloud, install, database, notice={"period": "30s"}) as pair:
        fleet, victim = one_spot(cloud)
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("medium")
        end = told(cloud, victim)
        pair.first.reaper.kill()
        assert pair.second.wait_outcome(refused) == "freed"
        story = pair.second.reaper.story(refused.request)
        assert story is not None
        [sent] = [step["at"] for step in story["steps"] if step["step"] == "delete-sent"]
        assert at(sent) >= at(end)
        told_times = {step["detail"] for step in story["steps"] if step["step"] == "notified"}
        assert told_times == {end}, "it gives no other time"
        assert_only_victims_died(fleet, mark, [victim])
        pair.second.reaper.stop()


def test_the_pause_is_everyones_and_survives(cloud: SimCloud, pair: Pair) -> None:
    fleet = plenty_of_spot(cloud)
    mark = cloud.mark()
    first, second = pair.first, pair.second
    second.by_its_api("pause", "--reason", "upgrade")
    eventually("the active one is paused", lambda: "upgrade" in first.get("/readyz").text)
    [refused] = cloud.fail_to_boot("large")
    eventually("it knows the request", lambda: first.reaper.story(refused.request))
    first.reaper.stop()
    eventually("the other one is active", second.is_active)
    assert "upgrade" in second.get("/readyz").text
    assert_none_deleted(fleet, mark)
    first.stand_by()
    assert first.reaper.command("resume").returncode == 0
    eventually("the active one is not paused", lambda: "upgrade" not in second.get("/readyz").text)
    [again] = cloud.fail_to_boot("large")
    assert second.wait_outcome(again) == "freed"
    second.reaper.wait_acknowledged()


def test_it_says_who_is_active_and_ends_at_once(cloud: SimCloud, pair: Pair) -> None:
    first, second = pair.first, pair.second
    for path in ("/healthz", "/readyz"):
        assert second.get(path).status_code == 200
        assert first.name in second.get(path).text
    eventually("its status names the active one", lambda: first.name in second.statuses()[-1])
    active = second.reaper.json("status")["active"]
    assert [each["active"] for each in active["reapers"]] == [True, False]
    assert first.name in active["reapers"][0]["name"] and second.name in active["reapers"][1]["name"]
    assert active["reapers"][0]["gateway"] == f"http://{first.gateway}"
    told = first.reaper.command("status").stdout
    assert "standby: " in told and "its configuration differs" not in told
    known = lambda: all(  # noqa: E731
        each.get("cache_age_s") is not None for each in first.reaper.json("status")["active"]["reapers"]
    )
    eventually("each tells how old its cache is", known)
    eventually("the active one is known", lambda: "handing on to" in second.statuses()[-1])

    def state() -> Any:
        asked = requests.get(f"http://{second.gateway}/reaper-gateway", timeout=60)
        return asked.json() if asked.status_code == 200 else None

    told_by_active = eventually("the active one answers", state)
    assert told_by_active["version"] == 2 and told_by_active["passes_through"] is None
    # What was handed on is handed on by no other.
    again = requests.get(
        f"http://{second.gateway}/reaper-gateway", headers={"X-Reaper-Standby": "1"}, timeout=60
    )
    assert again.status_code == 503
    second.reaper.config["cull"]["poll_interval"] = "200ms"
    second.reaper.reload("cull.poll_interval")
    assert second.stands_by()
    differs = lambda: "its configuration differs: cull" in first.reaper.command("status").stdout  # noqa: E731
    eventually("another configuration is reported", differs)
    second.reaper.stop()
    first.reaper.stop()
