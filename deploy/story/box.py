"""The cloud in a box: a RabbitMQ of its own and cloudsim, as processes, and as its users see it.

Both end with this process, whatever ends it: the broker lives as long as its stdin is open, cloudsim
dies with its parent. Only Python's standard library is needed.
"""

import json
import select
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Callable
from urllib.parse import quote

# Far above what they take on an idle machine.
BROKER_DEADLINE_S = 120
CLOUDSIM_DEADLINE_S = 60
END_DEADLINE_S = 60
CALL_DEADLINE_S = 30
# Of Nova; with it, a server in a list tells its flavor in full.
MICROVERSION = "2.90"
PAGE = 1000

# Of tests/rabbitmq/broker.
BROKER_USER = "reaper"
BROKER_PASSWORD = "p@ss/w:rd%"

DIES_WITH_US = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
# No proxy of the caller may see a loopback address.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

Tick = Callable[[], None]


class BoxFailed(Exception):
    """One line; `log` has the rest."""

    def __init__(self, what: str, log: Path):
        super().__init__(what)
        self.log = log


class Process:
    """A program that tells in its first line of output that it is ready."""

    def __init__(self, name: str, command: list[str], log: Path, deadline_s: float, tick: Tick):
        self.name, self.log = name, log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for us: we end it in order
            )
        try:
            self.first_line = self._wait_first_line(time.monotonic() + deadline_s, tick)
        except BaseException:
            self.end()
            raise

    def _wait_first_line(self, deadline: float, tick: Tick) -> str:
        line = b""
        while not line.endswith(b"\n"):
            if time.monotonic() > deadline:
                raise BoxFailed(f"{self.name} was not ready in time", self.log)
            tick()
            if select.select([self._process.stdout], [], [], 0.25)[0]:
                more = self._process.stdout.read1(65536)
                if not more:
                    raise BoxFailed(f"{self.name} did not start", self.log)
                line += more
        return line.decode().strip()

    def end(self) -> None:
        self._process.terminate()
        self._process.stdin.close()
        try:
            self._process.wait(END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise BoxFailed(f"{self.name} did not end in {END_DEADLINE_S} s and was killed", self.log)
        finally:
            self._process.stdout.close()


class Broker(Process):
    def __init__(self, script: Path, log: Path, tick: Tick):
        tell = 'echo "$REAPER_BROKER_PORT"; exec cat >/dev/null'
        command = [str(script), "run", "/bin/sh", "-c", tell]
        super().__init__("RabbitMQ", command, log, BROKER_DEADLINE_S, tick)
        self.port = int(self.first_line)
        self.url = f"amqp://{BROKER_USER}:{quote(BROKER_PASSWORD, safe='')}@127.0.0.1:{self.port}/"


class Cloudsim(Process):
    def __init__(self, binary: Path, config: Path, broker_url: str, log: Path, tick: Tick):
        options = ["--config", str(config), "--amqp", broker_url]
        command = [*DIES_WITH_US, str(binary), *options]
        super().__init__("cloudsim", command, log, CLOUDSIM_DEADLINE_S, tick)
        self.ready: dict[str, Any] = json.loads(self.first_line)

    def admin(self, path: str) -> Any:
        """Its administrator's endpoint: counts, and the record of what was really done."""
        return call("GET", f"{self.ready['admin_url']}/{path}")[1]


class ApiFailed(Exception):
    pass


def call(
    method: str, url: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[Any, Any]:
    """Headers and JSON of the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
        request.add_header(name, value)
    try:
        with DIRECT.open(request, timeout=CALL_DEADLINE_S) as answer:
            text = answer.read()
            return answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        raise ApiFailed(f"{method} {url}: {error.code} {error.read()[:200].decode()}") from error


class NovaUser:
    """A user with a password, and what Nova's API gives them."""

    def __init__(self, ready: dict[str, Any], name: str):
        user = ready["users"][name]
        domain = {"id": "default"}
        who = {"name": name, "domain": domain, "password": user["password"]}
        auth = {
            "identity": {"methods": ["password"], "password": {"user": who}},
            "scope": {"project": {"name": user["project"], "domain": domain}},
        }
        headers, body = call("POST", f"{ready['auth_url']}/auth/tokens", {"auth": auth})
        self.name, self.project = name, user["project"]
        self._headers = {
            "X-Auth-Token": headers["X-Subject-Token"],
            "OpenStack-API-Version": f"compute {MICROVERSION}",
        }
        self._nova = endpoint(body["token"]["catalog"], "compute")
        self._image = ready["image"]

    def call(self, method: str, path: str, body: Any = None) -> tuple[Any, Any]:
        return call(method, f"{self._nova}{path}", body, self._headers)

    def make_flavor(self, name: str, vcpus: int, memory_mb: int, disk_gb: int) -> str:
        flavor = {"name": name, "vcpus": vcpus, "ram": memory_mb, "disk": disk_gb}
        return self.call("POST", "/flavors", {"flavor": flavor})[1]["flavor"]["id"]

    def ask(self, name: str, flavor: str, count: int) -> tuple[str, list[dict[str, Any]]]:
        """`count` servers in one request: its id, and the servers."""
        body = {"name": name, "imageRef": self._image, "flavorRef": flavor, "networks": "none"}
        body.update(min_count=count, max_count=count, return_reservation_id=True)
        headers, answer = self.call("POST", "/servers", {"server": body})
        found = self.call("GET", f"/servers/detail?reservation_id={answer['reservation_id']}")[1]
        return headers["x-openstack-request-id"], found["servers"]

    def look(self, server: str) -> dict[str, Any]:
        return self.call("GET", f"/servers/{server}")[1]["server"]

    def all_servers(self) -> dict[str, dict[str, Any]]:
        """By id; for administrators."""
        found: dict[str, dict[str, Any]] = {}
        marker = ""
        while True:
            page = self.call("GET", f"/servers/detail?all_tenants=1&limit={PAGE}{marker}")[1]["servers"]
            if not page:
                return found
            found |= {server["id"]: server for server in page}
            marker = f"&marker={page[-1]['id']}"


def endpoint(catalog: list[dict[str, Any]], service: str, region: str = "RegionOne") -> str:
    for entry in catalog:
        for place in entry["endpoints"]:
            if (entry["type"], place["interface"], place["region_id"]) == (service, "public", region):
                return place["url"].rstrip("/")
    raise ApiFailed(f"the catalog has no {service} in {region}")
