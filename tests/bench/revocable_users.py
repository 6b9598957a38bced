"""Users of the revocable project who boot servers as fast as Nova lets them, on a lab.

They do not wait for a server before they ask for the next one. `most` says how many servers may be under
way at a time, and those that found no host are deleted: else Nova would do nothing but look after them.
"""

import threading
import time
from collections import Counter, deque
from typing import Any

from lablib import catalog
from openstack_cloud import NOVA

WATCHERS = 2


class RevocableUsers:
    """As a context: they ask while it lasts."""

    def __init__(self, lab: dict[str, Any], count: int, most: int):
        self.lab = lab
        self.results: Counter[str] = Counter()  # how their servers settled, and what Nova's API refused
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._room = threading.Semaphore(most)
        self._under_way: deque[str] = deque()
        asking = [threading.Thread(target=self._ask) for _ in range(count)]
        watching = [threading.Thread(target=self._watch) for _ in range(WATCHERS if count else 0)]
        self._threads = asking + watching

    def __enter__(self) -> "RevocableUsers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _client(self) -> Any:
        return catalog.client(self.lab, "compute", project="spot", **NOVA)

    def _count(self, result: str) -> None:
        with self._lock:
            self.results[result] += 1

    def _ask(self) -> None:
        nova = self._client()
        server = {"name": "spot", "imageRef": self.lab["image"], "networks": "none"}
        server["flavorRef"] = self.lab["flavors"]["small"]
        while not self._stop.is_set():
            if not self._room.acquire(timeout=0.5):
                continue
            try:
                self._under_way.append(nova.post("/servers", json={"server": server}).json()["server"]["id"])
            except Exception as error:  # Nova is as busy as it gets
                self._room.release()
                self._count(type(error).__name__)
                time.sleep(0.2)

    def _watch(self) -> None:
        nova = self._client()
        while not self._stop.is_set():
            try:
                server = self._under_way.popleft()
            except IndexError:
                time.sleep(0.05)
                continue
            status = self._status(nova, server)
            if status == "BUILD":
                self._under_way.append(server)
                time.sleep(0.05)
                continue
            self._room.release()
            self._count(status)

    def _status(self, nova: Any, server: str) -> str:
        """One that found no host is deleted."""
        try:
            answer = nova.get(f"/servers/{server}", raise_exc=False)
            status = answer.json()["server"]["status"] if answer.status_code == 200 else "GONE"
            if status == "ERROR":
                nova.delete(f"/servers/{server}")
            return status
        except Exception:  # it is looked at again
            return "BUILD"
