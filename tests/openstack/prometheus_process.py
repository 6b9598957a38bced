"""A Prometheus of Debian's package for scenarios, on loopback; it reads its targets each second. And
Debian's node_exporter."""

import json
import os
import subprocess
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloud import PATIENCE, eventually
from gate import Answer, Gate
from lablib.ports import LOOPBACK, free_ports
from reaper_process import DIES_WITH_US

PROMETHEUS = "/usr/bin/prometheus"
NODE_EXPORTER = "/usr/bin/prometheus-node-exporter"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Target:
    address: str  # HOST:PORT
    path: str
    instance: str  # the label


class _Service:
    """A process of ours that answers HTTP."""

    def __init__(self, name: str, directory: Path):
        self.port = free_ports([name])[name]
        self.url = f"http://{LOOPBACK}:{self.port}"
        self._name, self._log = name, directory / f"{name}.log"
        self._process: subprocess.Popen | None = None

    def _start(self, ready: str, command: list[str]) -> None:
        if self._process is not None:
            return
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_US, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        eventually(f"{self._name} is ready", lambda: self._answers(ready))

    def _answers(self, path: str) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"{self._name} ended:\n{self._log.read_text()}"
        try:
            with DIRECT.open(f"{self.url}{path}", timeout=PATIENCE) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def stop(self) -> None:
        """What it stored stays."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None


class Prometheus(_Service):
    def __init__(self, directory: Path, targets: list[Target], job: str = "hosts", rules: list[Path] = []):
        super().__init__("prometheus", directory)
        self._targets = directory / "targets.json"
        self.read(targets)
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(path) for path in rules],
            "scrape_configs": [{"job_name": job, "file_sd_configs": [{"files": [str(self._targets)]}]}],
        }
        (directory / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        self._directory = directory

    def start(self) -> None:
        self._start(
            "/-/ready",
            [
                *(PROMETHEUS, f"--config.file={self._directory}/prometheus.yml"),
                *(f"--storage.tsdb.path={self._directory}/data", "--log.level=warn"),
                f"--web.listen-address={LOOPBACK}:{self.port}",
            ],
        )

    def read(self, targets: list[Target]) -> None:
        """From now on, these and no others."""
        listed = [
            {"targets": [each.address], "labels": {"instance": each.instance, "__metrics_path__": each.path}}
            for each in targets
        ]
        new = self._targets.with_suffix(".new")
        new.write_text(json.dumps(listed))
        os.replace(new, self._targets)

    def ask(self, expression: str) -> dict[str, float]:
        """The value of each instance, as it is now; of one that has several, any."""
        query = urllib.parse.urlencode({"query": expression})
        with DIRECT.open(f"{self.url}/api/v1/query?{query}", timeout=PATIENCE) as answer:
            result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        return {each["metric"].get("instance", ""): float(each["value"][1]) for each in result}


    def rules(self) -> list[dict[str, Any]]:
        """All alerts as it has evaluated them; empty before it has evaluated each."""
        with DIRECT.open(f"{self.url}/api/v1/rules?type=alert", timeout=PATIENCE) as answer:
            groups = json.load(answer)["data"]["groups"]
        found: list[dict[str, Any]] = [rule for group in groups for rule in group["rules"]]
        return [] if any(rule["health"] == "unknown" for rule in found) else found


class MetricsGate(Gate):
    """Before a Prometheus: counts what it is asked, and may have another clock."""

    ahead = 0.0  # seconds

    def wait_asked_again(self) -> None:
        """Several times: by then the caller has acted on the first answer."""
        before = len(self.asked)
        eventually("more is asked", lambda: len(self.asked) > before + 12)

    def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        answer = super()._ask(method, path, headers, body)
        if answer is None or answer[0] != 200:
            return answer
        document = json.loads(answer[2])
        for each in document["data"]["result"]:
            each["value"][0] += self.ahead
        return answer[0], answer[1], json.dumps(document).encode()


class NodeExporter(_Service):
    """What Debian's package tells of this machine."""

    def __init__(self, directory: Path):
        super().__init__("node_exporter", directory)

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def start(self) -> None:
        collectors = ["cpu", "loadavg", "pressure"]
        only = ["--collector.disable-defaults", *(f"--collector.{name}" for name in collectors)]
        listen = f"--web.listen-address={self.address}"
        self._start("/metrics", [NODE_EXPORTER, listen, "--log.level=warn", *only])
