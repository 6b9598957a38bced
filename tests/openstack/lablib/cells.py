"""A second cell of Nova's, made when a scenario first wants one, and hosts that move into it and back.

It has a database and a virtual host of the broker of its own, and a conductor while a host is in it.
Notifications go where those of the first cell go: the reaper hears one broker.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pymysql
import pymysql.cursors
from keystoneauth1 import adapter

from . import processes, schemas, services
from .place import LabError, Place
from .settings import OTHER_CELL, Description, database_url, nova_host

CONDUCTOR = "nova-conductor-other"
ERL_CALL = "/usr/bin/erl_call"
MAKE_VHOST = """\
rabbit_vhost:add(<<"{name}">>, <<"{user}">>),
rabbit_auth_backend_internal:set_permissions(<<"{user}">>, <<"{name}">>, <<".*">>, <<".*">>, <<".*">>, <<"{user}">>).
"""


def enter(place: Place, lab: Description, nova: adapter.Adapter, host: str) -> None:
    """A host without servers leaves the first cell for the other one."""
    if not place.path("etc", f"{CONDUCTOR}.conf").exists():
        _make(place, lab)
    conductor = services.nova_daemon(place, CONDUCTOR, "conductor")
    if not processes.is_running(place, CONDUCTOR):
        processes.start(place, CONDUCTOR, conductor.argv, conductor.env)
        processes.wait_ready(place, CONDUCTOR, conductor.ready, conductor.timeout)
    _share_a_number(place, host)
    _register(place, lab, nova, host, transport_of(lab))


def leave(place: Place, lab: Description, nova: adapter.Adapter, host: str) -> None:
    """Back to the first one. The other stays, without a host."""
    _register(place, lab, nova, host, None)
    processes.stop(place, [CONDUCTOR])


def set_disabled(place: Place, lab: Description, disabled: bool) -> None:
    """The scheduler learns what builds skip when it starts. (nova-manage update_cell would also
    give the cell the URLs of its own configuration, which are those of the first cell.)"""
    with _rows(place, "nova_api") as rows:
        change = "UPDATE cell_mappings SET disabled = %s WHERE name = %s"
        changed = rows.execute(change, (disabled, OTHER_CELL))
    if changed != 1:
        raise LabError(f"{changed} cells of the name {OTHER_CELL} were changed")
    restart(place, lab, "nova-scheduler")


def transport_of(lab: Description) -> str:
    broker = lab["broker"]
    return broker["url"].removesuffix("/") + f"/{OTHER_CELL}"


def _share_a_number(place: Place, host: str) -> None:
    """The host gets the number that another one has in the first cell, however often hosts moved before."""
    other = "SELECT MIN(id) FROM compute_nodes WHERE deleted = 0 AND hypervisor_hostname <> %s"
    with _rows(place, "nova") as rows:
        rows.execute(other, (host,))
        [number] = rows.fetchone()
    with _rows(place, f"nova_{OTHER_CELL}") as rows:
        rows.execute("DELETE FROM compute_nodes")
        rows.execute(f"ALTER TABLE compute_nodes AUTO_INCREMENT = {number:d}")


@contextmanager
def _rows(place: Place, database: str) -> Iterator[pymysql.cursors.Cursor]:
    socket = str(place.path("run", "mariadb.sock"))
    connection = pymysql.connect(unix_socket=socket, user="root", database=database, autocommit=True)
    try:
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


def _make(place: Place, lab: Description) -> None:
    broker = lab["broker"]
    asked = subprocess.run(
        [ERL_CALL, "-address", broker["node"]["address"], "-e"],
        input=MAKE_VHOST.format(name=OTHER_CELL, user=broker["user"]),
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"HOME": broker["node"]["home"]},
    )
    if "{ok" not in asked.stdout:
        raise LabError(f"the broker's virtual host {OTHER_CELL}: {asked.stdout}{asked.stderr}")
    database = database_url(place, lab, f"nova_{OTHER_CELL}")
    overlay = place.path("etc", f"{CONDUCTOR}.conf")
    overlay.write_text(
        f"[DEFAULT]\nhost = controller-other\ntransport_url = {transport_of(lab)}\n"
        f"[database]\nconnection = {database}\n"
        f"[oslo_messaging_notifications]\ntransport_url = {broker['url']}\n"
    )
    schemas.manage_nova(place, [["db", "sync", "--local_cell"]], overlay)
    cell = ["--name", OTHER_CELL, "--database_connection", database, "--transport-url", transport_of(lab)]
    schemas.manage_nova(place, [["cell_v2", "create_cell", *cell]])
    # They keep what cells there are.
    restart(place, lab, "nova-scheduler")
    restart(place, lab, "nova-api")


def _register(
    place: Place, lab: Description, nova: adapter.Adapter, host: str, transport: str | None
) -> None:
    """Its nova-compute starts again, as that of a host which never existed before."""
    compute = services.compute_of(host)
    processes.stop(place, [compute])
    [found] = nova.get(f"/os-services?binary=nova-compute&host={host}").json()["services"]
    nova.delete(f"/os-services/{found['id']}")
    # Its identity, which Nova keeps as of 2023.1.
    place.path("nova", host, "compute_id").unlink(missing_ok=True)
    place.path("etc", f"nova-{host}.conf").write_text(nova_host(place, lab, host, transport))
    services.start(place, lab, compute)


def restart(place: Place, lab: Description, service: str) -> None:
    """With its configuration as it is now."""
    processes.stop(place, [service])
    services.start(place, lab, service)
