"""The facts of an app that is imported: what stands in its ``app.toml``."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.catalog.importing import testing, words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.schemes import SignIn
from webapp.service.catalog.importing.servers import Server
from webapp.service.catalog.importing.standing import Options

_CATEGORY = "developer_tools"
_COLORS = ("#0f766e", "#1d4ed8", "#6d28d9", "#9d174d", "#9a3412", "#3f6212", "#0e7490", "#4338ca")


def app(
    document: Document,
    slug: str,
    options: Options,
    server: Server,
    sign_in: SignIn,
    docs_url: str,
    tests: Sequence[Operation],
) -> tuple[dict[str, Any], str]:
    """The facts of ``app.toml``, and which operation tests an account."""
    info = document.info
    name = options.name or words.sentences(info.get("title"), 60).rstrip(".") or words.label(slug)
    about = words.one_sentence(info.get("description")) or words.one_sentence(info.get("summary"))
    letter = next((character for character in name if character.isalnum()), "A").upper()[:1]
    facts: dict[str, Any] = {
        "slug": slug,
        "name": name,
        "description": about if about.endswith(".") else f"The API of {name}.",
        "categories": [options.category or _CATEGORY],
        "auth_type": sign_in.auth_type,
        "logo": {"letter": letter, "color": _COLORS[zlib.crc32(slug.encode()) % len(_COLORS)]},
    }
    if sign_in.auth_type == "none":
        return {**facts, "docs_url": docs_url}, ""
    test = testing.test(tests, options.test)
    facts |= {
        "docs_url": docs_url,
        "base_url": server.url,
        "allowed_hosts": [server.host],
        "sources": [docs_url],
        "fields": [*server.fields, *sign_in.fields],
        "credentials": list(sign_in.credentials),
        "test": {**test, "source": docs_url},
    }
    if sign_in.session:
        facts["session"] = dict(sign_in.session)
    if sign_in.oauth:
        facts["oauth"] = dict(sign_in.oauth)
    return facts, f"{test['method']} {test['url']}"


def narrowed(
    facts: Mapping[str, Any], done: Sequence[Operation], document: Document, sign_in: SignIn
) -> dict[str, Any]:
    """``facts``, whose OAuth asks by default for the scopes that its actions name; others may be chosen."""
    if "oauth" not in facts:
        return dict(facts)
    used = {
        str(scope)
        for operation in done
        for way in _listed(operation.node.get("security", document.root.get("security")))
        for name, scopes in (way.items() if isinstance(way, Mapping) else ())
        if name in sign_in.names
        for scope in _listed(scopes)
    }
    scopes = [
        scope if not used or scope["scope"] in used else {**scope, "default": False}
        for scope in facts["oauth"]["scopes"]
    ]
    return {**facts, "oauth": {**facts["oauth"], "scopes": scopes}}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def docs_url(document: Document, options: Options, server: Server) -> str:
    """Where people read about the API: what was chosen, what the document says, where it stands, else its server."""
    external = document.refs.object(document.root.get("externalDocs")).get("url")
    contact = document.refs.object(document.info.get("contact")).get("url")
    for url in (options.docs_url, external, document.address, contact, server.plain):
        if isinstance(url, str) and url.startswith("https://") and not any(mark in url for mark in "{} \\"):
            return url
    return server.plain if "{" not in server.plain and "://" in server.plain else "https://www.openapis.org"
