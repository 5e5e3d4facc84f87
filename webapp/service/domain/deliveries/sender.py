"""One attempt at a delivery: compose the request, sign it both ways, post it, and judge the response (contract
"Deliveries").

The body has the event's exact bytes. Any 2xx is a success; a redirect is never followed. The guard decides at this
moment where the request may go; the built-in third party is allowed only at its receiver. No transaction is open here.

Large bodies in flight have a common limit of bytes, so that they do not fill the memory. Each endpoint may use half of
it, so that one that hangs with large events does not hold up the large events of others.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from webapp.errors import Unavailable
from webapp.kit.clock import SECOND
from webapp.kit.crypto import CannotOpen
from webapp.kit.text import one_line
from webapp.service.components.masking import Mask
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, events, retry
from webapp.service.domain.deliveries.claims import Outcome, Task
from webapp.service.domain.deliveries.signatures import signed_headers
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

DEADLINE_S = 20.0
READ_BYTES = 64 * 1024
KEPT_BYTES = 2_000
_MASKED = frozenset({"set-cookie", "set-cookie2", "authorization", "proxy-authorization", "www-authenticate"})
MAX_BYTES_IN_FLIGHT = 64 * 1024 * 1024
WAIT_S = 10.0  # the lease of a delivery must outlast this and the request's deadline


class Sender:
    """Sends deliveries. Threads may share one."""

    def __init__(
        self, service: Service, mask_of: Callable[[str], Mask | None], *, deadline_s: float = DEADLINE_S
    ) -> None:
        """``mask_of`` returns the mask for the secrets of the trigger with an id; None for a trigger that no longer
        exists, whose responses are not stored.
        """
        self._service = service
        self._mask_of = mask_of
        self._deadline_s = deadline_s
        self._large = LargeBodies()

    def send(self, task: Task) -> Outcome:
        """Make one attempt. Errors on the way are outcomes as well.

        Raises ``LookupError`` if the event was deleted, :class:`webapp.errors.Unavailable` if the store is, or if too
        many large events are in flight.
        """
        if task.body is not None:
            return self._send(task, task.body, Mask(()))
        if task.sealed is not None:
            body = events.opened_body(self._service, task.scene, task.event_id, task.sealed)
            return self._send(task, body, self._mask(task))
        with self._large.room(task.endpoint.id, events.body_size(self._service.store, task.event_id)):
            return self._send(task, events.body_of(self._service, task.event_id), self._mask(task))

    def _mask(self, task: Task) -> Mask | None:
        """The mask for the receiver's response; None for a notification."""
        return self._mask_of(task.trigger_id) if task.trigger_id else None

    def _send(self, task: Task, body: bytes, mask: Mask | None) -> Outcome:
        """``mask``: the receiver's response is stored through it, since it could repeat a secret of the body; or not
        at all.
        """
        at, began = self._service.clock(), time.monotonic()
        try:
            key = endpoints.key_of(self._service, task.endpoint, task.scene)
            url = endpoints.url_of(self._service, task.endpoint)
        except CannotOpen:
            return Outcome(task, at, 0, None, "The webhook's address or signing key is damaged; set it again.")
        signed = signed_headers(key, task.event_id, at // SECOND, body)
        answer = self._service.client_to(url).request(
            "POST",
            url,
            headers={"Content-Type": "application/json", **signed},
            data=body,
            deadline_s=self._deadline_s,
            max_bytes=READ_BYTES,
            cut=True,
        )
        took = round((time.monotonic() - began) * SECOND)
        if isinstance(answer, Failure):
            return Outcome(task, at, took, None, answer.sentence, signed=signed, response={"failure": answer.kind})
        return Outcome(
            task,
            at,
            took,
            answer.status,
            None if answer.ok else _reason(answer),
            retry.retry_after_ms(answer.status, answer.headers.get("retry-after"), self._service.clock()),
            signed,
            _shown_response(answer, mask) if mask else {},
        )


def _reason(answer: Response) -> str:
    """Why an answer is no success, in one sentence."""
    if answer.status == retry.GONE:
        return "The receiver answered 410: it accepts no more deliveries."
    if 300 <= answer.status < 400:
        return f"The receiver answered {answer.status}, a redirect, which is not followed; use the final address."
    return f"The receiver answered {answer.status}; any status from 200 to 299 counts as received."


def _shown_response(answer: Response, mask: Mask) -> Mapping[str, Any]:
    """The part of a response that is shown: the headers without credentials, and the beginning of the body."""
    headers = {
        one_line(name, 100).lower(): "•••" if name.lower() in _MASKED else one_line(mask(value), 500)
        for name, value in list(answer.headers.items())[:50]
    }
    body = mask(answer.body.decode("utf-8", "replace")).replace("\0", "")
    return {"headers": headers, "body": body.encode()[:KEPT_BYTES].decode("utf-8", "ignore")}


class LargeBodies:
    """The bytes in use, by endpoint. Threads share it."""

    def __init__(self, most: int = MAX_BYTES_IN_FLIGHT, *, wait_s: float = WAIT_S) -> None:
        self._most, self._wait_s = most, wait_s
        self._held: Counter[str] = Counter()
        self._free = threading.Condition()

    @contextmanager
    def room(self, endpoint_id: str, size: int) -> Iterator[None]:
        """Hold ``size`` bytes for ``endpoint_id``. Raises :class:`Unavailable` when there is no room for a while."""
        counted = min(size, self._most // 2)
        with self._free:
            if not self._free.wait_for(lambda: self._fits(endpoint_id, counted), self._wait_s):
                raise Unavailable("Too many large events are on their way; this one waits.")
            self._held[endpoint_id] += counted
        try:
            yield
        finally:
            with self._free:
                self._held[endpoint_id] -= counted
                if not self._held[endpoint_id]:
                    del self._held[endpoint_id]
                self._free.notify_all()

    def _fits(self, endpoint_id: str, size: int) -> bool:
        return self._held.total() + size <= self._most and self._held[endpoint_id] + size <= self._most // 2
