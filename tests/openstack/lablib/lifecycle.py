"""Taking a lab up and down, and telling how it is."""

import secrets
from pathlib import Path
from typing import Any, Callable

import yaml
from keystoneauth1.exceptions import ClientException

from . import catalog, pki, ports, processes, schemas, services, settings
from .place import LabError, Place
from .releases import installed
from .steps import Progress, Step, run_steps

PORTS = [
    "amqp",
    "amqps",
    "epmd",
    "erlang",
    "keystone",
    "placement",
    "nova-api",
    "nova-api-soft",
    "glance",
    "neutron",
]
TLS_PORTS = ["keystone-tls", "placement-tls", "nova-api-tls"]

# nova-compute needs about 155 MB each.
MOST_HOSTS = 64


def up(directory: str | Path, hosts: int, quiet: bool = False) -> dict[str, Any]:
    """Starts a lab; leaves nothing behind if that fails. Returns lab.json."""
    if not 1 <= hosts <= MOST_HOSTS:
        raise LabError(f"between 1 and {MOST_HOSTS} hosts, not {hosts}")
    schemas.check_programs()
    place = Place(directory)
    progress = Progress(quiet)
    progress.say(str(installed()))
    with place.locked():
        place.claim()
        try:
            lab = _describe(place, hosts)
            _start(place, lab, progress)
        except BaseException:
            processes.stop_everything(place, patience=1)
            place.remove(keep_logs=True)
            progress.say(f"failed; only the logs are left, in {place.path('log')}")
            raise
    progress.say(f"the lab is up: {hosts} {'host' if hosts == 1 else 'hosts'}, {place.path('lab.json')}")
    return lab


def down(directory: str | Path, keep_logs: bool = False, quiet: bool = False) -> None:
    """Ends all processes of a lab and removes its directory."""
    place = Place(directory)
    if not place.root.exists():
        raise LabError(f"there is no lab in {place.root}")
    if not place.is_lab:
        raise LabError(f"{place.root} is not a lab: not touching it")
    progress = Progress(quiet)
    with place.locked():
        count = len(processes.names(place))
        # Its data is not needed again: what does not end at once may be killed.
        left = processes.stop_everything(place, patience=3)
        place.remove(keep_logs)
    helpers = f" and {left} of their helpers" if left else ""
    progress.say(f"the lab is down: {count} processes{helpers} ended, {place.root} removed")


def status(directory: str | Path) -> dict[str, str]:
    """Each service and whether it runs and answers."""
    place = Place(directory)
    lab = place.load()
    found = {}
    for name, service in services.table(place, lab).items():
        pid = processes.pid_of(place, name)
        found[name] = "stopped" if pid is None else f"running, pid {pid}"
    return found


def _describe(place: Place, hosts: int) -> dict[str, Any]:
    """What is known of the lab before anything runs; ids come later."""
    port = ports.free_ports(PORTS + TLS_PORTS)
    password = secrets.token_hex(12)
    broker = {"user": "lab", "password": password, "host": ports.LOOPBACK, "port": port["amqp"], "vhost": "/"}
    broker["tls_port"] = port["amqps"]
    broker["node"] = {"address": f"localhost:{port['erlang']}", "home": str(place.path("home"))}
    broker["url"] = f"rabbit://lab:{password}@{ports.LOOPBACK}:{port['amqp']}/"
    broker["amqp_url"] = f"amqp://lab:{password}@{ports.LOOPBACK}:{port['amqp']}/%2F"
    broker["amqps_url"] = f"amqps://lab:{password}@{ports.LOOPBACK}:{port['amqps']}/%2F"
    users = {"admin": {"name": "admin", "password": secrets.token_hex(12), "project": "admin"}}
    for name, (project, _) in catalog.USERS.items():
        users[name] = {"name": name, "password": secrets.token_hex(12), "project": project}
    return {
        "directory": str(place.root),
        "versions": installed().versions,
        "hosts": [f"host-{number}" for number in range(1, hosts + 1)],
        "ports": port,
        "broker": broker,
        "tls": pki.make_certificates(place.path("tls")),
        "endpoints": _endpoints(port),
        "users": users,
        "application_credential": {},
        "projects": {},
        "flavors": {},
        "image": None,
    }


def _endpoints(port: dict[str, int]) -> dict[str, dict[str, str]]:
    """Three regions of one cloud: as usual, with deferred deletion, with TLS."""
    plain = f"http://{ports.LOOPBACK}"
    tls = f"https://{ports.LOOPBACK}"
    usual = {
        "identity": f"{plain}:{port['keystone']}/v3",
        "placement": f"{plain}:{port['placement']}",
        "compute": f"{plain}:{port['nova-api']}/v2.1",
        "image": f"{plain}:{port['glance']}",
        "network": f"{plain}:{port['neutron']}",
    }
    return {
        "RegionOne": usual,
        "SoftRegion": {**usual, "compute": f"{plain}:{port['nova-api-soft']}/v2.1"},
        "TlsRegion": {
            **usual,
            "identity": f"{tls}:{port['keystone-tls']}/v3",
            "placement": f"{tls}:{port['placement-tls']}",
            "compute": f"{tls}:{port['nova-api-tls']}/v2.1",
        },
    }


def _start(place: Place, lab: dict[str, Any], progress: Progress) -> None:
    settings.write_all(place, lab)
    place.path("home", "rabbitmq").mkdir()

    def asks(service: str, work: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Work on the API of a service; if it fails, the service's log tells why."""

        def asking() -> None:
            try:
                work(lab)
            except ClientException as error:
                raise LabError(f"{service}: {error}\n{processes.tail(place, service)}") from error

        return asking

    def starts(service: str, *after: str) -> Step:
        return Step(service, lambda: services.start(place, lab, service), after)

    computes = [services.compute_of(host) for host in lab["hosts"]]
    for_nova = ("rabbitmq", "placement", "service user", "nova's databases")
    steps = [
        Step("mariadb installed", lambda: schemas.install_mariadb(place)),
        starts("mariadb", "mariadb installed"),
        starts("epmd"),
        starts("rabbitmq", "epmd"),
        starts("stunnel"),
        starts("neutron"),
        Step("keystone's database", lambda: schemas.keystone(place, lab), ("mariadb",)),
        Step("nova's databases", lambda: schemas.nova(place, lab), ("mariadb",)),
        Step("placement's database", lambda: schemas.placement(place), ("mariadb",)),
        Step("glance's database", lambda: schemas.glance(place), ("mariadb",)),
        starts("keystone", "keystone's database"),
        Step("service user", asks("keystone", catalog.admit_services), ("keystone",)),
        Step("users and regions", asks("keystone", catalog.fill_keystone), ("service user",)),
        Step(
            "application credential",
            asks("keystone", catalog.make_application_credential),
            ("users and regions",),
        ),
        starts("placement", "placement's database"),
        starts("nova-conductor", *for_nova),
        starts("nova-scheduler", *for_nova),
        *[starts(name, "nova-conductor", "placement") for name in computes],
        starts("nova-api", *for_nova),
        starts("nova-api-soft", "nova-api"),
        starts("glance", "glance's database", "service user"),
        Step("image", asks("glance", catalog.make_image), ("glance",)),
        Step("flavors", asks("nova-api", catalog.make_flavors), ("nova-api",)),
        Step("hosts in placement", asks("placement", catalog.wait_for_hosts), tuple(computes)),
        Step(
            "a server on each host",
            asks("nova-conductor", catalog.try_hosts),
            ("hosts in placement", "flavors", "image", "nova-scheduler"),
        ),
    ]
    run_steps(steps, progress, abandon=lambda: processes.stop_everything(place, patience=1))
    place.save(lab)
    _write_clients(place, lab)


def _write_clients(place: Place, lab: dict[str, Any]) -> None:
    """What the openstack client and a shell need to use the lab."""
    admin, identity = lab["users"]["admin"], lab["endpoints"]["RegionOne"]["identity"]
    login = {
        "auth_url": identity,
        "username": admin["name"],
        "password": admin["password"],
        "project_name": admin["project"],
        "user_domain_id": "default",
        "project_domain_id": "default",
    }
    clouds = {"clouds": {"lab": {"auth": login, "region_name": "RegionOne"}}}
    place.write("clouds.yaml", yaml.safe_dump(clouds, sort_keys=False))
    lines = [f"export OS_{key.upper()}={value}" for key, value in login.items()]
    place.write(
        "openrc",
        "\n".join([*lines, "export OS_REGION_NAME=RegionOne", "export OS_IDENTITY_API_VERSION=3", ""]),
    )
