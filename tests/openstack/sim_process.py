"""A broker and a simulated cloud (tests/cloudsim) for a session of scenarios."""

import json
import subprocess
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import yaml

from cloud import PATIENCE, eventually

PROJECT = Path(__file__).parents[2]
BROKER = PROJECT / "tests/rabbitmq/broker"
LAB_LIKE = PROJECT / "tests/cloudsim/lab.yaml"

# Of tests/rabbitmq/broker.
BROKER_USER = "reaper"
BROKER_PASSWORD = "p@ss/w:rd%"
LOOPBACK = "127.0.0.1"

# What outlived a killed session would hold the machine's ports and memory.
DIES_WITH_US = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
# No proxy of the caller may see a loopback address.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Broker:
    """A RabbitMQ of its own, until `close` or our end: it lives as long as its stdin is open. Of several
    nodes, the answers are those of the first."""

    def __init__(self, nodes: int = 1) -> None:
        tell = 'echo "$REAPER_BROKER_NODES $REAPER_BROKER_PORTS"; exec cat'
        self._process = subprocess.Popen(
            [str(BROKER), "run", "--nodes", str(nodes), "/bin/sh", "-c", tell],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        directories, _, ports = self._process.stdout.readline().strip().partition(" ")
        assert ports, "RabbitMQ did not start; it told why above"
        self.directories, self.ports = directories.split(":"), [int(port) for port in ports.split(":")]
        self.directory, self.port = self.directories[0], self.ports[0]

    @property
    def url(self) -> str:
        return self.url_at(self.port)

    def url_at(self, port: int) -> str:
        return f"amqp://{BROKER_USER}:{quote(BROKER_PASSWORD, safe='')}@{LOOPBACK}:{port}/"

    @property
    def node(self) -> dict[str, str]:
        """Where BrokerNode finds it."""
        settings = json.loads(Path(self.directory, "settings.json").read_text())
        return {"address": f"localhost:{settings['dist_port']}", "home": f"{self.directory}/home"}

    def restart(self) -> None:
        for command in ("stop", "start"):
            self.do(command)

    def do(self, command: str, node: int = 0) -> None:
        """`stop`, `kill`, `start` it; `part` it from the others, `heal` that."""
        others = [d for d in self.directories if d != self.directories[node]]
        extra = others if command in ("part", "heal") else []
        subprocess.run(
            [str(BROKER), command, self.directories[node], *extra], check=True, stdin=subprocess.DEVNULL
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)


class Cloudsim:
    """The simulated cloud as a process, and its administrator's endpoint."""

    def __init__(self, binary: Path, directory: Path, broker_url: str, hosts: int, **settings: Any):
        self.log = directory / "cloudsim.log"
        config = directory / "cloudsim.yaml"
        config.write_text(yaml.safe_dump(yaml.safe_load(LAB_LIKE.read_text()) | {"hosts": hosts} | settings))
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_US, str(binary), "--config", str(config), "--amqp", broker_url],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"cloudsim did not start: {self.log.read_text()}"
        self.ready: dict[str, Any] = json.loads(line)

    def get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def post(self, path: str, **body: Any) -> Any:
        return self._call("POST", path, json.dumps(body).encode())

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path, None)

    def wait_connected(self) -> None:
        eventually("cloudsim speaks to the broker", lambda: self.get("state")["notifier"]["connected"])

    def wait_sent(self) -> None:
        """The broker has put all its messages into the queues."""
        eventually("the broker has all messages", lambda: not self.get("state")["notifier"]["waiting"])

    def close(self) -> None:
        self._process.terminate()
        assert self._process.wait(PATIENCE) == 0, self.log.read_text()

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        request = urllib.request.Request(f"{self.ready['admin_url']}/{path}", data=body, method=method)
        with DIRECT.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)


class Simulation:
    """Both, as a context."""

    def __init__(
        self,
        binary: Path,
        directory: Path,
        hosts: int,
        broker: Broker | None = None,
        way: int = 0,
        **settings: Any,
    ):
        """`way`: the port by which cloudsim goes to the broker, if it is not the broker's own; `settings`
        in the words of its configuration."""
        self.broker = broker or Broker()
        try:
            url = self.broker.url_at(way) if way else self.broker.url
            self.cloudsim = Cloudsim(binary, directory, url, hosts, **settings)
        except BaseException:
            self.broker.close()
            raise

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cloudsim.close()
        finally:
            self.broker.close()
