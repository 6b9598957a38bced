"""What stands between a client and Placement: nothing, haproxy, the gateway alone, or that of a reaper
which serves: it looks at each search and each claim, of a cloud that is not the client's."""

import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Protocol

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "bench"))

from bench_cloud import Cloud  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
REAPER = Path(os.environ.get("REAPER", ROOT / "build/release/bin/reaper"))
LOOPBACK = "127.0.0.1"
# What outlived a killed run would hold ports and memory.
DIES_WITH_US = ("/usr/bin/setpriv", "--pdeathsig", "KILL", "--")
# Only there to give up.
START_DEADLINE_S = 120
STOP_DEADLINE_S = 60
START_ATTEMPTS = 5
# Below those that the kernel gives to outgoing connections.
LOWEST_PORT, HIGHEST_PORT = 15000, 32000


class CanNotStart(Exception):
    pass


class Proxy(Protocol):
    # The clients of Placement.
    pid: int

    def start(self, upstream_port: int) -> int: ...

    def stop(self) -> str:
        """What was wrong with how it ended."""
        ...


class Direct:
    """No proxy: this process asks Placement."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    def start(self, upstream_port: int) -> int:
        return upstream_port

    def stop(self) -> str:
        return ""


def free_port() -> int:
    while True:
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, random.randint(LOWEST_PORT, HIGHEST_PORT)))
                return probe.getsockname()[1]
            except OSError:
                continue


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


class Program:
    """A proxy that is a process of its own; its files are in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.pid = folder, 0
        self.log = folder / "proxy.log"
        self._process: subprocess.Popen[bytes] | None = None

    def command(self, port: int, upstream_port: int) -> list[str]:
        raise NotImplementedError

    def start(self, upstream_port: int) -> int:
        for _ in range(START_ATTEMPTS):
            port = free_port()
            if self._started(port, self.command(port, upstream_port)):
                return port
        raise CanNotStart(f"{type(self).__name__}: {self._said()}")

    def _said(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]

    def _started(self, port: int, command: list[str]) -> bool:
        """False if it ended; another process may have taken the port."""
        with self.log.open("ab") as log:
            try:
                self._process = subprocess.Popen(
                    [*DIES_WITH_US, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            except OSError as error:
                raise CanNotStart(f"{command[0]}: {error}") from error
        self.pid = self._process.pid
        give_up = time.monotonic() + START_DEADLINE_S
        while self._process.poll() is None:
            if listens(port):
                return True
            if time.monotonic() > give_up:
                self.stop()
                return False
            time.sleep(0.05)
        return False

    def stop(self) -> str:
        if self._process is None:
            return ""
        if (status := self._process.poll()) is not None:
            return f"the proxy ended by itself with {status}\n{self._said()}"
        self._process.terminate()
        try:
            self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return f"the proxy did not end when it was asked to\n{self._said()}"
        return ""


HAPROXY_CONFIGURATION = """\
defaults
  mode http
  timeout connect 60s
  timeout client 15m
  timeout server 15m
listen placement
  bind 127.0.0.1:{port}
  server placement 127.0.0.1:{upstream_port}
"""


class Haproxy(Program):
    def command(self, port: int, upstream_port: int) -> list[str]:
        file = self.folder / "haproxy.cfg"
        file.write_text(HAPROXY_CONFIGURATION.format(port=port, upstream_port=upstream_port))
        return ["/usr/sbin/haproxy", "-db", "-f", str(file)]


GATEWAY_CONFIGURATION = """\
gateway:
  listen: 127.0.0.1:{port}
  placement_url: http://127.0.0.1:{upstream_port}
"""


class Gateway(Program):
    def command(self, port: int, upstream_port: int) -> list[str]:
        file = self.folder / "gateway.yaml"
        file.write_text(GATEWAY_CONFIGURATION.format(port=port, upstream_port=upstream_port))
        return [str(REAPER), "gateway", "--config", str(file)]


SERVING_CONFIGURATION = """\
cloud:
  region: RegionOne
  auth:
    auth_url: {auth_url}
    username: reaper
    user_domain_id: default
    password: {password}
    project_name: service
    project_domain_id: default
broker:
  urls: [{amqp}]
  queue: reaper-{pid}
  dead_letter_queue: reaper-{pid}.dead-letter
taggers:
  - name: project
pause_file: {folder}/paused
journal:
  path: {folder}/journal.db
log:
  target: terminal
"""
SERVING = "cloud cache: "


class Serving(Program):
    """`reaper run`, of a cloud that is simulated, and a real broker: that of REAPER_BROKER_PORT."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._cloud: Cloud | None = None

    def start(self, upstream_port: int) -> int:
        broker = os.environ.get("REAPER_BROKER_PORT")
        if broker is None:
            raise CanNotStart("serving: run this with tests/rabbitmq/broker run")
        amqp = f"amqp://reaper:p%40ss%2Fw%3Ard%25@{LOOPBACK}:{broker}"
        self._cloud = Cloud(REAPER.parent, self.folder, "hosts: 10\n", amqp)
        self._amqp = amqp
        port = super().start(upstream_port)
        give_up = time.monotonic() + START_DEADLINE_S
        while SERVING not in self._said():
            if time.monotonic() > give_up:
                raise CanNotStart(f"serving: it does not serve\n{self._said()}")
            time.sleep(0.1)
        return port

    def command(self, port: int, upstream_port: int) -> list[str]:
        assert self._cloud is not None
        place, file = self._cloud.place, self.folder / "serving.yaml"
        serving = SERVING_CONFIGURATION.format(
            auth_url=place["auth_url"],
            password=place["users"]["reaper"]["password"],
            amqp=self._amqp,
            pid=os.getpid(),
            folder=self.folder,
        )
        file.write_text(serving + GATEWAY_CONFIGURATION.format(port=port, upstream_port=upstream_port))
        file.chmod(0o600)
        return [str(REAPER), "--config", str(file), "run"]

    def stop(self) -> str:
        wrong = super().stop()
        if self._cloud is not None:
            self._cloud.end()
        return wrong


class Wrong(Program):
    """What a proxy must not do; see wrong_proxy.py."""

    def __init__(self, folder: Path, fault: str) -> None:
        super().__init__(folder)
        self.fault = fault

    def command(self, port: int, upstream_port: int) -> list[str]:
        program = Path(__file__).resolve().parent / "wrong_proxy.py"
        return ["/usr/bin/python3", "-B", str(program), self.fault, str(port), str(upstream_port)]


def make(name: str, folder: Path) -> Proxy:
    kind, _, fault = name.partition(":")
    if kind == "wrong":
        return Wrong(folder, fault)
    if kind == "direct":
        return Direct()
    return {"haproxy": Haproxy, "gateway": Gateway, "serving": Serving}[kind](folder)
