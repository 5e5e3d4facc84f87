"""The signatures of deliveries (contract "Deliveries"), with a key that is shown as ``whsec_`` and base64.

``x-pd-signature`` is keyed with the UTF-8 bytes of the key as shown, the headers of Standard Webhooks 1.0 with the
decoded bytes after ``whsec_``; every request has both.
"""

import base64
import hashlib
import hmac

from webapp.service.domain.deliveries import signing_keys


def signed_headers(key: str, message_id: str, at_s: int, body: bytes) -> dict[str, str]:
    """The headers that sign ``body`` with ``key`` at ``at_s`` (Unix seconds); ``message_id`` must hold no dot."""
    stamp = str(at_s)
    shown = hmac.new(key.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    raw = base64.b64decode(key.removeprefix(signing_keys.PREFIX))
    standard = hmac.new(raw, f"{message_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "x-pd-signature": f"t={stamp},v1={shown}",
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(standard).decode()}",
    }
