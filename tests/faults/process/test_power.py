"""The power goes at every step that the journal makes durable: after the restart the work is done,
once.

`before`: the step was not durable yet, and is lost with all that was written since the last sync.
`after`: it was, and the reaper did not live to act on it.
"""

import time
from typing import Callable

import pytest
from cloud import eventually

from machine import KILLED, Machine

# Far above what a run takes: an enumeration that never ends is a failure.
MOST_STEPS = 80


def dies_or_serves(machine: Machine, request: str) -> bool:
    """Did it die? If not, the request has its outcome and its message is acknowledged."""

    def settled() -> bool:
        if machine.died:
            return True
        served = machine.outcome(request) is not None
        return served and machine.cloud.waiting_messages(machine.reaper.queue) == 0

    eventually("it dies, or serves the request", settled, timeout=60, every=0.03)
    return machine.died


@pytest.mark.parametrize("when", ["before", "after"])
def test_at_each_step_the_journal_makes_durable(machines: Callable[..., Machine], when: str) -> None:
    began = time.monotonic()
    deaths = 0
    for step in range(1, MOST_STEPS):
        machine = machines()
        machine.empty_cloud()
        machine.start(kill=f"{when} {step}", wait=False)
        [refused] = machine.cloud.ask_in_vain("large")
        if not dies_or_serves(machine, refused.request):
            machine.assert_served(refused)
            break
        assert machine.bury() == KILLED, f"step {step}"
        deaths += 1
        machine.start(wait=False)
        machine.assert_served(refused)
    else:
        raise AssertionError(f"it died {MOST_STEPS} times and was to die again")
    print(f"{deaths} deaths {when} a sync, {time.monotonic() - began:.0f} s")
    assert deaths >= 10, "a request takes more steps than that"


@pytest.mark.parametrize("life", [4, 6])
def test_again_and_again(machines: Callable[..., Machine], life: int) -> None:
    """Each life lasts for a few steps; together they finish the work. What was not heard of is
    called off, planned anew and sent again: a life of three steps ends right before that is heard."""
    machine = machines()
    machine.empty_cloud()
    [refused] = machine.cloud.ask_in_vain("large")
    for lives in range(1, MOST_STEPS):
        machine.start(kill=f"after {life}", wait=False)
        if not dies_or_serves(machine, refused.request):
            break
        assert machine.bury() == KILLED
        if machine.outcome(refused.request):
            machine.start(wait=False)
            break
    else:
        raise AssertionError(f"{MOST_STEPS} lives were not enough")
    assert lives > 1, "it never died"
    machine.assert_served(refused)
