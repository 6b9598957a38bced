"""The Cloud of the scenarios through OpenStack's APIs, whichever cloud answers them.

What goes beyond the APIs (to stop a host's agent, to restart the broker) is left to those who know
how the cloud is made: `lab_cloud.LabCloud`, `sim_cloud.SimCloud`.
"""

import re
import secrets
from contextlib import contextmanager
from typing import Any, Iterator, Protocol

import requests
from keystoneauth1 import adapter
from keystoneauth1.exceptions import Conflict

from cloud import PATIENCE, Cloud, Deletion, Look, Server, eventually
from lab_messages import EXCHANGE, LabMessages
from lablib import catalog
from lablib.access_log import Request

# 2.74: `host` in a create; 2.90 and later answer as before.
NOVA = {"default_microversion": "2.90", "service_type": "compute"}
PLACEMENT = {"default_microversion": "1.36", "service_type": "placement"}

SERVER_PATH = re.compile(r"/servers/(?P<server>[0-9a-f-]{36})(?P<action>/action)?$")


class Record(Protocol):
    """Who asked what of the cloud."""

    def mark(self) -> int:
        ...

    def since(self, mark: int, user: str | None = None) -> list[Request]:
        ...


# Nova's action for a status of servers.
LEADS_TO = {"PAUSED": "pause", "SUSPENDED": "suspend", "RESCUE": "rescue", "SHUTOFF": "os-stop"}


class OpenStackCloud(Cloud):
    """`description` tells where everything is, in the words of the lab's DIR/lab.json."""

    def __init__(self, description: dict[str, Any], access: Record):
        self.lab = description
        self.hosts = description["hosts"]
        self.access = access
        self.messages = LabMessages(description["broker"])
        self.nova = catalog.client(self.lab, "compute", **NOVA)
        self.soft_nova = catalog.client(self.lab, "compute", region="SoftRegion", **NOVA)
        self.placement = catalog.client(self.lab, "placement", **PLACEMENT)
        self.tenants = {
            project: catalog.client(self.lab, "compute", project=project, **NOVA)
            for project in ("regular", "spot")
        }
        self.providers: dict[str, str] = {}
        self.know_providers()
        self.plain = requests.Session()
        self.plain.trust_env = False  # a proxy of the caller must not see the cloud
        self._counter = 0
        self.asked: list[Server] = []
        # Not those of an earlier session, which may hold messages.
        self._queue_prefix = f"reaper-{secrets.token_hex(4)}"
        self._reaper_queues: set[str] = set()

    def know_providers(self) -> None:
        providers = self.placement.get("/resource_providers").json()["resource_providers"]
        self.providers = {provider["name"]: provider["uuid"] for provider in providers}

    def close(self) -> None:
        self.messages.close()

    # Servers -----------------------------------------------------------------

    def ask(
        self,
        flavor: str,
        project: str = "regular",
        count: int = 1,
        host: str | None = None,
        zone: str | None = None,
        metadata: dict[str, str] | None = None,
        hints: dict[str, Any] | None = None,
    ) -> list[Server]:
        self._counter += 1
        name = f"{project}-{flavor}-{self._counter}"
        body: dict[str, Any] = {"name": name, "imageRef": self.lab["image"], "networks": "none"}
        body.update(flavorRef=self.lab["flavors"][flavor], min_count=count, max_count=count)
        body["return_reservation_id"] = True
        if host:
            body["host"] = host
        if zone:
            body["availability_zone"] = zone
        if metadata:
            body["metadata"] = metadata
        nova = self.tenants[project]
        document = {"server": body} | ({"os:scheduler_hints": hints} if hints else {})
        answer = nova.post("/servers", json=document)
        # A multi-create answers with one id only; its reservation names them all.
        found = self._reserved(nova, answer.json()["reservation_id"])
        assert len(found) == count, f"asked for {count} servers, Nova lists {len(found)}"
        request = answer.headers["x-openstack-request-id"]
        servers = [Server(one["id"], one["name"], project, request) for one in found]
        self.asked += servers
        return servers

    @staticmethod
    def _reserved(nova: Any, reservation: str) -> list[dict[str, Any]]:
        """All servers of a request, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            marker = f"&marker={found[-1]['id']}" if found else ""
            page = nova.get(f"/servers/detail?reservation_id={reservation}{marker}").json()["servers"]
            # Nova shows a server again that is being put into its cell.
            known = {one["id"] for one in found}
            new = [one for one in page if one["id"] not in known]
            if not new:
                return found
            found += new

    def look(self, server: Server) -> Look:
        answer = self.nova.get(f"/servers/{server.id}", raise_exc=False)
        if answer.status_code == 404:
            return Look("GONE", None, None)
        answer.raise_for_status()
        found = answer.json()["server"]
        fault = found.get("fault", {}).get("message", "")
        return Look(found["status"], found["OS-EXT-SRV-ATTR:host"], found["OS-EXT-STS:task_state"], fault)

    def delete_without_waiting(self, server: Server) -> None:
        self.tenants[server.project].delete(f"/servers/{server.id}")

    def delete_softly(self, server: Server) -> None:
        user = catalog.client(self.lab, "compute", project=server.project, region="SoftRegion", **NOVA)
        user.delete(f"/servers/{server.id}")
        eventually("it is soft-deleted", lambda: self.look(server).status == "SOFT_DELETED")

    def lock(self, server: Server) -> None:
        self._act_as_admin(server, {"lock": None})

    def lock_as_owner(self, server: Server) -> None:
        self._act(server, {"lock": None})

    def unlock(self, server: Server) -> None:
        self._act_as_admin(server, {"unlock": None})

    def leave_in(self, server: Server, status: str) -> None:
        if status == "ERROR":
            self._act_as_admin(server, {"os-resetState": {"state": "error"}})
        else:
            self._act(server, {LEADS_TO[status]: None})
        self.wait_for([server], status)

    def tag(self, server: Server, tag: str) -> None:
        self.tenants[server.project].put(f"/servers/{server.id}/tags/{tag}")

    def untag(self, server: Server, tag: str) -> None:
        self.tenants[server.project].delete(f"/servers/{server.id}/tags/{tag}")

    def set_metadata(self, server: Server, key: str, value: str) -> None:
        self.tenants[server.project].post(f"/servers/{server.id}/metadata", json={"metadata": {key: value}})

    def metadata_of(self, server: Server) -> dict[str, str]:
        found: dict[str, str] = self.nova.get(f"/servers/{server.id}/metadata").json()["metadata"]
        return found

    def flavor_id(self, name: str) -> str:
        return self.lab["flavors"][name]

    def action_failed(self, server: Server, request: str) -> bool:
        path = f"/servers/{server.id}/os-instance-actions/{request}"
        return self.nova.get(path).json()["instanceAction"]["message"] == "Error"

    def resize_without_waiting(self, server: Server, flavor: str) -> str:
        body = {"resize": {"flavorRef": self.lab["flavors"][flavor]}}
        refused: list[str] = []

        def taken() -> str:
            """A machine that is busy makes Nova miss the report of a host, and refuse for a short time."""
            try:
                return self._act(server, body)
            except Conflict as error:
                refused[:] = [str(error)]
                return ""

        try:
            return eventually(f"Nova takes the resize of {server.name}", taken, every=1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {refused}") from None

    def migrate_without_waiting(self, server: Server, host: str | None = None) -> str:
        return self._act_as_admin(server, {"migrate": {"host": host} if host else None})

    def live_migrate_without_waiting(self, server: Server, host: str | None = None) -> str:
        return self._act_as_admin(server, {"os-migrateLive": {"host": host, "block_migration": "auto"}})

    def evacuate_without_waiting(self, server: Server) -> str:
        return self._act_as_admin(server, {"evacuate": {}})

    def shelve(self, server: Server) -> None:
        self._act(server, {"shelve": None})
        self.wait_for([server], "SHELVED_OFFLOADED")

    def unshelve_without_waiting(self, server: Server) -> str:
        return self._act(server, {"unshelve": None})

    def confirm_resize(self, server: Server) -> None:
        self._act(server, {"confirmResize": None})
        self.wait_for([server], "ACTIVE")

    def _act(self, server: Server, action: dict[str, Any]) -> str:
        answer = self.tenants[server.project].post(f"/servers/{server.id}/action", json=action)
        return answer.headers["x-openstack-request-id"]

    def _act_as_admin(self, server: Server, action: dict[str, Any]) -> str:
        answer = self.nova.post(f"/servers/{server.id}/action", json=action)
        return answer.headers["x-openstack-request-id"]

    # Hosts -------------------------------------------------------------------

    def disable_host(self, host: str, reason: str = "a scenario wants it") -> None:
        self._set_service(host, {"status": "disabled", "disabled_reason": reason})

    def say_that_it_is_down(self, host: str) -> None:
        self._set_service(host, {"forced_down": True})

    def say_that_it_is_up(self, host: str) -> None:
        self._set_service(host, {"forced_down": False})

    def _set_service(self, host: str, change: dict[str, Any]) -> None:
        found = self.nova.get(f"/os-services?binary=nova-compute&host={host}").json()["services"][0]
        self.nova.put(f"/os-services/{found['id']}", json=change)

    def make_zone(self, name: str, hosts: list[str]) -> None:
        self._make_aggregate({"name": name, "availability_zone": name}, hosts)

    def make_aggregate(self, name: str, hosts: list[str], metadata: dict[str, str] | None = None) -> str:
        made = self._make_aggregate({"name": name}, hosts)
        if metadata:
            change = {"set_metadata": {"metadata": metadata}}
            self.nova.post(f"/os-aggregates/{made['id']}/action", json=change)
        return made["uuid"]

    def _make_aggregate(self, body: dict[str, str], hosts: list[str]) -> dict[str, Any]:
        made = self.nova.post("/os-aggregates", json={"aggregate": body}).json()["aggregate"]
        for host in hosts:
            self.nova.post(f"/os-aggregates/{made['id']}/action", json={"add_host": {"host": host}})
        return made

    def remove_aggregate(self, name: str) -> None:
        aggregates = self.nova.get("/os-aggregates").json()["aggregates"]
        self._remove_aggregates([aggregate for aggregate in aggregates if aggregate["name"] == name])

    def _remove_aggregates(self, aggregates: list[dict[str, Any]]) -> None:
        for aggregate in aggregates:
            path = f"/os-aggregates/{aggregate['id']}"
            for host in aggregate["hosts"]:
                self.nova.post(f"{path}/action", json={"remove_host": {"host": host}})
            self.nova.delete(path)

    def forget_aggregates_of(self, host: str) -> None:
        path = f"/resource_providers/{self.providers[host]}/aggregates"
        generation = self.placement.get(path).json()["resource_provider_generation"]
        body = {"aggregates": [], "resource_provider_generation": generation}
        self.placement.put(path, json=body)

    def make_group(self, name: str, policy: str, max_on_a_host: int | None = None) -> dict[str, str]:
        body: dict[str, Any] = {"name": name, "policy": policy}
        if max_on_a_host:
            body["rules"] = {"max_server_per_host": max_on_a_host}
        made = self.tenants["regular"].post("/os-server-groups", json={"server_group": body})
        return {"group": made.json()["server_group"]["id"]}

    def make_image(self, name: str, **properties: str) -> str:
        """Images are small, and left where they are: servers may still name them."""
        glance = catalog.client(self.lab, "image")
        body = {"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
        image: str = glance.post("/v2/images", json=body | properties).json()["id"]
        content = {"Content-Type": "application/octet-stream"}
        glance.put(f"/v2/images/{image}/file", data=b"\0", headers=content)
        return image

    def used_vcpus(self, host: str) -> int:
        return self._usages(host)["VCPU"]

    def _usages(self, host: str) -> dict[str, int]:
        return self.placement.get(f"/resource_providers/{self.providers[host]}/usages").json()["usages"]

    def room_held_by(self, server: Server) -> dict[str, int]:
        held: dict[str, int] = {}
        answer = self.placement.get(f"/allocations/{server.id}").json()
        for allocation in answer["allocations"].values():
            for resource, amount in allocation["resources"].items():
                held[resource] = held.get(resource, 0) + amount
        return held

    # The APIs ----------------------------------------------------------------

    def endpoint(self, api: str, region: str = "RegionOne") -> str:
        return self.lab["endpoints"][region][api]

    def outlive(self, tokens: set[str]) -> None:
        for token in tokens:
            eventually("a token has ended", lambda: not self._is_known(token), every=0.3)

    def _is_known(self, token: str) -> bool:
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        answer = self.plain.get(f"{self.endpoint('identity')}/auth/tokens", headers=headers, timeout=PATIENCE)
        assert answer.status_code in (200, 401, 404), answer.text
        return answer.status_code == 200

    def revoke_token(self, token: str) -> None:
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        self.plain.delete(f"{self.endpoint('identity')}/auth/tokens", headers=headers).raise_for_status()

    def project_id(self, project: str) -> str:
        return self.lab["projects"][project]

    @contextmanager
    def new_project(self, name: str) -> Iterator[str]:
        keystone = catalog.client(self.lab, "identity")
        body = {"project": {"name": name, "domain_id": "default"}}
        project: str = keystone.post("/projects", json=body).json()["project"]["id"]
        try:
            yield project
        finally:
            keystone.delete(f"/projects/{project}")

    @contextmanager
    def no_longer_revocable(self, project: str) -> Iterator[None]:
        keystone = catalog.client(self.lab, "identity")
        tags = f"/projects/{self.project_id(project)}/tags"
        usual = keystone.get(tags).json()["tags"]
        try:
            keystone.put(tags, json={"tags": []})
            yield
        finally:
            keystone.put(tags, json={"tags": usual})

    # Between scenarios -------------------------------------------------------

    def reset_queues(self) -> None:
        """No queue of an earlier reaper is left; what comes from now on is kept for us."""
        self.asked.clear()
        self.messages.delete_queues(sorted(self._reaper_queues))
        self._reaper_queues.clear()
        self.messages.listen()

    # Messages ----------------------------------------------------------------

    def failure_messages(self, count: int) -> list[bytes]:
        return self.messages.take(count)

    def publish(self, message: bytes) -> None:
        self.messages.publish(message)

    def waiting_messages(self, queue: str) -> int:
        return self.messages.waiting(queue)

    def messages_in(self, queue: str) -> int | None:
        return self.messages.node.messages_in(queue)

    def failures_reach(self, queue: str) -> bool:
        return self.messages.node.is_bound(queue, EXCHANGE)

    # The reaper --------------------------------------------------------------

    def reaper_config(
        self,
        region: str = "RegionOne",
        tls: bool = False,
        user: str = "reaper",
        application_credential: bool = False,
    ) -> dict[str, Any]:
        auth = {"auth_url": self.lab["endpoints"][region]["identity"]}
        auth |= self._application_credential() if application_credential else self._password(user)
        self._counter += 1
        queue = f"{self._queue_prefix}-{self._counter}"
        self._reaper_queues |= {queue, f"{queue}.dead-letter", f"{queue}.serving"}
        cloud: dict[str, Any] = {"auth": auth, "region": region}
        broker: dict[str, Any] = {"urls": [self.lab["broker"]["amqps_url" if tls else "amqp_url"]]}
        broker.update(queue=queue, dead_letter_queue=f"{queue}.dead-letter", reconnect_backoff_max="1s")
        if tls:
            files = self.lab["tls"]
            cloud["ca_file"] = files["ca_file"]
            broker.update(ca_file=files["ca_file"])
            broker.update(cert_file=files["client_cert_file"], key_file=files["client_key_file"])
        return {"cloud": cloud, "broker": broker}

    def _password(self, user: str) -> dict[str, str]:
        who = self.lab["users"][user]
        domains = {"user_domain_name": "Default", "project_domain_name": "Default"}
        login = {"username": who["name"], "password": who["password"], "project_name": who["project"]}
        return login | domains

    def _application_credential(self) -> dict[str, str]:
        credential = self.lab["application_credential"]
        return {
            "application_credential_id": credential["id"],
            "application_credential_secret": credential["secret"],
        }

    def secrets(self) -> list[str]:
        passwords = [user["password"] for user in self.lab["users"].values()]
        return [*passwords, self.lab["broker"]["password"], self.lab["application_credential"]["secret"]]

    def mark(self) -> int:
        return self.access.mark()

    def reaper_deletions(self, since: int) -> list[Deletion]:
        deletions = []
        for request in self.access.since(since, user="reaper"):
            found = SERVER_PATH.search(request.path)
            if found and (request.method == "DELETE" or request.action == "forceDelete"):
                deletions.append(Deletion(found["server"], request.action or "delete", request.status))
        return deletions

    def reaper_requests(self, since: int) -> list[str]:
        return [str(request) for request in self.access.since(since, user="reaper")]

    def reaper_writes(self, since: int) -> list[str]:
        return [str(request) for request in self.access.since(since, user="reaper") if request.is_write]
