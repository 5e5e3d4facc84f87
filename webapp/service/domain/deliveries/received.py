"""A request that came for a trigger, as it is kept: what is known of it as JSON, and its body once, as it came.

Its payload, ``{method, path, query, headers, body, bodyRaw, client_ip, url}``, is composed when it is shown or sent.
``bodyRaw`` is the body as UTF-8, with U+FFFD in place of what is none; ``body`` is what it says as JSON, or else that
text. So control characters, which JSON writes in six bytes, take their room only then.
"""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

MAX_DEPTH = 150  # of a body's arrays and objects; the JSON library writes 254 levels, and a body stands inside some
_MARK = b"\x01"  # JSON never begins with it, and holds no line break of its own
_SLICE = 256 * 1024
SMALL = 64 * 1024
"""Up to so many bytes a body is kept with the rest."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request. ``facts`` are its payload with None in the place of ``body`` and ``bodyRaw``."""

    facts: Mapping[str, Any] = field(repr=False)
    content: bytes = field(repr=False)

    def packed(self) -> tuple[bytes, bytes]:
        """As it is kept, and the body where it is so large that it is kept beside that, in parts."""
        facts = _MARK + orjson.dumps(self.facts) + b"\n"
        return (facts, self.content) if len(self.content) > SMALL else (facts + self.content, b"")

    def payload(self) -> dict[str, Any]:
        """What is emitted, shown and sent."""
        raw = self.content.decode("utf-8", "replace")
        content_type = str(self.facts["headers"].get("content-type", "")).lower()
        return {**self.facts, "body": _read(raw, content_type), "bodyRaw": raw}

    def size(self) -> int:
        """How many bytes of JSON the payload has, or somewhat more: what it says as JSON is no longer than its text."""
        return len(orjson.dumps(self.facts)) + 2 * _written(self.content)


def is_packed(kept: bytes) -> bool:
    """Whether ``kept`` is a request rather than JSON."""
    return kept[:1] == _MARK


def unpacked(kept: bytes, content: bytes = b"") -> ReceivedRequest:
    """The request that was packed, with its body where that was kept beside it."""
    facts, _, inside = kept[1:].partition(b"\n")
    return ReceivedRequest(orjson.loads(facts), content or inside)


def _written(content: bytes) -> int:
    """The length of ``content`` as a JSON string, found without writing it whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    view, length = memoryview(content), 2
    for start in range(0, len(content), _SLICE):
        text = decoder.decode(bytes(view[start : start + _SLICE]), final=start + _SLICE >= len(content))
        length += len(orjson.dumps(text)) - 2
    return length


def _read(raw: str, content_type: str) -> Any:
    """``raw`` as JSON where that is what it is: said by its type, or told by how it begins, as curl sends it."""
    media_type = content_type.partition(";")[0].strip()
    looks_like_json = raw.lstrip()[:1] in ("{", "[") and not media_type.startswith("multipart/")
    if not looks_like_json and not (media_type == "application/json" or media_type.endswith("+json")):
        return raw
    try:
        value = orjson.loads(raw)
        orjson.dumps(_wrapped(value))
    except (orjson.JSONDecodeError, TypeError):  # not JSON, or nested too deeply to be passed on as such
        return raw
    return value


def _wrapped(value: Any) -> Any:
    """``value`` inside so many lists that the JSON library refuses it when it is deeper than :data:`MAX_DEPTH`."""
    for _ in range(254 - MAX_DEPTH):
        value = [value]
    return value
