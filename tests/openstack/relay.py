"""A way to a service that is not there yet, or is cut: a port on loopback that
passes on what it gets, in both directions, while it is open."""

import socket
import threading

from lablib.ports import LOOPBACK, free_ports


class Relay:
    """Refuses connections until `open`; `close` cuts those that it carries."""

    def __init__(self, target_port: int):
        self.port = free_ports(["relay"])["relay"]
        self._target_port = target_port
        self._listener: socket.socket | None = None
        self._carried: list[socket.socket] = []

    def open(self) -> None:
        self._listener = socket.create_server((LOOPBACK, self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for connection in self._carried:
            _cut(connection)
        self._carried.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                target = socket.create_connection((LOOPBACK, self._target_port))
            except OSError:
                return  # closed
            self._carried += [client, target]
            for source, sink in ((client, target), (target, client)):
                threading.Thread(target=_copy, args=(source, sink), daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            sink.sendall(chunk)
    except OSError:
        pass
    _cut(source)
    _cut(sink)


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
