"""Deliveries as a Connect service signs them, posted to the sandbox's receiver."""

import base64
import datetime
import hashlib
import hmac
from typing import Any

import requests
from standardwebhooks import Webhook

from tests.sandbox.conftest import Served
from webapp.kit.clock import SECOND

KEY = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = '{"größe": 1}'.encode()


def signed(at: int, body: bytes = BODY, key: str = KEY) -> dict[str, str]:
    """The headers of a delivery at ``at`` (epoch milliseconds)."""
    seconds = at // SECOND
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    digest = hmac.new(key.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "x-pd-signature": f"t={seconds},v1={digest}",
        "webhook-id": "evt_1",
        "webhook-timestamp": str(seconds),
        "webhook-signature": Webhook(key).sign("evt_1", moment, body.decode()),
    }


def post(served: Served, path: str = "my/events", **options: Any) -> requests.Response:
    given: dict[str, Any] = {"data": BODY, "headers": signed(served.clock.at), "timeout": 10, "allow_redirects": False}
    return requests.post(f"{served.url}/receiver/{path}", **(given | options))
