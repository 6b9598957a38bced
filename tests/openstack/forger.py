"""Messages of an attacker who may publish to Nova's exchange."""

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

from cloud import Cloud, Server
from flood import TIME, put_together, taken_apart


class Forger:
    """Writes over a real message of Nova's. Nothing of it is old, and no id is that of a message that
    was sent before, unless it says so."""

    def __init__(self, message: bytes):
        self.envelope, self.inner = taken_apart(message)

    def written(
        self,
        event: str = "build_instances",
        server: Server | None = None,
        request: str | None = None,
        exception: str | None = None,
        **spec: Any,
    ) -> bytes:
        """`spec` are members of the request spec. Without a request, its id is made up."""
        envelope, inner = taken_apart(put_together(self.envelope, self.inner))
        # From the near future: however slow the machine is, the message does not become too old.
        soon = datetime.now(timezone.utc) + timedelta(hours=1)
        inner["timestamp"] = soon.strftime(TIME)
        inner["message_id"] = str(uuid.uuid4())
        inner["event_type"] = f"compute_task.{event}.error"
        inner["_context_request_id"] = request or f"req-{uuid.uuid4()}"
        payload = inner["payload"]["nova_object.data"]
        told = payload["request_spec"]["nova_object.data"]
        if server is not None:
            payload["instance_uuid"] = told["instance_uuid"] = server.id
        if exception is not None:
            payload["reason"]["nova_object.data"]["exception"] = exception
        told.update(spec)
        if "project_id" in spec:
            inner["_context_project_id"] = spec["project_id"]
        return put_together(envelope, inner)

    def flavor(self, cloud: Cloud, name: str, vcpus: int) -> dict[str, Any]:
        """That of the cloud; with so many VCPUs in the message."""
        spec = self.inner["payload"]["nova_object.data"]["request_spec"]["nova_object.data"]
        flavor: dict[str, Any] = taken_apart(put_together({}, {"f": spec["flavor"]}))[1]["f"]
        flavor["nova_object.data"].update(name=name, flavorid=cloud.flavor_id(name), vcpus=vcpus)
        return flavor
