"""The suites that others wrote, what of them is run, and how their requests get to a real port.

Nothing of theirs is copied: their installed modules are imported, and the one place in each that hands
requests to Placement within the process is replaced.
"""

import importlib
import os
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from placement_server import PlacementServer

# As in Nova's api-paste.ini, without what its functional tests do not ask for.
NOVA_PASTE = """\
[composite:osapi_compute]
use = call:nova.api.openstack.urlmap:urlmap_factory
/ : versions
/v2 : compute_legacy
/v2.1 : compute
[composite:compute]
use = call:nova.api.auth:pipeline_factory_v21
keystone = request_id faultwrap authtoken context compute_app
[composite:compute_legacy]
use = call:nova.api.auth:pipeline_factory_v21
keystone = request_id faultwrap authtoken context legacy compute_app
[pipeline:versions]
pipeline = faultwrap versions_app
[app:versions_app]
paste.app_factory = nova.api.openstack.compute.versions:Versions.factory
[app:compute_app]
paste.app_factory = nova.api.openstack.compute:APIRouterV21.factory
[filter:request_id]
paste.filter_factory = nova.api.compute_req_id:ComputeReqIdMiddleware.factory
[filter:faultwrap]
paste.filter_factory = nova.api.openstack:FaultWrapper.factory
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:context]
paste.filter_factory = nova.api.auth:NovaKeystoneContext.factory
[filter:legacy]
paste.filter_factory = nova.api.openstack:LegacyV2CompatibleWrapper.factory
"""


def _fixture_over_tcp(server: PlacementServer, port: int) -> None:
    """Placement's fixture for other projects' tests: no intercept, but an address."""
    deploy = importlib.import_module("placement.deploy")
    fixture = importlib.import_module("placement.tests.functional.fixtures.placement").PlacementFixture
    set_up = fixture.setUp

    def set_up_over_tcp(self: Any) -> None:
        self.use_intercept = False
        set_up(self)
        server.use(lambda: deploy.loadapp(self.conf_fixture.conf))
        self.addCleanup(server.use, None)
        self.endpoint = f"http://127.0.0.1:{port}"

    fixture.setUp = set_up_over_tcp


def _by_name(names: list[str]) -> unittest.TestSuite:
    return unittest.defaultTestLoader.loadTestsFromNames(names)


def _osc(server: PlacementServer, port: int, names: list[str], folder: Path) -> unittest.TestSuite:
    _fixture_over_tcp(server, port)
    return _by_name(names)


def _nova(server: PlacementServer, port: int, names: list[str], folder: Path) -> unittest.TestSuite:
    paste = folder / "etc/nova/api-paste.ini"
    paste.parent.mkdir(parents=True)
    paste.write_text(NOVA_PASTE)
    os.environ["OS_DEFAULT__STATE_PATH"] = str(folder)
    _fixture_over_tcp(server, port)
    return _by_name(names)


def _gabbi(server: PlacementServer, port: int, names: list[str], folder: Path) -> unittest.TestSuite:
    driver = importlib.import_module("gabbi.driver")
    output = importlib.import_module("oslotest.output")
    capture = importlib.import_module("placement.tests.functional.fixtures.capture")
    fixtures = importlib.import_module("placement.tests.functional.fixtures.gabbits")
    start, stop = fixtures.APIFixture.start_fixture, fixtures.APIFixture.stop_fixture

    def start_over_tcp(self: Any) -> None:
        start(self)
        server.use(fixtures.setup_app)

    def stop_over_tcp(self: Any) -> None:
        server.use(None)
        stop(self)

    fixtures.APIFixture.start_fixture = start_over_tcp
    fixtures.APIFixture.stop_fixture = stop_over_tcp
    return driver.build_tests(
        os.environ["PLACEMENT_GABBITS"],
        unittest.defaultTestLoader,
        host="127.0.0.1",
        port=port,
        test_loader_name="gabbits",
        inner_fixtures=[output.CaptureOutput, capture.Logging],
        fixture_module=fixtures,
    )


@dataclass(frozen=True)
class Suite:
    load: Callable[[PlacementServer, int, list[str], Path], unittest.TestSuite]
    # Modules, classes or tests.
    names: tuple[str, ...]
    # Of Debian 12's packages.
    tests: int
    # Each is a process.
    shards: int = 1
    # Whether its clients' messages are compared with Placement's, each of them.
    compared: bool = True
    # What no proxy passes on.
    no_proxy: tuple[str, ...] = ()
    # Whether it is run only if it is asked for.
    long: bool = False


_PORTS = "test_servers_resource_request"
_MOVE = f"{_PORTS}.ServerMoveWithMultiGroupResourceRequestBasedSchedulingTest"
_MOVES = (
    "evacuate_with_qos_port",
    "evacuate_with_qos_port_fails_recover_source_compute",
    "live_migrate_with_qos_port",
    "live_migrate_with_qos_port_reschedule_fails",
    "live_migrate_with_qos_port_reschedule_success",
    "migrate_revert_with_qos_ports",
    "migrate_server_with_qos_port_reschedule_failure",
    "migrate_server_with_qos_port_reschedule_success",
    "migrate_server_with_qos_ports",
    "resize_revert_with_qos_ports",
    "resize_server_with_qos_port_reschedule_failure",
    "resize_server_with_qos_port_reschedule_success",
    "resize_server_with_qos_ports",
    "unshelve_offloaded_server_with_qos_port",
)
_GROUPS = "test_server_group.ServerGroupTestV264"
# Of a suite that takes hours: those that ask Placement most in their time, and each kind of request.
NOVA_TESTS = tuple(
    f"nova.tests.functional.{name}"
    for name in (
        "test_report_client",
        "test_servers_provider_tree",
        *(f"{_MOVE}.test_{name}" for name in _MOVES),
        f"{_PORTS}.ExtendedResourceRequestOldCompute",
        f"{_PORTS}.PortResourceRequestReSchedulingTest",
        f"{_PORTS}.CrossCellResizeWithQoSPort",
        "test_aggregates.AggregateHostMoveTestCase",
        "test_aggregates.IsolateAggregateFilterTest",
        "test_server_group.TestAntiAffinityLiveMigration",
        "test_server_group.ServerGroupTestMultiCell",
        f"{_GROUPS}.test_boot_servers_with_affinity",
        f"{_GROUPS}.test_evacuate_with_anti_affinity",
        f"{_GROUPS}.test_migrate_with_anti_affinity",
        "regressions.test_bug_1718455",
        "regressions.test_bug_1780373",
        "regressions.test_bug_1781710",
        "test_nova_manage.TestNovaManagePlacementAudit",
        "test_nova_manage.TestNovaManagePlacementSyncAggregates",
    )
)
# Whole, with what they inherit.
NOVA_MODULES = tuple(
    f"nova.tests.functional.{name}"
    for name in (
        "compute.test_live_migration",
        "test_aggregates",
        "test_boot_from_volume",
        "test_cold_migrate",
        "test_cross_cell_migrate",
        "test_report_client",
        "test_routed_networks",
        "test_server_group",
        "test_servers_provider_tree",
        "test_servers_resource_request",
    )
)
OSC_MODULES = tuple(
    f"osc_placement.tests.functional.test_{name}"
    for name in (
        "aggregate",
        "allocation",
        "allocation_candidate",
        "inventory",
        "plugin",
        "resource_class",
        "resource_provider",
        "trait",
        "usage",
    )
)
# A request whose length is no number: it is the proxy that must refuse it.
NO_LENGTH = "gabbits.basic-http_bad_content_length_not_int.test_request"
SUITES = {
    "osc": Suite(_osc, OSC_MODULES, 160),
    "nova": Suite(_nova, NOVA_TESTS, 80, 2),
    "nova-modules": Suite(_nova, NOVA_MODULES, 383, 12, long=True),
    "gabbi": Suite(_gabbi, (), 1231, compared=False, no_proxy=(NO_LENGTH,)),
}
