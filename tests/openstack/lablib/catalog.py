"""What the lab's cloud holds from the start: projects, users, roles, regions
and endpoints, flavors and an image. All through keystoneauth in one process."""

import time
from typing import Any

import requests
from keystoneauth1 import adapter, session
from keystoneauth1.identity import v3

from .place import LabError
from .settings import Description

AGENT = "reaper-lab"
DEADLINE = 600

# A host has 10 VCPU, 8192 MB and 1028 GB. It takes five small servers, two
# medium ones or a large one: VCPU is what runs out.
FLAVORS = {
    "small": {"vcpus": 2, "ram": 1024, "disk": 20},
    "medium": {"vcpus": 5, "ram": 2048, "disk": 20},
    "large": {"vcpus": 10, "ram": 4096, "disk": 40},
}

# name: (project, roles in it)
USERS = {
    "openstack": ("service", ["admin"]),
    "reaper": ("service", ["admin"]),
    "onlooker": ("regular", ["reader"]),
    "owner": ("spot", ["member"]),
    "least": ("service", ["reaper"]),  # with the rights that a scenario gives the role
}

PROJECTS = {"service": [], "regular": [], "spot": ["preemptible"]}

SERVICE_TYPES = {
    "identity": "keystone",
    "placement": "placement",
    "compute": "nova",
    "image": "glance",
    "network": "neutron",
}


def user_session(lab: Description, user: str = "admin", project: str | None = None) -> session.Session:
    """A session of one of the lab's users, scoped to its project or another."""
    who = lab["users"][user]
    auth = v3.Password(
        auth_url=lab["endpoints"]["RegionOne"]["identity"],
        username=who["name"],
        password=who["password"],
        project_name=project or who["project"],
        user_domain_id="default",
        project_domain_id="default",
    )
    plain = requests.Session()
    plain.trust_env = False  # a proxy of the caller must not see the lab
    return session.Session(auth=auth, session=plain, user_agent=AGENT, timeout=DEADLINE)


def client(lab: Description, service: str, region: str = "RegionOne", **options: Any) -> adapter.Adapter:
    """A client of one API. The endpoint is the lab's own word: no discovery."""
    made = user_session(lab, options.pop("user", "admin"), options.pop("project", None))
    url = lab["endpoints"][region][service]
    return adapter.Adapter(session=made, endpoint_override=url, **options)


def admit_services(lab: Description) -> None:
    """What the other services need to start: their user, and where Placement is."""
    keystone = client(lab, "identity")
    for name in PROJECTS:
        _make_project(keystone, lab, name)
    _make_user(keystone, lab, "openstack")
    for kind in ("placement", "image", "network", "compute"):
        _make_endpoint(keystone, lab, "RegionOne", kind)


def fill_keystone(lab: Description) -> None:
    """The other users and regions."""
    keystone = client(lab, "identity")
    for user in USERS:
        if user != "openstack":
            _make_user(keystone, lab, user)
    # The lab's admin makes servers in the tenants' projects.
    admin = keystone.session.get_user_id()
    for project in ("regular", "spot"):
        _grant(keystone, lab, admin, project, "admin")
    for region in ("SoftRegion", "TlsRegion"):
        keystone.post("/regions", json={"region": {"id": region}})
        for kind in lab["endpoints"][region]:
            _make_endpoint(keystone, lab, region, kind)


def _make_project(keystone: adapter.Adapter, lab: Description, name: str) -> None:
    body = {"name": name, "domain_id": "default", "tags": PROJECTS[name]}
    lab["projects"][name] = keystone.post("/projects", json={"project": body}).json()["project"]["id"]


def _make_user(keystone: adapter.Adapter, lab: Description, name: str) -> None:
    project, roles = USERS[name]
    body = {"name": name, "password": lab["users"][name]["password"], "domain_id": "default"}
    user = keystone.post("/users", json={"user": body}).json()["user"]["id"]
    for role in roles:
        _grant(keystone, lab, user, project, role)


def _grant(keystone: adapter.Adapter, lab: Description, user: str, project: str, role: str) -> None:
    known = keystone.get(f"/roles?name={role}").json()["roles"]
    made = known or [keystone.post("/roles", json={"role": {"name": role}}).json()["role"]]
    found = made[0]["id"]
    keystone.put(f"/projects/{lab['projects'][project]}/users/{user}/roles/{found}")


def _make_endpoint(keystone: adapter.Adapter, lab: Description, region: str, kind: str) -> None:
    known = keystone.get(f"/services?type={kind}").json()["services"]
    if not known:
        body = {"type": kind, "name": SERVICE_TYPES[kind]}
        known = [keystone.post("/services", json={"service": body}).json()["service"]]
    for interface in ("public", "internal"):
        url = lab["endpoints"][region][kind]
        body = {"service_id": known[0]["id"], "region_id": region, "interface": interface, "url": url}
        keystone.post("/endpoints", json={"endpoint": body})


def make_application_credential(lab: Description) -> None:
    """The other way for the reaper to log in."""
    keystone = client(lab, "identity", user="reaper")
    user = keystone.session.get_user_id()
    body = {"name": "reaper", "description": "the reaper's login", "unrestricted": False}
    answer = keystone.post(f"/users/{user}/application_credentials", json={"application_credential": body})
    credential = answer.json()["application_credential"]
    lab["application_credential"] = {key: credential[key] for key in ("id", "name", "secret")}


def make_image(lab: Description) -> None:
    glance = client(lab, "image")
    body = {"name": "tiny", "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    image = glance.post("/v2/images", json=body).json()
    content = {"Content-Type": "application/octet-stream"}
    glance.put(f"/v2/images/{image['id']}/file", data=b"\0", headers=content)
    lab["image"] = image["id"]


def wait_for_hosts(lab: Description, timeout: float = DEADLINE) -> None:
    """Waits until every nova-compute has reported its host to Placement, and what there is on it."""
    placement = client(lab, "placement", default_microversion="1.36", service_type="placement")
    deadline = time.monotonic() + timeout
    while True:
        ready = placement.get("/resource_providers?resources=VCPU:1").json()["resource_providers"]
        missing = set(lab["hosts"]) - {host["name"] for host in ready}
        if not missing:
            return
        if time.monotonic() > deadline:
            raise LabError(f"after {timeout:.0f} s not in Placement: {', '.join(sorted(missing))}")
        time.sleep(0.3)


def try_hosts(lab: Description, timeout: float = DEADLINE) -> None:
    """Boots a server on each host and deletes it: all parts work together."""
    nova = client(lab, "compute", default_microversion="2.74", service_type="compute")
    waiting = {host: "" for host in lab["hosts"]}  # to the server's id
    deadline = time.monotonic() + timeout
    while waiting:
        for host, server in list(waiting.items()):
            if not server:
                waiting[host] = _try_host(nova, lab, host)
            elif _came_and_went(nova, server, host):
                del waiting[host]
        if time.monotonic() > deadline:
            raise LabError(f"no server came and went in {timeout:.0f} s on: {', '.join(waiting)}")
        time.sleep(0.2)


def _try_host(nova: adapter.Adapter, lab: Description, host: str) -> str:
    """Asks for a server; empty while Nova's scheduler has not discovered the host."""
    body = {"name": f"try-{host}", "imageRef": lab["image"], "flavorRef": lab["flavors"]["small"]}
    body.update(networks="none", host=host)
    answer = nova.post("/servers", json={"server": body}, raise_exc=False)
    return answer.json()["server"]["id"] if answer.status_code == 202 else ""


def _came_and_went(nova: adapter.Adapter, server: str, host: str) -> bool:
    answer = nova.get(f"/servers/{server}", raise_exc=False)
    if answer.status_code == 404:
        return True
    state = answer.json()["server"]
    if state["status"] == "ERROR":
        raise LabError(f"{host} can't boot a server: {state['fault']['message']}")
    if state["status"] == "ACTIVE" and state["OS-EXT-STS:task_state"] is None:
        nova.delete(f"/servers/{server}")
    return False


def make_flavors(lab: Description) -> None:
    nova = client(lab, "compute", default_microversion="2.61", service_type="compute")
    for name, size in FLAVORS.items():
        lab["flavors"][name] = nova.post("/flavors", json={"flavor": {"name": name, **size}}).json()[
            "flavor"
        ]["id"]
