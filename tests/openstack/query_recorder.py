"""What Nova's scheduler asks of Placement for one operation, and what the reaper can know of it.

A tap stands in front of Placement: nova-scheduler's `[placement] endpoint_override` points at it. It
writes down each `GET /allocation_candidates`, and answers that there are none, so that every operation
fails for want of a host, whatever room there is. Recorded with the queries is what a reaper reads when
it hears of the failure: Nova's messages, the server, its image, the aggregates, the hosts.

Ids and times are replaced by fixed ones, so that the same cloud gives the same record again.
"""

import json
import re
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator
from urllib.parse import parse_qsl, urlsplit

import amqp

from cloud import PATIENCE, eventually
from gate import Answer, Gate
from lab_cloud import LabCloud
from lab_messages import EXCHANGE
from lablib import catalog, processes, services
from lablib.ports import LOOPBACK

NO_CANDIDATES = json.dumps({"allocation_requests": [], "provider_summaries": {}}).encode()
ROUTING_KEYS = ("versioned_notifications.error", "versioned_notifications.info")
SEARCH = "scheduler.select_destinations.start"
# Of a server, what the reaper reads.
SERVER_KEYS = {
    "id", "name", "tenant_id", "status", "created", "metadata", "tags", "locked", "flavor", "image",
    "server_groups", "OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hypervisor_hostname",
    "OS-EXT-AZ:availability_zone", "OS-EXT-STS:task_state", "OS-EXT-STS:vm_state",
    "OS-SRV-USG:launched_at", "OS-SRV-USG:terminated_at",
}  # fmt: skip
IMAGE_DROPPED = {"self", "file", "schema", "direct_url", "locations", "checksum", "os_hash_value"}
TIME = re.compile(r"20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
EXCEPTION_LINE = re.compile(r'("exception_message": ")((?:[^"\\]|\\.)*?)\\n(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Case:
    """One request to Nova. Extra specs and image properties are those of OpenStack;
    `what` is the operation, on a plain server unless it is a boot."""

    name: str
    specs: dict[str, str] = field(default_factory=dict)
    image: dict[str, str] = field(default_factory=dict)
    what: str = "boot"
    vcpus: int = 2
    ram: int = 1024
    disk: int = 20
    ephemeral: int = 0
    swap: int = 0
    count: int = 1
    zone: str | None = None
    hints: dict[str, Any] = field(default_factory=dict)
    host: str | None = None  # of the lab: `host-1`
    project: str = "regular"
    group: str | None = None  # policy of a server group that the server is in
    searched: bool = False  # Placement offers hosts; Nova's filters refuse all of them
    from_volume: bool = False
    on_server: bool = False  # image and zone are those of the server that is there already
    setup: str = "plain"  # of nova-scheduler and the aggregates, see query_cases


class Tap(Gate):
    """In front of Placement."""

    def __init__(self, target: str):
        self.queries: list[tuple[str, int, list[tuple[str, str]]]] = []
        self.refuses = True
        super().__init__(target)

    def pass_through(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        answer = super().pass_through(method, path, headers, body)
        parts = urlsplit(path)
        if answer is None or parts.path != "/allocation_candidates":
            return answer
        known = {name.lower(): value for name, value in headers.items()}
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        self.queries.append((known.get("x-openstack-request-id", ""), answer[0], asked))
        if not self.refuses:
            return answer
        return 200, [("Content-Type", "application/json")], NO_CANDIDATES

    def of(self, request: str) -> list[dict[str, Any]]:
        return [
            {"status": status, "parameters": [list(pair) for pair in sorted(asked)]}
            for by, status, asked in self.queries
            if by == request
        ]


class DeviceProfiles:
    """As much of Cyborg as Nova asks when a flavor names a device profile."""

    GROUPS = [{"resources:FPGA": "1", "trait:CUSTOM_FPGA_1": "required"}]

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps({"device_profiles": [{"name": "fpga", "groups": DeviceProfiles.GROUPS}]})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def do_DELETE(self) -> None:
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Notifications:
    """All of Nova's versioned notifications from now on, by the request that caused them."""

    def __init__(self, broker: dict[str, Any]):
        self._connection = amqp.Connection(
            f"{broker['host']}:{broker['port']}",
            userid=broker["user"],
            password=broker["password"],
            connect_timeout=PATIENCE,
            read_timeout=PATIENCE,
        )
        self._connection.connect()
        self._channel = self._connection.channel()
        self._queue = self._channel.queue_declare(exclusive=True).queue
        for key in ROUTING_KEYS:
            self._channel.queue_bind(self._queue, EXCHANGE, key)
        self._seen: list[dict[str, Any]] = []

    def find(self, request: str, wanted: str) -> dict[str, Any] | None:
        """The first of the request whose event type ends so."""
        while (message := self._channel.basic_get(self._queue, no_ack=True)) is not None:
            self._seen.append(json.loads(json.loads(message.body)["oslo.message"]))
        for seen in self._seen:
            if seen.get("_context_request_id") == request and seen["event_type"].endswith(wanted):
                return seen
        return None

    def close(self) -> None:
        self._connection.close()


class Names:
    """Fixed ids in the place of those that a cloud makes up."""

    def __init__(self) -> None:
        self._fixed: dict[str, str] = {}

    def note(self, found: str, name: str) -> None:
        dashed = str(uuid.uuid5(uuid.NAMESPACE_URL, f"reaper/{name}"))
        if found.startswith("req-"):
            self._fixed[found] = f"req-{dashed}"
        else:
            self._fixed[found] = dashed
            self._fixed[found.replace("-", "")] = dashed.replace("-", "")

    def fixed(self, document: Any) -> Any:
        text = json.dumps(document, sort_keys=True)
        for found in sorted(self._fixed, key=len, reverse=True):
            text = text.replace(found, self._fixed[found])
        text = TIME.sub(lambda at: f"2026-01-01{at[1]}00:00:00{'.000000' if at[2] else ''}{at[3] or ''}", text)
        return json.loads(EXCEPTION_LINE.sub(r'\1\2"', text))


def in_order(record: dict[str, Any]) -> dict[str, Any]:
    """Nova sorts what it asks by ids, which were others."""

    def sorted_list(value: str) -> str:
        word, colon, rest = value.partition("in:")
        return word + colon + ",".join(sorted(rest.split(","))) if colon and word in ("", "!") else value

    for query in record["queries"]:
        query["parameters"] = sorted([name, sorted_list(value)] for name, value in query["parameters"])
    return record


class Recorder:
    """On a lab that no other program uses while it works."""

    def __init__(self, cloud: LabCloud):
        self.cloud = cloud
        self.lab = cloud.lab
        self.tap = Tap(self.lab["endpoints"]["RegionOne"]["placement"])
        self.cyborg = DeviceProfiles()
        self.messages = Notifications(self.lab["broker"])
        self.nova = catalog.client(self.lab, "compute", default_microversion="2.93", service_type="compute")
        self.glance = catalog.client(self.lab, "image")
        self.names = Names()
        self.aggregates: dict[str, str] = {}  # name: UUID
        for host, provider in cloud.providers.items():
            self.names.note(provider, f"provider/{host}")
        for project, found in self.lab["projects"].items():
            self.names.note(found, f"project/{project}")
        for user in ("admin", "reaper"):
            self.names.note(self._user(user), f"user/{user}")
        self.names.note(self.lab["image"], "image/plain")

    def _user(self, name: str) -> str:
        return str(catalog.user_session(self.lab, name).get_user_id())

    @contextmanager
    def tapped(self, scheduler: str) -> Iterator[None]:
        """nova-scheduler asks Placement through the tap, with these settings besides."""
        settings = f"[placement]\nendpoint_override = {self.tap.url}\n{scheduler}"
        api = f"[cyborg]\nendpoint_override = {self.cyborg.url}\n"
        self._restart({"nova-scheduler": settings, "nova-api": api, "nova-conductor": api})
        try:
            yield
        finally:
            self._restart({"nova-scheduler": "", "nova-api": "", "nova-conductor": ""})

    def _restart(self, overlays: dict[str, str]) -> None:
        for service, text in overlays.items():
            self.cloud.place.path("etc", f"{service}.conf").write_text(text)
        processes.stop(self.cloud.place, list(overlays))
        for service in overlays:
            services.start(self.cloud.place, self.lab, service)
        self.cloud.messages.wait_for_consumers(["conductor", "scheduler"])

    def make_aggregate(self, name: str, hosts: list[str], metadata: dict[str, str]) -> None:
        made = self.cloud.make_aggregate(name, hosts, metadata)
        self.names.note(made, f"aggregate/{name}")
        self.aggregates[name] = made

    # A case ------------------------------------------------------------------

    def record(self, case: Case, reaper_settings: dict[str, Any]) -> dict[str, Any]:
        image = self._image(case)
        flavor = self._flavor(case)
        server, request = self._ask(case, flavor, image)
        self.names.note(server, f"server/{case.name}")
        self.names.note(request, f"request/{case.name}")
        self.names.note(flavor, f"flavor/{case.name}")
        found = self.nova.get(f"/servers/{server}").json()["server"]
        if found["image"]:
            del found["image"]["links"]
        failure = None if case.what == "unshelve" else self.messages.find(request, ".error")
        record = {
            "case": case.name,
            "what": case.what,
            "scheduler": reaper_settings,
            "failure": self._slim(failure),
            "search": self._slim(self.messages.find(request, SEARCH)),
            "server": {key: value for key, value in found.items() if key in SERVER_KEYS},
            "action": self._action(server, request),
            "image": self._read_image(found, failure),
            "groups": [self._group(group) for group in found["server_groups"]],
            "aggregates": self.nova.get("/os-aggregates").json()["aggregates"],
            "hosts": {name: self.cloud.providers[name] for name in self.cloud.hosts},
            "queries": self.tap.of(request),
        }
        for aggregate in record["aggregates"]:
            for key in ("id", "created_at", "updated_at", "deleted_at", "deleted"):
                aggregate.pop(key, None)
        self._clean(server, flavor)
        return in_order(self.names.fixed(record))

    def _group(self, group: str) -> dict[str, Any]:
        found: dict[str, Any] = self.nova.get(f"/os-server-groups/{group}").json()["server_group"]
        return found

    @staticmethod
    def _slim(message: dict[str, Any] | None) -> dict[str, Any] | None:
        """Without the caller's context, in which a token is."""
        if message is None:
            return None
        kept = ("_context_request_id", "_context_project_id")
        slim = {key: value for key, value in message.items() if key in kept or key[0] != "_"}
        reason = slim["payload"]["nova_object.data"].get("reason")
        if reason:
            reason["nova_object.data"]["traceback"] = ""
        return slim | {"message_id": "0"}

    def _read_image(self, server: dict[str, Any], failure: dict[str, Any] | None) -> dict[str, Any] | None:
        if not server["image"]:
            return None
        image = self.glance.get(f"/v2/images/{server['image']['id']}").json()
        return {key: value for key, value in image.items() if key not in IMAGE_DROPPED}

    def _action(self, server: str, request: str) -> str:
        answer = self.nova.get(f"/servers/{server}/os-instance-actions/{request}", raise_exc=False)
        return answer.json()["instanceAction"]["action"] if answer.status_code == 200 else ""

    def _image(self, case: Case) -> str:
        if not case.image:
            return str(self.lab["image"])
        properties = dict(case.image)
        body = {
            "name": case.name,
            "disk_format": properties.pop("disk_format", "raw"),
            "container_format": "bare",
            "visibility": "public",
        }
        image: str = self.glance.post("/v2/images", json=body | properties).json()["id"]
        content = {"Content-Type": "application/octet-stream"}
        self.glance.put(f"/v2/images/{image}/file", data=b"\0", headers=content)
        self.names.note(image, f"image/{case.name}")
        return image

    def _flavor(self, case: Case) -> str:
        body = {
            "name": case.name,
            "vcpus": case.vcpus,
            "ram": case.ram,
            "disk": case.disk,
            "OS-FLV-EXT-DATA:ephemeral": case.ephemeral,
            "swap": case.swap,
        }
        for left in self.nova.get("/flavors").json()["flavors"]:  # of a session that was cut short
            if left["name"] == case.name:
                self.nova.delete(f"/flavors/{left['id']}")
        # 2.61: before extra specs were checked, as they are in flavors of long ago.
        old = {"microversion": "2.61"}
        flavor: str = self.nova.post("/flavors", json={"flavor": body}, **old).json()["flavor"]["id"]
        if case.specs:
            specs = {"extra_specs": case.specs}
            self.nova.post(f"/flavors/{flavor}/os-extra_specs", json=specs, **old)
        return flavor

    def _ask(self, case: Case, flavor: str, image: str) -> tuple[str, str]:
        """Returns the server and the request once Nova has refused it."""
        if case.what == "boot":
            return self._fail_to_boot(case, flavor, image)
        server, host = self._running(case, image)
        self.tap.refuses = not case.searched
        ask = getattr(self, f"_{case.what}")
        if case.what == "evacuate":
            self.cloud.say_that_it_is_down(host)
        downed = [each for each in self.cloud.hosts if each != host] if case.searched else []
        for other in downed:
            self.cloud.say_that_it_is_down(other)
        request = ask(case, server, flavor, image)
        if case.what == "unshelve":
            eventually(f"{case.name}: Nova gave up", lambda: self._failed(server, request), every=0.3)
        else:
            eventually(f"{case.name}: Nova's message", lambda: self.messages.find(request, ".error"))
        for other in {host, *downed}:
            self.cloud.say_that_it_is_up(other)
        return server, request

    def _failed(self, server: str, request: str) -> bool:
        action = self.nova.get(f"/servers/{server}/os-instance-actions/{request}").json()["instanceAction"]
        idle = self.nova.get(f"/servers/{server}").json()["server"]["OS-EXT-STS:task_state"] is None
        return action["message"] == "Error" and idle

    def _body(self, case: Case, flavor: str, image: str) -> dict[str, Any]:
        server: dict[str, Any] = {"name": case.name, "networks": "none", "flavorRef": flavor}
        if case.from_volume:
            volume = {"boot_index": 0, "uuid": image, "source_type": "image", "destination_type": "volume"}
            server["block_device_mapping_v2"] = [volume | {"volume_size": 1, "delete_on_termination": True}]
        else:
            server["imageRef"] = image
        if case.zone:
            server["availability_zone"] = case.zone
        hints = dict(case.hints)
        if case.group:
            hints |= self.cloud.make_group(case.name, case.group)
            self.names.note(hints["group"], f"group/{case.name}")
        return {"server": server} | ({"os:scheduler_hints": hints} if hints else {})

    def _fail_to_boot(self, case: Case, flavor: str, image: str) -> tuple[str, str]:
        body = self._body(case, flavor, image)
        server = body["server"]
        if case.count > 1:
            server.update(min_count=case.count, max_count=case.count)
        if case.host:
            server["host"] = case.host
        self.tap.refuses = not case.searched
        if case.searched:
            for host in self.cloud.hosts:
                self.cloud.say_that_it_is_down(host)
        answer = self._tenant(case).post("/servers", json=body)
        request = answer.headers["x-openstack-request-id"]
        made: str = answer.json()["server"]["id"]
        eventually(f"{case.name}: Nova's message", lambda: self.messages.find(request, ".error"))
        eventually(f"{case.name}: the server is in error", lambda: self._status(made) == "ERROR")
        if case.searched:
            for host in self.cloud.hosts:
                self.cloud.say_that_it_is_up(host)
        return made, request

    def _tenant(self, case: Case) -> Any:
        options = {"default_microversion": "2.93", "service_type": "compute", "project": case.project}
        return catalog.client(self.lab, "compute", **options)

    def _status(self, server: str) -> str:
        return str(self.nova.get(f"/servers/{server}").json()["server"]["status"])

    def _running(self, case: Case, image: str) -> tuple[str, str]:
        """A plain server, with the image and the zone of the case if it says so."""
        self.tap.refuses = False
        plain = Case(f"{case.name} before", zone=case.zone if case.on_server else None, group=case.group)
        body = self._body(plain, self.lab["flavors"]["small"], image if case.on_server else self.lab["image"])
        server: str = self._tenant(case).post("/servers", json=body).json()["server"]["id"]
        eventually(f"{case.name}: a server runs", lambda: self._settled(server) == "ACTIVE")
        host: str = self.nova.get(f"/servers/{server}").json()["server"]["OS-EXT-SRV-ATTR:host"]
        if case.what == "unshelve":
            self.nova.post(f"/servers/{server}/action", json={"shelve": None})
            eventually(f"{case.name}: it is shelved", lambda: self._settled(server) == "SHELVED_OFFLOADED")
        return server, host

    def _settled(self, server: str) -> str:
        found = self.nova.get(f"/servers/{server}").json()["server"]
        assert found["status"] != "ERROR", found
        return "" if found["OS-EXT-STS:task_state"] else str(found["status"])

    def _act(self, server: str, action: dict[str, Any]) -> str:
        answer = self.nova.post(f"/servers/{server}/action", json=action)
        return str(answer.headers["x-openstack-request-id"])

    def _resize(self, case: Case, server: str, flavor: str, image: str) -> str:
        return self._act(server, {"resize": {"flavorRef": flavor}})

    def _migrate(self, case: Case, server: str, flavor: str, image: str) -> str:
        return self._act(server, {"migrate": {"host": self._other(case, server)} if case.host else None})

    def _live_migrate(self, case: Case, server: str, flavor: str, image: str) -> str:
        host = self._other(case, server) if case.host else None
        return self._act(server, {"os-migrateLive": {"host": host, "block_migration": "auto"}})

    def _evacuate(self, case: Case, server: str, flavor: str, image: str) -> str:
        return self._act(server, {"evacuate": {"host": self._other(case, server)} if case.host else {}})

    def _unshelve(self, case: Case, server: str, flavor: str, image: str) -> str:
        where: dict[str, str] = {}
        if case.zone and not case.on_server:
            where["availability_zone"] = case.zone
        if case.host:
            where["host"] = case.host
        return self._act(server, {"unshelve": where or None})

    def _other(self, case: Case, server: str) -> str:
        """A host to go to: the one that the case names, or the next if the server is there."""
        at = self.nova.get(f"/servers/{server}").json()["server"]["OS-EXT-SRV-ATTR:host"]
        return str(case.host if at != case.host else next(host for host in self.cloud.hosts if host != at))

    def _clean(self, server: str, flavor: str) -> None:
        self.tap.refuses = False
        reservation = [server]
        for each in reservation:
            self.nova.post(f"/servers/{each}/action", json={"forceDelete": None}, raise_exc=False)
        self.nova.delete(f"/flavors/{flavor}")

    def close(self) -> None:
        self.tap.__exit__(None, None, None)
        self.cyborg.close()
        self.messages.close()
