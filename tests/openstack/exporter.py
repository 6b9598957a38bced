"""Tells what node_exporter and an exporter of libvirt would tell of each host of a lab, with values that
a scenario sets. Counters advance by the use that was set, second by second."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lablib.ports import LOOPBACK, free_ports


class Counter:
    """Seconds that add up at a rate which may change at any time."""

    def __init__(self, rate: float = 0.0):
        self._total, self._rate, self._since = 0.0, rate, time.monotonic()

    def advance(self, rate: float) -> None:
        self._total, self._since = self.total(), time.monotonic()
        self._rate = rate

    def total(self) -> float:
        return self._total + self._rate * (time.monotonic() - self._since)


class MeasuredHost:
    """One host. Nothing is in use there until a scenario says so."""

    def __init__(self, cores: int):
        self._cores = cores
        self._busy, self._idle, self._steal = Counter(), Counter(1.0), Counter()  # of each core
        self._pressure = Counter()
        self._load = 0.0
        self._servers: dict[str, Counter] = {}
        self._lock = threading.Lock()

    def use(self, cores: float, steal: float = 0.0) -> None:
        """So many cores in all are in use; `steal` is the part of all CPU time that is stolen."""
        busy = cores / self._cores
        assert 0 <= busy + steal <= 1, "more than there is"
        with self._lock:
            self._busy.advance(busy)
            self._steal.advance(steal)
            self._idle.advance(1 - busy - steal)

    def load(self, load: float) -> None:
        """The averages of 5 and 15 minutes."""
        self._load = load

    def pressure(self, part: float) -> None:
        """Of the time in which threads wait for a CPU."""
        with self._lock:
            self._pressure.advance(part)

    def server(self, server: str, cores: float) -> None:
        """What a server uses, by its UUID."""
        with self._lock:
            self._servers.setdefault(server, Counter()).advance(cores)

    def forget(self, *servers: str) -> None:
        """They are gone: no longer exported."""
        with self._lock:
            for server in servers:
                self._servers.pop(server, None)

    def be_idle(self) -> None:
        """And no server is there."""
        self.use(0)
        self.load(0)
        self.pressure(0)
        with self._lock:
            self._servers.clear()

    def text(self) -> str:
        with self._lock:
            modes = {"user": self._busy, "idle": self._idle, "steal": self._steal}
            lines = [
                f'node_cpu_seconds_total{{cpu="{core}",mode="{mode}"}} {counter.total():.6f}'
                for core in range(self._cores)
                for mode, counter in modes.items()
            ]
            lines += [f"node_load{minutes} {self._load}" for minutes in (1, 5, 15)]
            lines.append(f"node_pressure_cpu_waiting_seconds_total {self._pressure.total():.6f}")
            lines += [
                f'libvirt_domain_info_cpu_time_seconds_total{{uuid="{server}"}} {counter.total():.6f}'
                for server, counter in self._servers.items()
            ]
        return "\n".join(lines) + "\n"


class Exporter:
    """One process tells of all hosts: of each at the path that is its name."""

    def __init__(self, hosts: list[str], cores: int):
        self.port = free_ports(["exporter"])["exporter"]
        self.hosts = {host: MeasuredHost(cores) for host in hosts}
        self._server: ThreadingHTTPServer | None = None

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def __getitem__(self, host: str) -> MeasuredHost:
        return self.hosts[host]

    def start(self) -> None:
        if self._server is not None:
            return
        self._server = ThreadingHTTPServer((LOOPBACK, self.port), _handler_of(self.hosts))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Connections there are refused; counters go on."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def _handler_of(hosts: dict[str, MeasuredHost]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = hosts.get(self.path.removeprefix("/"))
            body = host.text().encode() if host else b""
            self.send_response(200 if host else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
