"""Signed statements by which an account proves itself: JSON Web Tokens (RFC 7519) as in RFC 7523, section 2.1.

A private key comes as people have it: a PEM file, whose line breaks a form may have lost or a JSON file written as
``\\n``. What is no key is refused with a sentence that says what to paste.
"""

import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from webapp.service.outbound.templates import Fields, TemplateError, fields_in, fill

Algorithm = Literal["RS256", "ES256", "HS256"]
LIFE_S, SKEW_S = 3600, 10
_LONGEST = 8000  # characters of a key, which is one of RSA with 8,192 bits and more; longer ones take seconds to use
_PEM = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----(.*?)-----END \1-----", re.DOTALL)


def sign(
    algorithm: Algorithm,
    key: str,
    headers: Mapping[str, str],
    claims: Mapping[str, str],
    fields: Fields,
    *,
    life_s: int = LIFE_S,
    hex_key: bool = False,
) -> str:
    """A token of ``claims`` with ``iat`` and ``exp``, signed with what stands in the field ``key``.

    ``headers`` and ``claims`` are templates; one whose fields are empty is left out. Raises TemplateError for a key
    that is none, or does not fit the algorithm.
    """
    from joserfc import jwt  # what few apps need is loaded when one does
    from joserfc.errors import JoseError

    now = int(time.time()) - SKEW_S
    header = {"alg": algorithm, "typ": "JWT", **_filled(headers, fields)}
    payload: dict[str, Any] = {**_filled(claims, fields), "iat": now, "exp": now + life_s}
    signing_key = _key(algorithm, key, fields.get(key, ""), hex_key=hex_key)
    try:
        return jwt.encode(header, payload, signing_key, algorithms=[algorithm])
    except (JoseError, ValueError, TypeError, AttributeError):
        raise _wrong_kind(key, algorithm) from None


def pem(text: str) -> str | None:
    """The private key in ``text`` in PEM (RFC 7468) with its line breaks restored; None where there is none."""
    match = _PEM.search(text.replace("\\n", "\n"))
    if match is None or len(match[2]) > _LONGEST:
        return None
    body = "".join(match[2].split())
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN {match[1]}-----\n{lines}\n-----END {match[1]}-----\n"


def _key(algorithm: Algorithm, name: str, text: str, *, hex_key: bool) -> Any:
    from joserfc.jwk import ECKey, OctKey, RSAKey

    if algorithm == "HS256":
        return OctKey.import_key(_secret(name, text, hex_key=hex_key))
    file = pem(text)
    if file is None:
        title = name.replace("_", " ").capitalize()
        raise TemplateError(
            f"{title} is not a private key. Paste the whole text from -----BEGIN PRIVATE KEY----- to "
            "-----END PRIVATE KEY-----."
        )
    kind: Any = {"RS256": RSAKey, "ES256": ECKey}[algorithm]
    try:
        return kind.import_key(file)
    except Exception:
        raise _wrong_kind(name, algorithm) from None


def _secret(name: str, text: str, *, hex_key: bool) -> bytes:
    try:
        secret = bytes.fromhex(text.strip()) if hex_key else text.strip().encode()
    except ValueError:
        secret = b""
    if not secret:
        raise TemplateError(f"{name.replace('_', ' ').capitalize()} is not a key. Copy it again as a whole.")
    return secret


def _wrong_kind(name: str, algorithm: Algorithm) -> TemplateError:
    kinds = {"RS256": "an RSA key", "ES256": "a P-256 key", "HS256": "a secret"}
    title = name.replace("_", " ").capitalize()
    return TemplateError(
        f"{title} cannot be used. It must be {kinds[algorithm]} without a passphrase. Paste all of it, or make another."
    )


def _filled(templates: Mapping[str, str], fields: Fields) -> dict[str, str]:
    named = {name: template for name, template in templates.items() if all(map(fields.get, fields_in(template)))}
    return {name: fill(template, fields) for name, template in named.items()}
