"""The reaper is killed (kill -9) at each step of its work and started again: what was sent is
credited, nothing is repeated, nothing forgotten. That it is killed while it waits for room, or
watches what becomes of it, is in test_interruptions.py and test_worst_day.py."""

from typing import Callable

import pytest

from between import ANY_SERVER, looks_at, stand_before
from cloud import Cloud
from fleet import assert_freed, fill
from gate import Gate

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]

# What is held while the reaper is killed, given the reads of victims; and how many deletions Nova
# has heard of by then.
Hold = Callable[[Gate, str], None]
STEPS: dict[str, tuple[Hold, int]] = {
    "it-asks-about-the-requester": (lambda gate, _: gate.hold_reads(ANY_SERVER), 0),
    "its-plan-is-written": (lambda gate, looks: gate.hold_reads(looks), 0),
    "it-does-not-know-yet-that-one-is-deleted": (lambda gate, _: gate.hold_answers("DELETE"), 1),
    "one-of-two-is-deleted": (lambda gate, looks: gate.hold_reads(looks, after="DELETE"), 1),
}


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step(cloud: Cloud, install, step: str) -> None:
    """There are twice as many victims as needed: a second plan would find some."""
    hold, deletions = STEPS[step]
    one, two, three = cloud.hosts
    reaper = install()
    fleet = fill(cloud, {one: SPOT, two: FULL, three: SPOT})
    with Gate(cloud.endpoint("compute")) as gate:
        stand_before(reaper, gate)
        reaper.config["cull"]["max_parallel_deletions"] = 1
        reaper.start()
        hold(gate, looks_at(fleet.spot()))
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        gate.wait_held(step)
        assert len(cloud.reaper_deletions(mark)) == deletions
        reaper.kill()
        gate.let_pass()
        reaper.start()
        assert reaper.wait_outcome(refused.request)["kind"] == "freed"
        reaper.wait_messages_done()
    assert_freed(fleet, mark, 2, among=fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


def test_killed_before_a_deferred_deletion_is_forced(cloud: Cloud, install) -> None:
    """Nova keeps the deleted server and its room for hours; the restarted reaper knows that the
    deletion was its own, and forces it, once."""
    one, two, three = cloud.hosts
    reaper = install(region="SoftRegion")
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    [victim] = fleet.spot()
    with Gate(cloud.endpoint("compute", "SoftRegion")) as gate:
        gate.hold_reads(looks_at([victim]), after="DELETE")
        stand_before(reaper, gate)
        reaper.start()
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("medium")
        gate.wait_held("the look at the deleted victim")
        reaper.kill()
        gate.let_pass()
        reaper.start()
        assert reaper.wait_outcome(refused.request)["kind"] == "freed"
        reaper.wait_messages_done()
    kinds = [(deletion.server, deletion.kind) for deletion in cloud.reaper_deletions(mark)]
    assert kinds == [(victim.id, "delete"), (victim.id, "forceDelete")]
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")
