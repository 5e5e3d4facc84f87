"""The receiver: what it keeps, and its verdicts on both signatures, held against an independent implementation."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import pytest
from standardwebhooks import Webhook

from tests.sandbox.conftest import Served
from tests.sandbox.signed_posts import BODY, KEY, post, signed
from webapp.kit.clock import MINUTE
from webapp.sandbox.receiver import (
    KEPT,
    MISSING,
    STALE,
    UNCHECKED,
    VALID,
    WRONG,
    State,
    Verdict,
    check_pd,
    check_standard,
    key_bytes,
)

RAW = bytes(range(24))
EVENT_KEY = "whsec_" + base64.b64encode(RAW).decode()
AT, EVENT_BODY = 1_800_000_000, b'{"n":1}'
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()


def pd(at: int = AT, body: bytes = EVENT_BODY) -> dict[str, str]:
    return {
        "x-pd-signature": f"t={at},v1={hmac.new(EVENT_KEY.encode(), b'%d.' % at + body, hashlib.sha256).hexdigest()}"
    }


def standard(at: int = AT, body: bytes = EVENT_BODY) -> dict[str, str]:
    digest = hmac.new(RAW, b"evt_1.%d." % at + body, hashlib.sha256).digest()
    signature = f"v1,wrong v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signature}


@pytest.mark.parametrize(("check", "sign"), [(check_pd, pd), (check_standard, standard)])
def test_each_signature_has_its_verdict(check: Callable[..., Verdict], sign: Callable[..., dict[str, str]]) -> None:
    assert check(EVENT_KEY, sign(), EVENT_BODY, AT) == VALID
    assert check(EVENT_KEY, sign(body=b"x"), EVENT_BODY, AT) == WRONG
    assert check(EVENT_KEY, sign(at=AT - 301), EVENT_BODY, AT) == STALE
    assert check(EVENT_KEY, {}, EVENT_BODY, AT) == MISSING
    assert check(None, sign(), EVENT_BODY, AT) == UNCHECKED


@pytest.mark.parametrize("key", ["", "whsec_", "whsec_??", EVENT_KEY.removeprefix("whsec_"), "whsec_" + "A" * 8])
def test_what_is_no_key_is_said(key: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        key_bytes(key)


def states(served: Served, key: str | None) -> tuple[State, State]:
    one = served.sandbox.receiver.requests()[0]
    first, second = one.verdicts(key).values()
    return first.state, second.state


def test_both_signatures_valid_as_the_reference_says(served: Served) -> None:
    headers = signed(served.clock.at)
    assert Webhook(KEY).verify(BODY, headers) == {"größe": 1}
    assert post(served, headers=headers).status_code == 200
    assert states(served, KEY) == (State.VALID, State.VALID)
    assert states(served, OTHER) == (State.WRONG, State.WRONG)
    assert states(served, None) == (State.UNCHECKED, State.UNCHECKED)


def test_changed_body_or_time(served: Served) -> None:
    post(served, data=BODY + b" ")
    assert states(served, KEY) == (State.WRONG, State.WRONG)
    post(served, headers=signed(served.clock.at - 6 * MINUTE))
    assert states(served, KEY) == (State.STALE, State.STALE)
    post(served, headers={})
    assert states(served, KEY) == (State.MISSING, State.MISSING)


def test_one_of_several_signatures_is_enough(served: Served) -> None:
    headers = signed(served.clock.at)
    headers["webhook-signature"] = f"v1a,xxxx v1,{'A' * 43}= {headers['webhook-signature']}"
    post(served, headers=headers)
    assert states(served, KEY) == (State.VALID, State.VALID)


@pytest.mark.parametrize("value", ["", "t", "t=,v1=", "t=x,v1=y", "v1=1", ",,,", "t=1,v1=\xfc"])
def test_garbage_is_wrong_not_a_crash(served: Served, value: str) -> None:
    headers = {"x-pd-signature": value, "webhook-id": "", "webhook-timestamp": value, "webhook-signature": value}
    post(served, headers={name: text.encode("latin-1") for name, text in headers.items()})
    assert states(served, KEY) == (State.WRONG, State.WRONG)


@pytest.mark.parametrize("key", ["", "whsec_", "whsec_ü", "whsec_!!!!", "whsec_YQ==", KEY[6:], f"x{KEY}"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        key_bytes(key)


def test_the_last_fifty_are_kept_and_cleared(served: Served) -> None:
    for number in range(KEPT + 5):
        served.sandbox.receiver.record("p", "POST", f"/receiver/p?{number}", [], b"")
    kept = [one.target for one in served.sandbox.receiver.requests()]
    assert kept == [f"/receiver/p?{number}" for number in range(KEPT + 4, 4, -1)]
    assert served.submit("/receiver", "/settings/receiver/clear").status_code == 303
    assert served.sandbox.receiver.requests() == []
