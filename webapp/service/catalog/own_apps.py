"""What an operator's own app may leave out: where each fact was read. It is taken to be the app's documentation."""

from collections.abc import Mapping
from typing import Any

_TABLES = ("test", "identity", "refusals", "session", "assertion", "client", "look_up", "revocation", "check", "events")
_INNER = ("request", "seen_by", "oauth", *_TABLES)


def with_sources(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` of an ``app.toml`` with ``docs_url`` for each source that is missing; the same where there is none."""
    docs_url = fields.get("docs_url")
    if not isinstance(docs_url, str):
        return dict(fields)
    filled = _filled("", fields, docs_url)
    return {"sources": [docs_url], **filled}


def _filled(name: str, table: Mapping[str, Any], docs_url: str) -> dict[str, Any]:
    filled = dict(table)
    for member, value in table.items():
        if isinstance(value, Mapping) and member in _INNER:
            filled[member] = _filled(member, value, docs_url)
        elif member == "credentials" and isinstance(value, list):
            filled[member] = [{"source": docs_url, **each} if isinstance(each, Mapping) else each for each in value]
    if name in _TABLES or name == "request":
        filled.setdefault("source", docs_url)
    if name == "oauth":
        filled.setdefault("sources", [docs_url])
    if name == "client":
        filled.setdefault("console_url", docs_url)
    return filled
