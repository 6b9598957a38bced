"""Nova's cells: a server that is moved stays in its cell, builds skip a disabled one, and Nova's API
tells no host's cell.

The cheapest victims are in the wrong cell in all of these. A reaper that is not told of the cells frees
room there once, without effect, and then no more for a while; one that knows them uses the right cell.
"""

import json
import time
from typing import Any, Callable

from cloud import Cloud, Server, eventually
from fleet import assert_freed, assert_none_deleted, fill
from futile_deletions import assert_no_valid_host, cheapest_on, refused_move
from reaper_process import Reaper

FULL = [("regular", "medium", 2)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
FIVE_SPOTS = [("spot", "small", 5)]


def told(reaper: Reaper, here: list[str], there: list[str], disabled: bool = False) -> Reaper:
    other = {"name": "there", "hosts": there, "disabled": disabled}
    reaper.config["scheduler"] = {"cells": [{"name": "here", "hosts": here}, other]}
    reaper.config["trigger"] |= {"unshelve_interval": "1s"}
    return reaper


def says_of_cells(reaper: Reaper) -> list[dict[str, Any]]:
    findings = json.loads(reaper.command("--json", "check").stdout)
    return [each for each in findings["checks"] if each["what"] == "cells"]


def last_decision(reaper: Reaper, request: str) -> dict[str, Any]:
    story = reaper.story(request)
    assert story is not None
    return story["plans"][-1]["decision"]


def move_and_move_again(cloud: Cloud, reaper: Reaper, server: Server, to: str) -> str:
    """The first try is refused, the second one finds room; returns the request of the first."""
    request = refused_move(cloud, server, cloud.live_migrate_without_waiting)
    reaper.wait_outcome(request)
    cloud.live_migrate_without_waiting(server)
    eventually(f"it is on {to}", lambda: cloud.look(server).host == to)
    cloud.wait_for([server], "ACTIVE")
    return request


def test_a_moved_server_stays_in_its_cell(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    with cloud.other_cell(two):
        fleet = fill(cloud, {one: FULL, two: HALF_SPOT, three: FIVE_SPOTS})
        server, _ = fleet.regular(one)
        blind = install()
        victims = cheapest_on(fleet, blind, [two])
        [warning] = says_of_cells(blind)
        assert warning["verdict"] == "warn" and "Nova has several" in warning["detail"], warning
        blind.start()
        mark = cloud.mark()
        request = refused_move(cloud, server, cloud.live_migrate_without_waiting)
        blind.wait_outcome(request)
        assert_freed(fleet, mark, 1, among=victims)
        fleet.by_host[two]["spot"].clear()
        time.sleep(1)  # so that Nova surely looks again with the room in place
        # Again and again: room freed once without effect is not freed on the next host, for any requester.
        for each in (server, server, fleet.regular(one)[1]):
            mark = cloud.mark()
            request = refused_move(cloud, each, cloud.live_migrate_without_waiting)
            outcome = blind.wait_outcome(request)
            assert outcome["safeguard"] == "cell-cooldown", outcome
            assert "scheduler.cells has to say" in outcome["reason"], outcome
            assert_none_deleted(fleet, mark)
        blind.stop()
        assert_no_valid_host(cloud, request)

        knowing = told(install(), [one, three], [two])
        assert [each["verdict"] for each in says_of_cells(knowing)] == ["ok", "ok"]
        knowing.start()
        mark = cloud.mark()
        request = move_and_move_again(cloud, knowing, server, three)
        assert_freed(fleet, mark, 3, among=fleet.spot(three))
        # The room that is free on the second host is no room for it.
        [of_two] = [each for each in last_decision(knowing, request)["rejected"] if each["host_name"] == two]
        assert of_two["code"] == "other-cell" and "'there'" in of_two["reason"], of_two


def test_an_unshelved_server_goes_back_to_its_cell(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """It has no host: the record of its actions tells its last one."""
    one, two, three = cloud.hosts
    with cloud.other_cell(two):
        [server] = cloud.boot("medium", "regular", two)
        cloud.shelve(server)
        fleet = fill(cloud, {one: HALF_SPOT, two: FIVE_SPOTS, three: FULL})
        knowing = told(install(), [one, three], [two])
        cheapest_on(fleet, knowing, [one])
        knowing.start()
        mark = cloud.mark()
        request = cloud.unshelve_without_waiting(server)
        outcome = knowing.wait_outcome(request)
        assert outcome["kind"] == "freed", outcome
        assert_freed(fleet, mark, 3, among=fleet.spot(two))
        cloud.unshelve_without_waiting(server)
        cloud.wait_for([server], "ACTIVE")
        assert cloud.look(server).host == two


def test_builds_skip_a_disabled_cell(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    one, two, three = cloud.hosts
    with cloud.other_cell(two):
        fleet = fill(cloud, {one: FULL, two: HALF_SPOT, three: FIVE_SPOTS})
        with cloud.disable_other_cell():
            knowing = told(install(), [one, three], [two], disabled=True)
            cheapest_on(fleet, install(), [two])
            knowing.start()
            mark = cloud.mark()
            [failed] = cloud.fail_to_boot("medium")
            knowing.wait_outcome(failed.request)
            assert_freed(fleet, mark, 3, among=fleet.spot(three))
            [again] = cloud.ask("medium")
            cloud.wait_for([again], "ACTIVE")
            assert cloud.look(again).host == three
