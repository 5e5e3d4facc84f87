"""The receiver's address: it records every method, and answers as was chosen for its path."""

from types import SimpleNamespace

import pytest
import requests

from tests.sandbox.conftest import Served
from tests.sandbox.signed_posts import post
from webapp.sandbox import inbox


@pytest.mark.parametrize("answer", ["200", "204", "302", "410", "429", "500"])
def test_answers_as_chosen(served: Served, answer: str) -> None:
    assert served.submit("/receiver", "/settings/receiver/answer", path="", answer=answer).status_code == 303
    got = post(served)
    assert got.status_code == int(answer)
    assert ("Retry-After" in got.headers) == (answer == "429")
    assert got.headers.get("Location") == ("/receiver/redirect-target" if answer == "302" else None)


def test_slow_answer_and_one_path_of_its_own(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(inbox, "time", SimpleNamespace(sleep=waited.append))
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
