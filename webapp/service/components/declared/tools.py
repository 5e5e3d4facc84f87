"""Runs a declared action whose form names a tool: calls it at the MCP server of the account's app.

The result is the tool's structured content, else its text. Images, sounds and other binary content become files. What
a server reports while it works stands in the log. A handshake is remembered for the calls of the same credential that
follow, in this process and for some minutes; without a credential, each call has one of its own, so that no user meets
the session of another.
"""

import base64
import binascii
import mimetypes
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from webapp.kit.text import one_line
from webapp.service.components import limits
from webapp.service.components.declared.form import ActionForm, Tool
from webapp.service.components.declared.requests import first_address
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import fill
from webapp.service.components.errors import MESSAGE_CHARS, ComponentError, HttpError, ResultError
from webapp.service.components.http import HttpRequest
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp import Handshake, McpClient, McpFailure
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Watch

REMEMBERED_S, MOST_REMEMBERED = 600.0, 1_000
MOST_FILES = 20
_NO_REASON = "The tool failed without a reason."
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]{1,80}/[a-z0-9.+-]{1,80}")
Key = tuple[str, str]


class Handshakes:
    """The handshakes of this process, by credential and address. Threads may share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, tuple[Handshake, float]] = OrderedDict()

    def get(self, key: Key) -> Handshake | None:
        """That of ``key``, unless it is too old."""
        with self._lock:
            handshake, at = self._known.get(key, (None, 0.0))
            return handshake if time.monotonic() - at < REMEMBERED_S else None

    def put(self, key: Key, handshake: Handshake | None) -> None:
        """Remember the handshake of ``key``; None forgets it."""
        with self._lock:
            self._known.pop(key, None)
            if handshake is not None:
                self._known[key] = handshake, time.monotonic()
            while len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)


HANDSHAKES = Handshakes()


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
    result = client.call(tool.name, arguments)
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
