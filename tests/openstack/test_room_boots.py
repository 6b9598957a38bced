"""Seeded questions about room, on a simulated cloud of their own that takes no time to boot."""

import random
from pathlib import Path
from typing import Callable, Iterator

import pytest

from conftest import HOSTS, binary_at
from fleet import FLAVORS
from lablib import catalog
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper
from room_questions import Round, admin_api, random_question
from sim_cloud import SimCloud
from sim_process import Simulation

pytestmark = [pytest.mark.sim_only, pytest.mark.long]

A_ROUND = 60
ODD = {"thin": {"vcpus": 1, "ram": 512, "disk": 1}, "fat": {"vcpus": 2, "ram": 3072, "disk": 5}}
AT_ONCE = {"schedule": "1ms", "build": "1ms", "delete": "1ms", "resize": "1ms"}


@pytest.fixture(scope="module")
def shared_cloud(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenStackCloud]:
    directory: Path = tmp_path_factory.mktemp("cloudsim-room")
    with Simulation(binary_at(request.config, "cloudsim"), directory, HOSTS, delays=AT_ONCE) as simulation:
        cloud = SimCloud(simulation)
        yield cloud
        cloud.close()


@pytest.fixture
def flavors(cloud: OpenStackCloud, make_flavor: Callable[..., str]) -> Iterator[dict[str, dict[str, int]]]:
    """Some of which VCPU runs out first, some of which memory does, one for the second host alone."""
    trait, host = "CUSTOM_ACCELERATED", cloud.providers[cloud.hosts[1]]
    path = f"/resource_providers/{host}/traits"
    cloud.placement.put(f"/traits/{trait}")
    usual = cloud.placement.get(path).json()["traits"]

    def have(traits: list[str]) -> None:
        generation = cloud.placement.get(path).json()["resource_provider_generation"]
        cloud.placement.put(path, json={"traits": traits, "resource_provider_generation": generation})

    have([*usual, trait])
    sizes: dict[str, dict[str, int]] = {name: dict(catalog.FLAVORS[name]) for name in FLAVORS}
    for name, size in ODD.items():
        make_flavor(name, "small", {}, **size)
        sizes[name] = size
    make_flavor("accelerated", "medium", {f"trait:{trait}": "required"})
    sizes["accelerated"] = {**catalog.FLAVORS["medium"], "trait": 1}
    yield sizes
    have(usual)
    cloud.placement.delete(f"/traits/{trait}")


def test_answers_are_what_boots_tell(
    cloud: SimCloud,
    install: Callable[..., Reaper],
    flavors: dict[str, dict[str, int]],
    request: pytest.FixtureRequest,
) -> None:
    """Seeded questions; not one answer is wrong."""
    questions, seed = request.config.getoption("--room-questions"), request.config.getoption("--room-seed")
    print(f"--room-questions {questions} --room-seed {seed}")
    ids = {name: cloud.flavor_id(name) for name in flavors}
    answers: dict[str, int] = {}
    cloud.make_zone("west", cloud.hosts[:2])
    cloud.make_zone("east", cloud.hosts[2:])
    for number in range(0, questions, A_ROUND):
        dice = random.Random(f"{seed}/{number}")
        round = Round(cloud, dice, flavors)
        round.fill()
        asked = [random_question(dice, flavors, ids) for _ in range(min(A_ROUND, questions - number))]
        with admin_api(install()) as api:
            for question in asked:
                answer = api.get("room", **question.query)
                assert answer.ok, answer.text
                question.answer = answer.json()
        for question in asked:
            round.check_now(question)
        for question in asked:
            if question.answer["answer"] == "after-victims":
                round.check_victims(question)
        round.end_revocable()
        for question in asked:
            round.check_possible(question)
            answers[question.answer["answer"]] = answers.get(question.answer["answer"], 0) + 1
        round.end_all()
    print(f"right answers: {answers}")
    every = {"fits-now", "after-victims", "free-room-only", "never"}
    assert set(answers) == every or questions < A_ROUND, answers
