"""The part of a declared provider that exchanges an account's fields for a session, and reads what is signed.

It checks a signed statement with the public half of the key that it gave out, and a signature of AWS or of OAuth 1.0a
by what it must name; that the signatures are right is proved with published examples in ``test_signing``.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.fakes.declared.filling import fill, put
from tests.fakes.declared.oauth1 import members
from webapp.service.catalog.spec import SESSION_TOKEN, Assertion, Credential, Session


@cache
def private_key() -> str:
    """A private key in PEM, as a provider gives it to a service account."""
    return RSAKey.generate_key(2048).as_pem(private=True).decode()


@cache
def another_key() -> str:
    """A private key that nobody knows."""
    return RSAKey.generate_key(2048).as_pem(private=True).decode()


def key_of(assertion: Assertion, kind: str) -> str:
    """The key that signs statements, in a file as Google gives it; the wrong one is another's."""
    if assertion.algorithm != "RS256":
        return f"secret-key-{kind}"
    key = private_key() if kind == "right" else another_key()
    return json.dumps({"type": "service_account", "private_key": key, "client_email": "us19"})


def expected(session: Session, values: Mapping[str, str], assertion: str) -> tuple[dict[str, str], dict[str, str]]:
    """The query and the body that ``session`` declares."""
    known = {**values, "assertion": assertion}
    body = session.form if session.form is not None else session.json_body or {}
    return _filled(session.params, known), _filled(body, known)


def arrived(session: Session, body: bytes) -> dict[str, Any]:
    """The members of a body, as ``session`` declares that they are written."""
    if session.form is not None:
        return dict(parse_qsl(body.decode(), keep_blank_values=True))
    return dict(json.loads(body)) if body else {}


def statement_in(members: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The signed statement in a request; empty where there is none."""
    for text in (*members.values(), *headers.values()):
        if isinstance(text, str) and (match := re.search(r"[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}", text)):
            return match[0]
    return ""


def proves(assertion: Assertion, statement: str, values: Mapping[str, str]) -> bool:
    """Whether ``statement`` says what ``assertion`` declares, signed by the right key."""
    if assertion.algorithm != "RS256":
        return bool(statement)
    try:
        token = jwt.decode(statement, RSAKey.import_key(private_key()), algorithms=["RS256"])
    except Exception:
        return False
    return _filled(assertion.claims, values).items() <= token.claims.items()


def answer(session: Session, values: Mapping[str, str]) -> dict[str, Any]:
    """What the exchange brings, with the token at its place."""
    body = dict[str, Any]()
    put(body, session.token, values[SESSION_TOKEN])
    for name, path in session.keep.items():
        put(body, path, values[name])
    return body


def signed_by(credential: Credential, authorization: str, values: Mapping[str, str]) -> bool:
    """Whether ``authorization`` is a signature with the account's key."""
    parts = _filled(credential.parts, values)
    if credential.place == "oauth1":
        said = members(authorization)
        return (said.get("oauth_consumer_key"), said.get("oauth_token", "")) == (
            parts["consumer_key"], parts.get("token", ""),
        )  # fmt: skip
    scope = f"/{parts['region']}/{parts.get('service', '')}"
    return authorization.startswith(f"AWS4-HMAC-SHA256 Credential={parts['access_key_id']}/") and scope in authorization


def _filled(templates: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    return {name: fill(text, values) for name, text in templates.items()}
