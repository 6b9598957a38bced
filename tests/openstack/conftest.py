"""One lab, or one simulated cloud, for the whole session; a clean cloud and a reaper for each
scenario.

    /usr/bin/python3 -m pytest tests/openstack --reaper build/release/bin/reaper
    /usr/bin/python3 -m pytest tests/openstack --cloud sim
    /usr/bin/python3 -m pytest tests/openstack --cloud sim -n auto --dist loadgroup

With -n (pytest-xdist), several sessions share the scenarios, each with a lab or a simulated cloud of
its own; `auto` is how many of these two cores can feed.

Scenarios run on the cloud that --cloud names: `lab` (the default), `sim`, or `both`. Without
--lab-dir (or REAPER_LAB_DIR) the lab is taken up in a temporary directory and down at the end. With
it, the lab in that directory is used, made if there is none, and left running for the next session;
`lab down --dir DIR` ends it.

With --traces DIR each scenario writes down what it saw; one that ran on both clouds must have seen
the same.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

pytest.register_assert_rewrite("cloud", "fleet", "reaper_process")

from cloud import Cloud  # noqa: E402
from fleet import OVERSOLD  # noqa: E402
from lab_cloud import LabCloud  # noqa: E402
from lablib import catalog, lifecycle  # noqa: E402
from lablib.guard import guarded  # noqa: E402
from lablib.place import Place  # noqa: E402
from lablib.releases import installed  # noqa: E402
from openstack_cloud import OpenStackCloud  # noqa: E402
from reaper_process import Reaper  # noqa: E402
from sim_cloud import SimCloud  # noqa: E402
from sim_process import Simulation  # noqa: E402
from traces import Traces, trace_of  # noqa: E402

HOSTS = 3
PROJECT = Path(__file__).parents[2]
BUILT = "build/release/bin"
TRACES = pytest.StashKey[Traces]()
# Sessions side by side. On cloudsim a scenario waits most of the time; Nova, written in Python, works
# most of the time.
WORKERS = {"sim": 6, "lab": 2, "both": 2}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reaper")
    group.addoption("--cloud", choices=("lab", "sim", "both"), default="lab", help="default: lab")
    group.addoption("--lab-dir", help="use the lab there, or make it, and leave it running")
    group.addoption("--reaper", help=f"the binary under test (default: REAPER, or {BUILT}/reaper)")
    group.addoption("--cloudsim", help=f"the simulated cloud (default: CLOUDSIM, or {BUILT}/cloudsim)")
    group.addoption("--room-questions", type=int, default=300, help="asked in test_room_boots.py (default: 300)")
    group.addoption("--room-seed", type=int, default=20261120, help="of these questions")
    group.addoption("--galera", action="store_true", help="the scenarios with a Galera cluster, and no others")
    group.addoption("--traces", help="where scenarios write down what they saw, to be compared")


def pytest_configure(config: pytest.Config) -> None:
    """`timeout` and CI end a session with SIGTERM: it leaves in good order. A worker of pytest-xdist may
    just die: what it started notices."""

    def leave(*_: object) -> None:
        pytest.exit("terminated", returncode=143)

    if not hasattr(config, "workerinput"):
        signal.signal(signal.SIGTERM, leave)
    config.addinivalue_line("markers", "lab_only: about what only a real cloud has")
    config.addinivalue_line("markers", "sim_only: needs a cloud that misbehaves on command")
    config.addinivalue_line("markers", "long: begins before the others, so that it is not the last one alone")
    if config.getoption("--traces"):
        config.stash[TRACES] = Traces(Path(config.getoption("--traces")).absolute())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    other = collection_path.is_file() and ("galera" in collection_path.name) != config.getoption("--galera")
    return True if other else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` means. There is only one lab in a --lab-dir."""
    if config.getoption("--galera"):
        return 2  # clusters of three
    return 0 if chosen_lab(config) else WORKERS[config.getoption("--cloud")]


def chosen_lab(config: pytest.Config) -> str | None:
    return config.getoption("--lab-dir") or os.environ.get("REAPER_LAB_DIR")


def clouds_of(config: pytest.Config) -> list[str]:
    chosen = config.getoption("--cloud")
    return ["sim", "lab"] if chosen == "both" else [chosen]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One definition, one test for each cloud: test_it[sim], test_it[lab]."""
    if "where" in metafunc.fixturenames:
        only = {name: metafunc.definition.get_closest_marker(f"{name}_only") for name in ("lab", "sim")}
        clouds = [name for name in clouds_of(metafunc.config) if only[name] or not any(only.values())]
        metafunc.parametrize("where", clouds, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What only a cloud has that is not there is left out."""
    absent = {"lab", "sim"} - set(clouds_of(config))
    left_out = [item for item in items if any(item.get_closest_marker(f"{name}_only") for name in absent)]
    config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if item not in left_out]
    items[:] = sorted(kept, key=lambda item: item.get_closest_marker("long") is None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist tells its controller what it compared."""
    traces = session.config.stash.get(TRACES, None)
    if traces is not None and hasattr(session.config, "workeroutput"):
        session.config.workeroutput["traces"] = sorted(traces.compared), sorted(traces.alone)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    traces = node.config.stash.get(TRACES, None)
    if traces is not None and "traces" in getattr(node, "workeroutput", {}):
        compared, alone = node.workeroutput["traces"]
        traces.compared |= set(compared)
        traces.alone |= set(alone)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if "lab" in clouds_of(config):
        terminalreporter.write_line(str(installed()))
    traces = config.stash.get(TRACES, None)
    if traces is not None and (traces.compared or "lab" in clouds_of(config)):
        left = traces.alone - traces.compared
        alone = f", {len(left)} could not be" if left else ""
        terminalreporter.write_line(f"{len(traces.compared)} scenarios compared on both clouds{alone}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Missing programs are reported once, before the workers start."""
    for name in ("reaper", "cloudsim") if "sim" in clouds_of(config) else ("reaper",):
        binary_at(config, name)


def binary_at(config: pytest.Config, name: str) -> Path:
    built = PROJECT / BUILT / name
    path = Path(config.getoption(f"--{name}") or os.environ.get(name.upper()) or built).absolute()
    if not os.access(path, os.X_OK):
        pytest.exit(f"there is no {name} at {path}: build it, or say where it is with --{name}", returncode=4)
    return path


@pytest.fixture(scope="session")
def lab_dir(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The directory of a running lab."""
    if chosen := chosen_lab(request.config):
        if not Place(chosen).path("lab.json").exists():
            lifecycle.up(chosen, HOSTS)
        yield Path(chosen).absolute()
        return
    directory = Path(tempfile.mkdtemp(prefix="reaper-lab-"))
    with guarded(directory):
        lifecycle.up(directory, HOSTS)
        yield directory


@pytest.fixture(scope="session")
def lab_cloud(lab_dir: Path) -> Iterator[LabCloud]:
    cloud = LabCloud(lab_dir)
    assert len(cloud.hosts) == HOSTS, f"the scenarios want a lab with {HOSTS} hosts"
    yield cloud
    cloud.close()


@pytest.fixture(scope="session")
def sim_cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimCloud]:
    binary, directory = binary_at(request.config, "cloudsim"), tmp_path_factory.mktemp("cloudsim")
    with Simulation(binary, directory, HOSTS) as simulation:
        cloud = SimCloud(simulation)
        yield cloud
        cloud.close()


@pytest.fixture(scope="session")
def shared_cloud(request: pytest.FixtureRequest, where: str) -> OpenStackCloud:
    return request.getfixturevalue(f"{where}_cloud")


@pytest.fixture
def cloud(shared_cloud: OpenStackCloud) -> Cloud:
    """An empty cloud. It is emptied before a scenario, not after it: what a
    failed one left can be looked at."""
    shared_cloud.reset()
    return shared_cloud


@pytest.fixture(scope="session")
def binary(request: pytest.FixtureRequest) -> Path:
    return binary_at(request.config, "reaper")


@pytest.fixture
def make_flavor(cloud: OpenStackCloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Makes flavors for one scenario: a name, the one that it is like but for `sizes`, and extra specs."""
    made: list[str] = []

    def make(name: str, like: str, specs: dict[str, str], **sizes: int) -> str:
        body = {"flavor": {"name": name, **catalog.FLAVORS[like], **sizes}}
        flavor = cloud.nova.post("/flavors", json=body).json()["flavor"]["id"]
        made.append(flavor)
        cloud.nova.post(f"/flavors/{flavor}/os-extra_specs", json={"extra_specs": specs})
        monkeypatch.setitem(cloud.lab["flavors"], name, flavor)
        return name

    yield make
    for flavor in made:
        cloud.nova.delete(f"/flavors/{flavor}")


@pytest.fixture
def oversold_host(cloud: OpenStackCloud) -> Iterator[str]:
    """The first host, which offers room for one revocable `medium` beyond its VCPU."""
    host = cloud.hosts[0]
    cloud.placement.put(f"/resource_classes/{OVERSOLD}")
    body = {"name": f"{host}-oversold", "parent_provider_uuid": cloud.providers[host]}
    provider = f"/resource_providers/{cloud.placement.post('/resource_providers', json=body).json()['uuid']}"
    generation = cloud.placement.get(provider).json()["generation"]
    inventories = {"inventories": {OVERSOLD: {"total": 5}}, "resource_provider_generation": generation}
    cloud.placement.put(f"{provider}/inventories", json=inventories)
    yield host
    for holder in cloud.placement.get(f"{provider}/allocations").json()["allocations"]:
        cloud.placement.delete(f"/allocations/{holder}")
    cloud.placement.delete(provider)


@pytest.fixture
def install(
    request: pytest.FixtureRequest, binary: Path, cloud: Cloud, where: str, tmp_path: Path
) -> Iterator[Callable[..., Reaper]]:
    """Makes reapers that are not started yet; arguments are those of
    Cloud.reaper_config."""
    made: list[Reaper] = []
    mark = cloud.mark()

    def make(**places: Any) -> Reaper:
        directory = tmp_path / f"reaper-{len(made) + 1}"
        directory.mkdir()
        made.append(Reaper(binary, cloud, directory, **places))
        return made[-1]

    yield make
    traces = request.config.stash.get(TRACES, None)
    for reaper in made:
        reaper.end()
    if traces is not None:
        scenario = request.node.name.replace(f"[{where}]", "").replace(f"[{where}-", "[")
        traces.keep(where, scenario, trace_of(cloud, mark, cloud.asked, made))
        assert not (found := traces.differences(scenario)), "\n".join(["not the same:", *found])


@pytest.fixture
def reaper(install: Callable[..., Reaper]) -> Reaper:
    """A running reaper, as most scenarios want it."""
    made = install()
    made.start()
    return made
