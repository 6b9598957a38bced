"""The lab's directory: who may use it, and what it says of itself.

Everything of a lab is below one directory, so that two labs never meet and
removing it leaves no trace. `lab.json` describes the lab to its users.
"""

import fcntl
import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

MARKER = ".reaper-lab"
DESCRIPTION = "lab.json"

# The kernel takes 107 bytes for the name of a Unix socket; ours need some.
LONGEST_PATH = 80


class LabError(Exception):
    """Something that the person who runs the lab should read, in one line."""


class Place:
    """The directory of one lab."""

    def __init__(self, directory: str | Path):
        self.root = Path(directory).absolute()

    def path(self, *parts: str) -> Path:
        return self.root.joinpath(*parts)

    def log(self, service: str) -> Path:
        return self.path("log", f"{service}.log")

    @property
    def access_log(self) -> Path:
        return self.path("log", "access.jsonl")

    @property
    def is_lab(self) -> bool:
        return self.path(MARKER).exists()

    def claim(self) -> None:
        """Makes the directory ours, or says why it can't be."""
        if len(str(self.root)) > LONGEST_PATH:
            raise LabError(
                f"{self.root}: the path is too long for the Unix sockets in it, "
                f"take one of at most {LONGEST_PATH} characters"
            )
        if self._holds_logs_only():
            self.remove()
        if self.is_lab:
            raise LabError(f"{self.root} holds a lab already; take it down first: lab down --dir {self.root}")
        if self.root.exists() and any(self.root.iterdir()):
            raise LabError(f"{self.root} is not empty and not a lab: not touching it")
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path(MARKER).write_text("made by tests/openstack/lab; `lab down` removes this directory\n")
        for name in ("etc", "log", "run", "tls", "home"):
            self.path(name).mkdir()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One `up` or `down` at a time. The lock is beside the directory's
        content, on the directory itself, so that it survives its removal."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabError(f"{self.root}: another `lab` is at work there") from None
            yield
        finally:
            os.close(handle)

    def save(self, description: dict[str, Any]) -> None:
        self.write(DESCRIPTION, json.dumps(description, indent=2) + "\n")

    def load(self) -> dict[str, Any]:
        try:
            return json.loads(self.path(DESCRIPTION).read_text())
        except FileNotFoundError:
            raise LabError(f"there is no lab in {self.root}") from None

    def write(self, name: str, text: str) -> None:
        """Whole or not at all: a reader never sees half of a file."""
        temporary = self.path(name + ".new")
        temporary.write_text(text)
        temporary.chmod(0o600)
        temporary.rename(self.path(name))

    def _holds_logs_only(self) -> bool:
        return self.is_lab and {entry.name for entry in self.root.iterdir()} <= {"log", MARKER}

    def remove(self, keep_logs: bool = False) -> None:
        """Removes all that the lab made. With `keep_logs` the logs stay, until
        the directory is used or taken down again."""
        kept = {"log", MARKER} if keep_logs else set()
        for entry in self.root.iterdir():
            if entry.name in kept:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        if not keep_logs:
            self.root.rmdir()
