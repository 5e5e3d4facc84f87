"""The receiver: what it keeps, and verdicts held against an independent implementation."""

import base64
import datetime
import hashlib
import hmac
from typing import Any

import pytest
import requests
from standardwebhooks import Webhook

from tests.sandbox.conftest import Served
from webapp.kit.clock import MINUTE, SECOND
from webapp.sandbox.receiver import KEPT
from webapp.sandbox.signatures import State, key_bytes

KEY = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
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


def test_key_pasted_on_the_page_shows_the_verdict_and_is_sealed(served: Served) -> None:
    post(served)
    assert "x-pd-signature: unchecked" in requests.get(f"{served.url}/receiver", timeout=10).text
    bad = served.submit("/receiver", "/settings/receiver/key", path="my/events", key="nonsense")
    assert (bad.status_code, "no signing key" in bad.text) == (422, True)
    served.submit("/receiver", "/settings/receiver/key", path="before/the/first", key=KEY)
    assert (
        '<code>before/the/first</code> <span class="tag ok">key set'
        in requests.get(f"{served.url}/receiver", timeout=10).text
    )
    good = served.submit("/receiver", "/settings/receiver/key", path="/receiver/my/events", key=f" {KEY} ")
    assert good.status_code == 303
    page = requests.get(f"{served.url}/receiver", timeout=10).text
    assert "x-pd-signature: valid" in page
    assert "Standard Webhooks: valid" in page
    assert KEY not in page
    folder = served.data
    assert not any(KEY.encode() in path.read_bytes() for path in folder.iterdir())
    served.submit("/receiver", "/settings/receiver/key", path="my/events", key="")
    assert "x-pd-signature: unchecked" in requests.get(f"{served.url}/receiver", timeout=10).text


@pytest.mark.parametrize("answer", ["200", "204", "302", "410", "429", "500"])
def test_answers_as_chosen(served: Served, answer: str) -> None:
    assert served.submit("/receiver", "/settings/receiver/answer", path="", answer=answer).status_code == 303
    got = post(served)
    assert got.status_code == int(answer)
    assert ("Retry-After" in got.headers) == (answer == "429")
    assert got.headers.get("Location") == ("/receiver/redirect-target" if answer == "302" else None)


def test_slow_answer_and_one_path_of_its_own(served: Served) -> None:
    served.submit("/receiver", "/settings/receiver/answer", path="", answer="500")
    served.submit("/receiver", "/settings/receiver/answer", path="my/events", answer="slow")
    assert post(served).elapsed.total_seconds() >= 0.4
    assert post(served, "another").status_code == 500
    served.submit("/receiver", "/settings/receiver/answer", path="my/events", answer="")
    assert post(served).status_code == 500
    assert served.submit("/receiver", "/settings/receiver/answer", path="", answer="x").status_code == 422


def test_the_last_fifty_are_kept_and_cleared(served: Served) -> None:
    for number in range(KEPT + 5):
        served.sandbox.receiver.record("p", "POST", f"/receiver/p?{number}", [], b"")
    kept = [one.target for one in served.sandbox.receiver.requests()]
    assert kept == [f"/receiver/p?{number}" for number in range(KEPT + 4, 4, -1)]
    assert served.submit("/receiver", "/settings/receiver/clear").status_code == 303
    assert served.sandbox.receiver.requests() == []


def test_credentials_are_masked_and_markup_is_escaped(served: Served) -> None:
    evil = "<script>alert(1)</script>"
    headers = {"Authorization": "Bearer hidden-one", "Cookie": "session=hidden-two", "X-Note": evil}
    post(served, f"{evil}/x", data=evil, headers=headers)
    page = requests.get(f"{served.url}/receiver", timeout=10).text
    assert "hidden-one" not in page
    assert "hidden-two" not in page
    assert evil not in page
    assert "&lt;script&gt;alert(1)" in page


def test_binary_body_and_every_method(served: Served) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        url = f"{served.url}/receiver/any"
        assert requests.request(method, url, data=b"\x00\xff", timeout=10).status_code == 200
    assert [one.method for one in served.sandbox.receiver.requests("any")] == ["DELETE", "PATCH", "PUT", "GET"]
    assert requests.get(f"{served.url}/receiver", timeout=10).status_code == 200
