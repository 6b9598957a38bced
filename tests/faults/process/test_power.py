"""The power goes at every step that the journal makes durable: after the restart the work is done,
once.

`before`: the step was not durable yet, and is lost with all that was written since the last sync.
`after`: it was, and the reaper did not live to act on it.
"""

import time
from typing import Callable

import pytest
from cloud import eventually

from machine import KILLED, SHARES, Machine

# Far above what a run takes: an enumeration that never ends is a failure.
MOST_STEPS = 80


def dies_or_serves(machine: Machine, request: str) -> bool:
    """Did it die? If not, the request has its outcome, and the broker has its message acknowledged."""

    def settled() -> bool:
        if machine.died:
            return True
        served = machine.outcome(request) is not None
        return served and machine.cloud.messages_in(machine.reaper.queue) == 0

    eventually("it dies, or serves the request", settled, every=0.03)
    return machine.died


def ends(machine: Machine, request: str) -> int:
    """How it does: killed before it has served the request, or when it is asked to stop afterwards (it
    writes its journal's log back then), or well."""
    if not dies_or_serves(machine, request):
        machine.reaper.ask_to_stop()
    code = machine.bury()
    assert code in (0, KILLED)
    return code


@pytest.mark.parametrize("first", range(1, 1 + SHARES))
@pytest.mark.parametrize("when", ["before", "after"])
def test_at_each_step_the_journal_makes_durable(
    machines: Callable[..., Machine], when: str, first: int
) -> None:
    """All shares together go through every step; each ends with the first of its own that is never
    reached."""
    began = time.monotonic()
    deaths = 0
    for step in range(first, MOST_STEPS, SHARES):
        machine = machines()
        machine.empty_cloud()
        machine.start(kill=f"{when} {step}", wait=False)
        [refused] = machine.cloud.fail_to_boot("large")
        survived = ends(machine, refused.request) == 0
        machine.start()
        machine.assert_served(refused)
        if survived:
            break
        deaths += 1
    else:
        raise AssertionError(f"it died {deaths} times and was to die again")
    print(f"{deaths} deaths {when} a sync, {time.monotonic() - began:.0f} s")
    assert step > 10, "a request takes more steps than that"


@pytest.mark.parametrize("life", [5, 7])
def test_again_and_again(machines: Callable[..., Machine], life: int) -> None:
    """Each life lasts for a few steps; together they finish the work. What was not heard of is
    called off, planned again and sent again: a life of four steps, the first of which brings the journal
    in order, ends right before that is heard."""
    machine = machines()
    machine.empty_cloud()
    [refused] = machine.cloud.fail_to_boot("large")
    for lives in range(1, MOST_STEPS):
        machine.start(kill=f"after {life}", wait=False)
        ends(machine, refused.request)
        if machine.outcome(refused.request):
            break
    else:
        raise AssertionError(f"{MOST_STEPS} lives were not enough")
    assert lives > 1, "it never died"
    machine.start()
    machine.assert_served(refused)
