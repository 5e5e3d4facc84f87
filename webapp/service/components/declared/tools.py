"""Runs a declared action whose form names a tool: calls it at the MCP server of the account's app.

The result is the tool's structured content, else its text. Images, sounds and other binary content become files. What
a server reports while it works stands in the log. A handshake is remembered for the calls of the same credential that
follow, in this process and for some minutes; without a credential, each call has one of its own, so that no user meets
the session of another.

A tool that is pinned is called only as an owner saw it: what the server lists for the caller is compared with the pin,
at the first call, after some minutes, and when the server says that its list has changed. A tool that has changed or is
gone is not called. One that goes on is called as it is now, which the log says, but not for an agent whose person was
not asked about it yet.
"""

import base64
import binascii
import mimetypes
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from webapp.kit.text import one_line
from webapp.service.components import limits
from webapp.service.components.declared.form import ActionForm, Tool
from webapp.service.components.declared.requests import first_address
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import fill
from webapp.service.components.errors import MESSAGE_CHARS, ComponentError, HeldBackError, HttpError, ResultError
from webapp.service.components.http import HttpRequest
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp import Handshake, McpClient, McpFailure, fingerprint
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Watch

REMEMBERED_S, MOST_REMEMBERED = 600.0, 1_000
LISTED_S, MOST_LISTED = 600.0, 200
"""How long a list of tools holds, unless its server says that it has changed; and how many are remembered."""
MOST_FILES = 20
_NO_REASON = "The tool failed without a reason."
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,80}/[a-z0-9.+-]{1,80}")
_CHANGED = (
    "The tool {name} has changed at its server since an owner of this service looked at it, so it was not called. "
    "Whoever runs this service looks at it under Integrations."
)
_GONE = "The server has no tool {name} for this account. Whoever runs this service sees under Integrations what it has."
_AGENT_WAITS = (
    "The tool {name} has changed at its server since it was read, so it was not called. From now on the person is "
    "asked before an agent calls it. Call it again."
)
_GOES_ON = "The tool {name} has changed at its server since it was read. It was called as it is now."
Key = tuple[str, str]
T = TypeVar("T")


class Remembered(Generic[T]):
    """What is known of servers in this process for ``seconds``, by credential and address, of the last ``most``.
    Threads may share it."""

    def __init__(self, seconds: float, most: int) -> None:
        self._lock, self._seconds, self._most = threading.Lock(), seconds, most
        self._known: OrderedDict[Key, tuple[T, float]] = OrderedDict()

    def get(self, key: Key) -> T | None:
        """That of ``key``, unless it is too old."""
        with self._lock:
            value, at = self._known.get(key, (None, 0.0))
            return value if time.monotonic() - at < self._seconds else None

    def put(self, key: Key, value: T | None) -> None:
        """Remember that of ``key``; None forgets it."""
        with self._lock:
            self._known.pop(key, None)
            if value is not None:
                self._known[key] = value, time.monotonic()
            while len(self._known) > self._most:
                self._known.popitem(last=False)


HANDSHAKES = Remembered[Handshake](REMEMBERED_S, MOST_REMEMBERED)
LISTED = Remembered[Mapping[str, str]](LISTED_S, MOST_LISTED)


def call(session: Session, form: ActionForm, tool: Tool) -> Any:
    """The result of the tool. Raises :class:`ComponentError` with the tool's own message if it fails."""
    url = session.http.absolute(first_address(session, form.request, session.scope))
    session.check_time()
    session.check_address(url)
    key = (session.http.lane, url)
    client = McpClient(url, _Asker(session, url), HANDSHAKES.get(key) if key[0] else None, session.log)
    arguments = fill(tool.arguments, session.scope) or {}
    if not isinstance(arguments, Mapping):
        raise ComponentError("The arguments of a tool are an object. Write them as {…}.")
    try:
        _check_pin(session, client, key, tool)
        result = client.call(tool.name, arguments)
    finally:
        if client.tools_changed:
            LISTED.put(key, None)
        if key[0]:
            HANDSHAKES.put(key, client.handshake)
        else:
            client.end()
    if isinstance(result, McpFailure):
        raise HttpError(result.sentence, result.status)
    if result.get("isError") is True:
        texts = "\n".join(_texts(result))
        raise ComponentError(one_line(texts, MESSAGE_CHARS) or _NO_REASON)
    return _value(session, result)


def _check_pin(session: Session, client: McpClient, key: Key, tool: Tool) -> None:
    """Raise :class:`HeldBackError` for a tool that is not as it was pinned, :class:`HttpError` without a list."""
    known = LISTED.get(key) or {}
    if not tool.sha256 or known.get(tool.name) == tool.sha256:
        return
    if not tool.goes_on or tool.name not in known:
        known = _listed(client, key)
    name = one_line(tool.name, limits.LINK_CHARS)
    if tool.name not in known:
        raise HeldBackError(_GONE.format(name=name))
    if known[tool.name] == tool.sha256:
        return
    if not tool.goes_on or session.call.careful:
        raise HeldBackError((_AGENT_WAITS if tool.goes_on else _CHANGED).format(name=name))
    session.log(_GOES_ON.format(name=name))
    session.send({"tool_changed": True})


def _listed(client: McpClient, key: Key) -> Mapping[str, str]:
    """The fingerprints of the server's tools by their names. Raises :class:`HttpError`."""
    listed = client.tools()
    if isinstance(listed, McpFailure):
        raise HttpError(listed.sentence, listed.status)
    client.tools_changed = False
    fingerprints = {str(each["name"]): fingerprint(each) for each in listed.tools}
    LISTED.put(key, fingerprints)
    return fingerprints


class _Asker:
    """Sends the requests of a conversation with the account's credential."""

    def __init__(self, session: Session, url: str) -> None:
        self._session, self._url = session, url

    def __call__(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch, url: str = ""
    ) -> Response | Failure:
        def take(head: Response, block: bytes) -> bool:
            self._session.count_bytes(len(block))
            self._session.check_time()
            return watch(head, block)

        self._session.check_time()
        request = HttpRequest(method, url or self._url, headers=headers, body=body)
        return self._session.tool_http.exchange(request, take)


def _value(session: Session, result: Mapping[str, Any]) -> Any:
    """What the tool gave: data, or text; an object of both where there are files or links, too."""
    structured = result.get("structuredContent")
    files = [file for item in _items(result) if (file := _file(session, item))][:MOST_FILES]
    links = [_link(item) for item in _items(result) if item.get("type") == "resource_link"]
    text = "\n\n".join(_texts(result))
    if not files and not links:
        return text if structured is None else structured
    more = {"files": files, "links": links}
    value = {"text": text} if structured is None else {"data": structured}
    return {**value, **{name: each for name, each in more.items() if each}}


def _items(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = result.get("content")
    yield from (item for item in content if isinstance(item, Mapping)) if isinstance(content, list) else ()


def _texts(result: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a result: its own, and those of resources in it."""
    for item in _items(result):
        text = _resource(item).get("text") if item.get("type") == "resource" else item.get("text")
        if isinstance(text, str) and text:
            yield text


def _resource(item: Mapping[str, Any]) -> Mapping[str, Any]:
    resource = item.get("resource")
    return resource if isinstance(resource, Mapping) else {}


def _file(session: Session, item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The file that ``item`` is, kept for the caller; None for anything else."""
    holder = _resource(item) if item.get("type") == "resource" else item
    encoded = holder.get("blob") if item.get("type") == "resource" else holder.get("data")
    if item.get("type") not in ("audio", "image", "resource") or not isinstance(encoded, str):
        return None
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ResultError("The tool gave a file that cannot be read. Try again later.") from None
    session.count_file(content)
    media_type = str(holder.get("mimeType", "")).partition(";")[0].strip().lower()
    media_type = media_type if _MEDIA_TYPE.fullmatch(media_type) else "application/octet-stream"
    name = session.next_file_name(str(item["type"]), mimetypes.guess_extension(media_type) or ".bin")
    session.send({"file": name, "content": encoded})
    return {"name": name, "size": len(content), "content_type": media_type}


def _link(item: Mapping[str, Any]) -> dict[str, str]:
    shown = {name: item.get(name) for name in ("name", "title", "uri", "mimeType", "description")}
    return {name: one_line(value, limits.LINK_CHARS) for name, value in shown.items() if isinstance(value, str)}
