#!/usr/bin/python3 -B
"""Random hosts and requests with granular groups, and what Placement's own code answers.

Runs Debian's Placement (python3-placement) in this process, on an SQLite file of its own, through
its WSGI application: no network, no service. For each case it asks GET /allocation_candidates as
Nova does, and works out from the candidates how many servers of the request each host could take;
that many are then really claimed with PUT /allocations, and Placement asked again: it must offer
nothing more there.

    tests/placement/cases.py --count 3000 --seed 1 --out tests/data/placement/cases.jsonl

Each line of the file is one case: see `write_case`. tests/core/planner/placement_cases_test.cpp holds the
reaper's rooms and filters to it.

One defect of Placement's is fixed while it runs (see `fix_shared_amounts`); the last line of the
output tells in how many cases the unfixed code answers otherwise.
"""

import argparse
import collections
import itertools
import json
import os
import random
import sys
import tempfile
import uuid
from dataclasses import dataclass, field
from urllib.parse import urlencode

MICROVERSION = "1.36"  # what Nova asks with
CLASSES = ("VCPU", "MEMORY_MB", "VGPU", "CUSTOM_A")
TRAITS = ("CUSTOM_T1", "CUSTOM_T2", "CUSTOM_T3")
MOST_SLOTS = 3  # of one host are counted
PROJECT, USER = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


@dataclass
class Inventory:
    total: int
    reserved: int = 0
    ratio: float = 1.0
    min_unit: int = 1
    max_unit: int = 2147483647
    step_size: int = 1
    used: int = 0

    def capacity(self) -> int:
        return int((self.total - self.reserved) * self.ratio)


@dataclass
class Provider:
    id: str
    parent: str | None
    inventories: dict[str, Inventory]
    traits: list[str]
    aggregates: list[str] = field(default_factory=list)  # of roots only: the reaper reads no others


@dataclass
class Group:
    suffix: str  # "": what is in no group
    resources: dict[str, int]
    required: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    aggregates: list[list[str]] = field(default_factory=list)
    in_tree: str | None = None


@dataclass
class Case:
    hosts: list[list[Provider]]
    groups: list[Group]
    policy: str | None


# ---- random cases ----


def random_inventory(rng: random.Random) -> Inventory:
    inventory = Inventory(total=rng.randint(1, 6))
    if rng.random() < 0.1:
        inventory.reserved = rng.randint(0, inventory.total)
    if rng.random() < 0.15:
        inventory.ratio = rng.choice((0.5, 1.5, 2.0))
    if rng.random() < 0.1:
        inventory.max_unit = rng.randint(1, 2)
    if rng.random() < 0.05:
        inventory.min_unit = 2
    if rng.random() < 0.05:
        inventory.step_size = 2
    if rng.random() < 0.3:
        inventory.used = rng.randint(0, inventory.total)
    return inventory


def random_traits(rng: random.Random, chance: float) -> list[str]:
    return [trait for trait in TRAITS if rng.random() < chance]


def random_host(rng: random.Random, aggregates: list[str]) -> list[Provider]:
    def provider(parent: str | None, classes: list[str]) -> Provider:
        inventories = {name: random_inventory(rng) for name in classes}
        return Provider(str(uuid.UUID(int=rng.getrandbits(128), version=4)), parent, inventories,
                        random_traits(rng, 0.45))

    root = provider(None, [name for name in CLASSES if rng.random() < 0.85])
    root.aggregates = [each for each in aggregates if rng.random() < 0.6]
    tree = [root]
    if rng.random() < 0.15:
        return tree
    alike = rng.random() < 0.4  # as GPUs of one host are
    model = [name for name in CLASSES if rng.random() < 0.4] or ["VGPU"]
    for _ in range(rng.randint(1, 4)):
        parent = rng.choice(tree).id if rng.random() < 0.3 else root.id
        classes = model if alike else [name for name in CLASSES if rng.random() < 0.6]
        tree.append(provider(parent, classes))
    return tree


def random_group(rng: random.Random, suffix: str, case: Case, aggregates: list[str]) -> Group:
    classes = rng.sample(CLASSES, rng.choice((1, 1, 2) if suffix else (1, 2, 3)))
    group = Group(suffix, {name: rng.choice((1, 1, 1, 2)) for name in classes})
    if rng.random() < 0.35:
        group.required = rng.sample(TRAITS, rng.choice((1, 1, 2)))
    if rng.random() < 0.2:
        group.forbidden = [rng.choice([t for t in TRAITS if t not in group.required])]
    if suffix and rng.random() < 0.05:
        group.aggregates = [rng.sample(aggregates, rng.randint(1, 2))]
    if suffix and rng.random() < 0.05:
        group.in_tree = rng.choice(rng.choice(case.hosts)).id
    return group


def random_case(rng: random.Random) -> Case:
    aggregates = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(2)]
    case = Case([random_host(rng, aggregates) for _ in range(rng.randint(1, 2))], [], None)
    numbered = rng.choice((0, 1, 2, 2, 3))
    if numbered == 0 or rng.random() < 0.8:
        case.groups.append(random_group(rng, "", case, aggregates))
    for number in range(1, numbered + 1):
        # Two that are alike are what most flavors ask for.
        if number > 1 and rng.random() < 0.5:
            model = case.groups[-1]
            case.groups.append(Group(str(number), dict(model.resources), list(model.required),
                                     list(model.forbidden)))
        else:
            case.groups.append(random_group(rng, str(number), case, aggregates))
    if numbered > 1 or rng.random() < 0.2:
        case.policy = rng.choice(("none", "isolate"))
    return case


# ---- Placement ----


class Placement:
    """Debian's Placement in this process."""

    def __init__(self, directory: str):
        from oslo_config import cfg
        from placement import conf, db_api, deploy, policy
        from placement.db.sqlalchemy import models
        from placement.objects import resource_class, trait

        self.config = cfg.ConfigOpts()
        conf.register_opts(self.config)
        path = os.path.join(directory, "placement.db")
        self.config.set_default("connection", f"sqlite:///{path}", group="placement_database")
        self.config([], project="placement", default_config_files=[], default_config_dirs=[])
        self.config.set_override("auth_strategy", "noauth2", group="api")
        db_api.configure(self.config)
        self.engine = db_api.get_placement_engine()
        models.BASE.metadata.create_all(self.engine)
        policy.init(self.config)
        context = db_api.DbContext()
        trait.ensure_sync(context)
        resource_class.ensure_sync(context)
        self.models = models
        self.app = deploy.deploy(self.config)
        for name in (*CLASSES, *TRAITS):
            if name.startswith("CUSTOM_"):
                kind = "traits" if name in TRAITS else "resource_classes"
                self.call("PUT", f"/{kind}/{name}")
        with self.engine.connect() as connection:
            self.class_ids = self.ids(connection, models.ResourceClass)
            self.trait_ids = self.ids(connection, models.Trait)

    @staticmethod
    def ids(connection, model) -> dict[str, int]:
        table = model.__table__
        return {row.name: row.id for row in connection.execute(table.select())}

    def call(self, method: str, path: str, body=None):
        import webob

        request = webob.Request.blank(path, method=method)
        request.headers["X-Auth-Token"] = "admin"
        request.headers["OpenStack-API-Version"] = f"placement {MICROVERSION}"
        request.headers["Accept"] = "application/json"
        if body is not None:
            request.content_type = "application/json"
            request.body = json.dumps(body).encode()
        return request.get_response(self.app)

    def put(self, case: Case) -> None:
        """The case's hosts instead of what was there: by SQL, as thousands of calls take long."""
        models, providers = self.models, [p for tree in case.hosts for p in tree]
        numbers = {provider.id: at + 1 for at, provider in enumerate(providers)}
        roots = {p.id: tree[0].id for tree in case.hosts for p in tree}
        rows = collections.defaultdict(list)
        aggregates = sorted({a for p in providers for a in p.aggregates}
                            | {a for g in case.groups for any_of in g.aggregates for a in any_of})
        rows[models.PlacementAggregate] = [
            {"id": at + 1, "uuid": name} for at, name in enumerate(aggregates)]
        for p in providers:
            at = numbers[p.id]
            rows[models.ResourceProvider].append(
                {"id": at, "uuid": p.id, "name": p.id, "generation": 0,
                 "root_provider_id": numbers[roots[p.id]],
                 "parent_provider_id": numbers[p.parent] if p.parent else None})
            for name, i in p.inventories.items():
                rows[models.Inventory].append(
                    {"resource_provider_id": at, "resource_class_id": self.class_ids[name],
                     "total": i.total, "reserved": i.reserved, "min_unit": i.min_unit,
                     "max_unit": i.max_unit, "step_size": i.step_size, "allocation_ratio": i.ratio})
                if i.used:
                    rows[models.Allocation].append(
                        {"resource_provider_id": at, "consumer_id": f"used-{at}-{name}",
                         "resource_class_id": self.class_ids[name], "used": i.used})
            for name in p.traits:
                rows[models.ResourceProviderTrait].append(
                    {"resource_provider_id": at, "trait_id": self.trait_ids[name]})
            for name in p.aggregates:
                rows[models.ResourceProviderAggregate].append(
                    {"resource_provider_id": at, "aggregate_id": aggregates.index(name) + 1})
        with self.engine.begin() as connection:
            for model in (models.Allocation, models.Consumer, models.Inventory,
                          models.ResourceProviderTrait, models.ResourceProviderAggregate,
                          models.PlacementAggregate, models.ResourceProvider):
                connection.execute(model.__table__.delete())
            for model in (models.ResourceProvider, models.PlacementAggregate, models.Inventory,
                          models.Allocation, models.ResourceProviderTrait,
                          models.ResourceProviderAggregate):
                if rows[model]:
                    connection.execute(model.__table__.insert(), rows[model])

    def candidates(self, case: Case) -> list[dict]:
        answer = self.call("GET", "/allocation_candidates?" + query_of(case))
        if answer.status_int != 200:
            raise SystemExit(f"Placement refuses {query_of(case)}: {answer.text}")
        return answer.json["allocation_requests"]

    def claim(self, way: "Way") -> bool:
        allocations = collections.defaultdict(lambda: {"resources": {}})
        for (provider, name), amount in way:
            allocations[provider]["resources"][name] = amount
        answer = self.call("PUT", f"/allocations/{uuid.uuid4()}", {
            "allocations": allocations, "project_id": PROJECT, "user_id": USER,
            "consumer_generation": None})
        return answer.status_int == 204


def query_of(case: Case) -> str:
    """As nova.scheduler.utils.ResourceRequest writes it."""
    words: list[tuple[str, str]] = [("limit", "1000")]
    if case.policy:
        words.append(("group_policy", case.policy))
    for group in case.groups:
        amounts = ",".join(f"{name}:{n}" for name, n in sorted(group.resources.items()))
        words.append((f"resources{group.suffix}", amounts))
        traits = sorted(group.required) + [f"!{name}" for name in sorted(group.forbidden)]
        if traits:
            words.append((f"required{group.suffix}", ",".join(traits)))
        for any_of in group.aggregates:
            words.append((f"member_of{group.suffix}", "in:" + ",".join(sorted(any_of))))
        if group.in_tree:
            words.append((f"in_tree{group.suffix}", group.in_tree))
    return urlencode(sorted(words))


def fix_shared_amounts(on: bool) -> None:
    """Placement (seen in 8.0.0) copies the amounts that two groups ask of one provider only with
    group_policy=none. With isolate, or with one numbered group and no policy, a class that is asked
    for both in a group and in none is added up in place, and stays so in all later candidates: they
    claim more than was asked, or are left out. Which ones, hangs on the order of a set."""
    import copy
    from placement.objects import research_context

    context = research_context.RequestWideSearchContext
    if not hasattr(fix_shared_amounts, "own"):
        fix_shared_amounts.own = context.copy_arr_if_needed
    context.copy_arr_if_needed = (
        (lambda self, arr: copy.copy(arr)) if on else fix_shared_amounts.own)


# ---- how many servers a host takes ----

Way = frozenset  # of ((provider, class), amount)


def ways_of(candidates: list[dict]) -> set[Way]:
    return {
        frozenset(((provider, name), amount)
                  for provider, held in each["allocations"].items()
                  for name, amount in held["resources"].items())
        for each in candidates
    }


def pack(ways: list[Way], room: dict[tuple[str, str], int], slots: int) -> list[Way] | None:
    """So many of the ways together, each as often as one likes; none if they don't fit."""
    if slots == 0:
        return []
    for at, way in enumerate(ways):
        if all(room[key] >= amount for key, amount in way):
            left = dict(room)
            for key, amount in way:
                left[key] -= amount
            rest = pack(ways[at:], left, slots - 1)
            if rest is not None:
                return [way, *rest]
    return None


def slots_of(tree: list[Provider], ways: set[Way]) -> list[Way]:
    ids = {provider.id for provider in tree}
    here = sorted((w for w in ways if next(iter(w))[0][0] in ids), key=sorted)
    room = {(p.id, name): i.capacity() - i.used
            for p in tree for name, i in p.inventories.items()}
    best: list[Way] = []
    for slots in range(1, MOST_SLOTS + 1):
        found = pack(here, room, slots)
        if found is None:
            break
        best = found
    return best


def answers(placement: Placement, case: Case) -> list[int]:
    placement.put(case)
    ways = ways_of(placement.candidates(case))
    packings = [slots_of(tree, ways) for tree in case.hosts]
    for packing in packings:
        for way in packing:
            if not placement.claim(way):
                raise SystemExit(f"Placement refuses to claim {sorted(way)} of {case}")
    left = ways_of(placement.candidates(case))
    for tree, packing in zip(case.hosts, packings):
        ids = {provider.id for provider in tree}
        if len(packing) < MOST_SLOTS and any(next(iter(way))[0][0] in ids for way in left):
            raise SystemExit(f"Placement offers more than was found: {case}")
    return [len(packing) for packing in packings]


def differs_unfixed(placement: Placement, case: Case) -> bool:
    fix_shared_amounts(True)
    placement.put(case)
    fixed = ways_of(placement.candidates(case))
    fix_shared_amounts(False)
    unfixed = ways_of(placement.candidates(case))
    fix_shared_amounts(True)
    if fixed == unfixed:
        return False
    asked = [set(group.resources) for group in case.groups]
    if case.policy == "none" or not any(a & b for a, b in itertools.combinations(asked, 2)):
        raise SystemExit(f"Placement differs from its fixed self where it should not: {case}")
    return True


# ---- the file ----


SHORT = {"VCPU": "V", "MEMORY_MB": "M", "VGPU": "G", "CUSTOM_A": "A"} | {t: t[7:] for t in TRAITS}
USUAL = [0, 0, 0, 1.0, 2147483647, 1, 1]


def write_case(case: Case, slots: list[int]) -> str:
    """[hosts, groups, group_policy, slots of each host]. A host is its providers, the root first, each
    [id, parent, {class: [total, used, reserved, ratio, max_unit, min_unit, step_size]}, [traits],
    [aggregates]]; a group is [suffix, {class: amount}, [required], [forbidden], [[aggregates]],
    in_tree]. What is as usual, or empty, is left out at the end of a list. Names are short, ids are
    numbers."""
    numbers: dict[str, str] = {}

    def short(name: str | None) -> str:
        return numbers.setdefault(name, str(len(numbers) + 1)) if name else ""

    def amounts(i: Inventory) -> list:
        all_of_it = [i.total, i.used, i.reserved, i.ratio, i.max_unit, i.min_unit, i.step_size]
        while len(all_of_it) > 1 and all_of_it[-1] == USUAL[len(all_of_it) - 1]:
            all_of_it.pop()
        return all_of_it

    def trimmed(fields: list) -> list:
        while fields and not fields[-1]:
            fields.pop()
        return fields

    def provider(p: Provider) -> list:
        inventories = {SHORT[name]: amounts(i) for name, i in p.inventories.items()}
        fields = [short(p.id), short(p.parent), inventories, [SHORT[t] for t in p.traits]]
        return trimmed([*fields, [short(a) for a in p.aggregates]])

    def group(g: Group) -> list:
        resources = {SHORT[name]: amount for name, amount in g.resources.items()}
        required, forbidden = [SHORT[t] for t in g.required], [SHORT[t] for t in g.forbidden]
        aggregates = [[short(a) for a in any_of] for any_of in g.aggregates]
        return trimmed([g.suffix, resources, required, forbidden, aggregates, short(g.in_tree)])

    hosts = [[provider(p) for p in tree] for tree in case.hosts]
    fields = [hosts, [group(g) for g in case.groups], case.policy or "", slots]
    return json.dumps(fields, separators=(",", ":"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    spread: collections.Counter[int] = collections.Counter()
    unfixed = 0
    with tempfile.TemporaryDirectory() as directory, open(given.out, "w") as out:
        placement = Placement(directory)
        fix_shared_amounts(True)
        for at in range(given.count):
            case = random_case(rng)
            slots = answers(placement, case)
            unfixed += differs_unfixed(placement, case)
            spread.update(slots)
            out.write(write_case(case, slots) + "\n")
            if sys.stderr.isatty() and at % 50 == 0:
                print(f"\r{at} of {given.count}", end="", file=sys.stderr)
    told = ", ".join(f"{n} with {slots}" for slots, n in sorted(spread.items()))
    print(f"{given.count} cases, {sum(spread.values())} hosts by slots: {told}; "
          f"{unfixed} cases in which Placement as it is answers otherwise")
    return 0


if __name__ == "__main__":
    sys.exit(main())
