"""Placement's WSGI application on a real port of this process, and who asked it.

wsgi-intercept hands a request to the application within the process. Here it goes over TCP, as in a
cloud. Answers come in the shapes that web servers give them: with a length, in chunks, and sometimes
on a connection that ends with it.
"""

import io
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import unquote_to_bytes

from witness import Message, Witness

LOOPBACK = "127.0.0.1"
# Each such answer ends its connection.
CLOSE_EVERY = 23
CHUNK_BYTES = 1000
NO_BODY = ("204", "304")

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]


def owns_connection(pid: int, port: int, to_port: int) -> bool:
    """Whether the process has the loopback connection that goes from one port to the other."""
    ends = [f"0100007F:{number:04X}" for number in (port, to_port)]
    with open("/proc/net/tcp") as table:
        inodes = {words[9] for words in map(str.split, table) if words[1:3] == ends}
    wanted = {f"socket:[{inode}]" for inode in inodes - {"0"}}
    folder = f"/proc/{pid}/fd"
    for name in os.listdir(folder) if wanted else ():
        try:
            if os.readlink(f"{folder}/{name}") in wanted:
                return True
        except OSError:  # closed in the meantime
            continue
    return False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "PlacementServer"
    # Headers and a small body are two writes: the second must not wait for an answer to the first.
    disable_nagle_algorithm = True
    checked = False

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:  # the proxy no longer needed the answer
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        """Placement judges the method, not this server."""
        if name.startswith("do_"):
            return self._ask
        raise AttributeError(name)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = self.headers.get("Content-Length") or "0"
            if not length.isdigit():  # for Placement to say
                self.close_connection = True
                return b""
            return self.rfile.read(int(length))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass
        return body

    def _environment(self, body: bytes) -> dict[str, Any]:
        path, _, query = self.path.partition("?")
        environment: dict[str, Any] = {
            "REQUEST_METHOD": self.command,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": LOOPBACK,
            "SERVER_PORT": str(self.server.port),
            "SERVER_PROTOCOL": self.request_version,
            "REMOTE_ADDR": LOOPBACK,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in self.headers.items():
            key = name.upper().replace("-", "_")
            key = key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
            environment[key] = f"{environment[key]},{value}" if key in environment else value
        if body:
            environment["CONTENT_LENGTH"] = str(len(body))
        return environment

    def _ask(self) -> None:
        body = self._body()
        if not self.checked:
            self.checked, self.foreign = True, not self.server.came_from_the_client(self.client_address[1])
        number = self.server.count(self.foreign)
        status, headers, answer = self.server.answer(self._environment(body))
        if self.server.witness:
            request = Message.of(f"{self.command} {self.path}", self.headers.items(), body)
            self.server.witness.saw(request, Message.of(status, headers, answer))
        self._send(number, status, headers, answer)

    def _send(self, number: int, status: str, headers: list[tuple[str, str]], answer: bytes) -> None:
        code, _, reason = status.partition(" ")
        self.send_response_only(int(code), reason)
        has_body = code not in NO_BODY
        chunked = has_body and answer and number % 2 and self.server.varied
        for name, value in headers:
            if not (chunked and name.lower() == "content-length"):
                self.send_header(name, value)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif has_body and not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(answer)))
        if self.server.varied and number % CLOSE_EVERY == 0:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD" or not has_body:
            return
        if not chunked:
            self.wfile.write(answer)
            return
        for start in range(0, len(answer), CHUNK_BYTES):
            piece = answer[start : start + CHUNK_BYTES]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")


class PlacementServer(ThreadingHTTPServer):
    """Serves the application of the test that runs now; one port for all of them."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, varied: bool = True) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.port: int = self.server_address[1]
        self.varied = varied
        self.requests = 0
        # Of these, what did not come from the process that should ask.
        self.foreign = 0
        self.client_pid = os.getpid()
        self.witness: Witness | None = None
        self._source: Callable[[], Application] | None = None
        self._application: Application | None = None
        # The database is one connection in memory.
        self._one_at_a_time = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def use(self, source: Callable[[], Application] | None) -> None:
        """The application is made at the first request: by then the test is set up."""
        self._source, self._application = source, None

    def came_from_the_client(self, port: int) -> bool:
        return owns_connection(self.client_pid, port, self.port)

    def count(self, foreign: bool) -> int:
        self.requests += 1
        self.foreign += foreign
        return self.requests

    def answer(self, environment: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
        told: list[Any] = []
        with self._one_at_a_time:
            if self._application is None:
                if self._source is None:
                    return "503 No test is running", [], b""
                self._application = self._source()
            pieces = self._application(environment, lambda *words: told.append(words))
            body = b"".join(pieces)
            if hasattr(pieces, "close"):
                pieces.close()
        status, headers = told[-1][:2]
        return status, headers, body

    def close(self) -> None:
        self.shutdown()
        self.server_close()
