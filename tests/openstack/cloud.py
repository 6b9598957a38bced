"""What a scenario may ask of a cloud, in the words of the reaper.

Scenarios know only this interface. `lab_cloud.LabCloud` is it on a real OpenStack,
`sim_cloud.SimCloud` on a simulated one. Nothing here returns before it is certain: a
method that changes something either says in its name that it does not wait, or
returns when the change can be seen.
"""

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Callable, TypeVar

T = TypeVar("T")

# Far above what anything takes, also on a busy machine: only a failure waits that
# long.
PATIENCE = 300


def eventually(what: str, ask: Callable[[], T], timeout: float = PATIENCE, every: float = 0.1) -> T:
    """Asks until the answer is truthy and returns it; fails with `what`."""
    deadline = time.monotonic() + timeout
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not after {timeout:.0f} s: {what} (last answer: {answer!r})")
        time.sleep(every)


def wait_for_the_next_second() -> None:
    """Nova tells the age of a server in whole seconds: those asked for afterwards are younger."""
    now = int(time.time())
    eventually("the next second", lambda: int(time.time()) > now, every=0.02)


@dataclass(frozen=True)
class Server:
    """A server as it was asked for; how it is now is `Cloud.look`'s to tell."""

    id: str
    name: str
    project: str
    request: str  # the id of the API request that created it


@dataclass(frozen=True)
class Look:
    """A server as Nova tells it now."""

    status: str  # ACTIVE, ERROR, DELETED, ...; GONE if Nova knows it no more
    host: str | None
    task: str | None
    fault: str = ""  # why it is in ERROR, as Nova tells it

    @property
    def gone(self) -> bool:
        return self.status in ("GONE", "DELETED")


@dataclass(frozen=True)
class Deletion:
    """A request of the reaper to delete a server."""

    server: str
    kind: str  # delete or forceDelete
    status: int


class Cloud(ABC):
    """A cloud of a few hosts with 10 VCPU each; see FLAVORS for what fits."""

    hosts: list[str]
    asked: list[Server]  # since the last reset
    poll_every = 0.05  # seconds between two looks at a server that is waited for

    # Servers -----------------------------------------------------------------

    @abstractmethod
    def ask(
        self,
        flavor: str,
        project: str = "regular",
        count: int = 1,
        host: str | None = None,
        zone: str | None = None,
        metadata: dict[str, str] | None = None,
        hints: dict[str, Any] | None = None,
    ) -> list[Server]:
        """Asks for servers in one request; does not wait for them. The project
        `spot` is the revocable one. `hints` are Nova's scheduler hints."""

    @abstractmethod
    def look(self, server: Server) -> Look:
        ...

    @abstractmethod
    def delete_without_waiting(self, server: Server) -> None:
        ...

    @abstractmethod
    def delete_softly(self, server: Server) -> None:
        """By its user, where deletion is deferred; waits until it is SOFT_DELETED."""

    @abstractmethod
    def lock(self, server: Server) -> None:
        """As an administrator: from another project than the server's own."""

    @abstractmethod
    def lock_as_owner(self, server: Server) -> None:
        ...

    @abstractmethod
    def unlock(self, server: Server) -> None:
        """As an administrator."""

    @abstractmethod
    def leave_in(self, server: Server, status: str) -> None:
        """PAUSED, SUSPENDED, RESCUE or SHUTOFF by its owner, ERROR by an administrator; waits until it is."""

    @abstractmethod
    def tag(self, server: Server, tag: str) -> None:
        ...

    @abstractmethod
    def untag(self, server: Server, tag: str) -> None:
        ...

    @abstractmethod
    def set_metadata(self, server: Server, key: str, value: str) -> None:
        ...

    @abstractmethod
    def metadata_of(self, server: Server) -> dict[str, str]:
        ...

    @abstractmethod
    def flavor_id(self, name: str) -> str:
        ...

    @abstractmethod
    def action_failed(self, server: Server, request: str) -> bool:
        """As Nova records it, when it is over."""

    @abstractmethod
    def resize_without_waiting(self, server: Server, flavor: str) -> str:
        """Returns the id of the request."""

    @abstractmethod
    def migrate_without_waiting(self, server: Server, host: str | None = None) -> str:
        """A cold migration; the id of the request. `host`: where it has to go."""

    @abstractmethod
    def live_migrate_without_waiting(self, server: Server, host: str | None = None) -> str:
        """Returns the id of the request. `host`: where it has to go."""

    @abstractmethod
    def evacuate_without_waiting(self, server: Server) -> str:
        """Returns the id of the request."""

    @abstractmethod
    def shelve(self, server: Server) -> None:
        """Waits until it is off its host."""

    @abstractmethod
    def unshelve_without_waiting(self, server: Server) -> str:
        """Returns the id of the request."""

    @abstractmethod
    def confirm_resize(self, server: Server) -> None:
        ...

    # Hosts -------------------------------------------------------------------

    @abstractmethod
    def disable_host(self, host: str, reason: str = ...) -> None:
        ...

    @abstractmethod
    def say_that_it_is_down(self, host: str) -> None:
        """As an operator or a fencing tool tells Nova (forced_down)."""

    @abstractmethod
    def say_that_it_is_up(self, host: str) -> None:
        ...

    @abstractmethod
    def host_outage(self, host: str) -> AbstractContextManager[None]:
        """The host's agent is away while it lasts, and Nova does not know it. Deletions accepted
        meanwhile come to their end afterwards."""

    @abstractmethod
    def other_cell(self, host: str) -> AbstractContextManager[None]:
        """The host, on which no server is, is in another cell than the others while it lasts. No server
        is left afterwards."""

    @abstractmethod
    def disable_other_cell(self) -> AbstractContextManager[None]:
        """Builds skip that cell while it lasts."""

    @abstractmethod
    def make_zone(self, name: str, hosts: list[str]) -> None:
        """Puts hosts that hold no server into an availability zone."""

    @abstractmethod
    def make_aggregate(self, name: str, hosts: list[str], metadata: dict[str, str] | None = None) -> str:
        """Returns its UUID."""

    @abstractmethod
    def remove_aggregate(self, name: str) -> None:
        ...

    @abstractmethod
    def forget_aggregates_of(self, host: str) -> None:
        """Placement no longer has the host in any aggregate, whatever Nova says."""

    @abstractmethod
    def make_group(self, name: str, policy: str, max_on_a_host: int | None = None) -> dict[str, str]:
        """A server group of the project `regular`; returns the hint that puts a server into it."""

    @abstractmethod
    def used_vcpus(self, host: str) -> int:
        """As Placement counts them."""

    @abstractmethod
    def room_held_by(self, server: Server) -> dict[str, int]:
        """As Placement counts it: empty when nothing is held."""

    @abstractmethod
    def hold_deletions(self, host: str) -> AbstractContextManager[None]:
        """While it holds, servers on the host can be deleted, but their deletion
        does not come to its end."""

    @abstractmethod
    def reset(self) -> None:
        """No servers, all hosts enabled, no zones, no aggregates, no server groups, no messages."""

    # The APIs ----------------------------------------------------------------

    @abstractmethod
    def endpoint(self, api: str, region: str = "RegionOne") -> str:
        """The URL of `identity`, `compute` or `placement`."""

    @abstractmethod
    def api_outage(self, *apis: str) -> AbstractContextManager[None]:
        """The reaper gets no answer of these while it lasts; they have restarted afterwards."""

    @abstractmethod
    def short_tokens(self, seconds: int) -> AbstractContextManager[None]:
        """Tokens that Keystone gives out while it lasts end so soon."""

    @abstractmethod
    def outlive(self, tokens: set[str]) -> None:
        """Waits until Keystone no longer knows any of them."""

    @abstractmethod
    def revoke_token(self, token: str) -> None:
        ...

    @abstractmethod
    def project_id(self, project: str) -> str:
        ...

    @abstractmethod
    def new_project(self, name: str) -> AbstractContextManager[str]:
        """An empty project, by its id; gone at the end."""

    @abstractmethod
    def no_longer_revocable(self, project: str) -> AbstractContextManager[None]:
        """The project has lost its tag while it lasts."""

    # Messages ----------------------------------------------------------------

    @abstractmethod
    def failure_messages(self, count: int) -> list[bytes]:
        """The next `count` messages of Nova about requests without a valid host,
        since the last reset, as they were on the wire."""

    @abstractmethod
    def publish(self, message: bytes) -> None:
        """As Nova would send it."""

    @abstractmethod
    def waiting_messages(self, queue: str) -> int:
        """How many messages are waiting: not delivered, or requeued."""

    @abstractmethod
    def messages_in(self, queue: str) -> int | None:
        """All that wait in it, and all that a reaper holds and has not acknowledged. None while the
        broker does not tell."""

    @abstractmethod
    def failures_reach(self, queue: str) -> bool:
        """Does the broker put Nova's messages of failures into it?"""

    @abstractmethod
    def broker_and_host_outage(self, host: str) -> AbstractContextManager[None]:
        """The host's agent is away while it lasts; the broker restarts before it
        comes back. Deletions accepted meanwhile come to their end afterwards."""

    # The reaper --------------------------------------------------------------

    @abstractmethod
    def reaper_config(
        self, region: str = "RegionOne", tls: bool = False, user: str = "reaper"
    ) -> dict[str, Any]:
        """The parts of the reaper's configuration that say where the cloud is."""

    @abstractmethod
    def secrets(self) -> list[str]:
        """What the reaper must never show."""

    @abstractmethod
    def mark(self) -> int:
        """A point in the record of requests, for the two below."""

    @abstractmethod
    def reaper_deletions(self, since: int) -> list[Deletion]:
        ...

    @abstractmethod
    def reaper_requests(self, since: int) -> list[str]:
        """All requests of the reaper; those to log in, too."""

    @abstractmethod
    def reaper_writes(self, since: int) -> list[str]:
        """All requests of the reaper that ask for a change, deletions included."""

    # What follows from the above ---------------------------------------------

    def wait_for(self, servers: list[Server], status: str) -> list[Look]:
        """How they are then."""
        return [
            eventually(
                f"{server.name} is {status}", lambda: self._settled(server, status), every=self.poll_every
            )
            for server in servers
        ]

    def _settled(self, server: Server, status: str) -> Look | None:
        look = self.look(server)
        assert look.status != "ERROR" or status == "ERROR", f"{server.name} is in ERROR, not {status}: {look.fault}"
        assert look.status != "ACTIVE" or status != "ERROR", f"{server.name} found a host"
        return look if look.status == status and look.task is None else None

    def boot(
        self,
        flavor: str,
        project: str,
        host: str,
        count: int = 1,
        metadata: dict[str, str] | None = None,
        hints: dict[str, Any] | None = None,
    ) -> list[Server]:
        """Servers on a host; waits until they are ACTIVE."""
        servers = self.ask(flavor, project, count, host, metadata=metadata, hints=hints)
        self.wait_for(servers, "ACTIVE")
        return servers

    def fail_to_boot(
        self,
        flavor: str,
        project: str = "regular",
        count: int = 1,
        zone: str | None = None,
        hints: dict[str, Any] | None = None,
        metadata: dict[str, str] | None = None,
    ) -> list[Server]:
        """Asks for servers that find no host."""
        servers = self.ask(flavor, project, count, zone=zone, hints=hints, metadata=metadata)
        self.wait_for(servers, "ERROR")
        return servers

    def wait_gone(self, servers: list[Server]) -> None:
        """Waits until Nova knows them no more and they hold no room."""
        for server in servers:
            eventually(f"{server.name} is gone", lambda: self.look(server).gone, every=self.poll_every)
            eventually(
                f"{server.name} holds no room", lambda: not self.room_held_by(server), every=self.poll_every
            )
