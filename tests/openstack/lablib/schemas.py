"""The databases: their server's first start, the schemas, Nova's cells, and
Keystone's first user. Each runs before the services that need it."""

import json
import os
import subprocess
from pathlib import Path

from . import processes
from .place import LabError, Place
from .releases import INSTALL, installed
from .services import HERE, PYTHON, mariadbd
from .settings import Description, database_url


def install_mariadb(place: Place) -> None:
    """A data directory for a private server, whose root needs no password: it
    listens on a socket in the lab's directory alone. Not by mariadb-install-db, which,
    run by root, changes the owner of a directory of the system's MariaDB."""
    data = place.path("home", "mariadb")
    data.mkdir()
    place.path("home", "mariadb-tmp").mkdir()
    statements = ["CREATE DATABASE mysql;", "USE mysql;", "SET @auth_root_socket = NULL;"]
    statements += [path.read_text() for path in installed().system_tables]
    script = place.path("etc", "mariadb-system.sql")
    script.write_text("\n".join(statements))
    argv = [*mariadbd(place), "--bootstrap", "--log-warnings=0", "--enforce-storage-engine="]
    processes.run(place, "mariadb-install", argv, stdin=script)


def keystone(place: Place, lab: Description) -> None:
    place.path("home", "fernet-keys").mkdir(mode=0o700)
    url = lab["endpoints"]["RegionOne"]["identity"]
    admin = lab["users"]["admin"]
    bootstrap = ["bootstrap", "--bootstrap-username", admin["name"], "--bootstrap-region-id", "RegionOne"]
    bootstrap += ["--bootstrap-project-name", admin["project"]]
    for interface in ("public", "internal", "admin"):
        bootstrap += [f"--bootstrap-{interface}-url", url]
    config = ["--config-file", str(place.path("etc", "keystone.conf"))]
    fernet = ["fernet_setup", "--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    commands = [[*config, *fernet], [*config, "db_sync"], [*config, *bootstrap]]
    _manage(place, "keystone", commands, env={"OS_BOOTSTRAP_PASSWORD": admin["password"]})


def placement(place: Place) -> None:
    env = {"OS_PLACEMENT_CONFIG_DIR": str(place.path("etc"))}
    config = ["--config-file", str(place.path("etc", "placement.conf"))]
    _manage(place, "placement", [[*config, "db", "sync"]], env=env)


def glance(place: Place) -> None:
    place.path("home", "images").mkdir()
    _manage(place, "glance", [["--config-file", str(place.path("etc", "glance-api.conf")), "db", "sync"]])


def nova(place: Place, lab: Description) -> None:
    """The API's database, which knows the two cells, and those of the cells, all
    side by side."""
    config = ["--config-file", str(place.path("etc", "nova.conf"))]
    cell0 = ["--database_connection", database_url(place, lab, "nova_cell0")]
    api = [
        [*config, "api_db", "sync"],
        [*config, "cell_v2", "map_cell0", *cell0],
        [*config, "cell_v2", "create_cell", "--name", "cell1"],
    ]
    cells = []
    for database in ("nova_cell0", "nova"):
        overlay = place.path("etc", f"{database}-database.conf")
        overlay.write_text(f"[database]\nconnection = {database_url(place, lab, database)}\n")
        cells.append([[*config, "--config-file", str(overlay), "db", "sync", "--local_cell"]])
    _manage(place, "nova", api, *cells)


def manage_nova(place: Place, commands: list[list[str]], overlay: Path | None = None) -> None:
    """More commands, later."""
    config = ["--config-file", str(place.path("etc", "nova.conf"))]
    if overlay:
        config += ["--config-file", str(overlay)]
    _manage(place, "nova", [[*config, *command] for command in commands])


def check_programs() -> None:
    """Fails early, and with what to do, when a package is missing."""
    modules = ["nova", "placement", "keystone", "glance", "keystoneauth1", "pymysql", "amqp"]
    found = subprocess.run(
        [PYTHON, "-c", f"import {', '.join(modules)}"], capture_output=True, text=True, env={}
    )
    if found.returncode != 0:
        reason = found.stderr.strip().splitlines()[-1]
        raise LabError(f"{reason}: run {INSTALL}")


def _manage(place: Place, name: str, *groups: list[list[str]], env: dict[str, str] | None = None) -> None:
    """Runs groups of NAME-manage commands side by side, those of a group in order."""
    argv = [PYTHON, str(HERE / "fork_commands.py"), f"{name}.cmd.manage"]
    processes.run(place, f"{name}-manage", [*argv, *(json.dumps(group) for group in groups)], env)
