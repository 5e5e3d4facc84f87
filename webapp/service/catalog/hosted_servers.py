"""Apps of MCP servers that providers host, made of the table ``[mcp]`` in an ``app.toml``.

An app that has requests of its own gets a second one beside it, ``<slug>_mcp``, because an account that was connected
to the server serves the server's tools only. An ``app.toml`` that names nothing but a server is an app of that server.
Where people sign in, the server itself says at the first sign-in; what it said, and its tools, are an app of the
operator's with the same slug (:func:`taken_up`), which looks like the one that is declared here.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

TABLE = "mcp"
SUFFIX = " (MCP)"
DESCRIPTION = "The tools that the provider itself offers for agents and automations."
_LOOKS = ("name", "description", "categories", "featured_weight", "logo", "docs_url", TABLE)
_STEPS = (
    "Create an OAuth client for the server in the settings for developers, as its documentation says.",
    "Enter {redirect_uri} as its redirect URI.",
    "Copy the client ID, and the client secret if there is one.",
)


def own_facts(fields: dict[str, Any]) -> dict[str, Any] | None:
    """The ``fields`` of an ``app.toml`` without its server; None where they have nothing else to connect to."""
    if TABLE not in fields:
        return fields
    return {name: value for name, value in fields.items() if name != TABLE} if "auth_type" in fields else None


def server_facts(fields: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the app of the server that the ``fields`` of an ``app.toml`` name; None where they name none."""
    server = fields.get(TABLE)
    if not isinstance(server, Mapping) or not isinstance(server.get("url"), str):
        return None
    beside = fields.get("slug") if "auth_type" in fields else None
    looks = {name: fields[name] for name in ("slug", *_LOOKS) if name in fields}
    if beside:
        looks |= {
            "slug": f"{beside}_mcp",
            "name": f"{fields.get('name')}{SUFFIX}",
            "description": DESCRIPTION,
        }
    source = server.get("source")
    shown = {"docs_url": source, "sources": [source], TABLE: {**server, **({"beside": beside} if beside else {})}}
    return {**looks, **shown, **_connection(server, str(fields.get("name")), source)}


def _connection(server: Mapping[str, Any], provider: str, source: Any) -> dict[str, Any]:
    """How accounts of the server are connected and tested."""
    parts, auth = urlsplit(server["url"]), server.get("auth", "oauth")
    if auth == "none":
        return {"auth_type": "none"}
    facts = {
        "base_url": f"{parts.scheme}://{parts.netloc}",
        "allowed_hosts": [parts.netloc],
        "test": {"kind": "mcp", "url": parts.path or "/", "source": source},
    }
    if auth == "key":
        return {**facts, "auth_type": "keys", **_key(server, source)}
    oauth = {
        "issuer": f"{parts.scheme}://{parts.netloc}",  # until the server says where people sign in
        "token_auth_method": "none",
        "refresh": "rotating",
        "sources": [source],
        "client": {
            "console_url": source, "steps": _STEPS, "source": source, "provider": provider,
            "console": f"{provider}’s documentation", "read_on": server.get("read_on"),
        },
        "check": {"possible": False, "source": source},
    }  # fmt: skip
    return {**facts, "auth_type": "oauth", "credentials": [{"place": "bearer", "source": source}], "oauth": oauth}


def _key(server: Mapping[str, Any], source: Any) -> dict[str, Any]:
    """The field and the credential, named as the importer of servers names them."""
    header = server.get("header")
    field, label = ("api_key", "API key") if header else ("token", "Token")
    place = {"place": "header", "name": header} if header else {"place": "bearer"}
    return {
        "fields": [{"name": field, "label": server.get("key_name") or label, "secret": True, "docs_url": source}],
        "credentials": [{**place, "value": f"{{{field}}}", "source": source}],
    }


def key_way(header: str) -> str:
    """How a key is sent, as the importer of servers calls it."""
    return f"header:{header}" if header else "bearer"


def taken_up(declared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The operator's ``own`` fields for a server, with the looks of the one that is ``declared``; unchanged where they
    are of another server, or people connect to it in another way."""
    base_url = own.get("base_url", declared.get("base_url"))
    if own.get("auth_type") != declared.get("auth_type") or base_url != declared.get("base_url"):
        return dict(own)
    return {**own, **{name: declared[name] for name in _LOOKS if name in declared}}
