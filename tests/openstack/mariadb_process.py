"""A MariaDB for journals: on a Unix socket, without users, gone with the session that began it."""

import subprocess
from pathlib import Path

from cloud import PATIENCE, eventually
from lablib.releases import MARIADB

CLIENT = "/usr/bin/mariadb"
DIES_WITH_US = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]


class MariaDb:
    def __init__(self, directory: Path):
        self._socket, self._log = directory / "socket", directory / "mariadb.log"
        (directory / "data").mkdir()
        options = [
            f"--datadir={directory / 'data'}",
            f"--socket={self._socket}",
            f"--pid-file={directory / 'pid'}",
            "--user=root",
            "--skip-grant-tables",
            "--skip-networking",
            "--performance-schema=OFF",
            "--innodb-buffer-pool-size=16M",
            "--innodb-log-file-size=4M",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-use-native-aio=0",
            "--innodb-undo-tablespaces=0",
        ]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [*DIES_WITH_US, MARIADB, "--no-defaults", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._databases = 0
        eventually("MariaDB answers", lambda: self._client("DO 1").returncode == 0)

    def new_database(self) -> str:
        """The URL of a journal that has no tables yet."""
        self._databases += 1
        name = f"journal_{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        return f"mysql://root@/{name}?unix_socket={self._socket}"

    def execute(self, sql: str) -> str:
        done = self._client(sql)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def close(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)

    def _client(self, sql: str) -> "subprocess.CompletedProcess[str]":
        command = [CLIENT, "--no-defaults", f"--socket={self._socket}", "--batch", "--skip-column-names"]
        return subprocess.run([*command, "-e", sql], capture_output=True, text=True, timeout=PATIENCE)
