"""A way to a service that is not there yet, is cut, or swallows what it gets: a port
on loopback that passes on what it gets, in both directions, while it is open."""

import socket
import threading
import time
from typing import Callable

from lablib.ports import LOOPBACK, free_ports


class Relay:
    """Refuses connections until `open`; `close` cuts those that it carries. Between
    `swallow` and `pass_on` nothing comes through and no end is notified, as on a dead link."""

    def __init__(self, target_port: int):
        self.port = free_ports(["relay"])["relay"]
        self._target_port = target_port
        self._listener: socket.socket | None = None
        self._carried: list[socket.socket] = []
        self._dead = threading.Event()
        self.delay: Callable[[], float] | None = None  # seconds that each piece takes

    def open(self) -> None:
        self._listener = socket.create_server((LOOPBACK, self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def lead_to(self, target_port: int) -> None:
        """From now on, as an address that moves to another machine."""
        self._target_port = target_port
        self._cut_all()

    def swallow(self) -> None:
        self._dead.set()

    def pass_on(self) -> None:
        """New connections are carried; the old ones have lost a part and are cut."""
        self._dead.clear()
        self._cut_all()

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._cut_all()

    def _cut_all(self) -> None:
        carried, self._carried = self._carried, []
        for connection in carried:
            _cut(connection)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return  # closed
            try:
                target = socket.create_connection((LOOPBACK, self._target_port))
            except OSError:
                _cut(client)  # no server is there now; the next client tries again
                continue
            self._carried += [client, target]
            for source, sink in ((client, target), (target, client)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while chunk := source.recv(65536):
                if self.delay:
                    time.sleep(self.delay())
                if not self._dead.is_set():
                    sink.sendall(chunk)
        except OSError:
            pass
        if not self._dead.is_set():  # else the other end never hears of it
            _cut(source)
            _cut(sink)


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
