"""The reaper under test: its configuration, its daemon, its commands."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import threading
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

from cloud import PATIENCE, Cloud, eventually

# A daemon that outlived a killed test session would serve the next one's requests.
DIES_WITH_US = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]

# The intervals are shorter than an operator would set them: a scenario waits for these. The limits of
# time are longer: no scenario is about them unless it sets its own, and the machine may be busy.
DEFAULTS: dict[str, Any] = {
    "http": {"call_timeout": "2min", "connect_timeout": "1min"},
    "trigger": {"max_age": "2h"},
    "taggers": [{"name": "project", "tag": "preemptible"}],
    "cull": {"poll_interval": "100ms", "deadline": "20min"},
    "log": {"level": "debug", "target": "terminal"},
}


class Reaper:
    """A reaper with its own configuration, journal and queue.

    Its daemon can be started and ended several times; they all belong to the
    same installation, as restarts of a service do.
    """

    def __init__(self, binary: Path, cloud: Cloud, directory: Path, **places: Any):
        """`places` says where the cloud is: see Cloud.reaper_config."""
        self.binary = binary
        self.cloud = cloud
        self.directory = directory
        self.config: dict[str, Any] = deepcopy(DEFAULTS) | cloud.reaper_config(**places)
        self.config["journal"] = {"path": str(directory / "journal.db")}
        self.pause_file = directory / "paused"
        self.config["pause_file"] = str(self.pause_file)
        self.log = directory / "reaper.log"
        self.answers = directory / "reaper.out"
        self.daemon: subprocess.Popen | None = None
        self.notices: Notices | None = None
        self.extra: dict[str, str] = {}  # environment of the daemon

    @property
    def queue(self) -> str:
        return self.config["broker"]["queue"]

    # The daemon --------------------------------------------------------------

    def start(self, *options: str, wait: bool = True) -> None:
        """Starts the daemon; waits until it tells systemd that it is ready, and has looked at the servers
        that it looks at before there is any request."""
        assert self.daemon is None, "it runs already"
        said_before = len(self.log_text())
        self.notices = Notices(self.directory / "notify")
        with open(self.log, "ab") as log, open(self.answers, "ab") as answers:
            self.daemon = subprocess.Popen(
                [*DIES_WITH_US, str(self.binary), "--config", str(self._write_config()), "run", *options],
                stdin=subprocess.DEVNULL,
                stdout=answers,
                stderr=log,
                env=self._environment() | {"NOTIFY_SOCKET": self.notices.address} | self.extra,
                start_new_session=True,
            )
        if wait:
            self.wait_ready()
            eventually("it has looked", lambda: "servers of other projects: " in self.log_text()[said_before:])

    def wait_ready(self) -> None:
        eventually("the reaper is ready", self._is_ready)

    def _is_ready(self) -> bool:
        assert self.daemon is not None and self.notices is not None
        assert (
            self.daemon.poll() is None
        ), f"the reaper ended with {self.daemon.returncode}:\n{self.log_text()}"
        return "READY=1" in self.notices.received()

    def ask_to_stop(self) -> None:
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGTERM)

    def wait_stopped(self, timeout: float = PATIENCE) -> int:
        """Its exit code; nothing of it is left."""
        assert self.daemon is not None
        code = self.daemon.wait(timeout)
        self._forget()
        return code

    def stop(self) -> None:
        """Ends the daemon as systemd would; it must end well and by itself."""
        self.ask_to_stop()
        assert self.wait_stopped() == 0, self.log_text()

    def kill(self) -> None:
        """Like a loss of power."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait(PATIENCE)
        self._forget()

    def freeze(self) -> None:
        """The process is stopped, and does not notice it."""
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGSTOP)
        eventually("it is frozen", lambda: self._state() == "T")

    def thaw(self) -> None:
        assert self.daemon is not None
        self.daemon.send_signal(signal.SIGCONT)

    def _state(self) -> str:
        assert self.daemon is not None
        return Path(f"/proc/{self.daemon.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def reload(self, applied: str) -> None:
        """SIGHUP with the configuration as it is now; waits until the log says that this was applied."""
        assert self.daemon is not None
        self._write_config()
        before = self.log_text().count("SIGHUP: ")
        self.daemon.send_signal(signal.SIGHUP)
        answers = lambda: self.log_text().split("SIGHUP: ")[before + 1 :]  # noqa: E731
        [answer] = eventually("the configuration is read again", answers, every=0.02)
        assert f"applied: {applied}" in answer.partition("\n")[0], answer

    def peak_memory_mib(self) -> float:
        """The most that was resident so far."""
        assert self.daemon is not None
        status = Path(f"/proc/{self.daemon.pid}/status").read_text()
        [peak] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(peak.split()[1]) / 1024

    def end(self) -> None:
        """After a scenario."""
        try:
            self.end_quietly()
        finally:
            print(self.log_text())  # pytest shows it if the scenario failed

    def end_quietly(self) -> None:
        """Nothing of it may be left, and no secret was printed."""
        if self.daemon is not None:
            self.kill()
        self.assert_no_secrets()

    def _forget(self) -> None:
        self.daemon = None
        if self.notices is not None:
            self.notices.close()
        self.notices = None

    def log_text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def first_said(self, text: str) -> datetime | None:
        """When the log first had it; the log's clock is the machine's."""
        for line in self.log_text().splitlines():
            if text in line:
                return datetime.fromisoformat(line[: len("2026-01-01 00:00:00.000")])
        return None

    def printed(self) -> str:
        """What the daemon wrote to stdout: the plans of a dry run."""
        return self.answers.read_text(errors="replace") if self.answers.exists() else ""

    def assert_no_secrets(self) -> None:
        """Neither the log nor the journal may hold a password."""
        for path in self.directory.iterdir():
            if path.name.startswith(("journal", "reaper.log", "reaper.out")):
                content = path.read_bytes()
                for secret in self.cloud.secrets():
                    assert secret.encode() not in content, f"{path.name} holds a secret"

    # Commands ----------------------------------------------------------------

    def elsewhere(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of a machine that has no configuration and these variables."""
        return subprocess.run(
            [str(self.binary), "--config", "/nowhere/reaper.yaml", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=self._environment() | variables,
        )

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of the reaper to its end, whatever its exit code."""
        return subprocess.run(
            [str(self.binary), "--config", str(self._write_config()), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=self._environment(),
        )

    def json(self, *arguments: str) -> Any:
        """The answer of a command that must succeed."""
        done = self.command("--json", *arguments)
        assert done.returncode == 0, f"{arguments} ended with {done.returncode}: {done.stderr}"
        return json.loads(done.stdout)

    def story(self, request: str) -> dict[str, Any] | None:
        """What the journal tells of a request; None if it knows it not (yet)."""
        done = self.command("--json", "history", "show", request)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_outcome(self, request: str) -> dict[str, Any]:
        """Waits until the reaper has done with a request. What it did is to be
        asked of the cloud."""
        return self._wait_told("outcome", request)

    def wait_freed_room(self, request: str) -> dict[str, Any]:
        """Waits until it knows the use of the room that it freed."""
        return self._wait_told("freed_room", request)

    def _wait_told(self, what: str, request: str) -> dict[str, Any]:
        """The file is looked at until it is worth a command."""
        sql = f"SELECT 1 FROM request WHERE id = ? AND {what} IS NOT NULL"
        eventually(f"the {what} of {request} is known", lambda: self.rows(sql, request), every=0.05)
        told: dict[str, Any] = self.json("history", "show", request)[what]
        return told

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Of the journal's file as it is, read beside the daemon. Nothing if there is none (yet)."""
        path = Path(self.config["journal"].get("path", "/nowhere"))
        if not path.exists():
            return []
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE)
        try:
            return connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            # Its making was interrupted: no table yet, or a rollback journal that only a writer may use.
            not_yet = ("no such table", "no such column", "unable to open", "attempt to write a readonly")
            assert any(words in str(error) for words in not_yet), error
            return []
        finally:
            connection.close()

    def wait_acknowledged(self) -> None:
        """After a restart of it or of the broker, a message comes again at some time, which may be
        after the outcome of its request."""
        eventually("every message is acknowledged", lambda: self.cloud.messages_in(self.queue) == 0)

    def wait_messages_done(self, others: int = 0) -> None:
        """Waits until it has seen `others` messages that made no request of
        their own, and until the broker has every message acknowledged; then
        ends the daemon, and still no message may be left."""
        eventually(
            f"the reaper has seen {others} other messages",
            lambda: not others or self.rows("SELECT count(*) FROM message")[0][0] >= others,
        )
        self.wait_acknowledged()
        self.stop()
        assert self.cloud.waiting_messages(self.queue) == 0, "it left messages unacknowledged"

    # -------------------------------------------------------------------------

    def _write_config(self) -> Path:
        path = self.directory / "reaper.yaml"
        path.write_text(json.dumps(self.config, indent=2))  # JSON is YAML
        path.chmod(0o600)
        return path

    @staticmethod
    def _environment() -> dict[str, str]:
        """No OS_*, no proxies, no NO_COLOR of the caller."""
        kept = ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE")
        return {key: os.environ[key] for key in kept if key in os.environ}


class Notices:
    """What a service tells systemd: the other end of NOTIFY_SOCKET."""

    def __init__(self, path: Path):
        path.unlink(missing_ok=True)
        self.address = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.settimeout(0.2)
        self._lines: list[str] = []
        self._open = True
        # As systemd does: always reading. A full socket would hold the service up.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while self._open:
            try:
                self._lines += self._socket.recv(65536).decode(errors="replace").split("\n")
            except TimeoutError:
                continue

    def received(self) -> list[str]:
        """All lines so far, such as READY=1 and STATUS=..."""
        return list(self._lines)

    def close(self) -> None:
        self._open = False
        self._reader.join()
        self._socket.close()
        Path(self.address).unlink(missing_ok=True)
