"""The databases: their server's first start, the schemas, Nova's cells, and
Keystone's first user. Each runs before the services that need it."""

import json
import os
import subprocess

from . import processes
from .place import LabError, Place
from .services import HERE, PYTHON
from .settings import Description, database_url


def install_mariadb(place: Place) -> None:
    """A data directory for a private server, whose root needs no password: it
    listens on a socket in the lab's directory alone."""
    data = place.path("home", "mariadb")
    data.mkdir()
    argv = [
        "/usr/bin/mysql_install_db",
        "--no-defaults",
        "--user=root",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        f"--datadir={data}",
    ]
    processes.run(place, "mariadb-install", argv)


def keystone(place: Place, lab: Description) -> None:
    place.path("home", "fernet-keys").mkdir(mode=0o700)
    url = lab["endpoints"]["RegionOne"]["identity"]
    admin = lab["users"]["admin"]
    bootstrap = [
        "bootstrap",
        "--bootstrap-username",
        admin["name"],
        "--bootstrap-password",
        admin["password"],
    ]
    bootstrap += ["--bootstrap-project-name", admin["project"], "--bootstrap-region-id", "RegionOne"]
    for interface in ("public", "internal", "admin"):
        bootstrap += [f"--bootstrap-{interface}-url", url]
    config = ["--config-file", str(place.path("etc", "keystone.conf"))]
    fernet = ["fernet_setup", "--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    _manage(place, "keystone", [[*config, *fernet], [*config, "db_sync"], [*config, *bootstrap]])


def placement(place: Place) -> None:
    env = {"OS_PLACEMENT_CONFIG_DIR": str(place.path("etc"))}
    config = ["--config-file", str(place.path("etc", "placement.conf"))]
    _manage(place, "placement", [[*config, "db", "sync"]], env)


def glance(place: Place) -> None:
    place.path("home", "images").mkdir()
    _manage(place, "glance", [["--config-file", str(place.path("etc", "glance.conf")), "db", "sync"]])


def nova_api(place: Place, lab: Description) -> None:
    """The API's database, which also knows the two cells."""
    config = _nova_config(place)
    cell0 = ["cell_v2", "map_cell0", "--database_connection", database_url(place, lab, "nova_cell0")]
    _manage(
        place,
        "nova-api-database",
        [
            [*config, "api_db", "sync"],
            [*config, *cell0],
            [*config, "cell_v2", "create_cell", "--name", "cell1"],
        ],
        module="nova.cmd.manage",
    )


def nova_cell(place: Place, lab: Description, database: str) -> None:
    """The database of one cell; they are made side by side."""
    overlay = place.path("etc", f"{database}-database.conf")
    overlay.write_text(f"[database]\nconnection = {database_url(place, lab, database)}\n")
    config = [*_nova_config(place), "--config-file", str(overlay)]
    _manage(
        place, f"{database}-database", [[*config, "db", "sync", "--local_cell"]], module="nova.cmd.manage"
    )


def discover_hosts(place: Place) -> None:
    """Makes Nova's scheduler see the hosts whose nova-compute has registered."""
    config = _nova_config(place)
    _manage(place, "nova-discover", [[*config, "cell_v2", "discover_hosts"]], module="nova.cmd.manage")


def check_programs() -> None:
    """Fails early, and with what to do, when a package is missing."""
    modules = ["nova", "placement", "keystone", "glance", "keystoneauth1", "pymysql", "amqp"]
    found = subprocess.run(
        [PYTHON, "-c", f"import {', '.join(modules)}"], capture_output=True, text=True, env={}
    )
    if found.returncode != 0:
        reason = found.stderr.strip().splitlines()[-1]
        raise LabError(f"{reason}: run deploy/install-dependencies lab")


def _nova_config(place: Place) -> list[str]:
    return ["--config-file", str(place.path("etc", "nova.conf"))]


def _manage(
    place: Place, name: str, commands: list[list[str]], env: dict[str, str] | None = None, module: str = ""
) -> None:
    argv = [PYTHON, str(HERE / "fork_commands.py"), module or f"{name}.cmd.manage"]
    processes.run(place, f"{name}-manage", [*argv, *(json.dumps(command) for command in commands)], env)
