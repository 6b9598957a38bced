"""The kill switch: at once, without the daemon's help, and through restarts."""

import os
from pathlib import Path
from typing import Callable

from cloud import eventually
from gate import Gate

from machine import Machine


def refused_while_paused(machine: Machine) -> None:
    [refused] = machine.cloud.fail_to_boot("large")
    assert machine.wait_outcome(refused.request) == "refused"
    assert machine.rows("SELECT safeguard FROM request WHERE id = ?", refused.request) == [("paused",)]
    assert machine.asked_to_delete() == set()


def test_no_server_is_deleted_until_it_is_resumed(machines: Callable[..., Machine]) -> None:
    machine = machines()
    machine.empty_cloud()
    machine.start()
    assert machine.reaper.command("pause", "--reason", "an upgrade").returncode == 0
    refused_while_paused(machine)
    machine.reaper.kill()
    machine.start()
    refused_while_paused(machine)
    status = machine.reaper.command("status")
    assert status.returncode == 4 and "an upgrade" in status.stdout
    assert machine.reaper.json("history", "totals")["safeguards"] == {"paused": 2}
    assert "an upgrade" in machine.reaper.command("resume").stdout
    [served] = machine.cloud.fail_to_boot("large")
    assert machine.wait_outcome(served.request) == "freed"
    assert len(machine.deletions()) == 2
    assert len(machine.reaper.json("history", "victims")["victims"]) == 2


def test_a_touched_file_is_enough(machines: Callable[..., Machine]) -> None:
    machine = machines()
    machine.empty_cloud()
    machine.start()
    switch = Path(machine.reaper.config["pause_file"])
    switch.touch()
    refused_while_paused(machine)
    os.unlink(switch)
    [served] = machine.cloud.fail_to_boot("large")
    assert machine.wait_outcome(served.request) == "freed"


def test_in_mid_work_no_further_deletion_is_sent(machines: Callable[..., Machine]) -> None:
    """One deletion at a time; the switch is thrown while the first is on its way."""
    machine = machines()
    machine.reaper.config["cull"] |= {"max_parallel_deletions": 1}
    machine.empty_cloud()
    with Gate(machine.cloud.endpoint("compute")) as gate:
        gate.hold_answers("DELETE")
        machine.reaper.config["cloud"] |= {"endpoints": {"compute": gate.url}}
        machine.start()
        machine.cloud.fail_to_boot("large")
        gate.wait_held("the answer to the first deletion")
        assert machine.reaper.command("pause").returncode == 0
        gate.let_pass()
        assert_one_died(machine)


def assert_one_died(machine: Machine) -> None:
    eventually("its victim is gone", lambda: machine.deletions())
    eventually("the request ends", lambda: machine.rows("SELECT 1 FROM request WHERE outcome IS NOT NULL"))
    assert len(machine.asked_to_delete()) == 1
    assert len(machine.deletions()) == 1
