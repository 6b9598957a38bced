"""Several reapers on one queue, each with a journal of its own: one is active, and when it dies,
freezes or is cut off, another takes over within seconds. No request is served twice or lost, also
when the first one wakes up. What counts is the cloud's own record of who was deleted."""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Callable, Iterator

import pytest

from between import ANY_SERVER, stand_before
from cloud import PATIENCE, Server, eventually
from fleet import Fleet, assert_freed, assert_freed_softly, fill
from gate import Gate
from reaper_process import Reaper
from relay import Relay
from sim_cloud import SimCloud

pytestmark = pytest.mark.sim_only

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
# Of a request `large`: both revocable servers of one host.
NEEDED = 2
# RabbitMQ takes a silent one for dead after 2 to 3 of these.
HEARTBEAT = "2s"
# From the blow until another has the request in hand: 3 heartbeats, one more until the lease of the
# one before is surely over, and what a busy machine adds.
# Far below what the broker or the kernel would take to give up a dead connection by themselves.
TAKEOVER_S = PATIENCE
ALLOCATIONS = "/allocations/[0-9a-f-]{36}"

Install = Callable[..., Reaper]
Record = Callable[[str, object], None]


@dataclass
class Member:
    """A reaper, and its ways to the APIs: what it asks can be made to wait there."""

    reaper: Reaper
    nova: Gate
    placement: Gate

    def let_pass(self) -> None:
        self.nova.let_pass()
        self.placement.let_pass()


@dataclass
class Group:
    """The active reaper, those that stand by, and the way of the active one to the broker."""

    cloud: SimCloud
    members: list[Member]
    relay: Relay

    @property
    def active(self) -> Reaper:
        return self.members[0].reaper

    @property
    def standby(self) -> list[Reaper]:
        return [member.reaper for member in self.members[1:]]

    @property
    def queue(self) -> str:
        return self.active.queue

    def wait_consumers(self, count: int) -> None:
        consumers = lambda: self.cloud.messages.node.consumers_of(f"{self.queue}.serving")  # noqa: E731
        eventually(f"{count} reapers are at the queue", lambda: consumers() == count)

    def wait_served(self, request: str, by: list[Reaper] | None = None) -> str:
        """Waits until one of those that stood by has an outcome; which."""

        def outcome() -> str | None:
            stories = [reaper.story(request) for reaper in (by or self.standby)]
            found = [story["outcome"] for story in stories if story and story["outcome"]]
            return found[0]["kind"] if found else None

        return eventually("another has served the request", outcome)  # type: ignore[return-value]

    def one_has_planned(self, requests: list[str]) -> bool:
        sql = "SELECT DISTINCT id FROM request JOIN plan ON plan.request = request.seq"
        planned = [{row[0] for row in member.reaper.rows(sql)} for member in self.members]
        return any(known.issuperset(requests) for known in planned)

    def takeover_s(self, request: str, struck: datetime) -> float:
        """How long no reaper had the request, by the log of the one that took it."""
        said = [reaper.first_said(f"{request}: ") for reaper in self.standby]
        return (min(time for time in said if time is not None) - struck).total_seconds()

    def stop_all(self) -> None:
        """They end by themselves, and no message is left."""
        self.active.wait_acknowledged()
        for reaper in [self.active, *self.standby]:
            if reaper.daemon is not None:
                reaper.stop()
        assert self.cloud.waiting_messages(self.queue) == 0, "a message is left"


@contextmanager
def group_of(
    cloud: SimCloud, install: Install, size: int, region: str = "RegionOne"
) -> Iterator[Group]:
    relay = Relay(cloud.lab["broker"]["port"])
    relay.open()
    with ExitStack() as gates:
        gates.callback(relay.close)

        def gate(api: str) -> Gate:
            return gates.enter_context(Gate(cloud.endpoint(api, region)))

        members = [
            Member(install(region=region), gate("compute"), gate("placement")) for _ in range(size)
        ]
        group = Group(cloud, members, relay)
        for member in members:
            set_up(member, group)
        for number, member in enumerate(members):
            member.reaper.start()
            group.wait_consumers(number + 1)
        yield group


def set_up(member: Member, group: Group) -> None:
    reaper = member.reaper
    stand_before(reaper, member.nova, placement=member.placement.url)
    broker, port = reaper.config["broker"], f":{group.cloud.lab['broker']['port']}/"
    broker.update(heartbeat=HEARTBEAT, queue=group.queue)
    broker["dead_letter_queue"] = f"{group.queue}.dead-letter"
    if reaper is group.active:
        broker["urls"] = [url.replace(port, f":{group.relay.port}/") for url in broker["urls"]]
    reaper.config["cull"]["max_parallel_deletions"] = 1


# The points of time ----------------------------------------------------------------------------


# When the active one is hit. An answer is still on its way to it then, and arrives when another has
# served the request.
POINTS: dict[str, Callable[[Member], None]] = {
    # It asks Nova about the requester.
    "before-the-plan": lambda member: member.nova.hold_reads(ANY_SERVER),
    # It reads the first victim once more.
    "before-the-first-deletion": lambda member: member.placement.hold_reads(ALLOCATIONS),
    # The first deletion is done.
    "between-two-deletions": lambda member: member.nova.hold_answers("DELETE"),
}


def kill(group: Group) -> None:
    group.active.kill()


def freeze(group: Group) -> None:
    group.active.freeze()


def cut_off(group: Group) -> None:
    group.relay.swallow()


def come_back(group: Group) -> None:
    """Whatever was done to it is over; it is at the queue again."""
    group.members[0].let_pass()
    if group.active.daemon is None:
        group.active.start()
    group.active.thaw()
    group.relay.pass_on()
    group.wait_consumers(1 + len(group.standby))


WAYS = {"killed": kill, "frozen": freeze, "cut-off": cut_off}


def plenty_of_spot(cloud: SimCloud) -> Fleet:
    """Twice what is needed: a reaper that serves a request again finds victims."""
    one, two, three = cloud.hosts
    return fill(cloud, {one: SPOT, two: FULL, three: SPOT})


def ask_and_wait_for(group: Group, point: str) -> Server:
    active = group.members[0]
    POINTS[point](active)
    [refused] = group.cloud.fail_to_boot("large")
    eventually("the point is reached", lambda: active.nova.held or active.placement.held, every=0.02)
    return refused


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("point", POINTS)
def test_another_takes_over(
    cloud: SimCloud, install: Install, point: str, way: str, record_property: Record
) -> None:
    fleet = plenty_of_spot(cloud)
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        refused = ask_and_wait_for(group, point)
        struck = datetime.now()
        WAYS[way](group)
        group.wait_served(refused.request)
        takeover_s = group.takeover_s(refused.request, struck)
        record_property("takeover_s", takeover_s)
        assert takeover_s < TAKEOVER_S
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())
        # The room is taken: a reaper that served the request again would have to delete a server for it.
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


@pytest.mark.parametrize("way", WAYS)
def test_what_is_on_its_way_is_credited(cloud: SimCloud, install: Install, way: str) -> None:
    """Both victims are being deleted, by another reaper that is gone."""
    fleet = plenty_of_spot(cloud)
    one, _, three = cloud.hosts
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        with cloud.hold_deletions(one), cloud.hold_deletions(three):
            [refused] = cloud.fail_to_boot("large")
            eventually("both are deleted", lambda: len(cloud.reaper_deletions(mark)) == NEEDED)
            WAYS[way](group)
            eventually("another has planned", lambda: plans_of(group.standby[0], refused))
        group.wait_served(refused.request)
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


@pytest.mark.parametrize("way", WAYS)
def test_a_deferred_deletion_is_finished_and_no_other_server_is_deleted(
    cloud: SimCloud, install: Install, way: str
) -> None:
    """The active one is hit when the first victim is deleted, and not forced yet."""
    fleet = plenty_of_spot(cloud)
    with group_of(cloud, install, size=2, region="SoftRegion") as group:
        mark = cloud.mark()
        active = group.members[0]
        active.nova.hold_reads(ANY_SERVER, after="DELETE")
        [refused] = cloud.fail_to_boot("large")
        active.nova.wait_held("the look that comes after the first deletion")
        WAYS[way](group)
        group.wait_served(refused.request)
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed_softly(fleet, mark, NEEDED)


def plans_of(reaper: Reaper, refused: Server) -> list[object]:
    story = reaper.story(refused.request)
    return story["plans"] if story else []


def test_a_standby_names_the_active_one(cloud: SimCloud, install: Install) -> None:
    """A user who looks at it, or pauses it, learns that this changes nothing for the active one."""
    with group_of(cloud, install, size=2) as group:
        [standby] = group.standby
        journal = group.active.config["journal"]["path"]
        active = standby.json("status")["active"]
        assert (active["journal"], active["here"]) == (journal, False)
        assert group.active.json("status")["active"]["here"] is True
        assert journal in standby.command("status").stdout
        assert f"active reaper: on {active['machine']} (journal {journal})" in standby.command("check").stdout
        done = standby.command("pause", "--reason", "a mistake")
        assert done.returncode == 0 and journal in done.stderr and "pause it there" in done.stderr
        assert standby.command("resume").returncode == 0
        freeze(group)
        eventually("the other one is active", lambda: standby.json("status")["active"].get("here"))
        come_back(group)
        group.stop_all()
    assert "no reaper is at queue" in standby.json("status")["active"]["unknown"]


def test_an_acknowledgement_that_is_lost(cloud: SimCloud, install: Install) -> None:
    """The request is served to its end by one that can't tell the broker."""
    fleet = plenty_of_spot(cloud)
    one, _, three = cloud.hosts
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        with cloud.hold_deletions(one), cloud.hold_deletions(three):
            [refused] = cloud.fail_to_boot("large")
            eventually("both are deleted", lambda: len(cloud.reaper_deletions(mark)) == NEEDED)
            cut_off(group)
        cloud.wait_gone([s for s in fleet.spot() if s.id in {d.server for d in cloud.reaper_deletions(mark)}])
        group.wait_served(refused.request)
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


def test_one_after_the_other_of_three(cloud: SimCloud, install: Install) -> None:
    """Two of three are hit in the middle of the same plan; the third one ends it."""
    fleet = plenty_of_spot(cloud)
    with group_of(cloud, install, size=3) as group:
        mark = cloud.mark()
        refused = ask_and_wait_for(group, "between-two-deletions")
        for member in group.members[1:]:
            member.placement.hold_reads(ALLOCATIONS)
        freeze(group)
        held = lambda: [member.reaper for member in group.members[1:] if member.placement.held]  # noqa: E731
        [second] = eventually("another takes over", held)
        second.kill()
        for member in group.members[1:]:
            member.let_pass()
        others = [reaper for reaper in group.standby if reaper is not second]
        group.wait_served(refused.request, by=others)
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        second.start()
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


def test_each_of_many_requests_is_served_once(cloud: SimCloud, install: Install) -> None:
    """The active one dies twice while requests come in; each is in exactly one journal's hands."""
    one, two, three = cloud.hosts
    small = [("spot", "small", 5)]
    fleet = fill(cloud, {one: small, two: FULL, three: small})
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        # Room that is freed early would serve the next request without a kill.
        with cloud.hold_deletions(one), cloud.hold_deletions(three):
            asked = [cloud.fail_to_boot("small")[0] for _ in range(2)]
            eventually("the first deletion", lambda: cloud.reaper_deletions(mark), every=0.02)
            kill(group)
            asked += [cloud.fail_to_boot("small")[0] for _ in range(2)]
            come_back(group)
            group.standby[0].kill()
            asked += [cloud.fail_to_boot("small")[0] for _ in range(2)]
            group.standby[0].start()
            # It has not deleted each yet if it must wait for a server that another one deletes.
            requests = [refused.request for refused in asked]
            eventually("one has a plan for each", lambda: group.one_has_planned(requests))
        for refused in asked:
            group.wait_served(refused.request, by=[group.active, *group.standby])
        cloud.wait_for([server for _ in asked for server in cloud.ask("small")], "ACTIVE")
        group.stop_all()
        assert_freed(fleet, mark, len(asked), among=fleet.spot())
