"""Turns one way of a piece to connect into the facts of an ``app.toml``: fields, OAuth, and a test by the piece.

Fields become custom fields of the app, with the form in which the piece gets them. Of a token response, the members are
kept that the piece's program uses.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webapp.service.catalog.spec import SESSION_TOKEN
from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import AccountField, AuthForm, FieldKind
from webapp.service.components.pieces.values import static
from webapp.service.pieces.metadata import Auth

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = re.compile(r"(^|_)(key|token|secret|password|passphrase|pat|credential|credentials)(_|$)")
_SERVER = re.compile(r"(^|_)(url|uri|host|hostname|domain|server|instance|endpoint|site|base)(_|$)")
_KINDS: Mapping[str, FieldKind] = {"NUMBER": "number", "CHECKBOX": "boolean", "STATIC_DROPDOWN": "choice"}
_ASKED = ("SHORT_TEXT", "LONG_TEXT", "SECRET_TEXT", *_KINDS)
_YES_OR_NO = [{"label": "Yes", "value": "true"}, {"label": "No", "value": "false"}]
MOST = 12
_STEP = r"""(?:\??\.[A-Za-z_][A-Za-z0-9_]*|(?:\?\.)?\[["'][A-Za-z0-9_-]+["']\])"""
_DATA = re.compile(rf"""\b[Aa]uth\w*\??\.data((?:{_STEP}){{1,3}})(\s*\()?""")
_MEMBER_NAME = re.compile(r"[A-Za-z0-9_-]+")
_TOKENS = frozenset({"access_token", "refresh_token", "expires_in", "scope", "token_type", "id_token"})
CLIENT_CREDENTIALS = "client_credentials"
_HOLE = re.compile(r"\{\{?\s*(?:props\.)?([A-Za-z_$][\w$]*)\s*\}?\}")
_STEPS = (
    "Open the page where OAuth clients of this service are made, and make one for a web application.",
    "Enter {redirect_uri} as the **Redirect URI**.",
    "Copy the client's id and secret.",
)
_MOST_SCOPES = 200
_OIDC = "It signs in as a workload (OpenID Connect without a person), which is not done here."
_UNKNOWN = "It connects in a way that is not known here."


@dataclass(frozen=True, slots=True)
class Fields:
    """``listed`` as in an ``app.toml``, ``of_piece`` by the piece's names, and those that are ``servers``, as host
    rules. ``reason`` says why a person cannot be asked for them, or is empty.
    """

    listed: tuple[dict[str, Any], ...] = ()
    of_piece: Mapping[str, AccountField] | None = None
    servers: tuple[str, ...] = ()
    reason: str = ""


def of_props(auth: Auth, reserved: tuple[str, ...] = ()) -> Fields:
    """The fields of the ``props`` of ``auth``."""
    listed, of_piece, servers = list[dict[str, Any]](), dict[str, AccountField](), list[str]()
    notes = [texts.plain(auth.description)]
    for own, described in auth.props.items():
        kind = described.get("type") if isinstance(described, Mapping) else None
        if kind == "MARKDOWN":
            notes.append(texts.plain(described.get("description")))
        elif kind in _ASKED:
            name = field_name(own, (*reserved, *(each["name"] for each in listed)))
            listed.append(_field(name, own, described))
            of_piece[own] = AccountField(field=name, kind=_KINDS.get(str(kind), "text"))
            if kind == "SHORT_TEXT" and _SERVER.search(name) and not listed[-1].get("secret"):
                servers.append(f"{{{name}}}")
        elif not isinstance(described, Mapping) or described.get("required") is True:
            return Fields(reason=f"To connect, it needs {own}, which cannot be asked for here.")
    return Fields(_noted(listed, notes), of_piece, tuple(servers))


def secret(auth: Auth) -> Fields:
    """The field of an account with a secret text."""
    label = texts.line(auth.name, 100)
    name = field_name(label, ()) if label not in ("", "Connection") else "api_key"
    shown = label if name != "api_key" or label not in ("", "Connection") else "API key"
    listed = {"name": name, "label": shown, "secret": True}
    return Fields(_noted([listed], [texts.plain(auth.description)]), {"secret_text": AccountField(field=name)})


def basic(auth: Auth) -> Fields:
    """The two fields of an account with a username and a password."""
    listed = [
        {"name": name, "label": texts.line(described.get("displayName"), 100) or label, **_about(described), **extra}
        for name, described, label, extra in (
            ("username", auth.username, "User name", {}),
            ("password", auth.password, "Password", {"secret": True}),
        )
    ]
    of_piece = {name: AccountField(field=name) for name in ("username", "password")}
    return Fields(_noted(listed, [texts.plain(auth.description)]), of_piece)


def field_name(own: str, taken: tuple[str, ...]) -> str:
    """A valid name of a custom field for the piece's ``own``: ``apiKey`` is ``api_key``."""
    text = "_".join(part.lower() for part in _WORD.findall(own))[:46].strip("_")
    text = text if _NAME.fullmatch(text) and not text.startswith("oauth_") else f"field_{text}".rstrip("_")[:46]
    number, candidate = 1, text
    while candidate in taken:
        number += 1
        candidate = f"{text}_{number}"
    return candidate


def _field(name: str, own: str, described: Mapping[str, Any]) -> dict[str, Any]:
    label = texts.line(described.get("displayName"), 100) or texts.label(own)
    field: dict[str, Any] = {"name": name, "label": label, **_about(described)}
    kind = described.get("type")
    is_secret = kind == "SECRET_TEXT" or bool(_SECRET.search(name))
    options = _YES_OR_NO if kind == "CHECKBOX" else _options(described) if kind == "STATIC_DROPDOWN" else []
    default = described.get("defaultValue")
    if isinstance(default, bool):
        default = str(default).lower()
    elif isinstance(default, int | float):
        default = str(default)
    field |= {"secret": True} if is_secret else {}
    field |= {"options": options} if options else {}
    field |= {} if described.get("required") is True else {"optional": True}
    fits = isinstance(default, str) and default and (not options or default in [each["value"] for each in options])
    return {**field, "default": default} if fits and not is_secret else field


def _options(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    _, options = static(described.get("options"))
    return [{"label": each["label"], "value": _as_text(each["value"])} for each in options]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else f"json:{str(value).lower()}"


def _about(described: Mapping[str, Any]) -> dict[str, Any]:
    about = texts.plain(described.get("description"))
    return {"description": about} if about else {}


def _noted(listed: list[dict[str, Any]], notes: list[str]) -> tuple[dict[str, Any], ...]:
    """The fields, with the piece's note about connecting in the first."""
    about = "\n\n".join(note for note in notes if note)
    if not listed or not about:
        return tuple(listed)
    first = {
        **listed[0],
        "description": "\n\n".join(part for part in (about, listed[0].get("description", "")) if part),
    }
    return (first, *listed[1:])


def kept(source: str) -> Mapping[str, str]:
    """The dotted paths in a token response that ``source`` uses, by the names of their fields."""
    paths = list[str]()
    for match in _DATA.finditer(source):
        steps = _MEMBER_NAME.findall(match[1])
        steps = steps[:-1] if match[2] else steps  # the last step calls a method of the value
        path = ".".join(steps)
        if steps and path not in _TOKENS and path not in paths:
            paths.append(path)
    names = dict[str, str]()
    for path in paths[:MOST]:
        names[field_name(path.replace(".", "_"), tuple(names))] = path
    return names


@dataclass(frozen=True, slots=True)
class Connection:
    """``facts`` are those of an ``app.toml``, and ``form`` is how its accounts become the piece's value.

    ``reason`` says why there is none, or is empty.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    form: AuthForm | None = None
    reason: str = ""


def connection(index: int, auth: Auth, keep: Mapping[str, str], docs_url: str) -> Connection:
    """Convert ``auth``, which is number ``index`` of the piece's auth types.

    ``keep`` are the members of the token response that the piece uses (dotted paths), by the names of their fields.
    """
    if auth.type == "OAUTH2":
        return _oauth(index, auth, keep, docs_url)
    ways: Mapping[str, Callable[[Auth], Fields]] = {
        "SECRET_TEXT": secret, "BASIC_AUTH": basic, "CUSTOM_AUTH": of_props
    }  # fmt: skip
    if auth.type not in ways:
        return Connection(reason=_OIDC if auth.type == "OIDC" else _UNKNOWN)
    entered = ways[auth.type](auth)
    if entered.reason or not entered.listed:
        return Connection(reason=entered.reason or _UNKNOWN)
    form = AuthForm.model_validate(
        {"type": auth.type, "index": index, "fields": entered.of_piece, "hosts": entered.servers,
         "validated": auth.validates}
    )  # fmt: skip
    return Connection({"auth_type": "keys", "fields": list(entered.listed)}, form)


def _oauth(index: int, auth: Auth, keep: Mapping[str, str], docs_url: str) -> Connection:
    by_itself = auth.grant == CLIENT_CREDENTIALS
    reserved = ("client_id", "client_secret") if by_itself else ()
    entered = of_props(auth, (*reserved, *keep))
    if entered.reason:
        return Connection(reason=entered.reason)
    of_piece = entered.of_piece or {}
    addresses = [_filled_holes(address, of_piece) for address in (auth.authorize_url, auth.token_url)]
    if not addresses[1].startswith("https://") or not (by_itself or addresses[0].startswith("https://")):
        return Connection(reason="Its OAuth addresses are not whole.")
    form = AuthForm.model_validate(
        {"type": "OAUTH2", "index": index, "fields": of_piece,
         "token": SESSION_TOKEN if by_itself else "oauth_access_token",
         "data": {path: name for name, path in keep.items()}, "validated": auth.validates,
         "hosts": (*entered.servers, *(f"{{{name}}}" for name in keep if _names_server(name)))}
    )  # fmt: skip
    credentials = [{"place": "bearer", "value": f"{{{form.token}}}", "source": docs_url}]
    facts: dict[str, Any] = {"fields": list(entered.listed), "credentials": credentials}
    if by_itself:
        return Connection({**facts, "auth_type": "keys", **_session(auth, addresses[1], facts, keep, docs_url)}, form)
    oauth = {**_oauth_section(auth, addresses, docs_url), **({"keep": dict(keep)} if keep else {})}
    return Connection({**facts, "auth_type": "oauth", "oauth": oauth}, form)


def _filled_holes(address: str, of_piece: Mapping[str, AccountField]) -> str:
    """``address`` with our field names in its placeholders. A field in a host may have several labels."""

    def hole(match: re.Match[str]) -> str:
        known = of_piece.get(match[1])
        in_host = "/" not in address[: match.start()].partition("://")[2]
        whole = match.start() == 0
        return match[0] if known is None else f"{{{known.field}{'*' if in_host and not whole else ''}}}"

    return _HOLE.sub(hole, address.strip())


def _names_server(name: str) -> bool:
    """Whether a member of a token response is the address of a server, by its name."""
    return name.endswith(("_url", "_uri", "_host", "_domain", "_endpoint", "_server"))


def _oauth_section(auth: Auth, addresses: list[str], docs_url: str) -> dict[str, Any]:
    authorize, _, query = addresses[0].partition("?")
    params = {"access_type": "offline", **({} if auth.prompt == "omit" else {"prompt": auth.prompt or "consent"})}
    params |= dict(parse_qsl(query))
    params |= {name: value for name, value in auth.extra.items() if isinstance(value, str)}
    names = dict.fromkeys(scope.strip() for scope in auth.scopes[:_MOST_SCOPES])
    basic = auth.method == "HEADER"
    return {
        "authorize_url": authorize,
        "token_url": addresses[1],
        "pkce": auth.pkce,
        "token_auth_method": "client_secret_basic" if basic else "client_secret_post",
        "authorize_params": params,
        "sources": [docs_url],
        "client": {"console_url": _console(authorize, docs_url), "steps": list(_STEPS), "source": docs_url},
        "scopes": [{"scope": name, "words": f"use {name}"} for name in names if name],
    }


def _session(
    auth: Auth, token_url: str, facts: Mapping[str, Any], keep: Mapping[str, str], docs_url: str
) -> dict[str, Any]:
    """The exchange of a client's id and secret for a token (RFC 6749 section 4.4)."""
    client = [
        {"name": "client_id", "label": "Client ID"},
        {"name": "client_secret", "label": "Client secret", "secret": True},
    ]
    form = {"grant_type": CLIENT_CREDENTIALS, **({"scope": " ".join(auth.scopes)} if auth.scopes else {})}
    form |= {name: value for name, value in auth.extra.items() if isinstance(value, str)}
    basic = {"place": "basic", "username": "{client_id}", "password": "{client_secret}", "source": docs_url}
    session: dict[str, Any] = {"url": token_url, "form": form, "source": docs_url}
    if auth.method == "HEADER":
        session["credentials"] = [basic]
    else:
        session["form"] |= {"client_id": "{client_id}", "client_secret": "{client_secret}"}
    optional = {name: path for name, path in keep.items() if _names_server(name)}
    return {"fields": [*client, *facts["fields"]], "session": {**session, **({"keep": optional} if optional else {})}}


def _console(authorize: str, docs_url: str) -> str:
    host = urlsplit(authorize).netloc
    return f"https://{host}" if host and "{" not in host else docs_url
