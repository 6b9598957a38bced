"""A broker, a simulated cloud full of servers, a reaper with its admin API, and a tunnel to its socket."""

import json
import socket
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import yaml

from box import DIRECT, Broker, Cloudsim, NovaUser, call
from cloud import PATIENCE, eventually
from cloudsim_story import BoxCloud
from reaper_process import Reaper

PROJECT = Path(__file__).parents[2]
LOOPBACK = "127.0.0.1"
EVIL = "<img src=x onerror=alert(1)>\u202egnp.exe\"'</script><script>alert(2)</script>"
# Larger than any revocable server, so that several must go for each.
HUGE = {"name": "huge", "vcpus": 12, "memory_mb": 24576, "disk_gb": 120}
USERS = {
    "alice": {"password": "alice-on-the-page", "project": "regular", "roles": ["member"]},
    "bob": {"password": "bob-on-the-page", "project": "spot", "roles": ["member"]},
}


def free_port() -> int:
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        port: int = one.getsockname()[1]
        return port


class Tunnel:
    """A TCP port on loopback whose other end is a Unix socket, as `ssh -L` makes one."""

    def __init__(self, path: Path):
        self._path = path
        self._listener = socket.create_server((LOOPBACK, 0))
        self.url = f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._path))
            except OSError:
                client.close()
                server.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
            try:
                end.shutdown(how)
            except OSError:
                pass


class World:
    def __init__(self, binary: Path, cloudsim: Path, directory: Path, hosts: int):
        self.hosts = hosts
        script = PROJECT / "tests/rabbitmq/broker"
        self.broker = Broker(script, directory / "broker.log", lambda: None)
        try:
            settings = yaml.safe_load((PROJECT / "deploy/story/cloudsim.yaml").read_text())
            config = directory / "cloudsim.yaml"
            config.write_text(yaml.safe_dump(settings | {"hosts": hosts, "users": USERS}))
            log = directory / "cloudsim.log"
            self.cloudsim = Cloudsim(cloudsim, config, self.broker.url, log, lambda: None)
        except BaseException:
            self.broker.end()
            raise
        self.admin, self.alice = (NovaUser(self.cloudsim.ready, name) for name in ("admin", "alice"))
        self.flavor = self.admin.make_flavor(**HUGE)
        self._name_spot_servers()
        cloud: Any = BoxCloud(self.broker, self.cloudsim)
        self.reaper = Reaper(binary, cloud, directory)
        self.reaper.config["strategy"] = {"name": "cost"}
        self.port = free_port()
        self.reaper.config["admin"] = {
            "socket": str(directory / "admin.sock"),
            "listen": f"{LOOPBACK}:{self.port}",
            "auth": "keystone",
        }
        self.reaper.start()
        self.tunnel = Tunnel(directory / "admin.sock")
        read = lambda: self.get("/v1/status")["cache"]  # noqa: E731
        eventually("the cloud is read", read)

    def close(self) -> None:
        try:
            self.tunnel.close()
            self.reaper.end()
        finally:
            self.cloudsim.end()
            self.broker.end()

    @property
    def acting(self) -> str:
        """Where every caller may act."""
        return self.tunnel.url

    @property
    def with_token(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def _name_spot_servers(self) -> None:
        """Of the first hosts, where the first victims are."""
        mine = [s for s in self.admin.all_servers().values() if s["name"].startswith("spot-")]
        for server in mine[:400]:
            self.admin.call("PUT", f"/servers/{server['id']}", {"server": {"name": EVIL}})

    def get(self, path: str) -> Any:
        with DIRECT.open(self.acting + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> list[Any]:
        """Every line of the answer; of a refusal too."""
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.acting + path, data=data, method="POST")
        try:
            with DIRECT.open(request, timeout=PATIENCE) as answer:
                return [json.loads(line) for line in answer]
        except urllib.error.HTTPError as error:
            return [json.loads(error.read())]

    @contextmanager
    def nova_is_down(self) -> Iterator[None]:
        faults = f"{self.cloudsim.ready['admin_url']}/faults"
        call("POST", faults, {"pattern": "/compute/*", "drop": True})
        try:
            yield
        finally:
            call("DELETE", faults)

    def ask_nova(self, name: str, count: int = 1) -> str:
        """Servers for which there is no room: the request's id."""
        request, _ = self.alice.ask(name, self.flavor, count)
        return request

    def token_of(self, user: str) -> str:
        """As `openstack token issue` gives one."""
        who: str = NovaUser(self.cloudsim.ready, user)._headers["X-Auth-Token"]
        return who
