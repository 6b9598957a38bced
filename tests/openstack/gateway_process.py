"""nova-scheduler of a lab asks a gateway, through haproxy as deploy/haproxy.cfg sets it up."""

import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Iterator

from cloud import eventually
from lab_cloud import LabCloud
from lablib import ports
from reaper_process import DIES_WITH_US

SAMPLE = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


@contextmanager
def asking_the_gateway(cloud: LabCloud, directory: Path) -> Iterator[tuple[str, str]]:
    """The address where a reaper has to listen (where none does, Placement itself is asked), and that of
    haproxy."""
    given = ports.free_ports(["haproxy", "gateway"])
    address = f"{ports.LOOPBACK}:{given['gateway']}"
    front = f"{ports.LOOPBACK}:{given['haproxy']}"
    config = directory / "haproxy.cfg"
    text = SAMPLE.read_text()
    placement = cloud.endpoint("placement").removeprefix("http://").rstrip("/")
    for sample, here in (("8779", front), ("8780", address), ("8778", placement)):
        assert f"127.0.0.1:{sample}" in text
        text = text.replace(f"127.0.0.1:{sample}", here)
    config.write_text(text)
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    with ExitStack() as ends:
        process = subprocess.Popen([*DIES_WITH_US, haproxy, "-db", "-q", "-f", str(config)])
        ends.callback(process.wait)
        ends.callback(process.terminate)
        eventually("haproxy listens", lambda: ports.answers(given["haproxy"]))
        ends.enter_context(cloud.scheduler_asks(f"http://{front}"))
        yield address, front
