"""What was asked of the APIs: by whom, and with what outcome.

The lab's APIs record every request (see wsgi_app); a test takes a mark, lets
something happen, and reads what was asked since.
"""

import json
from dataclasses import dataclass

from .place import Place

READS = {"GET", "HEAD", "OPTIONS"}


@dataclass(frozen=True)
class Request:
    time: float
    api: str  # keystone, placement, nova-api or nova-api-soft
    method: str
    path: str
    query: str
    status: int
    user: str | None
    agent: str
    action: str | None
    rules: dict[str, bool] | None = None  # of the service's policy, that were asked: did it pass?

    @property
    def is_login(self) -> bool:
        return self.api == "keystone" and self.path.endswith("/auth/tokens")

    @property
    def is_write(self) -> bool:
        """Does it ask for a change? To ask for a token is not one."""
        return self.method not in READS and not self.is_login

    def __str__(self) -> str:
        query = f"?{self.query}" if self.query else ""
        action = f" ({self.action})" if self.action else ""
        return f"{self.api} {self.method} {self.path}{query}{action} -> {self.status}"


class AccessLog:
    """The record of all requests to the lab's APIs."""

    def __init__(self, place: Place):
        self.path = place.access_log

    def mark(self) -> int:
        """A point in the record, for `since`."""
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, mark: int, user: str | None = None) -> list[Request]:
        """The requests after a mark, those of one user if named."""
        if not self.path.exists():
            return []
        with open(self.path, "rb") as record:
            record.seek(mark)
            lines = record.read().splitlines()
        requests = [Request(**json.loads(line)) for line in lines]
        return [request for request in requests if user is None or request.user == user]
