"""How accounts of an imported API sign in: its security schemes as fields, credentials and OAuth of an app.

A way to sign in combines keys, passwords and tokens: their fields, and where their values are sent. OAuth comes from
the document's authorization code flow, or from what OpenID discovery says.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from webapp.errors import Invalid, PatchbayError
from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.operations import Operation
from webapp.service.outbound.headers import header_refusal

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_PREFERENCE = ("bearer", "key", "basic", "session", "oauth", "token")
_MOST_WAYS = 50
_CHOOSE = "Choose what the API takes instead: bearer, basic, header:NAME, query:NAME or none."
_ENTERED_BY_HAND = "An access token, which is entered by hand and not renewed."
_STEPS = (
    "Open the page where this API's OAuth clients are made, and make one for a web application.",
    "Enter {redirect_uri} as the **Redirect URI**.",
    "Copy the client's id and secret.",
)
_MOST_SCOPES = 200
_OPENID_SCOPES = {"openid": "know who you are", "email": "read your e-mail address", "profile": "read your profile"}
_ANY = Operation("POST", "/", {}, {})
"""What stands for the operations of a document that names none yet."""
_SIGNED, _SIGV4 = "x-amazon-apigateway-authtype", "awsSigv4"
"""https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-authtype.html"""
_REGION = "region"
_SIGNING_KEYS: tuple[tuple[str, str, str, Mapping[str, Any]], ...] = (
    ("access_key_id", "Access key ID", "Of a user that may do what you need and no more.", {}),
    ("secret_access_key", "Secret access key", "AWS shows it once, when the key is made.", {}),
    ("session_token", "Session token", "Only for temporary keys, whose ID begins with ASIA.", {"optional": True}),
)
_CLIENT_AUTHENTICATION = ("client_secret_basic", "client_secret_post")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A way to sign in: ``names`` of schemes that are used together, and what an app says of them."""

    names: tuple[str, ...]
    auth_type: str
    fields: tuple[Mapping[str, Any], ...] = ()
    credentials: tuple[Mapping[str, Any], ...] = ()
    oauth: Mapping[str, Any] | None = None
    session: Mapping[str, Any] | None = None
    order: int = 0
    notes: tuple[str, ...] = ()
    by_hand: bool = False

    def serves(self, ways: Iterable[tuple[str, ...]]) -> bool:
        """Whether it is enough for an operation that needs one of ``ways``."""
        return self.by_hand or any(set(way) <= set(self.names) for way in ways)


@dataclass(frozen=True, slots=True)
class About:
    """What ways to sign in refer to: where people read about the API, and the origin of its server.

    ``fetch`` gives what an address answers. It raises :class:`webapp.errors.PatchbayError`.
    """

    docs_url: str
    origin: str = ""
    fetch: Callable[[str], bytes] | None = None


NONE = SignIn((), "none")


@dataclass(slots=True)
class Parts:
    """What the schemes of one way to sign in add up to."""

    fields: list[Mapping[str, Any]] = field(default_factory=list)
    credentials: list[Mapping[str, Any]] = field(default_factory=list)
    oauth: Mapping[str, Any] | None = None
    session: Mapping[str, Any] | None = None
    kinds: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def by_hand(wanted: str, docs_url: str) -> SignIn | None:
    """One that the document does not describe: ``bearer``, ``basic``, ``header:NAME`` or ``query:NAME``; else None."""
    kind, _, name = wanted.partition(":")
    parts = Parts()
    if wanted in ("bearer", "basic"):
        add_http(parts, wanted, {"scheme": wanted}, "", docs_url, alone=True)
    elif kind in ("header", "query") and _HEADER_NAME.fullmatch(name):
        add_key(parts, "key", {"in": kind, "name": name}, "", docs_url, alone=True)
    else:
        return None
    return SignIn((wanted,), "keys", tuple(parts.fields), tuple(parts.credentials), by_hand=True)


def add_http(parts: Parts, name: str, scheme: Mapping[str, Any], about: str, docs_url: str, *, alone: bool) -> None:
    kind = str(scheme.get("scheme", "")).lower()
    if kind == "basic":
        _add_field(parts, "username", "User name", about, secret=False)
        _add_field(parts, "password", "Password", "")
        parts.credentials.append(
            {"place": "basic", "username": "{username}", "password": "{password}", "source": docs_url}
        )
        parts.kinds.append("basic")
        return
    if kind in ("digest", "negotiate", "mutual", "hoba", "scram-sha-1", "scram-sha-256", "vapid"):
        raise ValueError(f"{name} is HTTP {kind}, which accounts cannot have")
    if kind and not _HEADER_NAME.fullmatch(kind):
        raise ValueError(f"{name} is of no scheme that HTTP could have")
    field_name = "token" if alone else words.field(f"{name} token")
    _add_field(parts, field_name, "Token" if alone else words.label(name), about)
    if kind in ("bearer", ""):
        parts.credentials.append({"place": "bearer", "value": f"{{{field_name}}}", "source": docs_url})
    else:
        written = f"{scheme.get('scheme')} {{{field_name}}}"
        parts.credentials.append({"place": "header", "name": "Authorization", "value": written, "source": docs_url})
    parts.kinds.append("bearer")


def add_key(parts: Parts, name: str, scheme: Mapping[str, Any], about: str, docs_url: str, *, alone: bool) -> None:
    place, key = str(scheme.get("in", "")), str(scheme.get("name") or "")
    if place not in ("header", "query", "cookie") or not key:
        raise ValueError(f"{name} does not say where its key is sent")
    if place != "query" and (not _HEADER_NAME.fullmatch(key) or (place == "header" and header_refusal(key, ""))):
        raise ValueError(f"{name} is a {place} that no request can have")
    field_name = "api_key" if alone else words.field(name)
    _add_field(parts, field_name, "API key" if alone else words.label(name), about)
    value = f"{{{field_name}}}"
    if place == "cookie":
        place, key, value = "header", "Cookie", f"{key}={value}"
    parts.credentials.append({"place": place, "name": key, "value": value, "source": docs_url})
    parts.kinds.append("key")


def _add_signature(parts: Parts, document: Document, about: About) -> None:
    """AWS Signature Version 4. The region is a variable of the server, or asked for; the host names the service, unless
    the document names another that signatures are for.
    """
    for name, label, sentence, more in _SIGNING_KEYS:
        parts.fields.append({"name": name, "label": label, "description": sentence, "secret": True, **more})
    if f"{{{_REGION}" not in about.origin:
        parts.fields.append({"name": _REGION, "label": "Region", "description": "Such as eu-central-1."})
    names = [*(name for name, *_ in _SIGNING_KEYS), _REGION]
    service = document.info.get("x-aws-signingName")
    named = {"service": service} if isinstance(service, str) and re.fullmatch(r"[a-z0-9-]{1,60}", service) else {}
    keys = {name: f"{{{name}}}" for name in names}
    parts.credentials.append({"place": "sigv4", "parts": {**keys, **named}, "source": about.docs_url})
    parts.kinds.append("key")


def _add_field(parts: Parts, name: str, label: str, about: str, *, secret: bool = True) -> None:
    described = {"description": about} if about else {}
    parts.fields.append({"name": name, "label": label, **described, **({"secret": True} if secret else {})})


def needed(document: Document, operation: Operation) -> list[tuple[str, ...]]:
    """The ways to sign in of which ``operation`` needs one; () among them where it needs none."""
    listed = operation.node.get("security", document.root.get("security"))
    if not isinstance(listed, list):
        return [(name,) for name in islice(_schemes(document), _MOST_WAYS)] or [()]
    ways = [tuple(sorted(map(str, way))) for way in listed[:_MOST_WAYS] if isinstance(way, Mapping)]
    return ways or [()]


def choices(document: Document, operations: Iterable[Operation], about: About) -> tuple[list[SignIn], dict[str, str]]:
    """The ways to sign in that can be said, the best first, and why the others cannot, by their names."""
    known = list(operations) or [_ANY]
    counts = Counter(way for operation in known for way in needed(document, operation))
    ways, refused = list[tuple[int, SignIn]](), dict[str, str]()
    for way, count in counts.most_common(_MOST_WAYS):
        if not way:
            continue
        try:
            ways.append((count, _sign_in(document, way, about)))
        except ValueError as error:
            refused[" + ".join(way)] = str(error)
    ways.sort(key=lambda each: (-each[0], each[1].order, each[1].names))
    return [way for _, way in ways] or ([NONE] if not refused else []), refused


def chosen(ways: list[SignIn], refused: Mapping[str, str], wanted: str, docs_url: str) -> SignIn:
    """The way called ``wanted`` (``a + b`` of two schemes), else the best. Raises :class:`Invalid`.

    ``none``, and what :func:`by_hand` knows, may be wanted whatever the document says.
    """
    if wanted == "none":
        return NONE
    if way := by_hand(wanted, docs_url):
        return way
    if not wanted:
        if ways:
            return ways[0]
        reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise Invalid.of("auth", f"No way to sign in can be imported. {reasons}. {_CHOOSE}")
    if wanted in refused:
        raise Invalid.of("auth", f"{wanted} cannot be imported: {refused[wanted]}.")
    names = tuple(sorted(part.strip() for part in wanted.split("+")))
    way = next((each for each in ways if each.names == names), None)
    if way is None:
        known = ", ".join(" + ".join(each.names) for each in ways)
        raise Invalid.of("auth", f"There is no way to sign in called {wanted[:100]!r}; there is {known or 'none'}.")
    return way


def _schemes(document: Document) -> Mapping[str, Any]:
    components = document.refs.object(document.root.get("components"))
    return document.refs.object(components.get("securitySchemes"))


def _sign_in(document: Document, way: tuple[str, ...], about: About) -> SignIn:
    """Raises ``ValueError`` with the reason why ``way`` cannot be said."""
    parts, schemes = Parts(), _schemes(document)
    for name in way:
        if name not in schemes:
            raise ValueError(f"the document does not describe {name}")
    for name in _distinct(document, way):
        _add(parts, document, name, document.refs.object(schemes[name]), about, alone=len(way) == 1)
    return SignIn(
        way,
        "oauth" if parts.oauth else "keys",
        tuple(parts.fields),
        tuple(parts.credentials),
        parts.oauth,
        parts.session,
        max(_PREFERENCE.index(kind) for kind in parts.kinds),
        tuple(parts.notes),
    )


def _distinct(document: Document, way: tuple[str, ...]) -> list[str]:
    """The schemes of ``way``, without those that describe the sign-in of another one by a different OAuth flow.

    Google's documents describe one sign-in as two schemes that are needed together: the implicit flow and the
    authorization code flow with the same authorization URL.
    """
    authorizations = {name: _authorization_urls(document, name) for name in way}
    return [
        name
        for name in way
        if not authorizations[name]
        or "authorizationCode" in authorizations[name]
        or not any(
            authorizations[other].get("authorizationCode") in authorizations[name].values()
            for other in way
            if other != name
        )
    ]


def _authorization_urls(document: Document, scheme: str) -> dict[str, object]:
    """The authorization URLs of an OAuth scheme, by its flows."""
    flows = document.refs.object(document.refs.object(_schemes(document)[scheme]).get("flows"))
    urls = {flow: document.refs.object(facts).get("authorizationUrl") for flow, facts in flows.items()}
    return {flow: url for flow, url in urls.items() if url}


def _add(parts: Parts, document: Document, name: str, scheme: Mapping[str, Any], about: About, *, alone: bool) -> None:
    kind = str(scheme.get("type", "")).lower()
    sentence = words.one_sentence(scheme.get("description"))
    if kind == "http":
        add_http(parts, name, scheme, sentence, about.docs_url, alone=alone)
    elif kind == "apikey" and scheme.get(_SIGNED) == _SIGV4:
        _add_signature(parts, document, about)
    elif kind == "apikey":
        add_key(parts, name, scheme, sentence, about.docs_url, alone=alone)
    elif kind in ("oauth2", "openidconnect"):
        if "oauth" in parts.kinds or "session" in parts.kinds or "token" in parts.kinds:
            raise ValueError("it needs two sign-ins at once")
        _tokens(parts, document, scheme, about, sentence)
    else:
        raise ValueError(f"{name} is {str(scheme.get('type') or 'of no type')[:40]}, which accounts cannot have")


def _tokens(parts: Parts, document: Document, scheme: Mapping[str, Any], about: About, sentence: str) -> None:
    """Tokens that a person's sign-in gives, or the exchange of a client's own credentials; else one by hand."""
    parts.oauth = facts(document, scheme, about)
    parts.session = None if parts.oauth else session(document, scheme, about)
    value = {} if parts.oauth else {"value": "{session_token}" if parts.session else "{access_token}"}
    parts.credentials.append({"place": "bearer", "source": about.docs_url, **value})
    parts.kinds.append("oauth" if parts.oauth else "session" if parts.session else "token")
    if parts.session:
        _add_field(parts, "client_id", "Client ID", sentence, secret=False)
        _add_field(parts, "client_secret", "Client secret", "")
    elif not parts.oauth:
        parts.notes.append(_ENTERED_BY_HAND)
        _add_field(parts, "access_token", "Access token", sentence)


def elsewhere(way: SignIn, host: str) -> Iterator[str]:
    """A sentence for each host but the API's own to which the credentials of a client go."""
    addresses = [(way.session or {}).get("url"), (way.oauth or {}).get("token_url")]
    for other in {url.partition("://")[2].partition("/")[0] for url in addresses if url} - {host}:
        yield f"The client's id and secret go to {other[:200]}, which gives a token for them."


def facts(document: Document, scheme: Mapping[str, Any], about: About) -> dict[str, Any] | None:
    """What an app says of ``scheme``; None where it has no flow in which a person signs in.

    Raises ``ValueError`` with a reason for one that cannot be used.
    """
    if str(scheme.get("type", "")).lower() == "openidconnect":
        return _discovered(document, str(scheme.get("openIdConnectUrl") or ""), about)
    flows = document.refs.object(scheme.get("flows"))
    flow = document.refs.object(flows.get("authorizationCode"))
    if not flow:
        return None
    authorize, token = (_whole(document, flow.get(name), about) for name in ("authorizationUrl", "tokenUrl"))
    if not (_is_whole(authorize) and _is_whole(token)):
        raise ValueError("its OAuth addresses are not whole")
    scopes = document.refs.object(flow.get("scopes"))
    return _section(authorize, token, [(str(name), str(text or "")) for name, text in scopes.items()], about.docs_url)


def _discovered(document: Document, url: str, about: About) -> dict[str, Any]:
    """What the provider's metadata says (OpenID Connect Discovery 1.0, section 4)."""
    address = _whole(document, url, about)
    if about.fetch is None or not _is_whole(address):
        raise ValueError("its OpenID Connect address is not whole")
    try:
        metadata = orjson.loads(about.fetch(address))
    except PatchbayError as error:
        raise ValueError(f"its OpenID Connect metadata cannot be read: {error.message.rstrip('.')}") from None
    except orjson.JSONDecodeError:
        metadata = None
    if not isinstance(metadata, dict):
        raise ValueError("its OpenID Connect metadata is no JSON")
    authorize, token = (str(metadata.get(name) or "") for name in ("authorization_endpoint", "token_endpoint"))
    if not (_is_whole(authorize) and _is_whole(token)):
        raise ValueError("its OpenID Connect metadata names no endpoints")
    supported = metadata.get("scopes_supported")
    scopes = [(str(name), "") for name in supported] if isinstance(supported, list) else [("openid", "")]
    section = _section(authorize, token, scopes, about.docs_url)
    methods = metadata.get("token_endpoint_auth_methods_supported")
    known = next(
        (name for name in _CLIENT_AUTHENTICATION if isinstance(methods, list) and name in methods),
        _CLIENT_AUTHENTICATION[0],
    )
    return {**section, "token_auth_method": known}


def _section(authorize: str, token: str, scopes: list[tuple[str, str]], docs_url: str) -> dict[str, Any]:
    return {
        "authorize_url": authorize,
        "token_url": token,
        "sources": [docs_url],
        "client": {"console_url": docs_url, "steps": list(_STEPS), "source": docs_url},
        "scopes": [
            {"scope": name, "words": _words(name, about)}
            for name, about in dict(scopes[:_MOST_SCOPES]).items()
            if name.strip()
        ],
    }


def _words(name: str, about: str) -> str:
    """What a scope allows, as the end of "This app may …"."""
    text = words.sentences(about, 160).rstrip(".") or _OPENID_SCOPES.get(name, f"use {name}")
    for beginning in ("Grants access to ", "Allows you to ", "Allow to ", "Allows to ", "Ability to ", "Access to "):
        if text.startswith(beginning):
            text = f"{'use ' if 'ccess to' in beginning else ''}{text.removeprefix(beginning)}"
    second = text[1:2]
    return text[:1].lower() + text[1:] if second.islower() or second == " " else text


def session(document: Document, scheme: Mapping[str, Any], about: About) -> dict[str, Any] | None:
    """The exchange of a client's id and secret for a token (RFC 6749 section 4.4); None where there is no such flow."""
    flow = document.refs.object(document.refs.object(scheme.get("flows")).get("clientCredentials"))
    url = _whole(document, flow.get("tokenUrl"), about)
    if not _is_whole(url):
        return None
    client = {"place": "basic", "username": "{client_id}", "password": "{client_secret}", "source": about.docs_url}
    form = {"grant_type": "client_credentials"}
    return {"url": url, "form": form, "credentials": [client], "source": about.docs_url}


def _whole(document: Document, url: Any, about: About) -> str:
    """``url`` as a whole address: one that begins with ``/`` is at the API's server."""
    text = str(url or "")
    return f"{about.origin}{text}" if text.startswith("/") and about.origin else document.absolute(text) if text else ""


def _is_whole(url: str) -> bool:
    return url.startswith(("https://", "http://")) and "{" not in url
