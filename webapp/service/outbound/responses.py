"""The response to a request, with any status. Its repr has no body, headers or address, because each may contain a
secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from webapp.service.outbound.bodies import Json, parse_json
from webapp.service.outbound.failures import Failure

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses whose Location is followed, where a request follows any (RFC 9110, 15.4)."""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)

    @property
    def ok(self) -> bool:
        """True for 200 to 299."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty if absent."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def retry_after_s(self) -> int | None:
        """Seconds of a Retry-After given in seconds (RFC 9110, 10.2.3), at most a day; None for others."""
        text = self.headers.get("retry-after", "").strip()
        return min(int(text[:9]), 86_400) if text.isascii() and text.isdigit() else None

    def json(self) -> Json | Failure:
        """The body read as JSON (RFC 8259), or why it is none."""
        return parse_json(self.body)
