"""Stands before an API and lets requests through, makes some of them wait, to do something to the cloud
exactly between two requests of the reaper, or refuses some in the API's place."""

import http.client
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit, urlunsplit

from cloud import PATIENCE, eventually
from lablib.ports import LOOPBACK

# Of one hop; not to be passed on.
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
# What is forgotten does not hang forever. Longer than any test waits for anything.
LONGEST_HOLD = 6 * PATIENCE

# Status, headers, body.
Answer = tuple[int, list[tuple[str, str]], bytes]


class Gate:
    """The reaper asks `url` in place of the target. What the target does not answer (it is away) ends
    the reaper's connection, as a dying service does."""

    def __init__(self, target: str):
        parts = urlsplit(target)
        assert parts.hostname and parts.port, f"{target} names no port"
        self._target = (parts.hostname, parts.port)
        self.tokens: set[str] = set()  # that the reaper has shown
        self.asked: list[str] = []  # "METHOD path", as they came
        self.unanswered = 0  # requests that the target did not answer
        self._hold: re.Pattern[str] | None = None
        self._only_after: str | None = None
        self._hold_answers_to: str | None = None
        self._refuse: re.Pattern[str] | None = None
        self._refuse_with, self._refuse_more = 0, 0
        self.refused: list[str] = []  # "METHOD path"
        self._closed = False
        self._lock = threading.Lock()
        self._opened = threading.Event()
        self.held = 0
        self._server = ThreadingHTTPServer((LOOPBACK, 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = urlunsplit(parts._replace(netloc=f"{LOOPBACK}:{self._server.server_port}"))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "Gate":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_pass()
        self._closed = True  # also for who is connected
        self._server.shutdown()
        self._server.server_close()

    def hold_reads(self, path: str, after: str | None = None) -> None:
        """From now on, or from the first request of the method `after`, reads of paths that end so
        (a regular expression) wait for `let_pass`. Never a write: one that the reaper gave up would
        go out afterwards."""
        self._opened.clear()
        self.held = 0
        self._only_after = after
        self._hold = re.compile(rf"{path}$")

    def hold_answers(self, method: str) -> None:
        """From now on, what such requests ask for is done, but their answers wait for `let_pass`."""
        self._opened.clear()
        self.held = 0
        self._hold_answers_to = method

    def refuse(self, asked: str, status: int, times: int) -> None:
        """The next requests whose "METHOD path" is so (a regular expression) get this answer, and the target
        hears nothing of them."""
        self._refuse_with, self._refuse_more = status, times
        self._refuse = re.compile(asked)

    def wait_held(self, what: str) -> None:
        eventually(f"{what} is held", lambda: self.held)
        self._held_at = time.monotonic()

    def let_pass(self, after: float = 0) -> None:
        """Not before so many seconds are over since it was noticed that a request is held."""
        if after:
            time.sleep(max(0, self._held_at + after - time.monotonic()))
        self._hold = self._hold_answers_to = None
        self._opened.set()

    # What the handlers do ----------------------------------------------------

    def pass_through(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        asked = f"{method} {path.partition('?')[0]}"
        self.asked.append(asked)
        self.tokens.update(value for name, value in headers.items() if name.lower() == "x-auth-token")
        if method == "GET" and self._is_held(path.partition("?")[0]):
            self._wait()
        if self._closed:
            return None
        if self._is_refused(asked):
            return self._refuse_with, [("Content-Type", "application/json")], b"{}"
        answer = self._ask(method, path, headers, body)
        if method == self._hold_answers_to:
            self._wait()
        return answer

    def _is_refused(self, asked: str) -> bool:
        with self._lock:
            if self._refuse is None or not self._refuse_more or not self._refuse.fullmatch(asked):
                return False
            self._refuse_more -= 1
            self.refused.append(asked)
            return True

    def _is_held(self, path: str) -> bool:
        if self._hold is None or not self._hold.search(path):
            return False
        after = self._only_after
        return after is None or any(asked.startswith(f"{after} ") for asked in list(self.asked))

    def _wait(self) -> None:
        self.held += 1
        self._opened.wait(LONGEST_HOLD)

    def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        connection = http.client.HTTPConnection(*self._target, timeout=LONGEST_HOLD)
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        except (OSError, http.client.HTTPException):
            self.unanswered += 1
            return None
        finally:
            connection.close()


def _handler_of(gate: Gate) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            answer = gate.pass_through(self.command, self.path, headers, body)
            if answer is None:
                self.close_connection = True
                return
            try:
                self._send(*answer)
            except OSError:
                self.close_connection = True  # the client has given up

        def _send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in HOP:
                    self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _pass

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
