"""The receiver: its address records every method and answers as chosen; its page shows verdicts and keeps keys."""

from types import SimpleNamespace

import pytest
import requests

from tests.sandbox.conftest import Served
from tests.sandbox.signed_posts import KEY, post
from webapp.sandbox import receiver_pages


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


@pytest.mark.parametrize("answer", ["200", "204", "302", "410", "429", "500"])
def test_answers_as_chosen(served: Served, answer: str) -> None:
    assert served.submit("/receiver", "/settings/receiver/answer", path="", answer=answer).status_code == 303
    got = post(served)
    assert got.status_code == int(answer)
    assert ("Retry-After" in got.headers) == (answer == "429")
    assert got.headers.get("Location") == ("/receiver/redirect-target" if answer == "302" else None)


def test_slow_answer_and_one_path_of_its_own(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(receiver_pages, "time", SimpleNamespace(sleep=waited.append))
    served.submit("/receiver", "/settings/receiver/answer", path="", answer="500")
    served.submit("/receiver", "/settings/receiver/answer", path="my/events", answer="slow")
    assert (post(served).text, waited) == ("ok\n", [0.4])
    assert post(served, "another").status_code == 500
    assert waited == [0.4]
    served.submit("/receiver", "/settings/receiver/answer", path="my/events", answer="")
    assert post(served).status_code == 500
    assert served.submit("/receiver", "/settings/receiver/answer", path="", answer="x").status_code == 422


def test_binary_body_and_every_method(served: Served) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        url = f"{served.url}/receiver/any"
        assert requests.request(method, url, data=b"\x00\xff", timeout=10).status_code == 200
    assert [one.method for one in served.sandbox.receiver.requests("any")] == ["DELETE", "PATCH", "PUT", "GET"]
    assert requests.get(f"{served.url}/receiver", timeout=10).status_code == 200
