"""nova-scheduler of a lab asks a gateway, through haproxy as deploy/haproxy.cfg sets it up."""

import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Iterator, NamedTuple

from cloud import PATIENCE, eventually
from lab_cloud import LabCloud
from lablib import ports
from reaper_process import DIES_WITH_US

SAMPLE = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


class Addresses(NamedTuple):
    """Where the gateways of two reapers listen, the second one by TLS, and where haproxy is asked."""

    gateway: str
    second: str
    front: str


@contextmanager
def asking_the_gateway(cloud: LabCloud, directory: Path) -> Iterator[Addresses]:
    """Where no reaper listens, Placement itself is asked."""
    given = ports.free_ports(["haproxy", "gateway", "second"])
    address, second, front = (f"{ports.LOOPBACK}:{given[name]}" for name in ("gateway", "second", "haproxy"))
    config = directory / "haproxy.cfg"
    text = SAMPLE.read_text()
    placement = cloud.endpoint("placement").removeprefix("http://").rstrip("/")
    for sample, here in (("8779", front), ("8780", address), ("8778", placement)):
        assert f"127.0.0.1:{sample}" in text
        text = text.replace(f"127.0.0.1:{sample}", here)
    # What the sample says of a second reaper, and of one with TLS.
    another = "    # server reaper-2 192.0.2.12:8780 check\n"
    secure = " ssl verify required ca-file "
    assert another in text and f"check{secure}" in text
    here = f"    server reaper-2 {second} check{secure}{cloud.lab['tls']['ca_file']}\n"
    # By default a check that takes longer than `inter`, 1 s, fails, and Placement is asked in its place. A
    # busy machine is not what a scenario is about; a gateway that has ended refuses the connection.
    connect = "    timeout connect 5s\n"
    assert connect in text
    text = text.replace(connect, f"{connect}    timeout check {PATIENCE}s\n")
    config.write_text(text.replace(another, here))
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    with ExitStack() as ends:
        process = subprocess.Popen([*DIES_WITH_US, haproxy, "-db", "-q", "-f", str(config)])
        ends.callback(process.wait)
        ends.callback(process.terminate)
        eventually("haproxy listens", lambda: ports.answers(given["haproxy"]))
        ends.enter_context(cloud.scheduler_asks(f"http://{front}"))
        yield Addresses(address, second, front)
