"""Ten thousand failures in a minute, an old backlog, garbage, hostile names: memory stays bounded,
every message has an end, and who really waits for room gets it."""

import time
import uuid
from datetime import timedelta
from typing import Callable

import pytest

from cloud import eventually
from fleet import assert_none_deleted, assert_only_victims_died, fill
from flood import HOSTILE, garbage, of_another_request, older, with_hostile_names
from reaper_process import Reaper
from sim_cloud import SimCloud

Record = Callable[[str, object], None]

pytestmark = pytest.mark.sim_only

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
FLOOD = 10_000
REAL = 500
BACKLOG = 500
# A small process; the limit is far above what it needs, and far below what a flood could take.
MEMORY_MIB = 300
# Until a flood is done with; the rest of the machine may be busy.
DRAIN_PATIENCE = 1800


def unfinished_and_finished(reaper: Reaper) -> tuple[int, int]:
    [(open_ones, done)] = reaper.rows(
        "SELECT SUM(outcome IS NULL), SUM(outcome IS NOT NULL) FROM request"
    )
    return open_ones or 0, done or 0


def assert_nothing_raw(reaper: Reaper, *texts: str) -> None:
    """What a terminal obeys, or what looks like a line of ours, is nowhere as it came."""
    shown = {"the log": reaper.log_text(), **{f"text {n}": text for n, text in enumerate(texts)}}
    for where, text in shown.items():
        for bad in ("\x1b", "\x07", "\x00", "\x9b", "\x85", "\u202e"):
            assert bad not in text, f"{where} has {bad!r}"
        assert not [line for line in text.splitlines() if line.startswith("ERROR forged")], where


@pytest.mark.long
def test_ten_thousand_failures_at_once(cloud: SimCloud, reaper: Reaper, record_property: Record) -> None:
    """Most of them are none: Nova knows no such action. The others are of few shapes, for a zone in which
    nothing is revocable. Then one that can be helped."""
    one, two, three = cloud.hosts
    cloud.make_zone("full", [three])
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    for flavor in ("small", "medium", "large"):
        cloud.fail_to_boot(flavor, zone="full")
    shapes = cloud.failure_messages(3)
    first = [reaper.wait_outcome(server.request) for server in cloud.asked[-3:]]
    assert [outcome["kind"] for outcome in first] == ["not-enough"] * 3
    calls_before = len(cloud.reaper_requests(mark))

    bodies = [of_another_request(shapes[n % 3]) for n in range(FLOOD - REAL)]
    began = time.monotonic()
    cloud.messages.publish_many(bodies)
    for n in range(REAL):
        cloud.ask(("small", "medium", "large")[n % 3], zone="full")
    published = time.monotonic() - began
    [late] = cloud.fail_to_boot("large")
    everything = FLOOD + 3 + 1
    eventually(
        "every request has an outcome",
        lambda: unfinished_and_finished(reaper) == (0, everything),
        timeout=DRAIN_PATIENCE,
        every=0.5,
    )
    drained = time.monotonic() - began
    peak = reaper.peak_memory_mib()
    calls = len(cloud.reaper_requests(mark)) - calls_before
    figures = {"published_s": published, "drained_s": drained, "peak_mib": peak, "calls": calls}
    for name, figure in figures.items():
        record_property(name, round(figure, 1))
    assert peak < MEMORY_MIB
    assert reaper.story(late.request)["outcome"]["kind"] == "freed"  # type: ignore[index]
    reaper.wait_messages_done()
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


@pytest.mark.long
def test_a_multi_create_of_more_than_a_thousand(cloud: SimCloud, reaper: Reaper) -> None:
    """It is one request, of more messages than the reaper takes at a time."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    refused = cloud.fail_to_boot("small", count=1001)
    assert len({server.request for server in refused}) == 1
    assert reaper.wait_outcome(refused[0].request)["kind"] == "not-enough"
    reaper.wait_messages_done()
    assert reaper.rows("SELECT request ->> 'slots' FROM request") == [(1001,)]
    assert cloud.waiting_messages(reaper.config["broker"]["dead_letter_queue"]) == 0
    assert_none_deleted(fleet, mark)


def test_a_backlog_of_hours(cloud: SimCloud, reaper: Reaper) -> None:
    """What waited too long is dropped with a reason; what is new is served."""
    reaper.stop()
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: SPOT})
    mark = cloud.mark()
    [gone] = cloud.fail_to_boot("large")
    [message] = cloud.failure_messages(1)
    cloud.messages.delete_queues([reaper.queue])
    reaper.start()
    reaper.stop()  # the queue is there again, and empty
    old = [older(of_another_request(message), timedelta(hours=3, seconds=n)) for n in range(BACKLOG)]
    cloud.messages.publish_many(old)
    cloud.messages.publish_many([message])
    reaper.start()
    eventually("the new one is served", lambda: unfinished_and_finished(reaper)[1] == 1)
    # A connection that is lost meanwhile brings some of them twice, and each delivery is logged.
    dropped = "SELECT COUNT(DISTINCT message_id) FROM message WHERE verdict = 'too-old'"
    eventually("the old ones are dropped", lambda: reaper.rows(dropped) == [(BACKLOG,)])
    reaper.wait_messages_done()
    assert len(cloud.reaper_deletions(mark)) == 2
    assert cloud.look(gone).status == "ERROR"
    assert len([s for s in fleet.spot() if cloud.look(s).gone]) == 2


def test_garbage_is_set_aside(cloud: SimCloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    cloud.make_zone("full", [three])
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    cloud.fail_to_boot("large", zone="full")
    [message] = cloud.failure_messages(1)
    reaper.wait_outcome(cloud.asked[-1].request)
    bodies = garbage(message)
    cloud.messages.publish_many(bodies)
    dead = reaper.config["broker"]["dead_letter_queue"]
    eventually("all are set aside", lambda: cloud.waiting_messages(dead) == len(bodies))
    assert_none_deleted(fleet, mark)
    # It lives on and serves.
    [refused] = cloud.fail_to_boot("large")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot())
    shown = reaper.command("history", "messages")
    assert shown.returncode == 0, shown.stderr
    assert_nothing_raw(reaper, shown.stdout)
    assert reaper.rows("PRAGMA integrity_check") == [("ok",)]
    reaper.wait_messages_done()


def test_hostile_names(cloud: SimCloud, reaper: Reaper) -> None:
    """In messages, in the names and metadata of victims and requesters, and as a host's reason."""
    one, two, three = cloud.hosts
    fill(cloud, {one: [], two: FULL, three: FULL}, exactly=False)
    cloud.disable_host(three, HOSTILE[4])
    victims = [boot_named(cloud, HOSTILE[0], one), boot_named(cloud, HOSTILE[3], one)]
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("large")
    [message] = cloud.failure_messages(1)
    reaper.wait_outcome(refused.request)
    assert sorted(d.server for d in cloud.reaper_deletions(mark)) == sorted(victims)
    cloud.boot("large", "regular", one)  # no other server finds room
    # Constraints that can't be understood, and as many hints as Nova's API takes.
    others = [str(uuid.uuid4()) for _ in range(2_000)]
    odd = [cloud.fail_to_boot("large", metadata={"res-type": text})[0] for text in HOSTILE]
    odd += cloud.fail_to_boot("large", hints={"different_host": others})
    for server in odd:
        assert reaper.wait_outcome(server.request)["kind"] in ("refused", "not-enough", "already-there")
    bodies = [with_hostile_names(message, text) for text in HOSTILE]
    cloud.messages.publish_many(bodies)
    served = 1 + len(odd)
    eventually(
        "each has an end",
        lambda: cloud.waiting_messages(reaper.queue) == 0
        and unfinished_and_finished(reaper)[0] == 0
        and ended(cloud, reaper) == served + len(bodies),
    )
    commands = [
        ("history",),
        ("history", "show", refused.request),
        *(("history", "show", server.request) for server in odd),
        ("history", "messages"),
        ("history", "victims"),
        ("hosts",),
        ("hosts", "--servers"),
        ("status",),
        ("check",),
        ("config",),
        ("plan", "--resources", "VCPU=5", "--project", "regular"),
    ]
    shown = [reaper.command(*flags, *words) for words in commands for flags in ((), ("--json",))]
    shown.append(reaper.command("hosts", "--servers", "-o", "csv"))
    for done in shown:
        assert done.returncode in (0, 3), f"{done.args}: {done.stderr}"
    assert_nothing_raw(reaper, *(done.stdout for done in shown), *(done.stderr for done in shown))
    assert max(len(line) for line in reaper.log_text().splitlines()) < 10_000
    assert reaper.rows("PRAGMA integrity_check") == [("ok",)]
    assert len(cloud.reaper_deletions(mark)) == len(victims)
    reaper.wait_messages_done()


def ended(cloud: SimCloud, reaper: Reaper) -> int:
    """Messages that became a request, or were set aside."""
    aside = cloud.waiting_messages(reaper.config["broker"]["dead_letter_queue"])
    return unfinished_and_finished(reaper)[1] + aside


def boot_named(cloud: SimCloud, name: str, host: str) -> str:
    """A revocable server whose user had an idea."""
    body = {"name": name, "imageRef": cloud.lab["image"], "networks": "none", "host": host}
    body["metadata"] = {"note": name, "res-type": name}
    body["flavorRef"] = cloud.lab["flavors"]["medium"]
    made = cloud.tenants["spot"].post("/servers", json={"server": body}).json()["server"]["id"]
    look = lambda: cloud.nova.get(f"/servers/{made}").json()["server"]  # noqa: E731
    eventually("it is ACTIVE", lambda: look()["status"] == "ACTIVE")
    assert look()["name"] == name
    return made
