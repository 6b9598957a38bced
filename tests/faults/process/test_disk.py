"""The journal's disk fills up in mid-work, and has space again later: what can't be written is not
done, and nothing is lost."""

from typing import Callable

import pytest
from cloud import eventually

from machine import SHARES, Machine

MOST_STEPS = 80
SAYS_SO = r"disk is full"


def assert_all_deletions_are_journalled(machine: Machine) -> None:
    """Rule 5: what Nova was asked to delete stands in a journalled plan, with its step."""
    asked = machine.asked_to_delete()
    planned = {server for (server,) in machine.rows("SELECT server FROM chosen")}
    sent = {server for (server,) in machine.rows("SELECT server FROM step WHERE step = 'delete-sent'")}
    assert asked <= planned and asked <= sent, f"asked {asked}, planned {planned}, sent {sent}"


@pytest.mark.parametrize("first", range(1, 1 + SHARES))
def test_from_each_step_on(machines: Callable[..., Machine], first: int) -> None:
    """It gets full at a sync, until the reaper says so and a little longer. All shares together go
    through every step."""
    for step in range(first, MOST_STEPS, SHARES):
        machine = machines()
        machine.empty_cloud()
        machine.start(full_at=step, wait=False)
        [refused] = machine.cloud.fail_to_boot("large")

        def noticed() -> bool:
            return machine.died or machine.logged(SAYS_SO) or machine.outcome(refused.request) is not None

        eventually("it notices, or is not hindered", noticed, every=0.03)
        # Full after the last thing that had to be written, it has no effect.
        hindered = machine.died or machine.logged(SAYS_SO)
        assert_all_deletions_are_journalled(machine)
        machine.full.unlink(missing_ok=True)
        if not machine.logged("reaper .* starts"):
            # It could not even open its journal, says so and ends: systemd starts it again.
            assert machine.bury() == 1
            assert machine.logged(SAYS_SO)
            machine.start()
        machine.assert_served(refused)
        if not hindered:
            break
    else:
        raise AssertionError("the enumeration does not end")
    assert step >= 10, "a request takes more steps than that"


def test_a_request_that_comes_meanwhile_waits(machines: Callable[..., Machine]) -> None:
    machine = machines()
    machine.empty_cloud()
    machine.start()
    machine.full.touch()
    [refused] = machine.cloud.fail_to_boot("large")
    eventually("it says so", lambda: machine.logged(SAYS_SO))
    assert machine.asked_to_delete() == set()
    machine.full.unlink()
    machine.assert_served(refused)


def test_killed_while_it_is_full_it_starts_when_there_is_space(machines: Callable[..., Machine]) -> None:
    machine = machines()
    machine.empty_cloud()
    machine.start()
    one, two = machine.cloud.hosts
    with machine.cloud.hold_deletions(one), machine.cloud.hold_deletions(two):
        [refused] = machine.cloud.fail_to_boot("large")
        eventually("both victims are asked to go", lambda: len(machine.asked_to_delete()) == 2)
        machine.full.touch()
    eventually("it says so", lambda: machine.logged(SAYS_SO))
    machine.reaper.kill()
    machine.full.unlink()
    machine.start()
    machine.assert_served(refused)
