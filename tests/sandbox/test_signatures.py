"""Both signatures of a delivery are judged by key, body and time."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import pytest

from webapp.sandbox.signatures import (
    MISSING,
    STALE,
    UNCHECKED,
    VALID,
    WRONG,
    Verdict,
    check_pd,
    check_standard,
    key_bytes,
)

RAW = bytes(range(24))
KEY = "whsec_" + base64.b64encode(RAW).decode()
AT, BODY = 1_800_000_000, b'{"n":1}'


def pd(at: int = AT, body: bytes = BODY) -> dict[str, str]:
    return {"x-pd-signature": f"t={at},v1={hmac.new(KEY.encode(), b'%d.' % at + body, hashlib.sha256).hexdigest()}"}


def standard(at: int = AT, body: bytes = BODY) -> dict[str, str]:
    digest = hmac.new(RAW, b"evt_1.%d." % at + body, hashlib.sha256).digest()
    signature = f"v1,wrong v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signature}


@pytest.mark.parametrize(("check", "sign"), [(check_pd, pd), (check_standard, standard)])
def test_each_signature_has_its_verdict(check: Callable[..., Verdict], sign: Callable[..., dict[str, str]]) -> None:
    assert check(KEY, sign(), BODY, AT) == VALID
    assert check(KEY, sign(body=b"x"), BODY, AT) == WRONG
    assert check(KEY, sign(at=AT - 301), BODY, AT) == STALE
    assert check(KEY, {}, BODY, AT) == MISSING
    assert check(None, sign(), BODY, AT) == UNCHECKED


@pytest.mark.parametrize("key", ["", "whsec_", "whsec_??", KEY.removeprefix("whsec_"), "whsec_" + "A" * 8])
def test_what_is_no_key_is_said(key: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        key_bytes(key)
