"""vCPUs that are allocated but unused are sold to revocable servers, and taken back before any user feels
it, by what a real Prometheus measures."""

from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from cloud import eventually
from exporter import Exporter
from fleet import OVERSOLD
from gateway_process import Addresses, asking_the_gateway
from lab_cloud import LabCloud
from prometheus_process import MetricsGate, NodeExporter, Prometheus, Target
from reaper_process import Reaper
from revocable_room import THIN, assert_lives, becomes, boot_one, deleted, fill_with_regular_servers, held
from revocable_room import ids, know_flavors, provider_names, publications, published
from test_gateway import set_up, wait_until_asked
from test_rights import refused, role_with_the_least_rights, rules_of, used_rights

# The scheduler is restarted once, as for the gateway.
pytestmark = [pytest.mark.lab_only, pytest.mark.xdist_group("oversubscription"), pytest.mark.long]

HOST = 10  # VCPU, and cores that the exporter tells of
SETUP = ("setup", "oversubscription")
# Times are shorter than the standard ones: a scenario waits for them.
QUERIES = {
    "usage_query": 'sum by (instance) (rate(node_cpu_seconds_total{mode!~"idle|iowait|steal"}[4s]))',
    "pressure_query": "rate(node_pressure_cpu_waiting_seconds_total[4s])",
}
PER_SERVER = {
    "server_label": "uuid",
    "usage_query": "sum by (instance, uuid) (rate(libvirt_domain_info_cpu_time_seconds_total[4s]))",
}
SLACK = {"name": "usage_slack", "margin": "0", "smoothing": "1s", "peak": "8s"}


def targets(exporter: Exporter) -> list[Target]:
    return [Target(exporter.address, f"/{host}", host) for host in exporter.hosts]


@pytest.fixture(scope="module")
def listen(lab_cloud: LabCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with asking_the_gateway(lab_cloud, tmp_path_factory.mktemp("gateway")) as addresses:
        yield addresses


@pytest.fixture(scope="module")
def exporter(lab_cloud: LabCloud) -> Iterator[Exporter]:
    made = Exporter(lab_cloud.hosts, HOST)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def prometheus(exporter: Exporter, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    made = Prometheus(tmp_path_factory.mktemp("prometheus"), targets(exporter))
    yield made
    made.stop()


@pytest.fixture
def front(prometheus: Prometheus) -> Iterator[MetricsGate]:
    """Where the reaper asks."""
    with MetricsGate(prometheus.url) as gate:
        yield gate


@pytest.fixture
def seller(
    cloud: LabCloud,
    listen: Addresses,
    exporter: Exporter,
    prometheus: Prometheus,
    front: MetricsGate,
    install: Callable[..., Reaper],
    make_flavor: Callable[..., str],
) -> Iterator[Reaper]:
    """A reaper that sells room, and does not run yet; what it made is gone in the end."""
    make_flavor("dense", "large", {}, ram=512)
    make_flavor("thin", "small", THIN, ram=256)
    exporter.start()
    prometheus.start()
    prometheus.read(targets(exporter))
    for host in exporter.hosts.values():
        host.be_idle()
    eventually("each host is measured", lambda: set(prometheus.ask("node_load5")) == set(cloud.hosts))
    reaper = install()
    set_up(reaper, listen.gateway)
    reaper.config["labels"] = {"servers": "all"}
    reaper.config["taggers"] = [{"name": "project"}, {"name": "resource", "class": OVERSOLD}]
    reaper.config["oversubscription"] = {
        "enabled": True,
        "estimator": SLACK,
        "oversubscribed_resources_interval": "1s",
        "rise_after": "5s",
        "rise_step": 0.2,
        "flaps": 0,
        "trust_after": "0s",
        "qos_correction_interval_min": "1s",
        "prometheus": {"url": front.url, **QUERIES},
    }
    yield reaper
    try:
        if reaper.daemon is not None:
            reaper.stop()
    finally:
        cloud.reset()  # a holder would keep its provider
        undone = reaper.command(*SETUP, "--undo", "--apply")
        cloud.reset()  # nova-compute forgets the providers that are gone
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert not provider_names(cloud)


def change(reaper: Reaper, **settings: Any) -> None:
    reaper.config["oversubscription"] |= settings


def start(reaper: Reaper, listen: Addresses) -> None:
    reaper.start()
    wait_until_asked(listen.front)


def set_up_room(reaper: Reaper) -> None:
    done = reaper.command(*SETUP, "--apply")
    assert done.returncode == 0, done.stdout + done.stderr


def actions(answer: dict[str, Any]) -> set[str]:
    return {step["action"] for step in answer["steps"]}


def corrections(reaper: Reaper) -> list[dict[str, Any]]:
    """Why servers had to go, in the words of the journal; all of these requests are done."""
    listed = [each["request"] for each in reaper.json("history")["requests"]]
    found = [each for each in listed if each["source"] == "oversubscription"]
    for each in found:
        outcome = reaper.wait_outcome(each["id"])
        assert outcome["kind"] == "freed", outcome
    return found


def test_a_day_of_oversubscription(
    cloud: LabCloud,
    listen: Addresses,
    exporter: Exporter,
    seller: Reaper,
    make_flavor: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, *others = cloud.hosts
    mark = cloud.mark()
    assert {"create-provider", "create-flavor"} <= actions(seller.json(*SETUP))
    assert cloud.reaper_writes(mark) == [] and not provider_names(cloud)
    set_up_room(seller)
    assert len(provider_names(cloud)) == len(cloud.hosts)
    mark = cloud.mark()
    assert actions(seller.json(*SETUP, "--apply")) == {"keep"}
    assert cloud.reaper_writes(mark) == []
    know_flavors(cloud, monkeypatch)
    admits = {"trait:CUSTOM_RES_TYPE_PREFER_REGULAR": "required"}
    make_flavor("admits", "small", admits, ram=256)

    # What regular servers were allocated and do not use is published, step by step.
    regular = fill_with_regular_servers(cloud)
    exporter[one].server(regular[one].id, 2.4)
    for host in others:
        exporter[host].server(regular[host].id, 9.6)
    seller.config["oversubscription"]["prometheus"] |= PER_SERVER
    mark = cloud.mark()
    start(seller, listen)
    becomes(cloud, one, 7)
    assert publications(cloud, one, mark) >= 4, "it rises by 2"
    assert [published(cloud, host) for host in others] == [0, 0]

    # Revocable servers of each way get in, and what they use costs no server its place.
    eldest = boot_one(cloud, "revocable.medium", "regular")
    second = boot_one(cloud)
    third = boot_one(cloud, "admits", "regular")
    for server in (eldest, second, third):
        assert cloud.look(server).host == one
        label = lambda: cloud.metadata_of(server).get("res-type")  # noqa: E731, B023
        eventually(f"{server.name} is labelled", lambda: label() == "revocable")
        exporter[one].server(server.id, 2.0)
    assert (held(cloud, one), published(cloud, one)) == (6, 7)
    shown = seller.json("hosts")["oversubscribed"][OVERSOLD]
    # Without a daemon, the estimate is not known.
    wanted = shown.pop("wanted")
    assert wanted is None or wanted >= 7
    assert shown == {"published": 7, "used": 6, "free": 1, "hosts": 1}
    spot = [line for line in seller.json("usage")["usage"] if line["project"] == cloud.project_id("spot")]
    assert any(line["resource_hours"].get(OVERSOLD, 0) > 0 for line in spot), spot
    checked = seller.command("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr

    # The regular server wants its own: the youngest go, as many as it takes.
    mark = cloud.mark()
    exporter[one].server(regular[one].id, 6.4)
    cloud.wait_gone([second, third])
    exporter[one].forget(*ids(second, third))
    becomes(cloud, one, 3)
    assert_lives(cloud, eldest, *regular.values())
    told = corrections(seller)
    assert {each["server"] for entry in told for each in entry["correction"]["servers"]} == set(
        ids(second, third)
    )
    assert deleted(cloud, mark) == ids(second, third)
    assert "cores in use at the peak" in seller.command("history", "show", told[0]["id"]).stdout

    # It is calm again: room comes back slowly, and the next one gets in.
    mark = cloud.mark()
    exporter[one].server(regular[one].id, 2.4)
    becomes(cloud, one, 7)
    assert publications(cloud, one, mark) >= 2
    fourth = boot_one(cloud)
    exporter[one].server(fourth.id, 2.0)

    # What is beyond the estimate may stay until it ends, if the operator says so.
    change(seller, excess="drain")
    seller.reload("oversubscription.excess")
    exporter[one].server(regular[one].id, 8.4)
    becomes(cloud, one, 1)
    cloud.fail_to_boot("thin", "spot")
    assert_lives(cloud, eldest, fourth)
    assert not deleted(cloud, mark)

    # Who holds something keeps its provider; then nothing is left.
    seller.stop()
    refused = seller.command(*SETUP, "--undo", "--apply")
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert one in " ".join(provider_names(cloud))
    for server in (eldest, fourth):
        cloud.delete_without_waiting(server)
    cloud.wait_gone([eldest, fourth])
    assert seller.command(*SETUP, "--undo", "--apply").returncode == 0
    assert not provider_names(cloud)


def test_a_busy_host_sheds_what_is_too_much(
    cloud: LabCloud,
    listen: Addresses,
    exporter: Exporter,
    prometheus: Prometheus,
    front: MetricsGate,
    seller: Reaper,
) -> None:
    one = cloud.hosts[0]
    fixed = {"name": "fixed", "overrides": [f"{one}=6"]}
    load = {"name": "load", "load_threshold_5min": "12", "settle": "3s"}
    change(seller, estimator=fixed, qos=load, rise_after="0s", rise_step=1)
    set_up_room(seller)
    regular = fill_with_regular_servers(cloud)
    exporter[one].load(5)
    start(seller, listen)
    becomes(cloud, one, 6)
    eldest, second, third = (boot_one(cloud) for _ in range(3))

    # 3 too much is 2 servers with 2 each. The average shows it late, and no more go meanwhile.
    mark = cloud.mark()
    exporter[one].load(15)
    cloud.wait_gone([second, third])
    [correction] = corrections(seller)
    assert "is 15, above 12" in seller.command("history", "show", correction["id"]).stdout
    front.wait_asked_again()
    assert_lives(cloud, eldest, *regular.values())

    # What is not measured corrects nothing, however much it is.
    exporter.stop()
    eventually("nothing is measured", lambda: not prometheus.ask("node_load5"))
    exporter[one].load(30)
    front.wait_asked_again()
    assert_lives(cloud, eldest)
    exporter.start()
    cloud.wait_gone([eldest])
    assert deleted(cloud, mark) == ids(eldest, second, third)

    # While it is too busy nothing new starts there; when it is calm, room comes back.
    assert published(cloud, one) == 0
    exporter[one].load(5)
    becomes(cloud, one, 6)

    # The same with what threads wait for.
    waiting = {"name": "pressure", "pressure_threshold": "0.5", "for": 2, "settle": "3s"}
    change(seller, qos=waiting)
    seller.reload("oversubscription.qos")
    last = boot_one(cloud)
    assert_lives(cloud, last)
    exporter[one].pressure(0.9)
    cloud.wait_gone([last])
    assert_lives(cloud, *regular.values())
    assert deleted(cloud, mark) == ids(eldest, second, third, last)

    # The same by what Nova tells of its hypervisors, where Prometheus tells of no load.
    exporter[one].pressure(0)
    seller.stop()
    change(seller, qos=load, qos_source="nova")
    source = "oversubscription.qos_source: nova: it asks the host for its load"
    checked = seller.command("check")
    assert checked.returncode != 0 and f"FAIL {source}; 0 of 3 hosts" in checked.stdout, checked.stdout
    try:
        for host in cloud.hosts:
            cloud.tell_load(host, 5)
        checked = seller.command("check")
        assert f"ok   {source}; 3 of 3 hosts" in checked.stdout, checked.stdout
        start(seller, listen)
        becomes(cloud, one, 6)
        by_nova = boot_one(cloud)
        assert_lives(cloud, by_nova)
        cloud.tell_load(one, 60)
        cloud.wait_gone([by_nova])
    finally:
        for host in cloud.hosts:
            cloud.tell_load(host, None)
    assert_lives(cloud, *regular.values())
    told = [seller.command("history", "show", each["id"]).stdout for each in corrections(seller)]
    assert any("is 60, above 12" in each for each in told), told


def test_what_is_not_known_is_not_guessed(
    cloud: LabCloud,
    listen: Addresses,
    exporter: Exporter,
    prometheus: Prometheus,
    front: MetricsGate,
    seller: Reaper,
) -> None:
    """With one figure for each host. Of its 10 cores, 8 may be in use."""
    one, two, _ = cloud.hosts
    change(seller, max_age="10s", estimator=SLACK | {"margin": "0.2"})
    set_up_room(seller)
    regular = fill_with_regular_servers(cloud)
    exporter[one].use(1.5)
    for host in cloud.hosts[1:]:
        exporter[host].use(9.5)
    used = lambda: prometheus.ask(QUERIES["usage_query"]).get(one, 0)  # noqa: E731
    eventually("the rates show it", lambda: 1.4 < used() < 1.6)
    start(seller, listen)
    becomes(cloud, one, 6)
    eldest, youngest = boot_one(cloud), boot_one(cloud)
    mark = cloud.mark()

    # No measurements: no new server gets in, and none has to go.
    exporter.stop()
    becomes(cloud, one, 4)
    cloud.fail_to_boot("thin", "spot")
    exporter.start()
    becomes(cloud, one, 6)

    # Two figures of one host: which is right?
    again = Target(exporter.address, f"/{two}", f"{one.upper()}:9100")
    prometheus.read([*targets(exporter), again])
    becomes(cloud, one, 4)
    assert "more than one figure" in seller.command("check").stdout
    prometheus.read(targets(exporter))
    becomes(cloud, one, 6)

    # Its clock is not ours: how old is what it tells?
    front.ahead = 90
    becomes(cloud, one, 4)
    front.ahead = 0
    becomes(cloud, one, 6)

    # Prometheus is away for a short time.
    prometheus.stop()
    prometheus.start()
    eventually("it measures again", lambda: 1.4 < used() < 1.6)
    becomes(cloud, one, 6)

    # A restarted reaper goes on with what is published.
    seller.kill()
    restarted = cloud.mark()
    start(seller, listen)
    front.wait_asked_again()
    assert (publications(cloud, one, restarted), published(cloud, one)) == (0, 6)
    assert_lives(cloud, eldest, youngest, *regular.values())
    assert not deleted(cloud, mark)

    # What was evicted is in the rates for a while: no other server goes for that.
    exporter[one].use(9.5)  # 4 of it by the two
    cloud.wait_gone([youngest])
    exporter[one].use(7.5)
    eventually("the rates show it", lambda: 7.4 < used() < 7.6)
    front.wait_asked_again()
    assert_lives(cloud, eldest)
    becomes(cloud, one, 2)
    assert deleted(cloud, mark) == ids(youngest)
    seller.stop()

    # A dry run tells what it would do.
    mark = cloud.mark()
    exporter[one].use(10)
    seller.start("--dry-run")
    eventually("it tells whom it would evict", lambda: eldest.id in seller.printed())
    assert published(cloud, one) == 2
    assert cloud.reaper_writes(mark) == []
    assert_lives(cloud, eldest)


def test_with_the_least_rights(cloud: LabCloud, exporter: Exporter, seller: Reaper) -> None:
    """The room is set up, published, and taken down, without the gateway."""
    one = cloud.hosts[0]
    as_usual = seller.config["cloud"]
    seller.config["cloud"] = cloud.reaper_config(user="least")["cloud"]
    del seller.config["gateway"]
    features = "look,delete,labels,oversubscription,setup,setup-oversubscription"
    try:
        with role_with_the_least_rights(cloud, features=features):
            mark = cloud.mark()
            set_up_room(seller)
            regular = fill_with_regular_servers(cloud)
            exporter[one].server(regular[one].id, 2.4)
            seller.config["oversubscription"]["prometheus"] |= PER_SERVER
            seller.start()
            becomes(cloud, one, 7)
            seller.stop()
            cloud.reset()
            undone = seller.command(*SETUP, "--undo", "--apply")
            assert undone.returncode == 0, undone.stdout + undone.stderr
            assert not refused(cloud, mark)
            wanted = rules_of("oversubscription", "setup-oversubscription")
            assert wanted <= used_rights(cloud, mark)
    finally:
        seller.config["cloud"] = as_usual


def test_hosts_are_known_by_the_names_in_the_metrics(
    cloud: LabCloud,
    exporter: Exporter,
    prometheus: Prometheus,
    front: MetricsGate,
    seller: Reaper,
    tmp_path: Path,
) -> None:
    """With the standard queries, on what Debian's exporter tells of this machine."""
    one, *others = cloud.hosts
    set_up_room(seller)
    change(seller, prometheus={"url": front.url}, qos={"name": "load", "load_threshold_15min": "1000"})
    machine = NodeExporter(tmp_path)
    machine.start()
    try:
        prometheus.read([Target(machine.address, "/metrics", machine.address)])
        told = eventually_checked(seller, "its 1 figure names none of the hosts in label 'instance'")
        assert "FAIL" in told
        prometheus.read([Target(machine.address, "/metrics", f"{one.upper()}:9100")])
        quoted = ", ".join(f"'{host}'" for host in sorted(others))
        told = eventually_checked(seller, f"1 of 3 hosts measured; not: {quoted}")
        for query in ("usage_query", "cores_query", "load15_query", "age_query"):
            assert query in told, told
        front.ahead = 90
        eventually_checked(seller, "differs from this machine's by")
    finally:
        machine.stop()
        prometheus.read(targets(exporter))


def eventually_checked(reaper: Reaper, told: str) -> str:
    """What `reaper check` says, when it says this."""
    return eventually(
        f"check tells {told!r}", lambda: told in (said := reaper.command("check").stdout) and said, every=0.5
    )
