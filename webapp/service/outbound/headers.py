"""The headers of requests that go out: what we say of ourselves, what no caller may set, and what may go to another
origin."""

import re

from webapp.service.outbound.failures import Failure

USER_AGENT = "Patchbay/0.1"
RESERVED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"}
    | {"expect", "proxy-authorization", "proxy-connection", "accept-encoding"}
)
"""Framing and routing (RFC 9110, 7.6.1; RFC 9112): set by the transport, never by a caller."""
HARMLESS = frozenset({"accept", "accept-language", "content-type", "user-agent"})
"""All that a redirect takes to another origin; whatever else a caller set may be a credential."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def header_refusal(name: str, value: str) -> Failure | None:
    """Why a header cannot be sent, if it cannot."""
    if not _TOKEN.fullmatch(name):
        return _refused("A header name contains characters that are not allowed. Use letters, digits and hyphens.")
    if name.lower() in RESERVED:
        return _refused(f"The header {name} is set by the service. Leave it out.")
    if not _VALUE.fullmatch(value):
        return _refused(f"The value of the header {name} contains a line break or another character not allowed there.")
    return None


def _refused(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)
