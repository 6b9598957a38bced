"""A Galera cluster of three nodes on loopback, and what a test does to its nodes."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from cloud import PATIENCE, eventually
from lablib.ports import LOOPBACK, free_ports
from lablib.releases import MARIADB
from mariadb_process import CLIENT, DIES_WITH_US

PROVIDER = "/usr/lib/galera/libgalera_smm.so"
NODES = 3
# Far less than the journals of all tests need, and soon full.
LARGEST = "80M"
OPTIONS = [
    "--skip-grant-tables",
    f"--bind-address={LOOPBACK}",
    "--performance-schema=OFF",
    "--innodb-buffer-pool-size=16M",
    "--innodb-log-file-size=16M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-use-native-aio=0",
    "--innodb-undo-tablespaces=0",
    "--innodb-file-per-table=OFF",
    f"--innodb-data-file-path=ibdata1:12M:autoextend:max:{LARGEST}",
    "--binlog-format=ROW",
    "--innodb-autoinc-lock-mode=2",
    "--connect-timeout=3600",
    "--wsrep-on=ON",
    f"--wsrep-provider={PROVIDER}",
    "--wsrep-cluster-name=reaper",
    "--wsrep-sst-method=rsync",
]


class Node:
    def __init__(self, folder: Path, ports: dict[str, int], peers: str):
        self.folder, self.data, self.port = folder, folder / "data", ports["sql"]
        self.data.mkdir(parents=True)
        (self.data / "mysql").mkdir()
        group = f"{LOOPBACK}:{ports['group']}"
        # rsync's daemon, which brings the state, gives up root's rights.
        user = "nobody" if os.getuid() == 0 else None
        for path in (self.folder, self.data, self.data / "mysql"):
            shutil.chown(path, user or os.getuid())
        self._options = [
            f"--datadir={self.data}",
            f"--socket={folder / 'socket'}",
            f"--pid-file={folder / 'pid'}",
            f"--port={self.port}",
            *([f"--user={user}"] if user else []),
            *OPTIONS,
            f"--wsrep-node-name={folder.name}",
            f"--wsrep-node-address={group}",
            f"--wsrep-sst-receive-address={LOOPBACK}:{ports['sst']}",
            f"--wsrep-cluster-address=gcomm://{peers}",
            f"--wsrep-provider-options=gmcast.listen_addr=tcp://{group};"
            f"ist.recv_addr={LOOPBACK}:{ports['ist']};gcache.size=16M",
        ]
        self._process: "subprocess.Popen[bytes] | None" = None

    def position(self) -> str:
        """UUID:NUMBER of the last write that it has; empty if it is not known, or it has none."""
        if not (self.data / "ibdata1").exists():
            return ""
        recover = [MARIADB, "--no-defaults", *self._options, "--wsrep-recover", "--skip-networking"]
        told = subprocess.run(recover, capture_output=True, text=True, timeout=PATIENCE)
        found = re.search(r"Recovered position:? *([0-9a-f-]+:\d+)", told.stderr)
        return found[1] if found else ""

    def start(self, *more: str) -> None:
        """Does not wait. It asks for what it has missed: an IST if another has that, or else an SST."""
        if position := self.position():
            more += (f"--wsrep-start-position={position}",)
        with open(self.folder / "log", "ab") as log:
            command = [*DIES_WITH_US, MARIADB, "--no-defaults", *self._options, *more]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def signal(self, number: signal.Signals) -> None:
        """SIGKILL and SIGTERM: waits for its end."""
        if self._process is None:
            return
        self._process.send_signal(number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            self._process.wait(PATIENCE)
            self._process = None

    def client(self, sql: str, *options: str) -> "subprocess.CompletedProcess[str]":
        command = [CLIENT, "--no-defaults", f"--socket={self.folder / 'socket'}", "--batch", "-N", *options]
        return subprocess.run(command, input=sql, capture_output=True, text=True, timeout=PATIENCE)

    def execute(self, sql: str) -> str:
        done = self.client(sql)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def status(self, name: str) -> str:
        """Nothing if it does not answer."""
        return self.client(f"SHOW GLOBAL STATUS LIKE 'wsrep_{name}'").stdout.strip().partition("\t")[2]

    def is_in(self, size: int = NODES) -> bool:
        return self.status("local_state_comment") == "Synced" and self.status("cluster_size") == str(size)


class Galera:
    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="reaper-galera-"))
        self._root.chmod(0o755)
        kinds = ("sql", "group", "sst", "ist")
        given = free_ports([f"{kind}-{number}" for number in range(NODES) for kind in kinds])
        peers = ",".join(f"{LOOPBACK}:{given[f'group-{number}']}" for number in range(NODES))
        self.nodes = [
            Node(
                self._root / f"node-{number}",
                {kind: given[f"{kind}-{number}"] for kind in kinds},
                peers,
            )
            for number in range(NODES)
        ]
        self.out: list[Node] = []  # are not asked by `ask`
        self._databases = 0
        self.start()

    def start(self) -> None:
        """As after a loss of power: the one that has most makes the cluster anew."""
        first = max(self.nodes, key=lambda node: int(node.position().rpartition(":")[2] or -1))
        state = first.data / "grastate.dat"
        if state.exists():
            state.write_text(state.read_text().replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))
        first.start("--wsrep-new-cluster")
        eventually("the first node answers", lambda: first.is_in(1))
        for number, node in enumerate([node for node in self.nodes if node is not first], start=2):
            node.start()
            eventually("a node has joined", lambda: node.is_in(number))

    def wait_whole(self) -> None:
        eventually("all nodes are in", lambda: all(node.is_in() for node in self.nodes))

    def heal(self) -> None:
        """Of what a test that failed left."""
        self.out = []
        if not all(node.is_in() for node in self.nodes):
            self.kill()
            self.start()

    def kill(self) -> None:
        for node in self.nodes:
            node.signal(signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._root, ignore_errors=True)

    def new_database(self) -> str:
        self._databases += 1
        name = f"journal_{self._databases}"
        self.nodes[0].execute(f"CREATE DATABASE {name}")
        return name

    def ask(self, sql: str) -> str:
        """Of a node that is all right."""
        [node, *_] = [node for node in self.nodes if node not in self.out]
        return node.client(sql).stdout.strip()
