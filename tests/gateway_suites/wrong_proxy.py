"""A proxy that is wrong on purpose: the suites must notice.

    wrong_proxy.py FAULT PORT UPSTREAM_PORT
"""

import http.client
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

LOOPBACK = "127.0.0.1"
FAULTS = {
    "none": "what is right passes",
    "request-header": "the client's microversion is dropped",
    "answer-header": "Location is dropped",
    "query": "the query is dropped",
    "method": "PUT becomes POST",
    "request-body": "the client's body is dropped",
    "answer-body": "a letter of the answer changes",
    "cut": "the answer ends too early",
    "status": "201 becomes 200",
    "sometimes": "every 50th request fails",
    "host": "Host names Placement, so that clients find a way past the proxy",
}
EVERY_NTH = 50
# Of this connection, not of the message.
HOP_BY_HOP = ("connection", "transfer-encoding", "keep-alive", "content-length")
NO_BODY = (204, 304)

numbers = count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fault = "none"
    upstream_port = 0

    def log_message(self, *_: Any) -> None:
        pass

    def _pass_on(self) -> None:
        body: bytes | None = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.fault
        method, target, headers = self.command, self.path, list(self.headers.items())
        if fault == "sometimes" and next(numbers) % EVERY_NTH == 0:
            self._answer(502, "Bad Gateway", [], b"")
            return
        if fault == "request-header":
            headers = [(name, value) for name, value in headers if name.lower() != "openstack-api-version"]
        elif fault == "query":
            target = target.partition("?")[0]
        elif fault == "method" and method == "PUT":
            method = "POST"
        elif fault == "request-body":
            body = b""
        elif fault == "host":
            upstream = f"{LOOPBACK}:{self.upstream_port}"
            headers = [(name, upstream if name.lower() == "host" else value) for name, value in headers]
        self._ask(method, target, headers, body or b"")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = _pass_on

    def _ask(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> None:
        upstream = http.client.HTTPConnection(LOOPBACK, self.upstream_port)
        upstream.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                upstream.putheader(name, value)
        if body or method in ("POST", "PUT"):
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body)
        answer = upstream.getresponse()
        self._alter(answer.status, answer.reason, answer.getheaders(), answer.read())
        upstream.close()

    def _alter(self, status: int, reason: str, headers: list[tuple[str, str]], body: bytes) -> None:
        if self.fault == "answer-header":
            headers = [(name, value) for name, value in headers if name.lower() != "location"]
        elif self.fault == "answer-body":
            body = body.replace(b"a", b"b", 1)
        elif self.fault == "cut":
            body = body[:-1]
        elif self.fault == "status" and status == 201:
            status, reason = 200, "OK"
        self._answer(status, reason, headers, body)

    def _answer(self, status: int, reason: str, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status, reason)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if status not in NO_BODY:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status not in NO_BODY:
            self.wfile.write(body)


def main() -> None:
    fault, port, upstream_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    assert fault in FAULTS, fault
    Handler.fault, Handler.upstream_port = fault, upstream_port
    ThreadingHTTPServer((LOOPBACK, port), Handler).serve_forever()


if __name__ == "__main__":
    main()
