"""What the lab's nova-compute has of a real hypervisor, and Nova's fake driver has not.

Its host's uptime: what a scenario wrote into DIR/uptime/HOST. Without such a file it knows none either.
As of 2023.1, an identity that it keeps in its state_path over a restart.
"""

import os
from pathlib import Path

import nova.conf
from nova.virt import fake


def get_host_uptime(self: fake.FakeDriver) -> str:
    try:
        return (Path(os.environ["REAPER_LAB"]) / "uptime" / nova.conf.CONF.host).read_text()
    except FileNotFoundError:
        raise NotImplementedError() from None


fake.FakeDriver.get_host_uptime = get_host_uptime
if hasattr(fake, "FakeDriverWithoutFakeNodes"):
    both = (fake.FakeDriverWithoutFakeNodes, fake.MediumFakeDriver)
    fake.MediumFakeDriver = type("MediumFakeDriver", both, {})
