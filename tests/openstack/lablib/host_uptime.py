"""The lab's nova-compute tells the uptime of its host, which Nova's fake driver does not know: what a
scenario wrote into DIR/uptime/HOST. Without such a file it knows none either."""

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
