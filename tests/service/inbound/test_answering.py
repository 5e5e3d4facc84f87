"""What a trigger answers does nothing on our origin: harmless headers alone, no script, no frame, no cookie."""

import pytest

from webapp.service.components.calls import HttpAnswer
from webapp.service.inbound import answering


def test_harmless_headers_pass_and_ours_stand() -> None:
    headers = {"X-Hook-Secret": "s", "Set-Cookie": "a=b", "X-Frame-Options": "ALLOW", "Content-Type": "text/html"}
    response = answering.answer(HttpAnswer(201, "<script>", headers))
    assert (response.status_code, response.get_data(as_text=True)) == (201, "<script>")
    assert response.headers["X-Hook-Secret"] == "s" and response.headers["Content-Type"] == "text/html"
    assert "Set-Cookie" not in response.headers and "X-Frame-Options" not in response.headers
    assert "sandbox" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("media_type", ["", "nonsense", "text/plain\r\nX: y"])
def test_a_bad_media_type_is_plain_text(media_type: str) -> None:
    response = answering.answer(HttpAnswer(200, "x", {"content-type": media_type}))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_refusal_says_when_to_come_again() -> None:
    refusal = answering.refusal(503, "Later.", 5)
    assert (refusal.status_code, refusal.headers["Retry-After"], refusal.get_json()) == (503, "5", {"error": "Later."})
