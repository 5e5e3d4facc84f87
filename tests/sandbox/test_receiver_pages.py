"""The page of the receiver: what came in with its verdicts, and the forms for keys and answers."""

import pytest
import requests

from tests.sandbox.conftest import Served
from tests.sandbox.signed_posts import KEY, post


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


def test_credentials_are_masked_and_markup_is_escaped(served: Served) -> None:
    evil = "<script>alert(1)</script>"
    headers = {"Authorization": "Bearer hidden-one", "Cookie": "session=hidden-two", "X-Note": evil}
    post(served, f"{evil}/x", data=evil, headers=headers)
    page = requests.get(f"{served.url}/receiver", timeout=10).text
    assert "hidden-one" not in page
    assert "hidden-two" not in page
    assert evil not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    ("form", "fields", "sentence"),
    [
        ("answer", {"path": "my/events", "answer": "404"}, "Pick one of the answers."),
        ("answer", {"path": "", "answer": ""}, "Pick one of the answers."),
        ("key", {"path": " / ", "key": KEY}, "Say for which path the key is."),
    ],
)
def test_a_setting_that_cannot_be_is_refused(served: Served, form: str, fields: dict[str, str], sentence: str) -> None:
    refused = served.submit("/receiver", f"/settings/receiver/{form}", **fields)
    assert refused.status_code == 422
    assert sentence in refused.text
    assert (served.sandbox.receiver.answers(), served.sandbox.receiver.paths()) == ({}, [])


def test_an_answer_is_forgotten_by_an_empty_one_for_its_path(served: Served) -> None:
    for answer in ("410", ""):
        served.submit("/receiver", "/settings/receiver/answer", path="/receiver/my/events/", answer=answer)
        expected = {"my/events": "410"} if answer else {}
        assert served.sandbox.receiver.answers() == expected
