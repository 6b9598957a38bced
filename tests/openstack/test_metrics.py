"""What the daemon tells Prometheus and probes: against its journal and the cloud's own record, by
Prometheus' own tool, and read by Debian's Prometheus with the alerts that are installed."""

import json
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable

from cloud import PATIENCE, Cloud, eventually
from fleet import fill
from lablib.ports import LOOPBACK, free_ports
from prometheus_process import DIRECT, Prometheus, Target
from reaper_process import Reaper

PROJECT = Path(__file__).parents[2]
ALERTS = PROJECT / "deploy/prometheus/alerts.yaml"
DASHBOARD = PROJECT / "deploy/grafana/reaper.json"
PROMTOOL = "/usr/bin/promtool"
SERIES = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def watched(reaper: Reaper) -> str:
    """From its next start on, it tells here what it counts."""
    address = f"{LOOPBACK}:{free_ports(['metrics'])['metrics']}"
    reaper.config["metrics"] = {"listen": address, "per_host": True}
    return address


def ask(address: str, path: str) -> tuple[int, str]:
    try:
        with DIRECT.open(f"http://{address}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


class Page:
    """GET /metrics, taken apart."""

    def __init__(self, address: str):
        status, self.text = ask(address, "/metrics")
        assert status == 200, self.text
        self._series: list[tuple[str, dict[str, str], float]] = []
        for line in self.text.splitlines():
            if not line.startswith("#"):
                found = SERIES.match(line)
                assert found is not None, line
                labels = dict(LABEL.findall(found[2] or ""))
                self._series.append((found[1], labels, float(found[3])))

    def sum(self, name: str, **labels: str) -> float:
        """Of all series of that name with these labels."""
        return sum(value for series, has, value in self._series if series == name and labels.items() <= has.items())

    def by(self, name: str, label: str) -> dict[str, int]:
        """What is not 0, by one label."""
        sums: dict[str, int] = {}
        for series, labels, value in self._series:
            if series == name and value != 0:
                sums[labels[label]] = sums.get(labels[label], 0) + int(value)
        return sums


def expressions() -> list[str]:
    """Of the dashboard, with Grafana's variables filled in."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    for name, value in ("$__rate_interval", "10s"), ("$instance", ".*"), ("$job", ".*"):
        found = [text.replace(name, value) for text in found]
    return found


def may_be_silent(expression: str) -> bool:
    """Nothing of it has happened, or there is no such thing here."""
    of = ("gateway", "reserved_", "budget", "oversubscribed_", "oversubscription_")
    return "> 0" in expression or any(f"reaper_{name}" in expression for name in of)


def assert_tells_as_much(page: Page, totals: dict[str, Any]) -> None:
    assert page.by("reaper_requests_total", "outcome") == totals["outcomes"]
    assert page.by("reaper_freed_rooms_total", "result") == totals["freed_room"]
    assert page.by("reaper_messages_total", "verdict") == totals["messages"]
    assert page.by("reaper_events_total", "kind") == totals["events"]
    assert page.sum("reaper_victims_total") == totals["victims"]
    reasons = page.by("reaper_refusals_total", "reason")
    assert {reason: reasons.get(reason, 0) for reason in totals["safeguards"]} == totals["safeguards"]


def test_metrics_say_what_the_journal_and_the_cloud_say(
    cloud: Cloud, install: Callable[..., Reaper], tmp_path: Path
) -> None:
    one, two, three = cloud.hosts
    full = [("regular", "large", 1)]
    fill(cloud, {one: [("spot", "medium", 1), ("regular", "medium", 1)], two: full, three: full})
    reaper = install()
    address = watched(reaper)
    reaper.start()
    eventually("the cloud is read", lambda: Page(address).sum("reaper_ready") == 1)
    assert Page(address).sum("reaper_requests_total") == 0

    [refused] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(refused.request)["kind"] == "freed"
    again = cloud.ask("medium")
    cloud.wait_for(again, "ACTIVE")
    assert reaper.wait_freed_room(refused.request)["kind"] == "taken"
    [hopeless] = cloud.fail_to_boot("medium")
    assert reaper.wait_outcome(hopeless.request)["kind"] == "not-enough"
    reaper.wait_acknowledged()

    page = Page(address)
    assert_tells_as_much(page, reaper.json("history", "totals", "--since", "1h"))
    assert page.sum("reaper_requests_total") == 2
    assert page.sum("reaper_victims_total", tagger="project", source="nova-failure") == 1
    assert page.sum("reaper_api_requests_total", service="nova", method="DELETE") == 1
    assert page.sum("reaper_api_requests_total", service="keystone", method="POST", code="201") >= 1
    assert page.sum("reaper_api_requests_total", code="401") == 0
    assert page.sum("reaper_request_taken_seconds_count") == 1
    assert page.sum("reaper_request_taken_seconds_sum") >= page.sum("reaper_request_room_seconds_sum") > 0
    assert page.sum("reaper_serving") == page.sum("reaper_broker_connected") == 1
    assert page.sum("reaper_hosts") == len(cloud.hosts)
    for host in cloud.hosts:
        assert page.sum("reaper_host_capacity", hostname=host, resourcetype="VCPU") > 0
    said = subprocess.run(
        [PROMTOOL, "check", "metrics"], input=page.text, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")

    prometheus = Prometheus(tmp_path, [Target(address, "/metrics", "one")], "reaper", [ALERTS])
    try:
        prometheus.start()
        eventually("it has read the reaper", lambda: prometheus.ask("reaper_ready").get("one") == 1)
        assert prometheus.ask("sum by (instance) (reaper_victims_total)") == {"one": 1}
        quantile = "histogram_quantile(0.9, sum by (instance, le) (reaper_request_room_seconds_bucket))"
        assert prometheus.ask(quantile)["one"] > 0
        rules = eventually("it has evaluated its rules", prometheus.rules)
        assert len(rules) == ALERTS.read_text().count("- alert: ")
        assert [rule["name"] for rule in rules if rule["health"] != "ok"] == []
        assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []
        shown = expressions()
        silent = lambda: [text for text in shown if not prometheus.ask(text)]  # noqa: E731
        eventually("the dashboard shows it", lambda: not [text for text in silent() if not may_be_silent(text)])
    finally:
        prometheus.stop()


def test_probes_tell_how_it_is(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    reaper = install()
    address = watched(reaper)
    reaper.start()
    eventually("it is ready", lambda: ask(address, "/readyz")[0] == 200)
    assert ask(address, "/healthz")[0] == 200
    assert reaper.command("pause", "--reason", "an upgrade").returncode == 0
    status, body = ask(address, "/readyz")
    notes = json.loads(body)["notes"]
    assert status == 200 and [note["name"] for note in notes] == ["paused"]
    assert "an upgrade" in notes[0]["detail"]
    assert Page(address).sum("reaper_paused") == 1
    assert reaper.command("resume").returncode == 0
    assert json.loads(ask(address, "/readyz")[1])["notes"] == []
    for path in ("/v1", "/v1/culling_candidates?resources=VCPU:1", "/"):
        assert ask(address, path)[0] == 404
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Host": "evil.example"})
    try:
        DIRECT.open(request, timeout=PATIENCE)
        raise AssertionError("another name of the host was taken")
    except urllib.error.HTTPError as refused:
        assert refused.code == 421


def test_a_dry_run_beside_the_daemon_does_without_the_port(
    cloud: Cloud, install: Callable[..., Reaper]
) -> None:
    reaper, looker = install(), install()
    address = watched(reaper)
    looker.config["metrics"] = reaper.config["metrics"]
    looker.start("--dry-run")
    reaper.start()
    assert Page(address).sum("reaper_dry_run") == 0
