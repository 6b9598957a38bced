"""Compares what a client sent and got with what Placement got and sent; both are in this process.

The suites do not look at everything: osc-placement takes any status below 400.
"""

from dataclasses import dataclass
from typing import Any, Iterable
from urllib.parse import urlsplit

# Told with each answer, and never twice.
KEY = "x-openstack-request-id"
# Of one connection, not of the message.
HOP_BY_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding"}
SHOWN = 200

Headers = Iterable[tuple[str, str]]


@dataclass
class Message:
    """A request or an answer."""

    # Method and target, or status and reason.
    start: str
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, start: str, headers: Headers, body: bytes | str | None) -> "Message":
        found: dict[str, str] = {}
        for name, value in headers:
            key, value = name.lower(), value.decode() if isinstance(value, bytes) else value
            if key not in HOP_BY_HOP:
                found[key] = f"{found[key]}, {value}" if key in found else value
        return cls(start, found, body.encode() if isinstance(body, str) else body or b"")

    def changed(self, arrived: "Message") -> list[str]:
        """What arrived otherwise; headers may be added on the way."""
        found = []
        if self.start != arrived.start:
            found.append(f"{self.start!r} became {arrived.start!r}")
        for name, value in self.headers.items():
            if arrived.headers.get(name) != value:
                found.append(f"{name} {value!r} became {arrived.headers.get(name)!r}")
        if self.body != arrived.body:
            found.append(f"{self.body[:SHOWN]!r} became {arrived.body[:SHOWN]!r}")
        return found


class Witness:
    def __init__(self, port: int) -> None:
        self._port = port
        self._placement: dict[str, tuple[Message, Message]] = {}
        self.compared = 0
        self.differences: list[str] = []

    def saw(self, request: Message, answer: Message) -> None:
        """At Placement."""
        if KEY in answer.headers:
            self._placement[answer.headers[KEY]] = request, answer

    def watch(self) -> None:
        """The clients of both suites are built on requests."""
        from requests.adapters import HTTPAdapter

        send = HTTPAdapter.send

        def send_and_compare(adapter: Any, request: Any, *words: Any, **options: Any) -> Any:
            response = send(adapter, request, *words, **options)
            if urlsplit(request.url).port == self._port:
                self._compare(request, response)
            return response

        HTTPAdapter.send = send_and_compare  # type: ignore[method-assign]

    def _compare(self, request: Any, response: Any) -> None:
        start = f"{request.method} {request.path_url}"
        sent = Message.of(start, request.headers.items(), request.body)
        got = Message.of(
            f"{response.status_code} {response.reason}", response.headers.items(), response.content
        )
        seen = self._placement.pop(got.headers.get(KEY, ""), None)
        if seen is None:
            self.differences.append(f"{start}: {got.start}: not an answer of Placement's")
            return
        arrived, answered = seen
        self.compared += 1
        self.differences += [
            f"{start}: {what}: {change}"
            for what, changes in (("request", sent.changed(arrived)), ("answer", answered.changed(got)))
            for change in changes
        ]
