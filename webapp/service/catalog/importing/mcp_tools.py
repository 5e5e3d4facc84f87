"""The tools of an MCP server as the importer reads them: a listing in the form of OpenAPI 3.

A listing is what a server answered, kept as a document: its address, what it says of itself, its tools, and how one
signs in (:func:`listing`). Each tool becomes an operation whose body is what the tool takes, so that props, names and
everything about importing again are those of any other document; its action then calls the tool
(:class:`webapp.service.components.declared.form.Tool`) instead of a path.

Names and descriptions are the server's: they are shown as plain text, shortened. Annotations are hints, of which a
missing one counts as the careful answer: a tool that says nothing may destroy.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from webapp.kit.text import one_line
from webapp.service.catalog.importing import words
from webapp.service.outbound.mcp import NAME_CHARS, TOLD, fingerprint

KIND = "mcp"
_TAG = "Tools"
_GENERAL = ("api", "mcp", "www")  # names of hosts that tell nothing of whose they are
DESCRIPTION_CHARS = 900
_DEEPEST = 60
SHOWN_CHARS, _SAME_CHARS = 12_000, 400  # of a tool that has changed; of these, what stands before the first difference
_WEBSITE = re.compile(r"https://[\w.~:/?#@!$&*+,;=%-]{1,300}")
_BODY = ("post", "requestBody", "content", "application/json", "schema")
_HINTS = {  # by destructiveHint, idempotentHint
    (True, False): "deletes",
    (True, True): "overwrites",
    (False, False): "creates",
    (False, True): "sets",
}
UNSEEN = "The server shows its tools to accounts only. Connect an account, then add the app again with it."
OAUTH_STEPS = (
    "This server registers clients by itself: Patchbay does it when the app is added.",
    "Where it does not, make a client there, and enter {redirect_uri} as its **Redirect URI**.",
)


@dataclass(frozen=True, slots=True)
class Server:
    """What a listing says beside its tools. ``path`` is that of its address, ``tools`` are its tools by their names.

    ``oauth`` are facts of an app's ``[oauth]``; empty for a server that takes a key, or nothing.
    """

    path: str
    tools: Mapping[str, Mapping[str, Any]] = field(repr=False)
    oauth: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    website: str = ""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """What became of a tool: as it was and as it is now, for an owner to compare; empty where there was or is none."""

    name: str
    before: str
    after: str


def changes(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Iterator[ToolChange]:
    """What is not the same in the tools ``after`` as it was in those ``before``, in the order of their names; nothing
    where none were seen before."""
    for name in sorted({*before, *after}) if before else ():
        old, new = before.get(name), after.get(name)
        if old is None or new is None or fingerprint(old) != fingerprint(new):
            texts = _text(old), _text(new)
            first = max(0, _first_difference(*texts) - _SAME_CHARS) if all(texts) else 0
            yield ToolChange(one_line(name, NAME_CHARS), *(_part(text, first) for text in texts))


def _text(tool: Mapping[str, Any] | None) -> str:
    """All that a server says of a tool. What could not be seen is escaped."""
    if tool is None:
        return ""
    facts = {name: tool[name] for name in TOLD if name not in ("name", "description") and tool.get(name) is not None}
    text = f"{tool.get('description') or ''}\n{json.dumps(facts, indent=2, ensure_ascii=False)}".strip()
    return "".join(mark if mark.isprintable() or mark == "\n" else f"\\u{ord(mark):04x}" for mark in text)


def _first_difference(left: str, right: str) -> int:
    return next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)


def _part(text: str, first: int) -> str:
    """So much of ``text`` as a page can show, from ``first`` on."""
    part = text[first : first + SHOWN_CHARS]
    return f"{'…' if first else ''}{part}{'…' if len(text) > first + SHOWN_CHARS else ''}"


def listing(
    url: str,
    about: Mapping[str, Any],
    tools: Sequence[Mapping[str, Any]],
    *,
    left_out: Sequence[str] = (),
    oauth: Mapping[str, Any] | None = None,
) -> bytes:
    """The document of a server at ``url`` that says ``about`` of itself (``serverInfo``), and lists ``tools``."""
    document = {KIND: 1, "url": url, "server": about, "tools": tools, "left_out": left_out, "oauth": oauth or {}}
    return orjson.dumps(document)


def is_listing(root: Mapping[str, Any]) -> bool:
    """Whether it is such a document."""
    return root.get(KIND) == 1 and isinstance(root.get("url"), str) and isinstance(root.get("tools"), list)


def converted(old: Mapping[str, Any]) -> tuple[dict[str, Any], Server]:
    """The listing ``old`` in the form of OpenAPI 3, and what that has no place for."""
    parts, about = urlsplit(old["url"]), _object(old.get("server"))
    tools = {str(tool["name"]): tool for tool in old["tools"] if isinstance(tool, Mapping) and tool.get("name")}
    title = words.sentences(about.get("title") or about.get("name"), 60) or _named(parts.hostname or "")
    website = str(about.get("websiteUrl") or "")
    website = website if _WEBSITE.fullmatch(website) else ""
    oauth = _object(old.get("oauth"))
    flow = {
        "authorizationUrl": oauth.get("authorize_url"),
        "tokenUrl": oauth.get("token_url"),
        "scopes": {str(scope): "" for scope in oauth.get("scopes") or ()},
    }
    root = {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": str(about.get("version") or ""),
            "description": words.sentences(about.get("description")) or f"The tools of {title}.",
        },
        "servers": [{"url": f"{parts.scheme}://{parts.netloc}"}],
        **({"externalDocs": {"url": website}} if website else {}),
        **(
            {
                "components": {"securitySchemes": {"oauth": {"type": "oauth2", "flows": {"authorizationCode": flow}}}},
                "security": [{"oauth": []}],
            }
            if oauth
            else {"security": []}
        ),
        "paths": {_path(name): {"post": _operation(name, tool)} for name, tool in tools.items()},
    }
    path = parts.path or "/"
    left_out = tuple(str(reason)[:300] for reason in old.get("left_out") or ())
    return root, Server(f"{path}?{parts.query}" if parts.query else path, tools, oauth, left_out, website)


def action(server: Server, name: str, toml: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """The file of an action that was written for the tool ``name``, whose request then calls the tool.

    ``origin`` stands before the path of an app without accounts, and is empty otherwise.
    """
    tool = server.tools[name]
    arguments = _object(toml["request"]).get("json", {})
    annotations = _object(tool.get("annotations"))
    destroys, repeats = annotations.get("destructiveHint") is not False, annotations.get("idempotentHint") is True
    reads = annotations.get("readOnlyHint") is True
    is_open = annotations.get("openWorldHint")
    url = f"{origin}{server.path}".replace("{", "%7B").replace("}", "%7D")
    return {
        **{key: value for key, value in toml.items() if key not in ("request", "hints")},
        "description": _description(server, name, toml["name"]),
        "hints": "reads" if reads else _HINTS[destroys, repeats],
        **({"annotations": {"openWorldHint": is_open}} if isinstance(is_open, bool) else {}),
        "request": {"method": "POST", "url": url},
        "tool": {"name": name, **({"arguments": arguments} if arguments else {}), "sha256": fingerprint(tool)},
    }


def _description(server: Server, name: str, title: str) -> str:
    about = words.sentences(server.tools[name].get("description"), DESCRIPTION_CHARS) or title
    about = about if about.endswith((".", "!", "?", "…")) else f"{about}."
    return f"{about} [See the documentation]({server.website})" if server.website else about


def app_facts(server: Server, app: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an app whose accounts are tested by its server, and sign in as the server says."""
    if app["auth_type"] == "none":
        return dict(app)
    facts = {**app, "test": {"kind": "mcp", "url": server.path, "source": app["docs_url"]}}
    if "oauth" in app:
        own = {name: value for name, value in server.oauth.items() if name != "scopes"}
        client = {**app["oauth"]["client"], "steps": list(OAUTH_STEPS)}
        facts["oauth"] = {**app["oauth"], **own, "client": client}
    return facts


def _operation(name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    annotations = _object(tool.get("annotations"))
    schema = _moved(tool.get("inputSchema"), name, 0)
    takes_any = schema.get("additionalProperties") not in (None, False)
    body = {"required": True, "content": {_BODY[3]: {"schema": schema}}}
    return {
        "operationId": name,
        "tags": [_TAG],
        "summary": tool.get("title") or annotations.get("title") or words.label(name),
        "responses": {"200": {"content": {_BODY[3]: {"schema": {}}}}},
        **({"requestBody": body} if _object(schema.get("properties")) or takes_any else {}),
    }


def _moved(node: Any, name: str, depth: int) -> Any:
    """``node`` with references into its own schema, which is now part of a document."""
    if depth > _DEEPEST:
        return {}
    if isinstance(node, list):
        return [_moved(item, name, depth + 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    moved = {key: _moved(value, name, depth + 1) for key, value in node.items()}
    reference = node.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        steps = ("paths", _path(name), *_BODY)
        pointer = "/".join(quote(step.replace("~", "~0").replace("/", "~1"), safe="~") for step in steps)
        moved["$ref"] = f"#/{pointer}{reference.removeprefix('#')}"
    return moved


def _named(host: str) -> str:
    """A name for a server that does not say any: "Linear" for ``mcp.linear.app``."""
    labels = [label for label in host.split(".")[:-1] if label not in _GENERAL]
    return words.label(labels[-1]) if labels and labels[-1].isascii() and not labels[-1].isdigit() else host


def _path(name: str) -> str:
    return f"/{quote(name, safe='')}"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
