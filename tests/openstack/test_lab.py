"""The clouds themselves: do they show what the scenarios build on?"""

import re
import ssl
import urllib.request
from pathlib import Path

import amqp
import pytest

from cloud import PATIENCE, Cloud
from fleet import fill
from lablib import lifecycle
from lablib.place import LabError, Place
from lablib.steps import Progress, Step, run_steps
from openstack_cloud import OpenStackCloud

FULL = [("regular", "large", 1)]


def test_a_full_cloud_refuses_and_tells_so_once_for_each_server(cloud: Cloud) -> None:
    fill(cloud, {host: FULL for host in cloud.hosts})
    refused = cloud.fail_to_boot("small", count=2)
    messages = cloud.failure_messages(2)
    assert len({server.request for server in refused}) == 1
    for message in messages:
        assert refused[0].request.encode() in message
        assert b"compute_task.build_instances.error" in message
        assert b"NoValidHost" in message


def test_a_held_deletion_keeps_its_room_until_released(cloud: Cloud) -> None:
    host = cloud.hosts[0]
    [server] = cloud.boot("small", "spot", host)
    with cloud.hold_deletions(host):
        cloud.delete_without_waiting(server)
        assert cloud.look(server).task == "deleting"
        assert cloud.room_held_by(server)["VCPU"] == 2
    cloud.wait_gone([server])


def test_a_soft_deletion_keeps_its_room(shared_cloud: OpenStackCloud) -> None:
    shared_cloud.reset()
    [server] = shared_cloud.boot("small", "spot", shared_cloud.hosts[0])
    shared_cloud.soft_nova.delete(f"/servers/{server.id}")
    shared_cloud.wait_for([server], "SOFT_DELETED")
    assert shared_cloud.room_held_by(server)


@pytest.mark.long
def test_an_outage_of_broker_and_host_ends_with_the_deletion_done(cloud: Cloud) -> None:
    host = cloud.hosts[0]
    [server] = cloud.boot("small", "spot", host)
    with cloud.broker_and_host_outage(host):
        cloud.delete_without_waiting(server)
    cloud.wait_gone([server])
    assert cloud.boot("small", "spot", host)


def test_requests_are_recorded_with_their_user(shared_cloud: OpenStackCloud) -> None:
    shared_cloud.reset()
    mark = shared_cloud.mark()
    [server] = shared_cloud.ask("small", "spot")
    shared_cloud.wait_for([server], "ACTIVE")
    shared_cloud.delete_without_waiting(server)
    lines = [str(request) for request in shared_cloud.access.since(mark, user="admin") if request.is_write]
    create, delete = lines
    assert re.fullmatch(r"nova-api POST \S*/v2.1/servers -> 202", create)
    assert re.fullmatch(rf"nova-api DELETE \S*/v2.1/servers/{server.id} -> 204", delete)
    keystone = [r for r in shared_cloud.access.since(0, user="admin") if r.api == "keystone"]
    assert keystone, "Keystone's requests have no user"


@pytest.mark.lab_only
@pytest.mark.parametrize("service", ["identity", "placement", "compute"])
def test_https_needs_the_private_authority(shared_cloud: OpenStackCloud, service: str) -> None:
    url = shared_cloud.lab["endpoints"]["TlsRegion"][service].removesuffix("/v2.1")
    trusting = ssl.create_default_context(cafile=shared_cloud.lab["tls"]["ca_file"])
    open_url = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting)
    ).open
    with open_url(url, timeout=PATIENCE) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=PATIENCE)


@pytest.mark.lab_only
def test_amqps_needs_a_client_certificate(shared_cloud: OpenStackCloud) -> None:
    broker, files = shared_cloud.lab["broker"], shared_cloud.lab["tls"]

    def connect(**tls: str) -> None:
        connection = amqp.Connection(
            f"localhost:{broker['tls_port']}",
            userid=broker["user"],
            password=broker["password"],
            ssl={"ca_certs": files["ca_file"], "cert_reqs": ssl.CERT_REQUIRED, **tls},
            connect_timeout=PATIENCE,
            read_timeout=PATIENCE,
        )
        connection.connect()
        connection.close()

    connect(certfile=files["client_cert_file"], keyfile=files["client_key_file"])
    with pytest.raises((OSError, amqp.AMQPError)):
        connect()


# Without a running lab ---------------------------------------------------------


@pytest.mark.lab_only
def test_a_foreign_directory_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    place = Place(tmp_path)
    with pytest.raises(LabError, match="not a lab: not touching it"):
        place.claim()
    with pytest.raises(LabError, match="not a lab: not touching it"):
        lifecycle.down(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.lab_only
def test_a_lab_is_not_made_over_another(tmp_path: Path) -> None:
    place = Place(tmp_path / "lab")
    place.claim()
    with pytest.raises(LabError, match="take it down first"):
        place.claim()


@pytest.mark.lab_only
def test_the_logs_of_a_failed_start_give_way_to_the_next(tmp_path: Path) -> None:
    place = Place(tmp_path / "lab")
    place.claim()
    place.log("nova-api").write_text("it failed")
    place.remove(keep_logs=True)
    assert place.log("nova-api").read_text() == "it failed"
    place.claim()
    assert not place.log("nova-api").exists()


@pytest.mark.lab_only
def test_only_one_at_a_time(tmp_path: Path) -> None:
    with Place(tmp_path).locked():
        with pytest.raises(LabError, match="another `lab` is at work"):
            with Place(tmp_path).locked():
                pass


@pytest.mark.lab_only
def test_a_failed_step_ends_the_start(tmp_path: Path) -> None:
    done: list[str] = []

    def fail() -> None:
        raise LabError("the database is upside down")

    steps = [
        Step("first", lambda: done.append("first")),
        Step("second", fail, after=("first",)),
        Step("third", lambda: done.append("third"), after=("second",)),
    ]
    with pytest.raises(LabError, match="upside down"):
        run_steps(steps, Progress(quiet=True), abandon=lambda: done.append("abandoned"))
    assert done == ["first", "abandoned"]
