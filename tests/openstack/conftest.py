"""One lab for the whole session, a clean cloud and a reaper for each scenario.

    /usr/bin/python3 -m pytest tests/openstack --reaper build/release/bin/reaper

Without --lab-dir (or REAPER_LAB_DIR) the lab is taken up in a temporary directory
and down at the end. With it, the lab in that directory is used, made if there is
none, and left running for the next session; `lab down --dir DIR` ends it.
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
from lab_cloud import LabCloud  # noqa: E402
from lablib import lifecycle  # noqa: E402
from lablib.place import Place  # noqa: E402
from reaper_process import Reaper  # noqa: E402

HOSTS = 3
PROJECT = Path(__file__).parents[2]
BUILT = "build/release/bin/reaper"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reaper")
    group.addoption("--lab-dir", help="use the lab there, or make it, and leave it running")
    group.addoption("--reaper", help=f"the binary under test (default: REAPER, or {BUILT})")


def pytest_configure() -> None:
    """`timeout` and CI end a session with SIGTERM: the lab must go all the same."""

    def leave(*_: object) -> None:
        pytest.exit("terminated", returncode=143)

    signal.signal(signal.SIGTERM, leave)


@pytest.fixture(scope="session")
def lab_dir(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The directory of a running lab."""
    chosen = request.config.getoption("--lab-dir") or os.environ.get("REAPER_LAB_DIR")
    if chosen:
        if not Place(chosen).path("lab.json").exists():
            lifecycle.up(chosen, HOSTS)
        yield Path(chosen).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="reaper-lab-") as parent:
        directory = Path(parent) / "lab"
        lifecycle.up(directory, HOSTS)
        try:
            yield directory
        finally:
            lifecycle.down(directory)


@pytest.fixture(scope="session")
def shared_cloud(lab_dir: Path) -> Iterator[LabCloud]:
    cloud = LabCloud(lab_dir)
    assert len(cloud.hosts) == HOSTS, f"the scenarios want a lab with {HOSTS} hosts"
    yield cloud
    cloud.close()


@pytest.fixture
def cloud(shared_cloud: LabCloud) -> Cloud:
    """An empty cloud. It is emptied before a scenario, not after it: what a
    failed one left can be looked at."""
    shared_cloud.reset()
    return shared_cloud


@pytest.fixture(scope="session")
def binary(request: pytest.FixtureRequest) -> Path:
    chosen = request.config.getoption("--reaper") or os.environ.get("REAPER") or PROJECT / BUILT
    path = Path(chosen).absolute()
    if not os.access(path, os.X_OK):
        pytest.exit(f"there is no reaper at {path}: build it, or say where it is with --reaper", returncode=4)
    return path


@pytest.fixture
def install(binary: Path, cloud: Cloud, tmp_path: Path) -> Iterator[Callable[..., Reaper]]:
    """Makes reapers that are not started yet; arguments are those of
    Cloud.reaper_config."""
    made: list[Reaper] = []

    def make(**places: Any) -> Reaper:
        directory = tmp_path / f"reaper-{len(made) + 1}"
        directory.mkdir()
        made.append(Reaper(binary, cloud, directory, **places))
        return made[-1]

    yield make
    for reaper in made:
        reaper.end()


@pytest.fixture
def reaper(install: Callable[..., Reaper]) -> Reaper:
    """A running reaper, as most scenarios want it."""
    made = install()
    made.start()
    return made
