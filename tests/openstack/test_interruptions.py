"""The reaper, the broker or a host goes away and comes back: nothing is lost and
nothing is done twice."""

import pytest

from cloud import Cloud, eventually
from fleet import Fleet, assert_only_victims_died, fill
from reaper_process import Reaper
from relay import Relay

FULL = [("regular", "large", 1)]
SPOT = [("spot", "medium", 2)]


def one_spot_host(cloud: Cloud) -> Fleet:
    one, two, three = cloud.hosts
    return fill(cloud, {one: SPOT, two: FULL, three: FULL})


def test_a_message_sent_while_the_reaper_was_away(cloud: Cloud, reaper: Reaper) -> None:
    """Its durable queue, from an earlier run, keeps the message."""
    reaper.stop()
    fleet = one_spot_host(cloud)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("large")
    cloud.failure_messages(1)
    eventually("its message waits", lambda: cloud.waiting_messages(reaper.queue) == 1)
    reaper.start()
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot())
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


@pytest.mark.long
def test_a_restart_of_the_broker_in_mid_work(cloud: Cloud, reaper: Reaper) -> None:
    """The message comes again, for it was not acknowledged; the plan goes on."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    mark = cloud.mark()
    with cloud.broker_and_host_outage(one):
        [refused] = cloud.fail_to_boot("large")
        eventually("both victims are deleted", lambda: len(cloud.reaper_deletions(mark)) == 2)
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    cloud.wait_for(cloud.ask("large"), "ACTIVE")
    reaper.wait_messages_done()


@pytest.mark.long
def test_after_a_restart_of_the_broker_it_listens_again(cloud: Cloud, reaper: Reaper) -> None:
    """Nova's exchange is not durable: the binding went with the restart."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: FULL})
    with cloud.broker_and_host_outage(two):
        pass
    mark = cloud.mark()
    eventually("it has bound its queue again", lambda: cloud.failures_reach(reaper.queue))
    [refused] = cloud.fail_to_boot("large")
    reaper.wait_outcome(refused.request)
    assert_only_victims_died(fleet, mark, fleet.spot(one))
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


def test_killed_in_mid_work_it_resumes_and_repeats_nothing(cloud: Cloud, reaper: Reaper) -> None:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: SPOT, two: FULL, three: SPOT})
    mark = cloud.mark()
    with cloud.hold_deletions(one), cloud.hold_deletions(three):
        [refused] = cloud.fail_to_boot("large")
        eventually("both victims are deleted", lambda: len(cloud.reaper_deletions(mark)) == 2)
        reaper.kill()
        reaper.start()
    reaper.wait_outcome(refused.request)
    reaper.wait_messages_done()
    victims = {deletion.server for deletion in cloud.reaper_deletions(mark)}
    assert_only_victims_died(fleet, mark, [server for server in fleet.spot() if server.id in victims])
    assert len(victims) == 2
    cloud.wait_for(cloud.ask("large"), "ACTIVE")


def test_asked_to_stop_it_finishes_what_it_holds(cloud: Cloud, reaper: Reaper) -> None:
    fleet = one_spot_host(cloud)
    mark = cloud.mark()
    with cloud.hold_deletions(cloud.hosts[0]):
        [refused] = cloud.fail_to_boot("large")
        eventually("both victims are deleted", lambda: len(cloud.reaper_deletions(mark)) == 2)
        reaper.ask_to_stop()
        eventually("it says that it is stopping", lambda: "STOPPING=1" in reaper.notices.received())
        assert reaper.daemon.poll() is None, "it left with work in hand"
    assert reaper.wait_stopped() == 0
    assert_only_victims_died(fleet, mark, fleet.spot())
    story = reaper.story(refused.request)
    assert story is not None and story["outcome"] is not None
    assert cloud.waiting_messages(reaper.queue) == 0


def test_it_is_ready_only_when_the_broker_answers(cloud: Cloud, install) -> None:
    reaper = install()
    broker = reaper.config["broker"]
    before, _, after = broker["urls"][0].rpartition("@")
    relay = Relay(int(after.partition("/")[0].rpartition(":")[2]))
    broker["urls"] = [f"{before}@127.0.0.1:{relay.port}/{after.partition('/')[2]}"]
    try:
        reaper.start(wait=False)
        eventually("it tells that it waits", lambda: any("STATUS=" in n for n in reaper.notices.received()))
        eventually("it complains of the broker", lambda: str(relay.port) in reaper.log_text())
        assert "READY=1" not in reaper.notices.received()
        relay.open()
        reaper.wait_ready()
        reaper.stop()
    finally:
        relay.close()
