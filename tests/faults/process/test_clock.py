"""The wall clock is stepped under a working reaper: deadlines, ages and the journal don't mind."""

from typing import Callable

import pytest
from cloud import eventually

from machine import Machine

DAY = 24 * 3600
STEPS = [pytest.param(DAY, id="forward"), pytest.param(-DAY, id="backward")]


@pytest.mark.parametrize("seconds", STEPS)
def test_in_mid_work(machines: Callable[..., Machine], seconds: int) -> None:
    """While its victims are on their way: the deadline of the cull is not of the wall clock."""
    machine = machines()
    machine.empty_cloud()
    machine.start()
    one, two = machine.cloud.hosts
    with machine.cloud.hold_deletions(one), machine.cloud.hold_deletions(two):
        [refused] = machine.cloud.fail_to_boot("large")
        eventually("both victims are asked to go", lambda: len(machine.asked_to_delete()) == 2)
        machine.clock.write_text(str(seconds))
        before = machine.cloud.mark()
        eventually("it goes on asking", lambda: len(machine.cloud.reaper_requests(before)) > 4)
    machine.assert_served(refused)


@pytest.mark.parametrize("seconds", STEPS)
def test_stepped_there_and_back_it_serves_as_before(machines: Callable[..., Machine], seconds: int) -> None:
    machine = machines()
    machine.empty_cloud()
    machine.start()
    machine.clock.write_text(str(seconds))
    before = machine.cloud.mark()
    machine.simulation.cloudsim.post("hosts/" + machine.cloud.hosts[0] + "/agent", down=True)
    machine.simulation.cloudsim.post("hosts/" + machine.cloud.hosts[0] + "/agent", down=False)
    eventually("it looks at the cloud", lambda: machine.cloud.reaper_requests(before))
    machine.clock.unlink()
    [refused] = machine.cloud.fail_to_boot("large")
    machine.assert_served(refused)


@pytest.mark.parametrize("seconds", STEPS)
def test_between_two_lives_nothing_is_forgotten(machines: Callable[..., Machine], seconds: int) -> None:
    """A restart in mid-work, and the clock is another one."""
    machine = machines()
    machine.empty_cloud()
    machine.start()
    one, two = machine.cloud.hosts
    with machine.cloud.hold_deletions(one), machine.cloud.hold_deletions(two):
        [refused] = machine.cloud.fail_to_boot("large")
        eventually("both victims are asked to go", lambda: len(machine.asked_to_delete()) == 2)
        machine.reaper.kill()
        machine.clock.write_text(str(seconds))
        machine.start()
    machine.assert_served(refused)
