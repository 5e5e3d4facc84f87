"""One way of a piece to connect as what an ``app.toml`` says of it: fields, OAuth, and that the piece tests it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webapp.service.catalog.spec import SESSION_TOKEN
from webapp.service.components.pieces.form import AccountField, AuthForm
from webapp.service.pieces.connecting import fields
from webapp.service.pieces.connecting.fields import Fields
from webapp.service.pieces.metadata import Auth

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
class Connection:
    """``facts`` are those of an ``app.toml``, and ``form`` is how its accounts become the piece's value.

    ``reason`` says why there is none of it; empty where there is.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    form: AuthForm | None = None
    reason: str = ""


def connection(index: int, auth: Auth, keep: Mapping[str, str], docs_url: str) -> Connection:
    """The way to connect ``auth``, which is the piece's number ``index``.

    ``keep`` are members of the token answer that the piece looks at (dotted paths), by the fields that they become.
    """
    if auth.type == "OAUTH2":
        return _oauth(index, auth, keep, docs_url)
    ways: Mapping[str, Callable[[Auth], Fields]] = {
        "SECRET_TEXT": fields.secret, "BASIC_AUTH": fields.basic, "CUSTOM_AUTH": fields.of_props
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
    entered = fields.of_props(auth, (*reserved, *keep))
    if entered.reason:
        return Connection(reason=entered.reason)
    of_piece = entered.of_piece or {}
    addresses = [filled_holes(address, of_piece) for address in (auth.authorize_url, auth.token_url)]
    if not addresses[1].startswith("https://") or not (by_itself or addresses[0].startswith("https://")):
        return Connection(reason="Its OAuth addresses are not whole.")
    form = AuthForm.model_validate(
        {"type": "OAUTH2", "index": index, "fields": of_piece,
         "token": SESSION_TOKEN if by_itself else "oauth_access_token",
         "data": {path: name for name, path in keep.items()}, "validated": auth.validates,
         "hosts": (*entered.servers, *(f"{{{name}}}" for name in keep if names_server(name)))}
    )  # fmt: skip
    credentials = [{"place": "bearer", "value": f"{{{form.token}}}", "source": docs_url}]
    facts: dict[str, Any] = {"fields": list(entered.listed), "credentials": credentials}
    if by_itself:
        return Connection({**facts, "auth_type": "keys", **_session(auth, addresses[1], facts, keep, docs_url)}, form)
    oauth = {**_oauth_section(auth, addresses, docs_url), **({"keep": dict(keep)} if keep else {})}
    return Connection({**facts, "auth_type": "oauth", "oauth": oauth}, form)


def filled_holes(address: str, of_piece: Mapping[str, AccountField]) -> str:
    """``address`` with the names of our fields in its holes. A field in a host may hold several labels."""

    def hole(match: re.Match[str]) -> str:
        known = of_piece.get(match[1])
        in_host = "/" not in address[: match.start()].partition("://")[2]
        whole = match.start() == 0
        return match[0] if known is None else f"{{{known.field}{'*' if in_host and not whole else ''}}}"

    return _HOLE.sub(hole, address.strip())


def names_server(name: str) -> bool:
    """Whether a member of a token answer is the address of a server."""
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
    optional = {name: path for name, path in keep.items() if names_server(name)}
    return {"fields": [*client, *facts["fields"]], "session": {**session, **({"keep": optional} if optional else {})}}


def _console(authorize: str, docs_url: str) -> str:
    host = urlsplit(authorize).netloc
    return f"https://{host}" if host and "{" not in host else docs_url
