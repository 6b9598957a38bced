"""A fresh Debian of this machine's release in a directory: unpacked, entered, and booted with its own systemd."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SUITE = platform.freedesktop_os_release().get("VERSION_CODENAME", "")  # the package is for this one
DEADLINE_S = 1800  # only to give up: the machine may be busy
# What the package's scripts and these tests need beside the essential packages.
BESIDE = ("systemd", "systemd-sysv", "dbus", "ca-certificates", "procps")
NOT_COMPARED = ("proc", "sys", "dev", "tmp", "run", "var/log", "var/lib/dpkg", "var/cache/ldconfig")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def run(*command: str, check: bool = True, **options) -> subprocess.CompletedProcess:
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def package_sources() -> list[str]:
    """Where this machine gets its Debian from."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    found = [place for place in places if place.suffix in (".list", ".sources") and place.is_file()]
    return [str(place) for place in found if re.search(rf"\b{SUITE}\b", place.read_text())]


def dependencies(package: Path) -> set[str]:
    """Names alone; of alternatives the first."""
    told = run("dpkg-deb", "--field", str(package), "Depends", "Pre-Depends").stdout
    listed = re.sub(r"(?m)^[A-Z][A-Za-z-]+:", ",", told).split(",")
    return {re.match(r"[a-z0-9.+-]+", one.strip()).group() for one in listed if one.strip()}


def archive(cache: Path, packages: set[str]) -> Path:
    """Made once for the same packages."""
    wanted = ",".join(sorted(packages | set(BESIDE)))
    made = cache / f"root-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}.tar"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = made.with_suffix(".part.tar")
        options = ("--quiet", "--variant=minbase", f"--include={wanted}")
        run("mmdebstrap", *options, SUITE, str(part), *package_sources())
        part.rename(made)
    return made


class Root:
    def __init__(self, tar: Path):
        self.path = Path(tempfile.mkdtemp(prefix="reaper-root-"))
        self.path.chmod(0o755)
        run("tar", "-C", str(self.path), "-xf", str(tar))
        self._booted: subprocess.Popen | None = None
        self._daemons: list[subprocess.Popen] = []

    def remove(self) -> None:
        for daemon in self._daemons:
            daemon.kill()
            daemon.wait()
        self.shut_down()
        shutil.rmtree(self.path)

    def inside(self, *command: str) -> list[str]:
        surroundings = ["env", f"PATH={PATH}", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        if self._booted is not None:
            return ["nsenter", f"--target={self._leader()}", "--all", "--", *surroundings, *command]
        own = ["--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.path}/proc"]
        return ["unshare", *own, "chroot", str(self.path), *surroundings, *command]

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess:
        return run(*self.inside(*command), check=check, stdin=subprocess.DEVNULL)

    def start(self, *command: str, log: Path) -> subprocess.Popen:
        with log.open("wb") as output:
            daemon = subprocess.Popen(self.inside(*command), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self._daemons.append(daemon)
        return daemon

    def install(self, package: Path, check: bool = True) -> subprocess.CompletedProcess:
        # A booted one has a /tmp of its own.
        copy = Path(shutil.copy(package, self.path / "var/tmp"))
        try:
            return self.run("dpkg", "--install", f"/var/tmp/{package.name}", check=check)
        finally:
            copy.unlink()

    def boot(self) -> None:
        """In the network of this machine, whose loopback it sees."""
        options = ["--quiet", f"--directory={self.path}", "--register=no", "--keep-unit", "--console=pipe"]
        with (self.path / "tmp" / "boot.log").open("wb") as log:
            self._booted = subprocess.Popen(
                ["systemd-nspawn", *options, "--boot"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.wait(self._is_up, "systemd is up")

    def _is_up(self) -> bool:
        if not self._leader():
            return False
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def _leader(self) -> str:
        """The container's first process."""
        children = Path(f"/proc/{self._booted.pid}/task/{self._booted.pid}/children")
        words = children.read_text().split() if children.exists() else []
        return words[0] if words else ""

    def shut_down(self) -> None:
        if self._booted is None:
            return
        self.run("systemctl", "poweroff", check=False)
        try:
            self._booted.wait(300)
        except subprocess.TimeoutExpired:
            self._booted.kill()
            self._booted.wait()
        self._booted = None

    @staticmethod
    def wait(condition, what: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"not in time: {what}")
            time.sleep(0.2)

    def files(self) -> set[str]:
        """All but what package tools keep about packages that were once there."""
        found = set()
        for folder, directories, names in os.walk(self.path):
            here = Path(folder).relative_to(self.path)
            if str(here) in NOT_COMPARED:
                directories.clear()
                continue
            found |= {str(here / name) for name in (*names, *directories)}
        return {name for name in found if not name.endswith("-") and not name.startswith("etc/.pwd")}
