"""One call of a declared component: the values for its templates, its account's HTTP client, and its limits."""

import base64
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from webapp.kit.cancellation import CURRENT
from webapp.kit.clock import iso, now
from webapp.service.components import limits
from webapp.service.components.account_http import AccountHttp, RefusalReporter
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.context import Memory, Send
from webapp.service.components.declared.definition import Declared
from webapp.service.components.declared.form import ActionForm
from webapp.service.components.errors import ComponentError, ResultError
from webapp.service.components.http import HttpResponse
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import HostRules, Url, parse_url

_NO_ACCOUNT: tuple[None, None] = (None, None)
REACH = "is not an address of this app, so nothing is sent there."


class OutOfTime(Exception):
    """The call's deadline has passed."""


class Session:
    """A running call. ``send`` takes its messages, which are those of the runner. The total sizes of responses and of
    input files are bounded."""

    def __init__(self, declared: Declared, call: Call, client: OutboundClient, send: Send) -> None:
        self.declared, self.form, self.call, self.send = declared, declared.form, call, send
        self._ends = time.monotonic() + call.deadline_s
        self._client = client
        watch = RefusalReporter(send)
        chosen: tuple[str | None, AccountGrant | None] = next(iter(call.accounts.items()), _NO_ACCOUNT)
        prop, self._grant = chosen
        self.http = AccountHttp(client, self._grant, self._left_s, partial(watch.note, prop))
        self.open_http = AccountHttp(client, None, self._left_s, partial(watch.note, None))
        self.tool_http = AccountHttp(client, self._grant, self._left_in_all_s, partial(watch.note, prop))
        self._bytes_read, self._file_bytes, self._files = 0, 0, 0
        self.memory = Memory(call.state, send)
        values = {name: prop.default for name, prop in declared.props.items()} | dict(call.props)
        self.scope: dict[str, Any] = {
            **values,
            "$account": _shown(self._grant),
            "$label": call.labels,
            "$now": iso(now()),
            "$query": call.query or None,
            "$endpoint": call.endpoint,
            "$event": call.event,
            "$steps": {},
            "$values": {},
            "$fields": {},
        }
        self._check_values()

    def with_(self, **more: Any) -> Mapping[str, Any]:
        """The scope with more template names, given without their ``$``."""
        return {**self.scope, **{f"${name}": value for name, value in more.items()}}

    def log(self, line: str) -> None:
        """Add a line to the log of this call."""
        self.send({"log": line, "ts": now()})

    def emit(self, event: Any, id: str, summary: str, ts: int | None) -> None:
        """Emit ``event`` (JSON) from a trigger; ``ts`` is epoch milliseconds."""
        self.send({"emit": event, "id": id, "summary": summary, "ts": now() if ts is None else ts})

    def respond(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """Respond to the request that started a trigger: text unchanged, anything else as JSON, with ``headers``."""
        is_text = isinstance(body, str)
        media_type = "text/plain; charset=utf-8" if is_text else "application/json"
        text = body if is_text else orjson.dumps(body).decode()
        self.send({"respond": status, "body": text, "headers": {"content-type": media_type, **(headers or {})}})

    def check_address(self, url: str, first: str | None = None) -> None:
        """Raise :class:`ComponentError` for an absolute URL outside of the hosts of the account's app.

        Without an account, the URL must have the origin of ``first``, whose response led there.
        """
        if "://" not in url or (self._grant is None and first is None):
            return
        checked = self._client.guard.check(url)
        if isinstance(checked, Failure):
            raise ComponentError(checked.sentence)
        if not (
            _is_led_within(first, checked)
            if self._grant is None
            else HostRules.of(*self._grant.allowed_hosts).admit(checked)
        ):
            raise ComponentError(f"{checked.authority} {REACH}")

    @property
    def left_bytes(self) -> int:
        """The bytes that further responses may have; negative after the limit was exceeded."""
        keeps_file = isinstance(self.form, ActionForm) and self.form.gives_files
        return limits.OUTPUT_BYTES + (limits.STASH_BYTES if keeps_file else 0) - self._bytes_read

    def count_answer(self, answer: HttpResponse) -> None:
        """Count the size of a response. Raises :class:`ResultError` if a call may not read that much."""
        self.count_bytes(len(answer.body))

    def count_bytes(self, count: int) -> None:
        """Count bytes of a response as they arrive. Raises :class:`ResultError` if a call may not read that much."""
        self._bytes_read += count
        if self.left_bytes < 0:
            raise ResultError("The app answered with more than 6 MiB. Ask for less.")

    def count_file(self, content: bytes) -> None:
        """Count the size of an input file. Raises :class:`ComponentError` if the total is too large."""
        self._file_bytes += len(content)
        if self._file_bytes > limits.STASH_BYTES:
            raise ComponentError(f"The file has {len(content):,} bytes, which is too much. Ask for a smaller one.")

    def next_file_name(self, kind: str, ending: str) -> str:
        """A name for a further file of the result, such as ``image-1.png``."""
        self._files += 1
        return f"{kind}-{self._files}{ending}"

    def check_time(self) -> None:
        """Raise :class:`OutOfTime` if no time is left for another request, or the call was cancelled."""
        work = CURRENT.get()
        if self._left_s() <= 0 or (work is not None and work.is_requested):
            raise OutOfTime

    def label_of(self, name: str) -> str:
        """The label of the prop ``name``."""
        prop = self.declared.props.get(name)
        return (prop.label if prop else "") or name

    def _left_s(self) -> float:
        return min(limits.REQUEST_S, self._left_in_all_s())

    def _left_in_all_s(self) -> float:
        """The rest of the call, for a request that may take all of it."""
        return self._ends - time.monotonic() - 0.5

    def _check_values(self) -> None:
        for name, pattern, advice in self.declared.patterns:
            value = self.scope.get(name)
            if not isinstance(value, str) or not (value.strip() or not self.form.props[name].optional):
                continue
            if not pattern.fullmatch(value.strip()):
                raise ComponentError(advice)


def file_in(session: Session, value: Any) -> tuple[str, bytes]:
    """The name and content of the file in a ``file-ref`` prop, whose value is a URL or the name of a stash file."""
    text = str(value)
    if text.startswith(("https://", "http://")):
        answer = session.open_http.get(text)
        session.count_file(answer.body)
        return Path(text.partition("?")[0]).name or "file", answer.body
    name = Path(text).name
    if name not in session.call.files:
        raise ComponentError(f"There is no file {name}. Give an address, or a file of the stash that the run names.")
    return name, base64.b64decode(session.call.files[name])


def _is_led_within(first: str | None, led: Url) -> bool:
    begun = parse_url(first or "")
    return isinstance(begun, Url) and begun.origin == led.origin


def _shown(grant: AccountGrant | None) -> Mapping[str, str]:
    """The fields of an account that are not secret."""
    if grant is None or grant.secrets is None:
        return {}
    return {name: value for name, value in grant.values.items() if name not in grant.secrets}
