"""Clouds that are set up in other ways: deferred deletion, TLS everywhere."""

import pytest

from between import looks_at, stand_before
from cloud import Cloud
from fleet import assert_freed_softly, assert_only_victims_died, fill
from gate import Gate

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


def half_spot(cloud: Cloud):
    one, two, three = cloud.hosts
    return fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})


def test_where_deletion_is_deferred_the_room_comes_free_at_once(cloud: Cloud, install) -> None:
    """With reclaim_instance_interval a deleted server keeps its room for hours."""
    reaper = install(region="SoftRegion")
    reaper.start()
    fleet = half_spot(cloud)
    [victim] = fleet.spot()
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    cloud.wait_gone([victim])
    kinds = [(deletion.server, deletion.kind) for deletion in cloud.reaper_deletions(mark)]
    assert kinds == [(victim.id, "delete"), (victim.id, "forceDelete")]
    for server in fleet.regular():
        assert cloud.look(server).status == "ACTIVE"
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")


def test_a_deferred_deletion_is_finished_by_the_next_reaper(cloud: Cloud, install) -> None:
    """The first one dies between its DELETE and its forceDelete. The second one, on another machine, has
    a journal of its own, and twice as many servers to choose from as it needs."""
    one, two, three = cloud.hosts
    spot = [("spot", "medium", 2)]
    fleet = fill(cloud, {one: spot, two: FULL, three: spot})
    first, second = install(region="SoftRegion"), install(region="SoftRegion")
    second.config["broker"] = first.config["broker"]
    with Gate(cloud.endpoint("compute", "SoftRegion")) as gate:
        gate.hold_reads(looks_at(fleet.spot()), after="DELETE")
        stand_before(first, gate)
        first.config["cull"]["max_parallel_deletions"] = 1
        first.start()
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("large")
        gate.wait_held("the look that comes after the first deletion")
        first.kill()
        gate.let_pass()
        second.start()
        assert second.wait_outcome(refused.request)["kind"] == "freed"
        second.wait_messages_done()
    assert_freed_softly(fleet, mark, 2)
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


def test_what_its_user_deleted_is_not_forced(cloud: Cloud, install) -> None:
    """Deferred deletion is for users who change their mind."""
    reaper = install(region="SoftRegion")
    reaper.start()
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: HALF_SPOT, three: FULL})
    [theirs], [victim] = fleet.spot(one), fleet.spot(two)
    cloud.delete_softly(theirs)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert {deletion.server for deletion in cloud.reaper_deletions(mark)} == {victim.id}
    assert cloud.room_held_by(theirs), "it can no longer be given back"


@pytest.mark.lab_only
def test_all_over_tls_with_a_private_authority(cloud: Cloud, install) -> None:
    """https for Keystone, Nova and Placement; amqps with a client certificate.
    Their links lead to plain http, where the reaper must not follow."""
    reaper = install(region="TlsRegion", tls=True)
    done = reaper.command("check")
    assert done.returncode == 0, done.stdout + done.stderr
    reaper.start()
    one, two, three = cloud.hosts
    # More servers than on one page: the link to the next one is the bait.
    crowd = [("regular", "small", 5)]
    fleet = fill(cloud, {one: HALF_SPOT, two: crowd, three: crowd})
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")
    reaper.wait_messages_done()


@pytest.mark.lab_only
def test_without_the_authority_it_trusts_no_service(cloud: Cloud, install) -> None:
    reaper = install(region="TlsRegion", tls=True)
    del reaper.config["cloud"]["ca_file"]
    del reaper.config["broker"]["ca_file"]
    mark = cloud.mark()
    done = reaper.command("check")
    assert done.returncode == 4, done.stdout + done.stderr
    failures = [line for line in done.stdout.splitlines() if "FAIL" in line]
    assert sum("certificate" in line.lower() for line in failures) >= 2, done.stdout
    assert not cloud.reaper_requests(mark), "it talked to a cloud that it can't trust"


@pytest.mark.lab_only
def test_without_its_client_certificate_the_broker_refuses_it(cloud: Cloud, install) -> None:
    reaper = install(region="TlsRegion", tls=True)
    del reaper.config["broker"]["cert_file"]
    del reaper.config["broker"]["key_file"]
    done = reaper.command("check")
    assert done.returncode == 4, done.stdout + done.stderr
    [failure] = [line for line in done.stdout.splitlines() if "FAIL" in line]
    assert "broker" in failure.lower() or "rabbit" in failure.lower() or "amqps" in failure.lower()
