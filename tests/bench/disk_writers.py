"""Processes that write and sync, as compilers and package installations do: the databases beside them are
slow. They end by themselves, also if no process ends them."""

import multiprocessing
import os
import tempfile
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

CHUNK = 1024 * 1024
CHUNKS = 64  # of a file, which is written over and over


def write(directory: str, until: float, parent: int) -> None:
    """Until then, or until its parent is gone."""
    data = os.urandom(CHUNK)
    with tempfile.TemporaryFile(dir=directory) as file:
        chunk = 0
        while time.monotonic() < until and os.getppid() == parent:
            file.seek(chunk % CHUNKS * CHUNK)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            chunk += 1


class DiskWriters:
    """As a context: so many write while it lasts, and no longer than so many seconds, on the disk of this
    directory."""

    def __init__(self, count: int, seconds: float, directory: Path):
        until = time.monotonic() + seconds
        spawn = multiprocessing.get_context("spawn")
        arguments = (str(directory), until, os.getpid())
        self._processes: list[BaseProcess] = [
            spawn.Process(target=write, args=arguments, daemon=True) for _ in range(count)
        ]

    def __enter__(self) -> "DiskWriters":
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
            process.join()
