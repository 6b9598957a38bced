"""The Cloud of the scenarios, on a lab: real Nova, Placement and RabbitMQ."""

import os
import re
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import pymysql
from keystoneauth1 import adapter

from cloud import PATIENCE, eventually
from lablib import cells, processes, services
from lablib.access_log import AccessLog
from lablib.place import Place
from openstack_cloud import OpenStackCloud

KOLLA = Path(__file__).parents[2] / "deploy" / "kolla" / "nova-scheduler.conf"
SERVICES = {"identity": "keystone", "compute": "nova-api", "placement": "placement"}
# Nova may have refused to delete a server, or forgotten it, because of what it was doing with it.
ASK_AGAIN_S = 5.0
DISABLED = "COMPUTE_STATUS_DISABLED"
TOKEN_LIFE = re.compile(r"^expiration = \d+$", re.MULTILINE)


class LabCloud(OpenStackCloud):
    """One lab; several scenarios use it one after the other."""

    poll_every = 0.3  # a look costs Nova more than the wait

    def __init__(self, directory: Path):
        self.place = Place(directory)
        super().__init__(self.place.load(), AccessLog(self.place))
        self._reset_at = AccessLog(self.place).mark()

    # Hosts -------------------------------------------------------------------

    @contextmanager
    def hold_deletions(self, host: str) -> Iterator[None]:
        """nova-compute stands still: Nova's API hands it the deletion, and its
        queue keeps it."""
        pid = processes.pid_of(self.place, services.compute_of(host))
        assert pid is not None, f"nova-compute of {host} does not run"
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def host_outage(self, host: str) -> Iterator[None]:
        processes.stop(self.place, [services.compute_of(host)])
        try:
            yield
        finally:
            self._start_what_is_stopped()

    @contextmanager
    def unmapped_hosts(self, count: int) -> Iterator[None]:
        """Compute nodes that Nova has and does not show, as between the start of a new host and
        `discover_hosts`. They come first in its lists."""
        socket = str(self.place.path("run", "mariadb.sock"))
        with pymysql.connect(unix_socket=socket, user="root", database="nova", autocommit=True) as database:
            rows = database.cursor()
            rows.execute("SHOW COLUMNS FROM compute_nodes")
            columns = [name for name, *_ in rows.fetchall()]
            try:
                for number in range(1, count + 1):
                    own = {"id": f"-{number}", "uuid": "UUID()", "host": f"'unmapped-{number}'"}
                    own["hypervisor_hostname"] = own["host"]
                    values = ", ".join(own.get(name, f"`{name}`") for name in columns)
                    rows.execute(
                        f"INSERT INTO compute_nodes ({', '.join(f'`{name}`' for name in columns)}) "
                        f"SELECT {values} FROM compute_nodes WHERE id > 0 LIMIT 1"
                    )
                yield
            finally:
                rows.execute("DELETE FROM compute_nodes WHERE id < 0")

    @contextmanager
    def broker_and_host_outage(self, host: str) -> Iterator[None]:
        """nova-compute takes up an unfinished deletion when it starts."""
        compute = services.compute_of(host)
        processes.stop(self.place, [compute])
        try:
            yield
            self.messages.close()
            processes.stop(self.place, ["rabbitmq"], patience=PATIENCE)
        finally:
            self._start_what_is_stopped()

    @contextmanager
    def other_cell(self, host: str) -> Iterator[None]:
        cells.enter(self.place, self.lab, self.nova, host)
        self._wait_registered(host)
        try:
            yield
        finally:
            try:
                self._purge_servers()
            finally:
                cells.leave(self.place, self.lab, self.nova, host)
                self._wait_registered(host)

    @contextmanager
    def disable_other_cell(self) -> Iterator[None]:
        cells.set_disabled(self.place, self.lab, True)
        try:
            yield
        finally:
            cells.set_disabled(self.place, self.lab, False)

    @contextmanager
    def scheduler_asks(self, url: str) -> Iterator[None]:
        """nova-scheduler looks for Placement there."""
        overlay = self.place.path("etc", "nova-scheduler.conf")
        before = overlay.read_text()
        sample = KOLLA.read_text()
        front = "\nendpoint_override = http://{{ kolla_internal_vip_address }}:8782\n"
        assert front in sample
        overlay.write_text(sample.replace(front, f"\nendpoint_override = {url}\n"))
        try:
            cells.restart(self.place, self.lab, "nova-scheduler")
            yield
        finally:
            overlay.write_text(before)
            cells.restart(self.place, self.lab, "nova-scheduler")

    def claim_directly(self, host: str, amounts: dict[str, int]) -> int:
        """Placement's status for a claim by a client that bypasses the gateway; nothing stays claimed."""
        consumer = f"/allocations/{uuid.uuid4()}"
        body = {
            "allocations": {self.providers[host]: {"resources": amounts}},
            "project_id": "bypass",
            "user_id": "bypass",
            "consumer_generation": None,
        }
        status = int(self.placement.put(consumer, json=body, raise_exc=False).status_code)
        if status == 204:
            self.placement.delete(consumer)
        return status

    def _wait_registered(self, host: str) -> None:
        """A host that registered again is another provider, and Nova finds it after a while."""

        def known() -> bool:
            listed = self.nova.get("/os-hypervisors").json()["hypervisors"]
            return host in [each["hypervisor_hostname"] for each in listed]

        def offered() -> bool:
            return bool(self.placement.get(f"/resource_providers?name={host}").json()["resource_providers"])

        eventually(f"Nova has discovered {host}", known, every=0.5)
        eventually(f"Placement knows {host}", offered, every=0.5)
        self.know_providers()

    def _start_what_is_stopped(self) -> None:
        for service in services.table(self.place, self.lab):
            services.start(self.place, self.lab, service)
        queues = ["conductor", "scheduler", *(f"compute.{host}" for host in self.hosts)]
        self.messages.wait_for_consumers(queues)

    # The APIs ----------------------------------------------------------------

    @contextmanager
    def api_outage(self, *apis: str) -> Iterator[None]:
        processes.stop(self.place, [SERVICES[api] for api in apis])
        try:
            yield
        finally:
            for api in apis:
                services.start(self.place, self.lab, SERVICES[api])

    @contextmanager
    def short_tokens(self, seconds: int) -> Iterator[None]:
        config = self.place.path("etc", "keystone.conf")
        usual = config.read_text()
        short = TOKEN_LIFE.sub(f"expiration = {seconds}", usual)
        assert short != usual, f"{config} does not tell how long tokens live"
        try:
            self._restart_keystone_with(short)
            yield
        finally:
            self._restart_keystone_with(usual)

    def _restart_keystone_with(self, settings: str) -> None:
        self.place.path("etc", "keystone.conf").write_text(settings)
        processes.stop(self.place, ["keystone"])
        services.start(self.place, self.lab, "keystone")

    # Between scenarios -------------------------------------------------------

    def tell_load(self, host: str, load5: float | None) -> None:
        """What its hypervisor tells Nova of its uptime; None: nothing."""
        file = self.place.path("uptime", host)
        file.parent.mkdir(exist_ok=True)
        if load5 is None:
            file.unlink(missing_ok=True)
        else:
            new = file.with_suffix(".new")
            new.write_text(f" 12:00:00 up 7 days,  1:02,  1 user,  load average: 0.50, {load5:.2f}, 0.50\n")
            new.replace(file)

    def reset(self) -> None:
        self._start_what_is_stopped()
        self._purge_servers()
        self._renew_computes()
        for service in self.nova.get("/os-services?binary=nova-compute").json()["services"]:
            if service["status"] != "enabled" or service["forced_down"]:
                self.nova.put(
                    f"/os-services/{service['id']}", json={"status": "enabled", "forced_down": False}
                )
        self._offer_all_hosts()
        self._remove_aggregates(self.nova.get("/os-aggregates").json()["aggregates"])
        self._purge_groups()
        self.reset_queues()

    def _renew_computes(self) -> None:
        """nova-compute keeps in mind which providers are below its own: when another client deletes one,
        it may refuse every build, until it is restarted."""
        log = AccessLog(self.place)
        asked, self._reset_at = log.since(self._reset_at), log.mark()
        paths = [each.path for each in asked if each.api == "placement" and each.method == "DELETE"]
        if not any(re.fullmatch("/resource_providers/[^/]+", path) for path in paths):
            return
        processes.stop(self.place, [services.compute_of(host) for host in self.hosts])
        self._start_what_is_stopped()

    def _purge_servers(self) -> None:
        asked: dict[str, float] = {}  # when

        def delete(server: str) -> None:
            if server in asked and time.monotonic() < asked[server] + ASK_AGAIN_S:
                return  # it is on its way
            asked[server] = time.monotonic()
            answer = self.nova.post(f"/servers/{server}/action", json={"forceDelete": None}, raise_exc=False)
            if answer.status_code == 409:
                self.nova.delete(f"/servers/{server}", raise_exc=False)

        def none_left() -> bool:
            # Nova lists soft-deleted servers only among the deleted ones.
            left = self._list(self.nova, "all_tenants=1") or self._list(
                self.nova, "all_tenants=1&deleted=1&status=SOFT_DELETED"
            )
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(delete, [server["id"] for server in left]))
            return not left

        eventually("no server is left", none_left, every=0.3)
        for host in self.hosts:
            eventually(f"{host} is empty", lambda: not self._left_on(host))

    def _left_on(self, host: str) -> dict[str, int]:
        """What is used there still. Room that a reaper kept when it was killed is released, as the next one
        would do; the ids of who keeps it are of version 8."""
        path = f"/resource_providers/{self.providers[host]}/allocations"
        for consumer in self.placement.get(path).json()["allocations"]:
            if uuid.UUID(consumer).version == 8:
                self.placement.delete(f"/allocations/{consumer}", raise_exc=False)
        return {name: amount for name, amount in self._usages(host).items() if amount}

    def _offer_all_hosts(self) -> None:
        """nova-compute takes the trait of a disabled host away when it is enabled. If another client changes
        the provider at that time, it does so only within the next minute."""

        def offered(host: str) -> bool:
            path = f"/resource_providers/{self.providers[host]}/traits"
            found = self.placement.get(path).json()
            if DISABLED not in found["traits"]:
                return True
            found["traits"].remove(DISABLED)
            self.placement.put(path, json=found, raise_exc=False)
            return False

        for host in self.hosts:
            eventually(f"Placement offers {host}", lambda: offered(host), every=0.3)

    def _purge_groups(self) -> None:
        for group in self.nova.get("/os-server-groups?all_projects=True").json()["server_groups"]:
            self.nova.delete(f"/os-server-groups/{group['id']}")

    @staticmethod
    def _list(nova: adapter.Adapter, query: str) -> list[dict[str, Any]]:
        """Servers, page by page; new ones may appear meanwhile."""
        found: list[dict[str, Any]] = []
        while True:
            marker = f"&marker={found[-1]['id']}" if found else ""
            page = nova.get(f"/servers?{query}{marker}", raise_exc=False)
            if page.status_code == 400 and found:
                found.clear()  # the marker went away: from the start
                continue
            found += page.json()["servers"]
            if "servers_links" not in page.json():
                return found
