"""Several reapers on one queue, each with a journal of its own: one is active, and when it dies,
freezes or is cut off, another takes over within seconds. No request is served twice or lost, also
when the first one wakes up. What counts is the cloud's own record of who was deleted."""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Callable, Iterator

import pytest

from cloud import Server, eventually
from fleet import Fleet, assert_freed, fill
from reaper_process import Reaper
from relay import Relay
from sim_cloud import SimCloud

pytestmark = pytest.mark.sim_only

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
# Of a request `large`: both revocable servers of one host.
NEEDED = 2
# RabbitMQ takes a silent one for dead after 2 to 3 of these.
HEARTBEAT = "1s"
# Longer than that: an answer that is still on its way when another takes over.
LATE_S = 6.0
# From the blow until another has the request in hand: 3 heartbeats, and what a busy machine adds.
# Far below what the broker or the kernel would take to give up a dead connection by themselves.
TAKEOVER_S = 30.0

Install = Callable[..., Reaper]
Record = Callable[[str, object], None]


@dataclass
class Group:
    """The active reaper, those that stand by, and the way of the active one to the broker."""

    cloud: SimCloud
    active: Reaper
    standby: list[Reaper]
    relay: Relay

    @property
    def queue(self) -> str:
        return self.active.queue

    def wait_consumers(self, count: int) -> None:
        consumers = lambda: self.cloud.messages.consumers(self.queue)  # noqa: E731
        eventually(f"{count} reapers are at the queue", lambda: consumers() == count)

    def wait_served(self, request: str, by: list[Reaper] | None = None) -> str:
        """Waits until one of those that stood by has an outcome; which."""

        def outcome() -> str | None:
            stories = [reaper.story(request) for reaper in (by or self.standby)]
            found = [story["outcome"] for story in stories if story and story["outcome"]]
            return found[0]["kind"] if found else None

        return eventually("another has served the request", outcome, timeout=90)  # type: ignore[return-value]

    def takeover_s(self, request: str, struck: datetime) -> float:
        """How long the request was in nobody's hands, by the log of who took it."""
        said = [reaper.first_said(f"{request}: ") for reaper in self.standby]
        return (min(time for time in said if time is not None) - struck).total_seconds()

    def stop_all(self) -> None:
        """They end by themselves, and no message is left."""
        for reaper in [self.active, *self.standby]:
            if reaper.daemon is not None:
                reaper.stop()
        assert self.cloud.waiting_messages(self.queue) == 0, "a message is left"


@contextmanager
def group_of(cloud: SimCloud, install: Install, size: int) -> Iterator[Group]:
    made = [install() for _ in range(size)]
    relay = Relay(cloud.lab["broker"]["port"])
    relay.open()
    port = f":{cloud.lab['broker']['port']}/"
    for number, reaper in enumerate(made):
        broker = reaper.config["broker"]
        broker.update(heartbeat=HEARTBEAT, queue=made[0].queue, connect_timeout="2s")
        broker["dead_letter_queue"] = f"{made[0].queue}.dead-letter"
        if number == 0:
            broker["urls"] = [url.replace(port, f":{relay.port}/") for url in broker["urls"]]
        reaper.config["cull"]["max_parallel_deletions"] = 1
    group = Group(cloud, made[0], made[1:], relay)
    try:
        for number, reaper in enumerate(made):
            reaper.start()
            group.wait_consumers(number + 1)
        yield group
    finally:
        relay.close()


# The moments -----------------------------------------------------------------------------------


@dataclass
class Moment:
    """When the active one is hit, and how that moment is made long."""

    stretch: Callable[[SimCloud], int]
    reached: Callable[[SimCloud, int, int], bool]  # of the cloud, the rule, a mark


def slow(method: str, pattern: str) -> Callable[[SimCloud], int]:
    return lambda cloud: cloud.slow_down(method, pattern, LATE_S, count=1)


MOMENTS = {
    # It asks Nova about the requester.
    "before-the-plan": Moment(slow("GET", "/compute/*/servers/*"), lambda c, rule, _: c.slowed_down(rule) > 0),
    # It reads the first victim once more.
    "before-the-first-deletion": Moment(
        slow("GET", "/placement/allocations/*"), lambda c, rule, _: c.slowed_down(rule) > 0
    ),
    # The first deletion is done; its answer is late.
    "between-two-deletions": Moment(
        slow("DELETE", "/compute/*/servers/*"), lambda c, _, mark: len(c.reaper_deletions(mark)) == 1
    ),
}


def kill(group: Group) -> None:
    group.active.kill()


def freeze(group: Group) -> None:
    group.active.freeze()


def cut_off(group: Group) -> None:
    group.relay.swallow()


def come_back(group: Group) -> None:
    """Whatever was done to it is over; it is at the queue again."""
    if group.active.daemon is None:
        group.active.start()
    group.active.thaw()
    group.relay.pass_on()
    group.wait_consumers(1 + len(group.standby))


WAYS = {"killed": kill, "frozen": freeze, "cut-off": cut_off}


def plenty_of_spot(cloud: SimCloud) -> Fleet:
    """Twice what is needed: whoever serves a request again finds victims."""
    one, two, three = cloud.hosts
    return fill(cloud, {one: SPOT, two: FULL, three: SPOT})


def ask_and_wait_for(cloud: SimCloud, moment: Moment, mark: int) -> Server:
    rule = moment.stretch(cloud)
    [refused] = cloud.ask_in_vain("large")
    eventually("the moment has come", lambda: moment.reached(cloud, rule, mark), every=0.02)
    return refused


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_another_takes_over(
    cloud: SimCloud, install: Install, moment: str, way: str, record_property: Record
) -> None:
    fleet = plenty_of_spot(cloud)
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        refused = ask_and_wait_for(cloud, MOMENTS[moment], mark)
        struck = datetime.now()
        WAYS[way](group)
        group.wait_served(refused.request)
        takeover_s = group.takeover_s(refused.request, struck)
        record_property("takeover_s", takeover_s)
        assert takeover_s < TAKEOVER_S
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())
        # The room is taken, so that whoever served the request again would have to kill for it.
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


@pytest.mark.parametrize("way", WAYS)
def test_what_is_on_its_way_is_credited(cloud: SimCloud, install: Install, way: str) -> None:
    """Both victims are being deleted, by another reaper that is not there any more."""
    fleet = plenty_of_spot(cloud)
    one, _, three = cloud.hosts
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        with cloud.hold_deletions(one), cloud.hold_deletions(three):
            [refused] = cloud.ask_in_vain("large")
            eventually("both are deleted", lambda: len(cloud.reaper_deletions(mark)) == NEEDED)
            WAYS[way](group)
            eventually("another has planned", lambda: plans_of(group.standby[0], refused))
        group.wait_served(refused.request)
        cloud.wait_for(cloud.ask("large"), "ACTIVE")
        come_back(group)
        group.stop_all()
        assert_freed(fleet, mark, NEEDED, among=fleet.spot())


def plans_of(reaper: Reaper, refused: Server) -> list[object]:
    story = reaper.story(refused.request)
    return story["plans"] if story else []


def test_an_acknowledgement_that_is_lost(cloud: SimCloud, install: Install) -> None:
    """The request is served to its end by one that can't tell the broker."""
    fleet = plenty_of_spot(cloud)
    one, _, three = cloud.hosts
    with group_of(cloud, install, size=2) as group:
        mark = cloud.mark()
        with cloud.hold_deletions(one), cloud.hold_deletions(three):
            [refused] = cloud.ask_in_vain("large")
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
        refused = ask_and_wait_for(cloud, MOMENTS["between-two-deletions"], mark)
        late = cloud.slow_down("GET", "/placement/allocations/*", LATE_S)
        freeze(group)
        eventually("another takes over", lambda: cloud.slowed_down(late) > 0)
        second = next(r for r in group.standby if r.story(refused.request))
        second.kill()
        cloud.stop_slowing()
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
            asked = [cloud.ask_in_vain("small")[0] for _ in range(2)]
            eventually("the first deletion", lambda: cloud.reaper_deletions(mark), every=0.02)
            kill(group)
            asked += [cloud.ask_in_vain("small")[0] for _ in range(2)]
            come_back(group)
            group.standby[0].kill()
            asked += [cloud.ask_in_vain("small")[0] for _ in range(2)]
            group.standby[0].start()
            eventually("one deletion each", lambda: len(cloud.reaper_deletions(mark)) >= len(asked))
        for refused in asked:
            group.wait_served(refused.request, by=[group.active, *group.standby])
        cloud.wait_for([server for _ in asked for server in cloud.ask("small")], "ACTIVE")
        group.stop_all()
        assert_freed(fleet, mark, len(asked), among=fleet.spot())
