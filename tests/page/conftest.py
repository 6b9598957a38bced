"""The page of the admin API in a headless Chromium, on a reaper that serves a simulated cloud.

    /usr/bin/python3 -m pytest tests/page [--hosts 10000] [--shots DIR]

One broker, one cloud, one reaper and one browser for the session. Servers of the project `spot` have
hostile names. Programs are those of build/release/bin, or what REAPER and CLOUDSIM name. With --shots
the screenshots are kept there, for people to look at.
"""

import os
import sys
from pathlib import Path
from typing import Iterator

import pytest

PROJECT = Path(__file__).parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(PROJECT / "tests/openstack"), str(PROJECT / "deploy/story"), str(PROJECT / "deploy")]

from browser import Browser  # noqa: E402
from world import World  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("page")
    group.addoption("--hosts", type=int, default=200, help="of the simulated cloud")
    group.addoption("--shots", type=Path, help="where screenshots are kept")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """There is one reaper, and one browser."""
    return 0


def program(variable: str, built: str) -> Path:
    path = Path(os.environ.get(variable) or PROJECT / "build/release/bin" / built).absolute()
    if not path.exists():
        pytest.exit(f"there is no {path}: build it, or name it in {variable}", returncode=4)
    return path


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    hosts = request.config.getoption("--hosts")
    programs = program("REAPER", "reaper"), program("CLOUDSIM", "cloudsim")
    running = World(*programs, tmp_path_factory.mktemp("page"), hosts)
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(scope="session")
def shots(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = request.config.getoption("--shots") or tmp_path_factory.mktemp("shots")
    kept.mkdir(parents=True, exist_ok=True)
    return kept


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Whatever is done with the page, it breaks no policy, runs no foreign script and fails nowhere."""
    chromium.forget()
    yield chromium
    chromium.assert_clean()
