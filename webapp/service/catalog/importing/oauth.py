"""The OAuth of a document: an ``[oauth]`` section of its authorization code flow, or of what OpenID discovery says."""

from collections.abc import Mapping
from typing import Any

import orjson

from webapp.errors import PatchbayError
from webapp.service.catalog.importing import words
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.schemes import About

_STEPS = (
    "Open the page where this API's OAuth clients are made, and make one for a web application.",
    "Enter {redirect_uri} as the **Redirect URI**.",
    "Copy the client's id and secret.",
)
_MOST_SCOPES = 200
_OPENID = {"openid": "know who you are", "email": "read your e-mail address", "profile": "read your profile"}
_METHODS = ("client_secret_basic", "client_secret_post")


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
    known = next((name for name in _METHODS if isinstance(methods, list) and name in methods), _METHODS[0])
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
    text = words.sentences(about, 160).rstrip(".") or _OPENID.get(name, f"use {name}")
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
