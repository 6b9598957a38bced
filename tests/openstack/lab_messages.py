"""The lab's RabbitMQ as a scenario sees it: Nova's messages in and out."""

import socket
from contextlib import contextmanager
from typing import Any, Iterator

import amqp

from broker_node import BrokerNode
from cloud import PATIENCE, eventually

EXCHANGE = "nova"
ROUTING_KEY = "versioned_notifications.error"


class LabMessages:
    """Keeps a queue of its own that receives what the reaper's queue receives.

    Its connection is opened when needed and again after RabbitMQ restarted; the
    queue is then a new one, as the old one ended with its connection.
    """

    def __init__(self, broker: dict[str, Any]):
        self.broker = broker
        self.node = BrokerNode(**broker["node"])
        self._connection: amqp.Connection | None = None
        self._channel: Any = None
        self._queue = ""

    def listen(self) -> None:
        """From now on, messages are kept for `take`."""
        self.close()
        self._connection = self._connect()
        self._channel = self._connection.channel()
        self._queue = self._channel.queue_declare(exclusive=True).queue
        self._channel.queue_bind(self._queue, EXCHANGE, ROUTING_KEY)

    def take(self, count: int) -> list[bytes]:
        """The next messages, oldest first."""
        taken: list[bytes] = []

        def enough() -> bool:
            while len(taken) < count:
                message = self._channel.basic_get(self._queue, no_ack=True)
                if message is None:
                    return False
                body = message.body
                taken.append(body.encode() if isinstance(body, str) else body)
            return True

        eventually(f"{count} failure messages of Nova", enough)
        return taken

    def publish(self, body: bytes) -> None:
        """Sends a message as Nova's messagingv2 driver does, and waits until the
        broker has put it into the queues."""
        message = amqp.Message(
            body, content_type="application/json", content_encoding="utf-8", delivery_mode=2
        )
        with self._short() as channel:
            channel.confirm_select()
            channel.basic_publish_confirm(message, EXCHANGE, ROUTING_KEY)

    def publish_many(self, bodies: list[bytes]) -> None:
        """The same for many; the broker has them all when it returns."""
        # Without confirmations a quorum queue may lose the last ones when the channel is closed.
        unconfirmed = set(range(1, len(bodies) + 1))

        def confirmed(tag: int, multiple: bool) -> None:
            unconfirmed.difference_update(range(1, tag + 1) if multiple else [tag])

        with self._short(confirm=False) as channel:
            channel.confirm_select()
            channel.events["basic_ack"].add(confirmed)
            for body in bodies:
                message = amqp.Message(
                    body, content_type="application/json", content_encoding="utf-8", delivery_mode=2
                )
                channel.basic_publish(message, EXCHANGE, ROUTING_KEY)
            while unconfirmed:
                channel.connection.drain_events(timeout=PATIENCE)

    def waiting(self, queue: str) -> int:
        """Messages that are in a queue and with no consumer."""
        with self._short() as channel:
            return channel.queue_declare(queue, passive=True).message_count

    def purge(self, queue: str) -> None:
        """Of what waits in it."""
        with self._short() as channel:
            channel.queue_purge(queue)

    def consumers(self, queue: str) -> int:
        with self._short() as channel:
            return channel.queue_declare(queue, passive=True).consumer_count

    def delete_queues(self, queues: list[str]) -> None:
        with self._short() as channel:
            for queue in queues:
                channel.queue_delete(queue)

    def wait_for_consumers(self, queues: list[str]) -> None:
        """Waits until RabbitMQ is there and each of these queues has a consumer.
        What Nova's services send one another before that is lost."""

        def all_read() -> bool:
            try:
                with self._short() as channel:
                    return all(channel.queue_declare(q, passive=True).consumer_count for q in queues)
            except (OSError, amqp.AMQPError):
                return False

        eventually(f"{', '.join(queues)} are read", all_read, every=0.2)

    def close(self) -> None:
        if self._connection is not None:
            try:
                self._connection.close()
            except (OSError, amqp.AMQPError):
                pass  # RabbitMQ was restarted meanwhile
        self._connection = None

    def _connect(self, **options: Any) -> amqp.Connection:
        connection = amqp.Connection(
            f"{self.broker['host']}:{self.broker['port']}",
            userid=self.broker["user"],
            password=self.broker["password"],
            connect_timeout=PATIENCE,
            read_timeout=PATIENCE,
            # By default the library gives up when the broker has read nothing for a second.
            socket_settings={socket.TCP_USER_TIMEOUT: PATIENCE * 1000},
            **options,
        )
        connection.connect()
        return connection

    @contextmanager
    def _short(self, confirm: bool = True) -> Iterator[Any]:
        connection = self._connect(confirm_publish=confirm)
        try:
            yield connection.channel()
        finally:
            connection.close()
