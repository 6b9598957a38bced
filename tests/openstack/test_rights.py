"""The rights that the reaper needs on a real OpenStack, and what it does without them."""

import re
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

import pytest

from cloud import eventually
from fleet import Fleet, assert_none_deleted, fill
from lab_cloud import LabCloud
from lablib import catalog
from lablib.settings import POLICIES, policy_file
from reaper_process import Reaper
from test_tagging import CLASS, SETUP, flavor, with_spot  # noqa: F401

pytestmark = pytest.mark.lab_only

TOOL = Path(__file__).parents[2] / "deploy/least-rights"
PAGE = TOOL.parent / "docs/rights.md"
FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
ADMINISTRATOR = "context_is_admin"
SINCE_2025_2 = {"os_compute_api:os-migrations:index:all_projects", "os_compute_api:os-migrations:index:host"}


def printed_by(*arguments: str) -> str:
    done = subprocess.run(
        ["/usr/bin/python3", "-B", str(TOOL), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed_rights() -> set[tuple[str, str, str]]:
    """Service, feature and rule, as the tool has them."""
    return {tuple(line.split("\t")) for line in printed_by("--list").splitlines()}  # type: ignore[misc]


@contextmanager
def role_with_the_least_rights(
    cloud: LabCloud, leave_out: str = "", features: str = "look,delete,labels,held-room,setup"
) -> Iterator[None]:
    """Of the role `reaper`, which has none otherwise. The rule `leave_out` stays as it is."""
    try:
        for service in POLICIES:
            lines = printed_by(service, "--features", features).splitlines()
            kept = [line for line in lines if not leave_out or not line.startswith(f'"{leave_out}"')]
            policy_file(cloud.place, service).write_text("\n".join(kept) + "\n")
        yield
    finally:
        for service in POLICIES:
            policy_file(cloud.place, service).write_text("{}\n")


def used_rights(cloud: LabCloud, mark: int) -> set[str]:
    """The rules that let its requests pass."""
    asked = [request.rules or {} for request in cloud.access.since(mark, user="least")]
    return {rule for rules in asked for rule, passed in rules.items() if passed}


def rules_of(*features: str) -> set[str]:
    return {rule for _, feature, rule in listed_rights() if feature in features}


def refused(cloud: LabCloud, mark: int) -> list[str]:
    requests = cloud.access.since(mark, user="least")
    return [str(request) for request in requests if request.status in (401, 403)]


def test_the_least_rights_are_enough_and_each_is_used(cloud: LabCloud, install, flavor) -> None:
    """All that the reaper does, as the role `reaper` with what deploy/least-rights prints."""
    one, two, three = cloud.hosts
    with role_with_the_least_rights(cloud):
        mark = cloud.mark()
        fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FULL})
        frees_on(cloud, sparing(install, region="SoftRegion"), fleet, two)
        reaper = sparing(install)
        frees_on(cloud, reaper, fleet, one)
        looks_at_moves(cloud, reaper, fleet, three)
        makes_and_holds_room_of_its_own(cloud, install, flavor)
        assert not refused(cloud, mark)
        used, wanted = used_rights(cloud, mark), recorded_rights()
        assert used - {ADMINISTRATOR} == wanted - {ADMINISTRATOR}
        may_do_nothing_else(cloud, cloud.boot("small", "regular", one)[0].id)


def recorded_rights() -> set[str]:
    """Glance keeps no record here; a private image of another project stands for it. The features that
    this lab does not use have scenarios of their own: test_with_the_least_rights, where the feature is tested."""
    elsewhere = (
        "gateway",
        "admin",
        "reservations",
        "oversubscription",
        "setup-oversubscription",
        "notice",
        "shelve",
        "unshelve-again",
    )
    here = rules_here()
    return {
        rule
        for service, feature, rule in listed_rights()
        if service != "glance" and feature not in elsewhere and (rule in here or rule not in SINCE_2025_2)
    }


def rules_here() -> set[str]:
    """Those of Nova that change for the role: all that there are in this release, nearly."""
    return set(re.findall(r'^"([^"]+)": ', printed_by("nova"), re.MULTILINE))


def sparing(install: Callable[..., Reaper], **places: str) -> Reaper:
    reaper = install(user="least", **places)
    reaper.config["labels"] = {"servers": "all"}
    reaper.config["trigger"] |= {"unshelve_interval": "1s"}
    reaper.config["protect"] = {"projects": ["Default/service", reaper.cloud.project_id("service")]}
    return reaper


def frees_on(cloud: LabCloud, reaper: Reaper, fleet: Fleet, host: str) -> None:
    """For a request for a zone, an image of a tenant's own and a group."""
    cloud.make_aggregate("here", [host])
    reaper.config["watched_aggregates"] = ["here"]
    done = reaper.command("check")
    assert done.returncode == 0, done.stdout + done.stderr
    reaper.start()
    group = cloud.make_group(f"group-{host}", "anti-affinity")
    [asked] = cloud.fail_to_boot("medium", zone="nova", hints=group)
    assert reaper.wait_outcome(asked.request)["kind"] == "freed"
    cloud.wait_gone(fleet.spot(host))
    [served] = cloud.boot("medium", "regular", host)
    eventually("it is labelled", lambda: cloud.metadata_of(served).get("res-type") == "regular")
    reaper.stop()
    cloud.remove_aggregate("here")


def looks_at_moves(cloud: LabCloud, reaper: Reaper, fleet: Fleet, host: str) -> None:
    """A resize that finds no host, a server that is shelved, and a resize that is not confirmed."""
    del reaper.config["watched_aggregates"]
    reaper.start()
    [large] = fleet.regular(host)
    [medium, *_] = fleet.regular(cloud.hosts[0])
    request = cloud.resize_without_waiting(medium, "large")
    reaper.wait_outcome(request)
    cloud.shelve(large)
    asked = "/os-instance-actions"
    mark = cloud.mark()
    eventually("it looks at it", lambda: any(asked in r.path for r in cloud.access.since(mark, user="least")))
    cloud.delete_without_waiting(medium)
    cloud.wait_gone([medium])
    [spot] = cloud.boot("small", "spot", host)
    cloud.resize_without_waiting(spot, "medium")
    cloud.wait_for([spot], "VERIFY_RESIZE")
    [refused] = cloud.fail_to_boot("large")
    reaper.wait_outcome(refused.request)
    reaper.stop()


def makes_and_holds_room_of_its_own(
    cloud: LabCloud, install: Callable[..., Reaper], flavor: Callable[..., None]
) -> None:
    """`reaper setup`, and a cull that reserves its class meanwhile."""
    cloud.reset()
    reaper = sparing(install)
    reaper.config["taggers"] = [{"name": "resource"}]
    reaper.config["cull"] |= {"promise": "1s", "watch": "1s"}
    try:
        reaper.json(*SETUP, "--slots", "1", "--apply")
        flavor({f"resources1:{CLASS}": "1"})
        fleet = with_spot(cloud, 1)
        reaper.start()
        [asked] = cloud.fail_to_boot("medium")
        assert reaper.wait_outcome(asked.request)["kind"] == "freed"
        cloud.wait_gone(fleet.spot())
        reaper.stop()
    finally:
        cloud.reset()
        done = reaper.command(*SETUP, "--undo", "--apply")
    assert done.returncode == 0, done.stdout + done.stderr


def may_do_nothing_else(cloud: LabCloud, server: str) -> None:
    """What an administrator may, and what every user may."""
    nova = catalog.client(cloud.lab, "compute", user="least", raise_exc=False)
    for action in ({"os-stop": None}, {"lock": None}, {"os-resetState": {"state": "error"}}):
        assert nova.post(f"/servers/{server}/action", json=action).status_code == 403, action
    for path in ("/os-keypairs", "/os-simple-tenant-usage", "/servers", f"/servers/{server}/diagnostics"):
        assert nova.get(path).status_code == 403, path
    keystone = catalog.client(cloud.lab, "identity", user="least", raise_exc=False)
    assert keystone.get("/users").status_code == 403
    placement = catalog.client(cloud.lab, "placement", user="least", raise_exc=False)
    assert placement.delete(f"/allocations/{server}").status_code == 403
    glance = catalog.client(cloud.lab, "image", user="least", raise_exc=False)
    assert glance.get("/v2/images").status_code == 403


def test_a_reaper_that_sees_others_in_lists_only_deletes_nothing(cloud: LabCloud, install) -> None:
    """To one who is no administrator, Nova lists servers of others and says "not found" of each."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    with role_with_the_least_rights(cloud, leave_out=ADMINISTRATOR):
        reaper = install(user="least")
        done = reaper.command("check")
        assert done.returncode == 4, done.stdout
        failures = [line for line in done.stdout.splitlines() if "FAIL" in line]
        [failure] = [line for line in failures if "servers of other projects" in line]
        assert "context_is_admin" in failure, failures
        mark = cloud.mark()
        reaper.start()
        [asked] = cloud.fail_to_boot("medium")
        waits = f"{asked.request}: the requester is not known yet"
        eventually("it waits", lambda: waits in reaper.log_text() and "held back" in reaper.log_text())
        assert_none_deleted(fleet, mark)
        assert not [request for request in cloud.access.since(mark, user="least") if request.is_write]
    with role_with_the_least_rights(cloud):
        assert reaper.wait_outcome(asked.request)["kind"] == "freed"
        cloud.wait_gone(fleet.spot())


def test_the_rights_are_in_the_manual() -> None:
    text = PAGE.read_text()
    for service, _, rule in listed_rights():
        assert f"`{rule}`" in text, f"{service}: {rule}"


def test_each_feature_is_in_the_manual_and_in_a_scenario() -> None:
    features = {feature for _, feature, _ in listed_rights()}
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", PAGE.read_text(), re.M)
    assert {feature for row in rows for feature in re.findall(r"`([a-z-]+)`", row)} == features
    scenarios = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    lists = re.findall(r'features(?:: str)? ?= ?"([a-z,-]+)"', scenarios)
    assert {feature for words in lists for feature in words.split(",")} == features
