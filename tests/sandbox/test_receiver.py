"""The receiver: what it keeps, and verdicts held against an independent implementation."""

import base64

import pytest
from standardwebhooks import Webhook

from tests.sandbox.conftest import Served
from tests.sandbox.signed_posts import BODY, KEY, post, signed
from webapp.kit.clock import MINUTE
from webapp.sandbox.receiver import KEPT
from webapp.sandbox.signatures import State, key_bytes

OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()


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
