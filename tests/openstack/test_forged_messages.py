"""Messages that Nova did not send, or not so. They cost the reaper a request to Nova, and no server is
deleted."""

import json
import time


from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed, assert_none_deleted, fill
from flood import taken_apart
from forger import Forger
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]
SMALL_SPOT = [("spot", "small", 5)]


def refusals(reaper: Reaper, count: int) -> list[str]:
    """The reasons of so many requests that were refused as not confirmed by Nova."""
    sql = "SELECT outcome_reason FROM request WHERE outcome = 'refused' AND safeguard = 'unconfirmed'"
    eventually(f"{count} requests are refused", lambda: len(reaper.rows(sql)) == count, every=0.05)
    return [reason for (reason,) in reaper.rows(sql)]


def failed_unheard(cloud: Cloud, reaper: Reaper, flavor: str, **asked: object) -> tuple[list[Server], Forger]:
    """Servers that found no host while no reaper was there, and Nova's message of the first."""
    servers = cloud.fail_to_boot(flavor, **asked)  # type: ignore[arg-type]
    messages = cloud.failure_messages(len(servers))
    first = next(m for m in messages if taken_apart(m)[1]["payload"]["nova_object.data"]["instance_uuid"] == servers[0].id)
    reaper.start()
    return servers, Forger(first)


def crowded(cloud: Cloud) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: SMALL_SPOT, two: FULL, three: SMALL_SPOT})


def test_failures_of_running_servers(cloud: Cloud, install) -> None:
    """Of actions that Nova does not know, of others, and of some that did not fail."""
    reaper = install()
    fleet = crowded(cloud)
    [running] = fleet.regular()
    _, forger = failed_unheard(cloud, reaper, "large")
    mark = cloud.mark()
    resize = dict(server=running, flavor=forger.flavor(cloud, "medium", 5))
    forged = [
        forger.written("build_instances", running),
        forger.written("migrate_server", **resize),
        forger.written("migrate_server", running, flavor=None),
        forger.written("rebuild_server", running),
        # Real request ids, of other actions or of one that went well.
        forger.written("build_instances", running, running.request),
        forger.written("migrate_server", request=running.request, **resize),
        forger.written("rebuild_server", running, running.request),
        forger.written("build_instances", running, running.request, exception="MaxRetriesExceeded_Remote"),
    ]
    for message in forged:
        cloud.publish(message)
    # Those of one key are one request.
    told = refusals(reaper, 6)
    assert sum("no action" in reason for reason in told) == 4, told
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_a_boot_that_is_larger_in_the_message(cloud: Cloud, install) -> None:
    """Of a server that did fail: its number, flavor and zone are those that Nova knows. Refused for
    a project that is not its own, it is served when its own message comes."""
    reaper = install()
    fleet = crowded(cloud)
    [failed], forger = failed_unheard(cloud, reaper, "small")
    mark = cloud.mark()
    forged = dict(num_instances=5, flavor=forger.flavor(cloud, "large", 10), availability_zone="nowhere")
    another = forged | dict(project_id=cloud.project_id("spot"))
    cloud.publish(forger.written("build_instances", failed, failed.request, **another))
    assert reaper.wait_outcome(failed.request)["kind"] == "refused"
    cloud.publish(forger.written("build_instances", failed, failed.request, **forged))
    freed = "SELECT 1 FROM request WHERE id = ? AND outcome = 'freed'"
    eventually("it is served", lambda: reaper.rows(freed, failed.request), every=0.05)
    asked = reaper.story(failed.request)["request"]  # type: ignore[index]
    assert (asked["slots"], asked["resources"]["VCPU"]) == (1, 2), asked
    assert asked["project"] == cloud.project_id("regular") and asked["availability_zone"] is None, asked
    reaper.wait_messages_done()
    assert_freed(fleet, mark, 1, among=fleet.spot())


def test_a_revocable_server_stays_one(cloud: Cloud, install) -> None:
    reaper = install()
    fleet = crowded(cloud)
    [failed], forger = failed_unheard(cloud, reaper, "small", project="spot")
    mark = cloud.mark()
    cloud.publish(forger.written("build_instances", failed, failed.request, project_id=cloud.project_id("regular")))
    assert reaper.wait_outcome(failed.request)["kind"] == "refused"
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_several_servers_of_one_request(cloud: Cloud, install) -> None:
    """Nova knows how many there are, also when the message says more."""
    reaper = install()
    fleet = crowded(cloud)
    servers, forger = failed_unheard(cloud, reaper, "small", count=2)
    mark = cloud.mark()
    cloud.publish(forger.written("build_instances", servers[0], servers[0].request, num_instances=5))
    assert reaper.wait_outcome(servers[0].request)["kind"] == "freed"
    asked = reaper.story(servers[0].request)["request"]  # type: ignore[index]
    assert sorted(asked["requesters"]) == sorted(server.id for server in servers)
    # Served under one key, it is not served under another.
    for server in servers:
        cloud.publish(forger.written("build_instances", server, server.request, exception="MaxRetriesExceeded"))
    told = refusals(reaper, 2)
    assert all("another reason" in reason for reason in told), told
    reaper.wait_messages_done()
    assert_freed(fleet, mark, 2, among=fleet.spot())


def test_a_request_of_long_ago(cloud: Cloud, install) -> None:
    """Nova knows when it failed."""
    reaper = install()
    reaper.config["trigger"]["max_age"] = "1s"
    fleet = crowded(cloud)
    [failed], forger = failed_unheard(cloud, reaper, "small")
    failed_at = time.monotonic()
    mark = cloud.mark()
    eventually("it is too old", lambda: time.monotonic() - failed_at > 3)
    cloud.publish(forger.written("build_instances", failed, failed.request))
    [told] = refusals(reaper, 1)
    assert "ago" in told, told
    reaper.wait_messages_done()
    assert_none_deleted(fleet, mark)


def test_a_resize_to_another_flavor(cloud: Cloud, install) -> None:
    """Nova does not report the flavor of a failed resize: it counts as Nova has it, and one that it
    does not have counts for nothing."""
    reaper = install()
    one, two, three = cloud.hosts
    small = [("regular", "small", 1), ("spot", "small", 4)]
    fleet = fill(cloud, {one: small, two: FULL, three: SPOT})
    resized = fleet.regular(one)[0]
    requests = []
    for _ in range(2):
        requests.append(cloud.resize_without_waiting(resized, "medium"))
        eventually("it is refused", lambda: cloud.look(resized).task is None and cloud.action_failed(resized, requests[-1]))
    forger = Forger(cloud.failure_messages(2)[0])
    reaper.start()
    mark = cloud.mark()
    # One that Nova does not have.
    huge = forger.flavor(cloud, "medium", 10)
    huge["nova_object.data"]["flavorid"] = "huge"
    cloud.publish(forger.written("migrate_server", resized, requests[0], flavor=huge))
    [told] = refusals(reaper, 1)
    assert "knows no flavor" in told, told
    assert_none_deleted(fleet, mark)
    # Another size than Nova's.
    cloud.publish(forger.written("migrate_server", resized, requests[1], flavor=forger.flavor(cloud, "medium", 10)))
    assert reaper.wait_outcome(requests[1])["kind"] == "freed"
    asked = reaper.story(requests[1])["request"]  # type: ignore[index]
    assert asked["resources"]["VCPU"] == 5, asked
    reaper.wait_messages_done()
    assert_freed(fleet, mark, 1, among=fleet.spot(three))


def test_an_invalid_newer_failure_stops_no_request(cloud: Cloud, install) -> None:
    """It would take the place of the older one, if it were true."""
    reaper = install()
    fleet = crowded(cloud)
    [failed], forger = failed_unheard(cloud, reaper, "small")
    mark = cloud.mark()
    cloud.publish(forger.written("build_instances", failed))
    cloud.publish(json_with_time_of(forger, failed))
    assert reaper.wait_outcome(failed.request)["kind"] == "freed"
    refusals(reaper, 1)
    reaper.wait_messages_done()
    assert_freed(fleet, mark, 1, among=fleet.spot())


def json_with_time_of(forger: Forger, failed: Server) -> bytes:
    """Nova's own message."""
    assert forger.inner["_context_request_id"] == failed.request
    return json.dumps(forger.envelope).encode()
