"""A full cloud of cloudsim's, and a machine that has booted beside it, with a package that no user has
installed yet: what a story about an operator looks at and asks."""

import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import box
from debian_root import Root, archive, dependencies, run
from lablib.ports import LOOPBACK, free_ports

ROOT = Path(__file__).resolve().parents[2]
EVERYTHING = 1_000_000
SERIES = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class OnCloudsim(unittest.TestCase):
    build: Path
    flavor_sizes: dict[str, dict[str, int]]

    def setUp(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="reaper-story-"))
        self.addCleanup(shutil.rmtree, self.place)
        options = ("--build", str(self.build), "--out", str(self.place / "out"), "--no-symbols")
        [package] = run(str(ROOT / "deploy/package"), *options).stdout.split()
        self.package = Path(package)
        tick = lambda: None  # noqa: E731
        self.broker = box.Broker(ROOT / "tests/rabbitmq/broker", self.place / "broker.log", tick)
        self.addCleanup(self.broker.end)
        config = ROOT / "deploy/story/cloudsim.yaml"
        log = self.place / "cloudsim.log"
        self.cloudsim = box.Cloudsim(self.build / "bin/cloudsim", config, self.broker.url, log, tick)
        self.addCleanup(self.cloudsim.end)
        self.users = {name: box.NovaUser(self.cloudsim.ready, name) for name in ("admin", "alice", "bob")}
        admin = self.users["admin"]
        self.flavors = {name: admin.make_flavor(name, **size) for name, size in self.flavor_sizes.items()}
        self.root = Root(archive(self.build / "package-test", dependencies(self.package)))
        self.addCleanup(self.root.remove)
        self.root.boot()
        ports = free_ports(["admin", "metrics"])
        self.api, self.metrics_port = (f"{LOOPBACK}:{ports[name]}" for name in ("admin", "metrics"))

    # The machine -----------------------------------------------------------------

    def file(self, name: str) -> Path:
        return self.root.path / name

    def system(self, *words: str) -> None:
        done = self.root.run("systemctl", *words, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + self.log())

    def log(self) -> str:
        return self.root.run("journalctl", "--no-pager", "--output=cat", "--unit=reaper").stdout

    def as_reaper(self, *words: str, code: int = 0) -> str:
        done = self.root.run("runuser", "-u", "reaper", "--", "reaper", *words, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def told(self, *words: str) -> dict[str, Any]:
        return json.loads(self.as_reaper(*words, "--json"))

    def asked(self, path: str) -> Any:
        return box.call("GET", f"http://{self.api}/{path}")[1]

    def requests(self) -> dict[str, dict[str, Any]]:
        """As the API lists them."""
        lines = self.asked("v1/requests?limit=1000")["requests"]
        return {line["request"]["id"]: line for line in lines}

    def metrics(self) -> list[tuple[str, dict[str, str], float]]:
        with box.DIRECT.open(f"http://{self.metrics_port}/metrics", timeout=box.CALL_DEADLINE_S) as answer:
            found = [SERIES.match(line) for line in answer.read().decode().splitlines()]
        return [(one[1], dict(LABEL.findall(one[2] or "")), float(one[3])) for one in found if one]

    def is_ready(self) -> bool:
        try:
            return self.asked("readyz")["status"] == "ok"
        except (box.ApiFailed, OSError):
            return False

    def wait_for_a_record(self, request: str, member: str) -> dict[str, Any]:
        def told() -> dict[str, Any] | None:
            if request in self.requests():
                return self.asked(f"v1/requests/{request}")[member]
            return None

        self.root.wait(told, f"the {member} of {request}")
        return told() or {}

    # The cloud -------------------------------------------------------------------

    def mark(self) -> int:
        return self.cloudsim.admin("state")["last"]

    def record(self, since: int, **filters: str) -> list[dict[str, Any]]:
        query = "".join(f"&{key}={value}" for key, value in filters.items())
        log = self.cloudsim.admin(f"log?since={since}&limit={EVERYTHING}{query}")
        self.assertFalse(log["lost"], "cloudsim's record is not complete")
        return log["entries"]

    def happened(self, what: str, since: int) -> list[str]:
        return sorted(one["server"] for one in self.record(since, kind="effect") if one["what"] == what)

    def writes_of_the_reaper(self, since: int) -> list[str]:
        requests = self.record(since, kind="request", user="reaper")
        changes = [one for one in requests if one["method"] not in ("GET", "HEAD") and one["service"] != "identity"]
        return [f"{one['method']} {one['path']}: {one['status']}" for one in changes]

    def ask(self, who: str, flavor: str, count: int) -> tuple[str, list[str]]:
        """The request, by the id that the cloud itself tells of it, and its servers."""
        _, servers = self.users[who].ask("web", self.flavors[flavor], count)
        ids = [server["id"] for server in servers]
        actions = self.users["admin"].call("GET", f"/servers/{ids[0]}/os-instance-actions")[1]["instanceActions"]
        [request] = [action["request_id"] for action in actions if action["action"] == "create"]
        return request, ids

    def wait_refused(self, servers: list[str], since: int) -> None:
        """These, and no other."""
        self.root.wait(lambda: set(servers) <= set(self.happened("refused", since)), "they are refused")
        self.assertEqual(self.happened("refused", since), sorted(servers))

    def wait_booted(self, servers: list[str], since: int) -> None:
        self.root.wait(lambda: set(servers) <= set(self.happened("created", since)), "they have booted")
        self.assertEqual(self.happened("refused", since), [])
