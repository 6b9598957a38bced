"""One broker and one simulated cloud for the session; a clean cloud and a new installation of the
reaper for each run.

    /usr/bin/python3 -m pytest tests/faults/process
    /usr/bin/python3 -m pytest tests/faults/process -n auto --dist loadgroup

With -n (pytest-xdist), several sessions share the runs, each with a broker and a cloud of its own.
Programs are those of build/release/bin, or what REAPER, CLOUDSIM and REAPER_FAULTS name.
"""

import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

PROJECT = Path(__file__).parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tests/openstack"))

pytest.register_assert_rewrite("cloud", "fleet", "reaper_process", "machine")

from machine import Machine  # noqa: E402
from sim_cloud import SimCloud  # noqa: E402
from sim_process import Simulation  # noqa: E402

# Two, so that there is another server to delete by mistake.
HOSTS = 2
# What `-n auto` means: two cores can feed so many, for a run waits most of the time.
WORKERS = 4


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    return WORKERS


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Missing programs are reported once, before the workers start."""
    program("CLOUDSIM", "cloudsim")
    programs()


def program(variable: str, built: str) -> Path:
    path = Path(os.environ.get(variable) or PROJECT / "build/release/bin" / built).absolute()
    if not path.exists():
        pytest.exit(f"there is no {path}: build it, or name it in {variable}", returncode=4)
    return path


def programs() -> tuple[Path, Path]:
    return program("REAPER", "reaper"), program("REAPER_FAULTS", "reaper_faults.so")


@pytest.fixture(scope="session")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    directory = tmp_path_factory.mktemp("cloudsim")
    with Simulation(program("CLOUDSIM", "cloudsim"), directory, HOSTS) as running:
        yield running


@pytest.fixture(scope="session")
def cloud(simulation: Simulation) -> Iterator[SimCloud]:
    made = SimCloud(simulation)
    made.reset()
    yield made
    made.close()


@pytest.fixture(scope="session")
def places(
    cloud: SimCloud, simulation: Simulation, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Where the cloud is, and a queue that is there already: messages wait in it while no reaper
    runs."""
    found = cloud.reaper_config()
    first = Machine(programs(), cloud, simulation, tmp_path_factory.mktemp("first"), found)
    first.reaper.start()
    first.reaper.stop()
    first.end()
    return found


@pytest.fixture
def machines(
    cloud: SimCloud, simulation: Simulation, places: dict[str, Any], tmp_path: Path
) -> Iterator[Callable[..., Machine]]:
    """Makes machines whose reapers share one queue, as reinstallations of one service do."""
    cloud.messages.purge(places["broker"]["queue"])  # what a failed test left
    made: list[Machine] = []

    def make() -> Machine:
        for machine in made:
            machine.end()
        directory = tmp_path / f"machine-{len(made) + 1}"
        directory.mkdir()
        made.append(Machine(programs(), cloud, simulation, directory, places))
        return made[-1]

    yield make
    for machine in made:
        machine.end()
