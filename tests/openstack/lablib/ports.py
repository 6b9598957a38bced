"""Free ports on loopback.

The ports are taken from below the range of which the kernel gives ports to
outgoing connections: a port found free now is then still free when its service
starts a few seconds later. What draws one keeps it reserved, until it ends, from
all other tests of this user.
"""

import fcntl
import os
import random
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

LOOPBACK = "127.0.0.1"
LOWEST = 15000
HIGHEST = 32000
_reservations: list[int] = []  # the file, once it is open: closing it would end them all


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
    """False: another process has it. One byte of a file stands for each port."""
    if not _reservations:
        file = Path(tempfile.gettempdir()) / f"reaper-tests-ports-{os.getuid()}"
        _reservations.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    try:
        fcntl.lockf(_reservations[0], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def answers(port: int) -> bool:
    """Does a process accept connections on this port?"""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1):
            return True
    except OSError:
        return False
