"""The commands that look: check, hosts, plan, history. None of them writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from cloud import Cloud, eventually
from fleet import assert_none_deleted, assert_only_victims_died, fill
from gate import Gate
from lablib.ports import LOOPBACK, free_ports
from lablib.settings import PAGE
from reaper_process import Reaper

FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]
MEDIUM = "VCPU=5,MEMORY_MB=2048,DISK_GB=20"


@pytest.fixture
def fleet(cloud: Cloud):
    one, two, three = cloud.hosts
    return fill(cloud, {one: HALF_SPOT, two: FULL, three: FULL})


def failures(output: str) -> list[str]:
    return [line for line in output.splitlines() if "FAIL" in line]


# check ------------------------------------------------------------------------


def test_check_finds_all_in_place(cloud: Cloud, reaper: Reaper) -> None:
    mark = cloud.mark()
    done = reaper.command("check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not failures(done.stdout)
    assert cloud.reaper_writes(mark) == []
    json.loads(reaper.command("--json", "check").stdout)


def test_check_with_an_application_credential(cloud: Cloud, install) -> None:
    reaper = install(application_credential=True)
    done = reaper.command("check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_with_a_wrong_password(install) -> None:
    reaper = install()
    reaper.config["cloud"]["auth"]["password"] = "not-it"
    done = reaper.command("check")
    assert done.returncode == 4
    assert any("keystone" in line.lower() for line in failures(done.stdout)), done.stdout
    assert "not-it" not in done.stdout + done.stderr


def test_check_as_a_user_without_rights(install) -> None:
    reaper = install(user="onlooker")
    done = reaper.command("check")
    assert done.returncode == 4
    assert any(
        "admin" in line.lower() or "right" in line.lower() for line in failures(done.stdout)
    ), done.stdout


def test_check_without_a_broker(install) -> None:
    reaper = install()
    reaper.config["broker"]["urls"] = ["amqp://lab:wrong@127.0.0.1:9/"]
    done = reaper.command("check")
    assert done.returncode == 4
    assert failures(done.stdout), done.stdout


def test_check_tells_names_that_lead_nowhere(install) -> None:
    reaper = install()
    reaper.config["watched_aggregates"] = ["esat"]
    reaper.config["taggers"] = [{"name": "resource", "class": "CUSTOM_SPTO"}]
    reaper.config["strategy"] = {"name": "cost", "work_class": "VCPUS", "priorities": ["glod=5", "large=1"]}
    done = reaper.command("check")
    assert done.returncode == 4
    told = " ".join(failures(done.stdout))
    for name in ("'esat'", "'CUSTOM_SPTO'", "'VCPUS'", "'glod'"):
        assert name in told, done.stdout
    assert "'large' is a flavor" in done.stdout, done.stdout


def test_a_wrong_password_ends_the_start_at_its_first_try(cloud: Cloud, install) -> None:
    """No account is locked, and no caller waits for a start that can't come."""
    reaper = install()
    reaper.config["cloud"]["auth"]["password"] = "not-it"
    with Gate(cloud.endpoint("identity")) as keystone:
        reaper.config["cloud"]["auth"]["auth_url"] = keystone.url
        reaper.start(wait=False)
        assert reaper.wait_stopped() == 5, reaper.log_text()
        assert sum("/auth/tokens" in asked for asked in keystone.asked) == 1, keystone.asked
    assert "refused the credentials" in reaper.log_text()


def test_a_user_whom_the_broker_refuses_ends_the_start(install) -> None:
    reaper = install()
    [url] = reaper.config["broker"]["urls"]
    reaper.config["broker"]["urls"] = [url.replace("://", "://wrong-")]
    reaper.start(wait=False)
    assert reaper.wait_stopped() == 5, reaper.log_text()


# plan -------------------------------------------------------------------------


def victims(decision: dict) -> list[str]:
    return [victim["server"] for host in decision["hosts"] for victim in host["victims"]]


def test_plan_from_a_captured_notification(cloud: Cloud, install, fleet, tmp_path: Path) -> None:
    reaper = install()
    cloud.fail_to_boot("medium")
    captured = tmp_path / "message.json"
    captured.write_bytes(cloud.failure_messages(1)[0])
    mark = cloud.mark()
    decision = reaper.json("plan", "--notification", str(captured))
    assert decision["decision"] == "plan"
    assert victims(decision) == [server.id for server in fleet.spot()]
    assert_none_deleted(fleet, mark)


def test_plan_from_resources(cloud: Cloud, install, fleet) -> None:
    reaper = install()
    mark = cloud.mark()
    decision = reaper.json("plan", "--resources", MEDIUM, "--project", "regular")
    assert victims(decision) == [server.id for server in fleet.spot()]
    text = reaper.command("plan", "--resources", MEDIUM, "--project", "regular")
    assert text.returncode == 0 and fleet.spot()[0].name in text.stdout
    assert_none_deleted(fleet, mark)


def test_plan_says_when_there_is_not_enough(cloud: Cloud, install, fleet) -> None:
    reaper = install()
    mark = cloud.mark()
    done = reaper.command("--json", "plan", "--resources", MEDIUM, "--slots", "2", "--project", "regular")
    assert done.returncode == 3, done.stdout + done.stderr
    assert json.loads(done.stdout)["decision"] == "not-enough"
    assert_none_deleted(fleet, mark)


def test_plan_for_a_revocable_project_deletes_nothing(install, fleet) -> None:
    done = install().command("--json", "plan", "--resources", MEDIUM, "--project", "spot")
    assert done.returncode == 3 and json.loads(done.stdout)["decision"] == "refused", done.stderr


# request ----------------------------------------------------------------------


def test_request_frees_room_and_tells_what_happens(cloud: Cloud, install, fleet, tmp_path: Path) -> None:
    """And again under the same id it is the same request; the port would only show."""
    reaper = install()
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock")}
    reaper.start()
    # The broker reports soon that this reaper serves the queue.
    wait_until_it_serves(reaper)
    mark = cloud.mark()
    asked = ["request", "--resources", MEDIUM, "--project", "regular", "--id", "upgrade-17"]
    done = reaper.command(*asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_only_victims_died(fleet, mark, fleet.spot())
    assert "plan: 1 server to delete" in done.stdout and "freed: " in done.stdout, done.stdout
    again = reaper.command("--json", *asked)
    assert again.returncode == 0
    events = [json.loads(line)["event"] for line in again.stdout.splitlines()]
    assert events == ["accepted", "outcome"]
    nothing_left = reaper.command("request", "--resources", MEDIUM, "--slots", "3", "--project", "regular")
    assert nothing_left.returncode == 3, nothing_left.stdout
    reaper.stop()
    silence = reaper.command(*asked)
    assert silence.returncode == 1 and "is the daemon running" in silence.stderr


def wait_until_it_serves(reaper: Reaper) -> None:
    probe = ["request", "--resources", "VCPU=1", "--project", "spot"]
    eventually("it takes requests", lambda: "does not serve" not in reaper.command(*probe).stderr)


# hosts ------------------------------------------------------------------------


def test_hosts_shows_what_nova_and_placement_hold(cloud: Cloud, install, fleet) -> None:
    reaper = install()
    picture = {host["name"]: host for host in reaper.json("hosts")["hosts"]}
    assert sorted(picture) == sorted(cloud.hosts)
    for name, host in picture.items():
        assert host["used"]["VCPU"] == cloud.used_vcpus(name) == 10
        shown = {server["id"]: server["revocable"] for server in host["servers"]}
        assert shown == {s.id: True for s in fleet.spot(name)} | {s.id: False for s in fleet.regular(name)}
    text = reaper.command("hosts", "--servers").stdout
    for server in fleet.all():
        assert server.name in text


@pytest.mark.lab_only
def test_hosts_without_a_mapping_hide_no_others(cloud: Cloud, install) -> None:
    """Nova counts them against a page's limit, leaves them out, and shows no link to what is left."""
    with cloud.unmapped_hosts(PAGE - 1):  # type: ignore[attr-defined]
        shown = install().json("hosts")["hosts"]
    assert sorted(host["name"] for host in shown) == sorted(cloud.hosts)


# history ----------------------------------------------------------------------


def test_history_tells_the_story_of_a_request(cloud: Cloud, reaper: Reaper, fleet) -> None:
    [victim] = fleet.spot()
    [refused] = cloud.fail_to_boot("medium")
    [message] = cloud.failure_messages(1)
    reaper.wait_outcome(refused.request)
    cloud.wait_gone([victim])
    cloud.publish(message)
    reaper.wait_messages_done(others=1)

    lines = reaper.json("history")["requests"]
    assert [line["request"]["id"] for line in lines] == [refused.request]
    story = reaper.json("history", "show", refused.request)
    assert victims(story["plans"][0]["decision"]) == [victim.id]
    assert {step["server"] for step in story["steps"]} == {victim.id}
    text = reaper.command("history", "show", refused.request).stdout
    assert victim.name in text and refused.request in text
    assert len(reaper.json("history", "messages")["messages"]) == 1, "the repeated message"


def test_history_of_an_unknown_request(reaper: Reaper) -> None:
    done = reaper.command("history", "show", "req-00000000-0000-0000-0000-000000000000")
    assert done.returncode == 6
    assert "req-00000000" in done.stderr


# a daemon elsewhere -----------------------------------------------------------

# What differs because one of the two looked later, or at another place.
VOLATILE = {"taken_at", "since", "sent_at", "file"}


def steady(told: Any) -> Any:
    if isinstance(told, list):
        return [steady(each) for each in told]
    if isinstance(told, str) and told.startswith("manual-"):
        return "manual"  # the id of a question
    if not isinstance(told, dict):
        return told
    return {name: steady(value) for name, value in told.items() if name not in VOLATILE}


def login_of(reaper: Reaper) -> dict[str, str]:
    """The user of the configuration, as OS_* variables."""
    return {f"OS_{name.upper()}": value for name, value in reaper.config["cloud"]["auth"].items()}


def test_a_daemon_elsewhere_answers_as_the_machine_itself(
    cloud: Cloud, install, fleet, tmp_path: Path
) -> None:
    """Through the port, with a token of Keystone, without a configuration."""
    reaper = install()
    address = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"socket": str(tmp_path / "admin.sock"), "listen": address, "auth": "keystone"}
    reaper.config["cull"] = {**reaper.config.get("cull", {}), "promise": "15min"}
    reaper.start()
    here = ("--api", f"http://{address}")
    login = login_of(reaper)
    # Else the journal has the request without the name of its project, and the daemon adds it.
    named = lambda: '"project_name"' in reaper.elsewhere(*here, "--json", "hosts", "--servers", **login).stdout  # noqa: E731
    eventually("the names of projects are known", named)
    [victim] = fleet.spot()
    [refused] = cloud.fail_to_boot("medium")
    reaper.wait_outcome(refused.request)
    cloud.wait_gone([victim])
    size = ("--resources", "VCPU=1,MEMORY_MB=512,DISK_GB=1")

    def same(*command: str, code: int = 0) -> None:
        local = reaper.command("--json", *command)
        remote = reaper.elsewhere(*here, "--json", *command, **login)
        assert (local.returncode, remote.returncode) == (code, code), local.stderr + remote.stderr
        assert steady(json.loads(remote.stdout)) == steady(json.loads(local.stdout)), command
        text = reaper.elsewhere(*here, *command, **login)
        assert text.returncode == code and text.stdout, text.stderr

    hosts = lambda *how: steady(json.loads(reaper.elsewhere(*here, "--json", "hosts", **login).stdout))  # noqa: E731
    eventually("its cache is settled", lambda: hosts() == steady(reaper.json("hosts")))
    for command in (["hosts"], ["hosts", "--servers"], ["history"], ["history", "totals"], ["reapers"]):
        same(*command)
    for tables in (["hosts", "-o", "wide"], ["hosts", "--servers", "-o", "csv"], ["history", "-o", "csv"]):
        local, remote = reaper.command(*tables), reaper.elsewhere(*here, *tables, **login)
        assert remote.stdout == local.stdout and local.returncode == remote.returncode == 0, remote.stderr
    same("history", "--server", victim.id)
    same("history", "show", victim.name)
    same("history", "show", refused.request)
    same("explain", victim.id)
    same("room", *size, code=3)  # what came free is promised
    same("plan", *size, "--project", "regular", code=3)
    same("plan", *size, "--project", "spot", code=3)
    same("status")
    for unknown in (["room", *size, "--zone", "mars"], ["plan", *size, "--project", "no-such"]):
        asked = reaper.elsewhere(*here, *unknown, **login)
        assert asked.returncode == 6 and not asked.stdout, asked.stderr

    pause = reaper.elsewhere(*here, "pause", "--reason", "upgrade", **login)
    assert pause.returncode == 0, pause.stderr
    assert reaper.pause_file.exists()
    eventually("the pause is noted", lambda: reaper.json("history", "totals")["events"])
    same("status", code=4)
    resumed = reaper.elsewhere(*here, "resume", **login)
    assert resumed.returncode == 0 and "upgrade" in resumed.stdout, resumed.stderr
    assert not reaper.pause_file.exists()

    denied = reaper.elsewhere(*here, "status")
    assert denied.returncode == 5 and "OS_TOKEN" in denied.stderr, denied.stderr
    forged = reaper.elsewhere(*here, "status", OS_TOKEN="forged-token")
    assert forged.returncode == 5 and "forged-token" not in forged.stderr, forged.stderr
    usage = reaper.elsewhere("--json", "usage", REAPER_API=f"http://{address}", **login)
    counted = [
        [(line["project"], line["type"], line["servers"], line["reclaimed"]) for line in told["usage"]]
        for told in (json.loads(usage.stdout), reaper.json("usage"))
    ]
    assert counted[0] == counted[1] and counted[0], usage.stderr
    check = reaper.elsewhere("check", REAPER_API=f"http://{address}", **login)
    assert check.returncode == 2 and "works without --api" in check.stderr
    reaper.stop()
    silence = reaper.elsewhere(*here, "status", **login)
    assert silence.returncode == 1 and "admin.listen" in silence.stderr, silence.stderr


# lists ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command, known",
    [("strategies", "strict"), ("taggers", "project"), ("estimators", "usage_slack"), ("qos", "load")],
)
def test_lists_of_what_can_be_chosen(install, command: str, known: str) -> None:
    reaper = install()
    assert known in reaper.command(command).stdout
    json.loads(reaper.command("--json", command).stdout)
