"""Notice before the end: a server's metadata say when it goes, and it does not go before that time."""

import json
import subprocess
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import requests
from cloud import PATIENCE, Cloud, Server, eventually
from fleet import Fleet, assert_only_victims_died, fill
from lab_cloud import LabCloud
from lablib import catalog
from lablib.ports import LOOPBACK, free_ports
from openstack_cloud import OpenStackCloud
from reaper_process import DIES_WITH_US, Reaper
from test_rights import listed_rights, role_with_the_least_rights, used_rights

FULL = [("regular", "large", 1)]
ONE_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
PERIOD = 8
NOTIFY = Path(__file__).parents[2] / "deploy/reaper-notify"
ASK_AS_NOVA = """
import json, sys
from types import SimpleNamespace
import nova.conf
from nova.api.metadata.vendordata_dynamic import DynamicVendorData
nova.conf.CONF([], project="nova", default_config_files=[sys.argv[1]])
others = dict.fromkeys(("project_id", "image_ref", "user_data", "hostname"), "")
instance = SimpleNamespace(uuid=sys.argv[2], metadata={}, system_metadata={}, **others)
print(json.dumps(DynamicVendorData(instance).get()))
"""


def at(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def with_notice(reaper: Reaper, **more: str) -> Reaper:
    reaper.config["notice"] = {"period": f"{PERIOD}s"} | more
    reaper.start()
    return reaper


def one_spot(cloud: Cloud) -> tuple[Fleet, Server]:
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: ONE_SPOT, two: FULL, three: FULL}, exactly=False)
    [server] = fleet.spot()
    return fleet, server


def told(cloud: Cloud, server: Server) -> str:
    return eventually("it has notice", lambda: cloud.metadata_of(server).get("reaper:evict_at"))


def deleted_at(reaper: Reaper, request: str) -> float:
    [[sent]] = reaper.rows(
        "SELECT step.at FROM step JOIN request ON request.seq = step.request "
        "WHERE request.id = ? AND step.step = 'delete-sent'",
        request,
    )
    return sent / 1000


@contextmanager
def owner_of_spot(cloud: OpenStackCloud) -> Iterator[str]:
    """The name of a user who may only read in that project, and in `regular`."""
    keystone = catalog.client(cloud.lab, "identity")
    user = catalog.user_session(cloud.lab, "onlooker").get_user_id()
    [role] = keystone.get("/roles?name=reader").json()["roles"]
    grant = f"/projects/{cloud.project_id('spot')}/users/{user}/roles/{role['id']}"
    keystone.put(grant)
    try:
        yield "onlooker"
    finally:
        keystone.delete(grant)


def ask(
    reaper: Reaper, cloud: OpenStackCloud, path: str, user: str, project: str, body: Any = None
) -> requests.Response:
    token = catalog.user_session(cloud.lab, user, project).get_token()
    session = requests.Session()
    session.trust_env = False
    return session.request(
        "GET" if body is None else "POST",
        f"http://{reaper.config['admin']['listen']}{path}",
        json=body,
        headers={"X-Auth-Token": token},
        timeout=PATIENCE,
    )


def vendordata_by_nova(reaper: Reaper, cloud: LabCloud, server: Server, settings: Path) -> Any:
    """What Nova's metadata API tells a guest: by Nova's code, with a token of Nova's user."""
    who = cloud.lab["users"]["openstack"]
    settings.write_text(
        f"""\
[api]
vendordata_dynamic_targets = reaper@http://{reaper.config['admin']['listen']}/v1/vendordata
[vendordata_dynamic_auth]
auth_type = password
auth_url = {cloud.endpoint("identity")}
username = {who["name"]}
password = {who["password"]}
project_name = {who["project"]}
user_domain_id = default
project_domain_id = default
"""
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", ASK_AS_NOVA, str(settings), server.id],
        capture_output=True, text=True, timeout=PATIENCE, env={"no_proxy": "*"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def planned_at(reaper: Reaper) -> float:
    [[first]] = reaper.rows("SELECT min(at) FROM plan")
    return first / 1000


def test_a_server_ends_at_the_time_that_its_metadata_say(
    cloud: Cloud, install, record_property: Callable[[str, object], None]
) -> None:
    """Its guest shuts down before; a restart of the reaper changes nothing of it."""
    reaper = with_notice(install(), stop_before="4s")
    fleet, victim = one_spot(cloud)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    end = told(cloud, victim)
    seen = time.time()
    assert seen < at(end)
    record_property("in_metadata_after_plan_s", seen - planned_at(reaper))
    reaper.kill()
    reaper.start()
    eventually("its guest is shut down", lambda: cloud.look(victim).status == "SHUTOFF", every=0.05)
    assert told(cloud, victim) == end
    outcome = reaper.wait_outcome(refused.request)
    assert outcome["kind"] == "freed", outcome
    deleted = deleted_at(reaper, refused.request)
    assert at(end) <= deleted
    record_property("deleted_after_end_s", deleted - at(end))
    assert_only_victims_died(fleet, mark, [victim])
    cloud.wait_for(cloud.ask("medium"), "ACTIVE")


def test_a_server_whose_end_is_needed_no_more_hears_that(
    cloud: OpenStackCloud, install, tmp_path: Path
) -> None:
    """Its owner and its guest, who ask the reaper, too."""
    reaper = install()
    port = free_ports(["admin"])["admin"]
    reaper.config["admin"] = {"listen": f"{LOOPBACK}:{port}", "auth": "keystone", "owners": True}
    with_notice(reaper, period="10min")
    fleet, victim = one_spot(cloud)
    mark = cloud.mark()
    [refused] = cloud.fail_to_boot("medium")
    end = told(cloud, victim)
    with owner_of_spot(cloud) as owner:

        def mine(project: str) -> list[dict[str, Any]]:
            answer = ask(reaper, cloud, "/v1/my/servers", owner, project).json()
            servers: list[dict[str, Any]] = answer["servers"]
            return servers

        eventually("its owner hears of it", lambda: mine("spot")[0]["evict_because"], every=1)
        [seen] = mine("spot")
        assert seen["id"] == victim.id and seen["evict_at"] == end and "host" not in seen, seen
        assert seen["evict_because"] == "a regular server needs its room"
        assert mine("regular") == []
        assert ask(reaper, cloud, "/v1/hosts", owner, "spot").status_code == 403
        nova = {"instance-id": victim.id, "metadata": {}}
        assert ask(reaper, cloud, "/v1/vendordata", owner, "spot", nova).status_code == 403
        heard = ask(reaper, cloud, "/v1/vendordata", "reaper", "service", nova).json()
        assert heard == {"revocable": True, "notice_s": 600, "evict_at": end}
        if isinstance(cloud, LabCloud):
            assert vendordata_by_nova(reaper, cloud, victim, tmp_path / "nova.conf") == {"reaper": heard}
        cloud.delete_without_waiting(refused)
        assert reaper.wait_outcome(refused.request)["kind"] == "refused"
        eventually("its owner hears that", lambda: mine("spot")[0]["evict_at"] is None, every=1)
        heard = ask(reaper, cloud, "/v1/vendordata", "reaper", "service", nova).json()
        assert heard == {"revocable": True, "notice_s": 600}
    assert "reaper:evict_at" not in cloud.metadata_of(victim)
    assert_only_victims_died(fleet, mark, [])


@contextmanager
def notifier(reaper: Reaper) -> Iterator[Callable[..., None]]:
    """deploy/reaper-notify beside it; waits for a line of its log."""
    config, said = reaper.directory / "notify.yaml", reaper.directory / "notify.out"
    command = [str(reaper.binary), "--config", str(reaper.directory / "reaper.yaml")]
    config.write_text(json.dumps({"reaper": command}))
    options = (config, "--state", reaper.directory / "notify.db")
    with open(said, "w") as out:
        process = subprocess.Popen([*DIES_WITH_US, "/usr/bin/python3", "-B", NOTIFY, *options], stdout=out)

    def says(*words: str) -> None:
        def said_so() -> bool:
            return any(all(word in line for word in words) for line in said.read_text().splitlines())

        eventually(f"reaper-notify says {words}", said_so)

    try:
        yield says
    finally:
        process.kill()
        process.wait()
        print(said.read_text())


def test_the_notifier_says_what_happens(cloud: Cloud, install) -> None:
    reaper = with_notice(install(), period="10min")
    fleet, victim = one_spot(cloud)
    mark = cloud.mark()
    with notifier(reaper) as says:
        [refused] = cloud.fail_to_boot("medium")
        says("notice.given", victim.id, told(cloud, victim))
        cloud.delete_without_waiting(refused)
        says("notice.withdrawn", victim.id)
        reaper.stop()
        del reaper.config["notice"]
        reaper.start()
        [refused] = cloud.fail_to_boot("medium")
        says("server.deleted", victim.id)
        assert reaper.command("pause", "--reason", "enough").returncode == 0
        says("reaper.paused", "enough")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    assert_only_victims_died(fleet, mark, [victim])


@pytest.mark.lab_only
def test_with_the_least_rights(cloud: LabCloud, install) -> None:
    of_notice = {rule for _, feature, rule in listed_rights() if feature == "notice"}
    with role_with_the_least_rights(cloud, features="look,delete,labels,held-room,notice"):
        reaper = with_notice(install(user="least"), stop_before="7s")
        fleet, victim = one_spot(cloud)
        mark = cloud.mark()
        [refused] = cloud.fail_to_boot("medium")
        eventually("its guest is shut down", lambda: cloud.look(victim).status == "SHUTOFF", every=0.05)
        cloud.delete_without_waiting(refused)
        reaper.wait_outcome(refused.request)
        cloud.wait_for([victim], "ACTIVE")
        assert_only_victims_died(fleet, mark, [])
        assert of_notice <= used_rights(cloud, mark)
