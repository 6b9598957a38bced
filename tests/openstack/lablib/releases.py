"""What differs between the releases that the lab runs on: chosen here, by the versions that are installed.

The scenarios are the same on all of them, and so is all the rest of the lab.
"""

import glob
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .place import LabError

# The release of OpenStack by the major version of Nova. 26 is the oldest that the lab runs.
OPENSTACK = {26: "Zed", 27: "2023.1", 28: "2023.2", 29: "2024.1", 30: "2024.2", 31: "2025.1", 32: "2025.2"}
OPENSTACK |= {33: "2026.1", 34: "2026.2"}
# The packages of Python that tell the versions.
PACKAGES = {
    "Nova": "nova",
    "Placement": "openstack-placement",
    "Keystone": "keystone",
    "Glance": "glance",
    "oslo.messaging": "oslo.messaging",
}
RABBITMQ = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server"
MARIADB = "/usr/sbin/mariadbd"
INSTALL = "deploy/install-dependencies lab"


@dataclass(frozen=True)
class Installed:
    versions: dict[str, str]  # of each service, as its package tells it

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"OpenStack {self.openstack}: {listed}"

    @property
    def openstack(self) -> str:
        return OPENSTACK.get(self.nova, f"of Nova {self.nova}")

    @property
    def nova(self) -> int:
        return self._numbers("Nova")[0]

    def _numbers(self, service: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", self.versions[service])]

    # Nova ----------------------------------------------------------------------

    @property
    def compute_api(self) -> str:
        """What a WSGI server loads: a module, and what makes the application, or is it."""
        if self.nova < 31:
            return "nova.api.openstack.compute.wsgi:init_application"
        return "nova.wsgi.osapi_compute:application"

    # Glance --------------------------------------------------------------------

    @property
    def image_api(self) -> str | None:
        """As above; None if Glance is a server of its own, up to 2026.1."""
        return "glance.wsgi.api:application" if self._numbers("Glance")[0] >= 33 else None

    # RabbitMQ ------------------------------------------------------------------

    @property
    def oslo_rabbit(self) -> str:
        """Of [oslo_messaging_rabbit]. As of 4.3 the broker refuses the queues of oslo.messaging's defaults,
        which are transient and not exclusive. The types of queues are those that Kolla sets as of 2025.1."""
        if self._numbers("RabbitMQ")[:2] < [4, 3]:
            return ""
        return "rabbit_quorum_queue = true\nrabbit_transient_quorum_queue = true\n"

    # MariaDB -------------------------------------------------------------------

    @property
    def system_tables(self) -> list[Path]:
        """The statements that fill a new server."""
        names = ["system_tables", "performance_tables", "system_tables_data"]
        if self._numbers("MariaDB")[0] < 11:
            return [Path(f"/usr/share/mysql/mysql_{name}.sql") for name in names]
        return [Path(f"/usr/share/mariadb/mariadb_{name}.sql") for name in names]


@cache
def installed() -> Installed:
    """Fails with what to do when a package is missing."""
    try:
        versions = {name: version(package) for name, package in PACKAGES.items()}
    except PackageNotFoundError as missing:
        raise LabError(f"{missing}: run {INSTALL}") from None
    versions["RabbitMQ"] = rabbitmq_script().partition("rabbitmq_server-")[2].partition("/")[0]
    versions["MariaDB"] = _mariadb()
    return Installed(versions)


def rabbitmq_script() -> str:
    """The script itself, not Debian's wrapper of it, which wants to be root and changes to
    the user rabbitmq."""
    scripts = glob.glob(RABBITMQ)
    if not scripts:
        raise LabError(f"rabbitmq-server is not installed: {INSTALL}")
    return scripts[0]


def _mariadb() -> str:
    try:
        told = subprocess.run([MARIADB, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise LabError(f"{error}: {INSTALL}") from None
    found = re.search(r"Ver (\S+?)-MariaDB", told)
    if not found:
        raise LabError(f"{MARIADB} --version tells no version: {told}")
    return found[1]
