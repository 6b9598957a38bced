"""How each service of the lab is started, and how one sees that it is ready."""

import http.client
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from . import ports, processes
from .place import LabError, Place
from .releases import MARIADB, installed, rabbitmq_script
from .settings import Description

PYTHON = "/usr/bin/python3"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Service:
    name: str
    argv: list[str]
    ready: Callable[[], bool]
    env: dict[str, str]
    timeout: float = 600


def start(place: Place, lab: Description, name: str) -> None:
    """Starts a service of the lab and waits until it is ready."""
    if processes.is_running(place, name):
        return
    service = find(place, lab, name)
    processes.start(place, service.name, service.argv, service.env)
    processes.wait_ready(place, service.name, service.ready, service.timeout)


def find(place: Place, lab: Description, name: str) -> Service:
    services = table(place, lab)
    if name not in services:
        raise LabError(f"no service is called {name}; there are: {', '.join(services)}")
    return services[name]


def table(place: Place, lab: Description) -> dict[str, Service]:
    """All services, in the order of their need."""
    services = [
        _epmd(lab),
        _rabbitmq(place, lab),
        _mariadb(place),
        Service(
            "stunnel",
            ["/usr/bin/stunnel", str(place.path("etc", "stunnel.conf"))],
            *_port(lab, "nova-api-tls"),
        ),
        Service(
            "neutron",
            [PYTHON, str(HERE / "neutron_stub.py"), str(lab["ports"]["neutron"])],
            *_port(lab, "neutron"),
        ),
        _wsgi(
            place,
            lab,
            "keystone",
            "/v3",
            "keystone.server.wsgi:initialize_public_application",
            {"OS_KEYSTONE_CONFIG_FILES": str(place.path("etc", "keystone.conf"))},
            threads=1,  # not safe in threads is what it makes at its first request: others end with 500
        ),
        _wsgi(
            place,
            lab,
            "placement",
            "/",
            "placement.wsgi:init_application",
            {"OS_PLACEMENT_CONFIG_DIR": str(place.path("etc"))},
        ),
        _glance(place, lab),
        nova_daemon(place, "nova-conductor", "conductor"),
        nova_daemon(place, "nova-scheduler", "scheduler"),
        *[nova_daemon(place, compute_of(host), "compute", f"nova-{host}") for host in lab["hosts"]],
        _nova_api(place, lab, "nova-api"),
        _nova_api(place, lab, "nova-api-soft"),
    ]
    return {service.name: service for service in services}


def compute_of(host: str) -> str:
    """The name of the nova-compute service of a host."""
    return f"nova-compute-{host}"


def _port(lab: Description, name: str) -> tuple[Callable[[], bool], dict[str, str]]:
    port = lab["ports"][name]
    return lambda: ports.answers(port), {}


def _answers_http(port: int, path: str) -> bool:
    """Does an API answer? A refused login is an answer, an error is not."""
    connection = http.client.HTTPConnection(ports.LOOPBACK, port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _logged(place: Place, name: str, text: str) -> Callable[[], bool]:
    """Ready when the service has said `text` since it was started last."""
    log = place.log(name)
    begin = log.stat().st_size if log.exists() else 0

    def ready() -> bool:
        with open(log, "rb") as lines:
            lines.seek(begin)
            return text.encode() in lines.read()

    return ready


def erlang_env(lab: Description) -> dict[str, str]:
    """Keeps Erlang's port mapper private: another lab, or a RabbitMQ of the
    machine, has its own."""
    return {"ERL_EPMD_ADDRESS": ports.LOOPBACK, "ERL_EPMD_PORT": str(lab["ports"]["epmd"])}


def _epmd(lab: Description) -> Service:
    # Started by us, or Erlang would start one that outlives the lab.
    argv = ["/usr/bin/epmd", "-address", ports.LOOPBACK, "-port", str(lab["ports"]["epmd"])]
    return Service("epmd", argv, *_port(lab, "epmd"))


def _rabbitmq(place: Place, lab: Description) -> Service:
    home = place.path("home", "rabbitmq")
    env = {
        **erlang_env(lab),
        "RABBITMQ_NODENAME": "lab@localhost",
        "RABBITMQ_DIST_PORT": str(lab["ports"]["erlang"]),
        "RABBITMQ_CONFIG_FILE": str(place.path("etc", "rabbitmq.conf")),
        "RABBITMQ_CONF_ENV_FILE": str(place.path("etc", "rabbitmq-env.conf")),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(place.path("etc", "rabbitmq-plugins")),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(home / "config"),
        "RABBITMQ_MNESIA_BASE": str(home),
        "RABBITMQ_LOG_BASE": str(place.path("log")),
        "RABBITMQ_PID_FILE": str(home / "pid"),
        # One scheduler that does not spin: the machine has better uses.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none"
        " -kernel inet_dist_use_interface {127,0,0,1}",
        # Makes the script become the server, rather than stay as its parent.
        "RUNNING_UNDER_SYSTEMD": "true",
    }
    ready = _logged(place, "rabbitmq", "Server startup complete")
    return Service("rabbitmq", [rabbitmq_script()], ready, env)


def mariadbd(place: Place) -> list[str]:
    """The database server, without regard to the machine's configuration, and
    careless of a loss of power."""
    argv = [
        MARIADB,
        "--no-defaults",
        f"--datadir={place.path('home', 'mariadb')}",
        # A server removes what it takes for the leavings of another one there.
        f"--tmpdir={place.path('home', 'mariadb-tmp')}",
        "--skip-networking",
        "--performance-schema=OFF",
        "--innodb-buffer-pool-size=128M",
        "--innodb-log-file-size=64M",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-doublewrite=0",
        "--innodb-use-native-aio=0",
        "--sync-frm=0",
    ]
    # It refuses to be root unless told so.
    return [*argv, "--user=root"] if os.getuid() == 0 else argv


def _mariadb(place: Place) -> Service:
    argv = [
        *mariadbd(place),
        f"--socket={place.path('run', 'mariadb.sock')}",
        f"--pid-file={place.path('run', 'mariadb.pid')}",
        f"--init-file={place.path('etc', 'mariadb.sql')}",
        "--max-connections=1000",
    ]
    return Service("mariadb", argv, _logged(place, "mariadb", "ready for connections"), {})


def _wsgi(
    place: Place,
    lab: Description,
    name: str,
    path: str,
    application: str,
    env: dict[str, str],
    workers: int = 1,
    threads: int = 4,
) -> Service:
    port = lab["ports"][name]
    argv = [
        "/usr/bin/uwsgi",
        "--plugins", "http,python3",
        # The plain --http-socket breaks clients that keep connections open.
        "--http", f"{ports.LOOPBACK}:{port}",
        "--http-keepalive", "--http-auto-chunked", "--http-chunked-input",
        "--http-timeout", "600",
        "--wsgi-file", str(HERE / "wsgi_app.py"),
        "--master", "--die-on-term", "--need-app", "--lazy-apps",
        "--processes", str(workers), "--threads", str(threads), "--enable-threads",
        "--worker-reload-mercy", "2",
        "--buffer-size", "65535",
        "--disable-logging",
        "--procname", f"lab-{name}",
    ]  # fmt: skip
    own = {"REAPER_LAB_API": name, "REAPER_LAB_APPLICATION": application}
    own["REAPER_LAB_ACCESS_LOG"] = str(place.access_log)
    return Service(name, argv, lambda: _answers_http(port, path), own | env)


def _glance(place: Place, lab: Description) -> Service:
    """Without a record of requests, however it runs."""
    if application := installed().image_api:
        env = {"OS_GLANCE_CONFIG_DIR": str(place.path("etc")), "REAPER_LAB_ACCESS_LOG": os.devnull}
        return _wsgi(place, lab, "glance", "/versions", application, env)
    port = lab["ports"]["glance"]
    argv = _python("glance.cmd.api", place.path("etc", "glance-api.conf"))
    return Service("glance", argv, lambda: _answers_http(port, "/versions"), {})


def nova_daemon(place: Place, name: str, module: str, overlay: str | None = None) -> Service:
    files = [place.path("etc", "nova.conf"), place.path("etc", f"{overlay or name}.conf")]
    first = HERE / "fake_host.py" if module == "compute" else None
    argv = _python(f"nova.cmd.{module}", *files, first=first)
    return Service(name, argv, _logged(place, name, f"Starting {module} node"), {})


def _nova_api(place: Place, lab: Description, name: str) -> Service:
    env = {
        "OS_NOVA_CONFIG_DIR": str(place.path("etc")),
        "OS_NOVA_CONFIG_FILES": f"nova-paste.ini;nova.conf;{name}.conf",
    }
    workers = 2 if name == "nova-api" else 1
    # Up to 2025.2 Nova patches Python for eventlet, which does not go with threads of uwsgi. Later, a policy
    # that one thread reads again is refused to the others meanwhile.
    return _wsgi(place, lab, name, "/", installed().compute_api, env, workers, threads=1)


def _python(module: str, *config_files: Path, first: Path | None = None) -> list[str]:
    run = f"import runpy; runpy.run_path({str(first)!r}); " if first else ""
    program = f"import sys; from {module} import main; {run}sys.exit(main())"
    argv = [PYTHON, "-c", program]
    for path in config_files:
        argv += ["--config-file", str(path)]
    return argv
