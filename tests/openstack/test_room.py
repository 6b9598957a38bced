"""Room: what `reaper room` and GET /v1/room tell is what boots tell."""

import json
import random
from contextlib import contextmanager
from typing import Any, Callable, Iterator

import pytest
import requests

from cloud import PATIENCE, Cloud, eventually
from fleet import FLAVORS, assert_nobody_died, fill
from lablib import catalog
from lablib.ports import LOOPBACK, free_ports
from openstack_cloud import OpenStackCloud
from reaper_process import Reaper
from room_questions import Question, Round, random_question
from sim_cloud import SimCloud

A_ROUND = 60
ODD = {"thin": {"vcpus": 1, "ram": 512, "disk": 1}, "fat": {"vcpus": 2, "ram": 3072, "disk": 5}}
FULL = [("regular", "large", 1)]
HALF_SPOT = [("spot", "medium", 1), ("regular", "medium", 1)]


class Api:
    """The daemon's, on a port."""

    def __init__(self, address: str):
        self.url = f"http://{address}/v1"
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, path: str, **query: Any) -> requests.Response:
        return self.session.get(f"{self.url}/{path}", params=query, timeout=PATIENCE)

    def has_read_all(self) -> bool:
        hosts = self.get("hosts")
        return hosts.ok and not any(host["estimated"] for host in hosts.json()["hosts"])


@contextmanager
def admin_api(reaper: Reaper, *options: str) -> Iterator[Api]:
    address = f"{LOOPBACK}:{free_ports(['admin'])['admin']}"
    reaper.config["admin"] = {"listen": address}
    reaper.start(*options)
    api = Api(address)
    eventually("each host was read", api.has_read_all)
    yield api
    reaper.stop()


def test_room_is_told_now_after_victims_and_never(cloud: Cloud, install: Callable[..., Reaper]) -> None:
    """The command and the daemon answer alike; names that lead nowhere are no shortage."""
    one, two, three = cloud.hosts
    fleet = fill(cloud, {one: HALF_SPOT, two: FULL, three: [("regular", "medium", 1)]}, exactly=False)
    reaper = install()
    mark = cloud.mark()

    now = reaper.json("room", "--flavor", "medium", "--project", "regular")
    assert (now["answer"], now["fits_now"], now["possible"]) == ("fits-now", 1, 2)
    assert [host["name"] for host in now["hosts"]] == [three] and now["decision"] is None
    both = reaper.json("room", "--flavor", cloud.flavor_id("medium"), "--count", "2")
    assert (both["answer"], both["victims"]) == ("after-victims", 1)
    [spot] = fleet.spot()
    assert Question(None, 2, {}, both).victims() == [spot.id]  # type: ignore[arg-type]
    never = reaper.command("--json", "room", "--flavor", "medium", "--count", "3")
    assert never.returncode == 3 and json.loads(never.stdout)["answer"] == "never", never.stderr
    told = reaper.command("room", "--flavor", "medium", "--count", "2").stdout
    assert "fits after 1 victim" in told and spot.name in told, told
    for unknown in (
        ["--flavor", "huge"],
        ["--resources", "VCPU=1", "--zone", "mars"],
        ["--resources", "CUSTOM_UNHEARD=1"],
        ["--resources", "VCPU=1", "--project", "nobody"],
    ):
        done = reaper.command("room", *unknown)
        assert done.returncode == 6 and unknown[-1].partition("=")[0] in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1 and not done.stdout, done.stderr
    for wanted in (
        ["--project", "nobody", "--resources", "VCPU=1"],
        ["--project", "regular", "--resources", "VCPU=1", "--az", "mars"],
        ["--project", "regular", "--resources", "VCPU=1,CUSTOM_UNHEARD=1"],
    ):
        done = reaper.command("plan", *wanted)
        assert done.returncode == 6 and done.stderr.count("\n") == 1 and not done.stdout, done.stderr

    with admin_api(reaper) as api:
        live = api.get("room", flavor="medium", count=2).json()
        for part in ("answer", "fits_now", "possible", "hosts", "victims", "summary"):
            assert live[part] == both[part]
        assert api.get("room", flavor="huge").status_code == 404
        assert api.get("room", resources="VCPU:1", zone="mars").status_code == 404
        assert api.get("room", flavor="medium", count="some").status_code == 400
    assert_nobody_died(fleet, mark)


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


@pytest.mark.sim_only
@pytest.mark.long
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
    with cloud.hastened():
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
    assert set(answers) == {"fits-now", "after-victims", "never"} or questions < A_ROUND, answers
