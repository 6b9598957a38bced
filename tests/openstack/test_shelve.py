"""Servers that are shelved instead of deleted, and come back when there is room."""

import pytest
from cloud import Cloud, Server, eventually
from fleet import Fleet, assert_freed, fill
from lab_cloud import LabCloud
from lablib import catalog
from reaper_process import Reaper
from test_notice import one_spot
from test_rights import FULL, HALF_SPOT, listed_rights, role_with_the_least_rights, used_rights


def with_shelving(reaper: Reaper) -> Reaper:
    reaper.config["shelve"] = {"servers": ["all"], "returns_per_hour": 3600}
    reaper.start()
    return reaper


def goes_and_comes_back(cloud: Cloud, reaper: Reaper) -> Server:
    _, victim = one_spot(cloud)
    host = cloud.look(victim).host
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    outcome = reaper.wait_outcome(refused.request)
    assert outcome["kind"] == "freed", outcome
    assert cloud.look(victim).status == "SHELVED_OFFLOADED"
    assert not cloud.room_held_by(victim)
    told = reaper.command("explain", victim.id)
    assert "was shelved" in told.stdout, told.stdout + told.stderr
    [regular] = cloud.ask("medium")
    cloud.wait_for([regular], "ACTIVE")
    assert cloud.look(regular).host == host
    assert cloud.reaper_deletions(mark) == []

    cloud.delete_without_waiting(regular)
    eventually("it is back", lambda: cloud.look(victim).status == "ACTIVE")
    assert cloud.look(victim).host == host
    assert "server-unshelved" in reaper.command("history", "events").stdout
    return victim


@pytest.mark.sim_only
def test_a_server_comes_back_when_there_is_room(cloud: Cloud, install) -> None:
    goes_and_comes_back(cloud, with_shelving(install()))


def its_image_goes_with_it(cloud: LabCloud, reaper: Reaper, victim: Server) -> None:
    """Its owner deletes the server, and may not delete the image."""
    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert cloud.look(victim).status == "SHELVED_OFFLOADED"
    glance = catalog.client(cloud.lab, "image")

    def images() -> list[str]:
        found = glance.get(f"/v2/images?instance_uuid={victim.id}").json()["images"]
        return [image["name"] for image in found]

    assert images() == [f"{victim.name}-shelved"]
    catalog.client(cloud.lab, "compute", user="owner").delete(f"/servers/{victim.id}")
    cloud.wait_gone([victim])
    eventually("its image is gone", lambda: not images())
    assert "image-deleted" in reaper.command("history", "events").stdout


@pytest.mark.lab_only
def test_with_the_least_rights(cloud: LabCloud, install) -> None:
    rights = {rule for service, feature, rule in listed_rights() if (service, feature) == ("nova", "shelve")}
    # Nova offloads at once here, and no metadata say that the server ends.
    rights -= {"os_compute_api:os-shelve:shelve_offload", "os_compute_api:server-metadata:delete"}
    with role_with_the_least_rights(cloud, features="look,delete,labels,held-room,shelve"):
        mark = cloud.mark()
        reaper = with_shelving(install(user="least"))
        victim = goes_and_comes_back(cloud, reaper)
        its_image_goes_with_it(cloud, reaper, victim)
        assert rights <= used_rights(cloud, mark)


def asks_again(cloud: Cloud, reaper: Reaper) -> Fleet:
    """The owner of a shelved server asks once."""
    one, two, three = cloud.hosts
    [server] = cloud.boot("medium", "regular", one)
    cloud.shelve(server)
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})
    reaper.config["trigger"] |= {"unshelve_interval": "1s", "unshelve_again": True}
    reaper.start()
    request = cloud.unshelve_without_waiting(server)
    assert reaper.wait_outcome(request)["kind"] == "freed"
    cloud.wait_for([server], "ACTIVE")
    assert cloud.look(server).host == one
    assert len([each for each in fleet.spot() if cloud.look(each).gone]) == 1
    assert f"{request}: Nova is asked again" in reaper.command("history", "events").stdout
    return fleet


@pytest.mark.sim_only
def test_a_failed_unshelving_is_asked_again(cloud: Cloud, install) -> None:
    mark = cloud.mark()
    fleet = asks_again(cloud, install())
    assert_freed(fleet, mark, 1, among=fleet.spot(cloud.hosts[0]))


@pytest.mark.lab_only
def test_a_failed_unshelving_is_asked_again_with_the_least_rights(cloud: LabCloud, install) -> None:
    with role_with_the_least_rights(cloud, features="look,delete,labels,held-room,unshelve-again"):
        mark = cloud.mark()
        asks_again(cloud, install(user="least"))
        assert "os_compute_api:os-shelve:unshelve" in used_rights(cloud, mark)
