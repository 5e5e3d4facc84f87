"""Whether a request that came bears its app's signature. Secrets are compared in constant time."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from webapp.kit.clock import SECOND, now
from webapp.service.components.declared.templates import parse
from webapp.service.components.declared.trigger_form import Signature


def fits(signature: Signature, secret: str, event: Mapping[str, Any]) -> bool:
    """Whether ``event``, a request as it came, is signed with ``secret``, and lately where it says when."""
    headers = event.get("headers") or {}
    text = str(headers.get(signature.header.lower(), ""))
    if signature.scheme == "token":
        return _equal(text, signature.prefix + secret)
    sent_at, candidates = _parts(signature, text, headers)
    if (signature.time_header or signature.pairs) and not _is_recent(sent_at, event, signature.tolerance):
        return False
    signed = parse(signature.signed).text({"$body": event.get("bodyRaw") or "", "$time": sent_at})
    digest = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    plain = digest.hex() if signature.encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return any(_equal(candidate, signature.prefix + plain) for candidate in candidates)


def _parts(signature: Signature, text: str, headers: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The signed time and the signatures that came."""
    if not signature.pairs:
        return str(headers.get(signature.time_header.lower(), "")), [text]
    pairs = [part.strip().partition("=") for part in text.split(",")]
    sent_at = next((value for name, _, value in pairs if name == "t"), "")
    return sent_at, [value for name, _, value in pairs if name == "v1"]


def _is_recent(seconds: str, event: Mapping[str, Any], tolerance_s: int) -> bool:
    if not (seconds.isascii() and seconds.isdigit()) or len(seconds) > 12:
        return False
    received_at: int = event.get("timestamp") or now()
    return abs(received_at - int(seconds) * SECOND) <= tolerance_s * SECOND


def _equal(signature: str, expected: str) -> bool:
    return hmac.compare_digest(signature.encode(), expected.encode())
