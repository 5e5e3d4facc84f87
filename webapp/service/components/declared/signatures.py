"""Whether a request that came bears its app's signature. Secrets are compared in constant time."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from webapp.kit.clock import SECOND, now
from webapp.service.components.declared.templates import parse
from webapp.service.components.declared.trigger_form import Signature
from webapp.service.outbound.outcomes import at_path

_HASHES = {"hmac-sha256": hashlib.sha256, "hmac-sha1": hashlib.sha1}
_UNITS = {"s": SECOND, "ms": 1}


def fits(signature: Signature, secret: str, event: Mapping[str, Any]) -> bool:
    """Whether ``event``, a request as it came, is signed with ``secret``, and lately where it says when."""
    headers = event.get("headers") or {}
    text = str(headers.get(signature.header.lower(), ""))
    if signature.scheme == "token":
        return _equal(text, signature.prefix + secret)
    sent_at, candidates = _parts(signature, text, event)
    is_timed = signature.time_header or signature.time_member or signature.pairs
    if is_timed and not _is_recent(sent_at, event, signature):
        return False
    scope = {name: event.get(name[1:]) or "" for name in ("$method", "$url")}
    signed = parse(signature.signed).text({**scope, "$body": event.get("bodyRaw") or "", "$time": sent_at})
    digest = hmac.new(secret.encode(), signed.encode(), _HASHES[signature.scheme]).digest()
    plain = digest.hex() if signature.encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return any(_equal(candidate, signature.prefix + plain) for candidate in candidates)


def _parts(signature: Signature, text: str, event: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The signed time and the signatures that came."""
    if signature.time_member:
        return str(at_path(event.get("body"), signature.time_member)), [text]
    if not signature.pairs:
        return str((event.get("headers") or {}).get(signature.time_header.lower(), "")), [text]
    pairs = [part.strip().partition("=") for part in text.split(",")]
    sent_at = next((value for name, _, value in pairs if name == "t"), "")
    return sent_at, [value for name, _, value in pairs if name == "v1"]


def _is_recent(sent_at: str, event: Mapping[str, Any], signature: Signature) -> bool:
    if not (sent_at.isascii() and sent_at.isdigit()) or len(sent_at) > 15:
        return False
    received_at: int = event.get("timestamp") or now()
    return abs(received_at - int(sent_at) * _UNITS[signature.time_unit]) <= signature.tolerance * SECOND


def _equal(signature: str, expected: str) -> bool:
    return hmac.compare_digest(signature.encode(), expected.encode())
