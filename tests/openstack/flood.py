"""Messages in great number, old ones, and such as no Nova sends."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

TIME = "%Y-%m-%d %H:%M:%S.%f"


def taken_apart(message: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The envelope of oslo.messaging, and what is in it."""
    envelope = json.loads(message)
    return envelope, json.loads(envelope["oslo.message"])


def put_together(envelope: dict[str, Any], inner: dict[str, Any]) -> bytes:
    return json.dumps(envelope | {"oslo.message": json.dumps(inner)}).encode()


def of_another_request(message: bytes) -> bytes:
    """The same failure of the same server, asked for once more."""
    envelope, inner = taken_apart(message)
    inner["_context_request_id"] = f"req-{uuid.uuid4()}"
    inner["message_id"] = str(uuid.uuid4())
    return put_together(envelope, inner)


def older(message: bytes, age: timedelta) -> bytes:
    envelope, inner = taken_apart(message)
    inner["timestamp"] = (datetime.strptime(inner["timestamp"], TIME) - age).strftime(TIME)
    return put_together(envelope, inner)


HOSTILE = [
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "'); DROP TABLE requests; --",
    '"}, {"outcome": "freed", "x": "',
    "line\r\nERROR forged line\x00end",
    "\u202egnp.exe \ufeff \u0085next \u009b31m",
]


def with_hostile_names(message: bytes, text: str) -> bytes:
    """Every free text of the message becomes this; ids, numbers and kinds stay."""

    def changed(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: changed(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [changed(member, key) for member in value]
        free = ("name", "display_name", "availability_zone", "message", "function_name", "publisher_id")
        named = key in free or key.startswith("_context_") and key.endswith("_name")
        return text if isinstance(value, str) and named else value

    envelope, inner = taken_apart(message)
    inner = changed(inner, "")
    inner["_context_request_id"] = f"req-{uuid.uuid4()}"
    inner["message_id"] = str(uuid.uuid4())
    inner["payload"]["nova_object.data"]["request_spec"]["nova_object.data"]["availability_zone"] = text
    return put_together(envelope, inner)


def garbage(message: bytes) -> list[bytes]:
    """None of these is a message; each must be set aside."""
    envelope, inner = taken_apart(message)
    deep = "[" * 100_000
    return [
        b"",
        b"\x00\xff\xfe" * 100,
        b"null",
        b"[]",
        message[: len(message) // 2],
        deep.encode(),
        json.dumps(envelope | {"oslo.message": deep}).encode(),
        json.dumps(envelope | {"oslo.message": 7}).encode(),
        put_together(envelope, inner | {"payload": []}),
        put_together(envelope, inner | {"payload": {"nova_object.data": "\x1b[31m"}}),
        put_together(envelope, inner | {"timestamp": "tomorrow\x1b[31m"}),
        put_together(envelope, inner | {"_context_request_id": "\x1b[31m\n"}),
        # Above the 1 MiB that is taken.
        put_together(envelope, inner | {"padding": "x" * (2 * 1024 * 1024)}),
    ]
