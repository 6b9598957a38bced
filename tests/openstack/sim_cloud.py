"""The Cloud of the scenarios on cloudsim: simulated services, a real RabbitMQ."""

from contextlib import contextmanager
from typing import Any, Iterator

import pytest

from cloud import eventually
from lablib.access_log import Request
from openstack_cloud import OpenStackCloud
from sim_process import BROKER_PASSWORD, BROKER_USER, LOOPBACK, Cloudsim, Simulation

# The names of the APIs in the lab's record.
APIS = {"identity": "keystone", "placement": "placement", "compute": "nova-api", "image": "glance"}
MANY = 1_000_000


class Witness:
    """cloudsim's own record of requests, in the words of the lab's."""

    def __init__(self, cloudsim: Cloudsim):
        self._cloudsim = cloudsim

    def mark(self) -> int:
        return self._cloudsim.get("state")["last"]

    def since(self, mark: int, user: str | None = None) -> list[Request]:
        log = self._cloudsim.get(f"log?since={mark}&kind=request&limit={MANY}")
        assert not log["lost"], "cloudsim's record is too short; raise log_limit"
        requests = [self._request(entry) for entry in log["entries"]]
        return [request for request in requests if user is None or request.user == user]

    @staticmethod
    def _request(entry: dict[str, Any]) -> Request:
        return Request(
            time=0.0,
            api=APIS.get(entry["service"], entry["service"]),
            method=entry["method"],
            path=entry["path"],
            query=entry["query"],
            status=entry["status"],
            user=entry["user"] or None,
            agent="",
            action=entry["action"] or None,
        )


class SimCloud(OpenStackCloud):
    """One simulation; several scenarios use it one after the other."""

    def __init__(self, simulation: Simulation):
        self._broker = simulation.broker
        self._cloudsim = simulation.cloudsim
        super().__init__(description_of(simulation), Witness(simulation.cloudsim))

    def publisher_state(self) -> dict[str, Any]:
        """How it stands with the broker, and what it could not tell it yet."""
        return self._cloudsim.get("state")["notifier"]

    @contextmanager
    def hold_deletions(self, host: str) -> Iterator[None]:
        self._cloudsim.post(f"hosts/{host}/hold")
        try:
            yield
        finally:
            self._cloudsim.post(f"hosts/{host}/release")

    @contextmanager
    def host_outage(self, host: str) -> Iterator[None]:
        with self.hold_deletions(host):
            yield

    @contextmanager
    def other_cell(self, host: str) -> Iterator[None]:
        self._other_cell = host
        self._cloudsim.post("cells", cells={"other": [host]})
        try:
            yield
        finally:
            # As in the lab, where a host changes its cell without servers.
            self._delete_servers()
            self._cloudsim.post("cells")

    def _delete_servers(self) -> None:
        def none_left() -> bool:
            left = self.nova.get("/servers?all_tenants=1").json()["servers"]
            for server in left:
                self.nova.delete(f"/servers/{server['id']}", raise_exc=False)
            return not left

        eventually("no server is left", none_left)

    @contextmanager
    def disable_other_cell(self) -> Iterator[None]:
        self._cloudsim.post("cells", cells={"other": [self._other_cell]}, disabled=["other"])
        try:
            yield
        finally:
            self._cloudsim.post("cells", cells={"other": [self._other_cell]})

    @contextmanager
    def api_outage(self, *apis: str) -> Iterator[None]:
        for api in apis:
            self._cloudsim.post("faults", pattern=f"/{api}/*", user="reaper", drop=True)
        # A login needs no user yet.
        if "identity" in apis:
            self._cloudsim.post("faults", pattern="/identity/*", method="POST", drop=True)
        try:
            yield
        finally:
            self._cloudsim.delete("faults")

    @contextmanager
    def short_tokens(self, seconds: int) -> Iterator[None]:
        self._cloudsim.post("tokens", life_s=seconds)
        try:
            yield
        finally:
            self._cloudsim.post("tokens")

    @contextmanager
    def broker_and_host_outage(self, host: str) -> Iterator[None]:
        with self.hold_deletions(host):
            try:
                yield
            finally:
                self.messages.close()
                self._broker.restart()
                self._cloudsim.wait_connected()

    def reset(self) -> None:
        self._cloudsim.wait_connected()
        self._cloudsim.post("reset", to="empty")
        # What it said until now is not heard by a reaper of the next scenario.
        self._cloudsim.wait_sent()
        self._cloudsim.post("tokens")
        self.reset_queues()

    def reaper_config(self, region: str = "RegionOne", tls: bool = False, **who: Any) -> dict[str, Any]:
        if tls or region == "TlsRegion":
            pytest.fail("cloudsim speaks no TLS: mark the scenario with @pytest.mark.lab_only")
        return super().reaper_config(region, tls, **who)


def description_of(simulation: Simulation) -> dict[str, Any]:
    """What the lab's DIR/lab.json tells of a lab."""
    ready, broker = simulation.cloudsim.ready, simulation.broker
    url = ready["url"]
    plain = {
        "identity": f"{url}/identity/v3",
        "placement": f"{url}/placement",
        "compute": f"{url}/compute/v2.1",
        "image": f"{url}/image",
    }
    return {
        "hosts": [f"host-{number}" for number in range(1, ready["hosts"] + 1)],
        "endpoints": {"RegionOne": plain, "SoftRegion": plain | {"compute": f"{url}/soft/compute/v2.1"}},
        "users": {name: user for name, user in ready["users"].items()},
        "projects": ready["projects"],
        "flavors": ready["flavors"],
        "image": ready["image"],
        "application_credential": ready["application_credential"],
        "broker": {
            "host": LOOPBACK,
            "port": broker.port,
            "user": BROKER_USER,
            "password": BROKER_PASSWORD,
            "amqp_url": broker.url,
            "node": broker.node,
        },
    }
