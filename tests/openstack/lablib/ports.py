"""Free ports on loopback.

The ports are taken from below the range of which the kernel gives ports to
outgoing connections: a port found free now is then still free when its service
starts a few seconds later. What draws one keeps it reserved, until it ends, from
all other tests.
"""

import random
import socket
from contextlib import ExitStack

LOOPBACK = "127.0.0.1"
LOWEST = 15000
HIGHEST = 32000
_reservations: list[socket.socket] = []  # a name is given up with its socket


def free_ports(names: list[str]) -> dict[str, int]:
    """A free port for each name; all are held until the last one is found."""
    found: dict[str, int] = {}
    with ExitStack() as held:
        for name in names:
            found[name] = _take_one(held)
    return found


def _take_one(held: ExitStack) -> int:
    for _ in range(1000):
        port = random.randint(LOWEST, HIGHEST)
        if not _reserve(port):
            continue
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.bind((LOOPBACK, port))
        except OSError:
            listener.close()
            continue
        held.enter_context(listener)
        return port
    raise RuntimeError(f"no free port between {LOWEST} and {HIGHEST} on {LOOPBACK}")


def _reserve(port: int) -> bool:
    """False: another process has it. A name in this network namespace stands for each port."""
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0reaper-tests-port-{port}")
    except OSError:
        name.close()
        return False
    _reservations.append(name)
    return True


def answers(port: int) -> bool:
    """Does a process accept connections on this port?"""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1):
            return True
    except OSError:
        return False
