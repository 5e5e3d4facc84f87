"""The argument of a component's methods: the values of its props, its accounts, HTTP, exports and a log.

A context exists for one call, in the process of that call. It passes exports, log lines, events and memory to ``send``
at once, so that they survive a crash of the component.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from webapp.kit.clock import now
from webapp.service.components import limits
from webapp.service.components.brokered_http import BrokeredHttp, BrokerLine
from webapp.service.components.child_calls import DECLARATION, AccountFields, ChildCall
from webapp.service.components.errors import ComponentError
from webapp.service.components.files import Files
from webapp.service.components.http import Http
from webapp.service.components.props import Prop
from webapp.service.components.relay import RelayGuard
from webapp.service.outbound.guard import Guard

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110 section 5.6.2
Send = Callable[[dict[str, Any]], None]


class Props(Mapping[str, Any]):
    """The values of the props: ``ctx.props.title`` or ``ctx.props["title"]``; None for a prop without a value."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"The component has no prop named {name}.") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Secrets(Mapping[str, str]):
    """The fields of an account; its repr shows only their names.

    A secret field is readable only by a component that declares ``reads_secrets = True``.
    """

    def __init__(self, fields: AccountFields) -> None:
        self._names, self._values = fields.names, fields.values

    def __getitem__(self, name: str) -> str:
        if name in self._names and name not in self._values:
            raise ComponentError(
                f"{name} is a secret of the account, which ctx.http sends by itself. A component that must read it "
                f"says {DECLARATION} = True."
            )
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._names)})"


class Account:
    """A connected account: ``auth`` has its fields, ``http`` sends requests to its app, ``app`` is the app's slug."""

    def __init__(self, fields: AccountFields, http: Http) -> None:
        self.auth, self.http, self.base_url, self.app = Secrets(fields), http, fields.base_url, fields.app


class Memory:
    """The values that a trigger keeps from one run to the next."""

    def __init__(self, state: Mapping[str, Any], send: Send) -> None:
        self._state, self._send = dict(state), send

    def get(self, key: str, default: Any = None) -> Any:
        """The value kept under ``key``."""
        return self._state.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Keep ``value`` (JSON) under ``key``."""
        self._state[key] = value
        self._send({"set": key, "value": value})


class Context:
    """One call. ``page``, ``query`` (empty without one) and ``previous`` are for functions that find options;
    ``event``, ``endpoint`` (the trigger's URL), ``db``, :meth:`emit` and :meth:`respond` are for triggers."""

    def __init__(self, call: ChildCall, declared: Mapping[str, Prop], broker: BrokerLine, send: Send) -> None:
        self._send, self._labels = send, dict(call.labels)
        self._ends = time.monotonic() + call.deadline_s
        self.props = Props({name: prop.default for name, prop in declared.items()} | dict(call.props))
        self.extra = {name: value for name, value in call.props.items() if name not in declared}
        self.accounts = {
            name: Account(fields, BrokeredHttp(broker, name, self._left_s)) for name, fields in call.accounts.items()
        }
        self._plain = BrokeredHttp(broker, None, self._left_s)
        self.page, self.query, self.previous = call.page, call.query or "", dict(call.previous)
        self.event, self.files, self.db = call.event, Files(call.files), Memory(call.state, send)
        self.endpoint: str | None = call.endpoint
        self._answers = any(prop.own.get("customResponse") for prop in declared.values())
        self.guard: Guard = RelayGuard(broker)

    @property
    def account(self) -> Account:
        """The account of the only app prop. Raises :class:`ComponentError` if there is none, or more than one."""
        if len(self.accounts) != 1:
            raise ComponentError(
                "This needs a connected account; choose one."
                if not self.accounts
                else "This component has several accounts; name one by ctx.accounts[prop]."
            )
        return next(iter(self.accounts.values()))

    @property
    def auth(self) -> Secrets:
        """The fields of :attr:`account`."""
        return self.account.auth

    @property
    def http(self) -> Http:
        """The HTTP client of :attr:`account`; without any account, a client that sends no credential."""
        return self.account.http if self.accounts else self._plain

    def label(self, name: str) -> str | None:
        """The label under which the value of a ``with_label`` prop was chosen."""
        return self._labels.get(name)

    def export(self, name: str, value: Any) -> None:
        """Export ``value`` (JSON) as ``name``; ``$summary`` is the one-line result."""
        self._send({"export": name, "value": value})

    def log(self, *parts: Any) -> None:
        """Add a line to the log of this call."""
        text = " ".join(map(str, parts))
        self._send({"log": text.encode("utf-8", "replace").decode(), "ts": now()})

    def emit(
        self, event: Any, *, id: str | int | None = None, summary: str | None = None, ts: int | None = None
    ) -> None:
        """Emit ``event`` (JSON) from a trigger; ``dedupe`` compares ``id``; ``ts`` is epoch milliseconds."""
        event_id, line = (None if text is None else str(text) for text in (id, summary))
        self._send({"emit": event, "id": event_id, "summary": line, "ts": now() if ts is None else int(ts)})

    def subscribed_until(self, ends_at: int) -> None:
        """Say when the trigger's subscription at its app ends, in epoch milliseconds: it is renewed before that."""
        self._send({"ends": ends_at})

    def respond(
        self, status: int = 200, body: str | Mapping[str, Any] = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Respond to the request that started the trigger; a mapping as ``body`` is sent as JSON. The last response
        counts.

        Only for a trigger with ``http_interface(custom_response=True)``. Raises :class:`ComponentError`.
        """
        if not self._answers:
            raise ComponentError("Only a trigger with http_interface(custom_response=True) may answer its request.")
        if not 200 <= status <= 599:
            raise ComponentError(f"{status} is not a status to answer with. Use one from 200 to 599.")
        wire_headers = {} if isinstance(body, str) else {"content-type": "application/json"}
        wire_headers |= {name.lower(): value for name, value in (headers or {}).items()}
        if not all(_is_header(name, value) for name, value in wire_headers.items()):
            raise ComponentError("A header of the answer is not valid. Use names and values without line breaks.")
        text = body if isinstance(body, str) else orjson.dumps(dict(body)).decode()
        self._send({"respond": int(status), "body": text, "headers": wire_headers})

    def _left_s(self) -> float:
        """Seconds for the next request: a little less than the call has left, so that it can still report a timeout."""
        return min(limits.REQUEST_S, self._ends - time.monotonic() - 0.5)


def _is_header(name: str, value: str) -> bool:
    return _HEADER_NAME.fullmatch(name) is not None and isinstance(value, str) and value.isprintable()
