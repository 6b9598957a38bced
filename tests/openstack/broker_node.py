"""What a RabbitMQ node tells of its queues beyond AMQP, which counts only the messages that wait."""

import os
import re
import subprocess
from dataclasses import dataclass

from cloud import PATIENCE

# Of Debian's erlang-base: it asks a running node, and starts no Erlang of its own.
ERL_CALL = "/usr/bin/erl_call"
QUEUE = 'rabbit_misc:r(<<"/">>, queue, <<"{queue}">>)'
# Of a quorum queue, what `info` tells is some seconds old; its leader knows.
COUNT = f"""rabbit_amqqueue:with({QUEUE}, fun(Found) ->
    case amqqueue:get_type(Found) of
        rabbit_quorum_queue ->
            {{{{ok, {{{{_, Count}}}}, _}}}} = ra:leader_query(
                amqqueue:get_pid(Found), {{{{rabbit_fifo, query_messages_total, []}}}}),
            [{{{{messages, Count}}}}];
        _ -> rabbit_amqqueue:info(Found, [messages])
    end
end).""".replace("\n", " ")
COUNTED = re.compile(r"\{ok, \[\{messages, ?(\d+)\}\]\}")
CONSUMERS = f"rabbit_amqqueue:with({QUEUE}, fun(Found) -> length(rabbit_amqqueue:consumers(Found)) end)."
CONSUMED = re.compile(r"\{ok, ?(\d+)\}")
SOURCES = f"[element(4, element(2, Binding)) || Binding <- rabbit_binding:list_for_destination({QUEUE})]"
IS_BOUND = f'lists:member(<<"{{exchange}}">>, {SOURCES}).'


@dataclass(frozen=True)
class BrokerNode:
    address: str  # of Erlang's distribution: HOST:PORT
    home: str  # where its cookie is

    def messages_in(self, queue: str) -> int | None:
        """Those that wait and those that a consumer holds; None while the node does not tell, or
        knows no such queue."""
        counted = COUNTED.search(self._ask(COUNT.format(queue=queue)))
        return int(counted[1]) if counted else None

    def consumers_of(self, queue: str) -> int | None:
        """Also those that stand by; None as above."""
        counted = CONSUMED.search(self._ask(CONSUMERS.format(queue=queue)))
        return int(counted[1]) if counted else None

    def is_bound(self, queue: str, exchange: str) -> bool:
        return self._ask(IS_BOUND.format(queue=queue, exchange=exchange)) == "{ok, true}"

    def _ask(self, question: str) -> str:
        asked = subprocess.run(
            [ERL_CALL, "-address", self.address, "-e"],
            input=f"{question}\n",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"HOME": self.home},
        )
        return asked.stdout
