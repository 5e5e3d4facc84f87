"""Webhooks over the API, as the project: what is asked, and services that list none."""

from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.build.webhooks import Webhooks
from webapp.errors import Forbidden, NotFound

PATH = "/v1/webhooks"
HOOK = {"id": "wh_1", "url": "https://a.example/in", "active": False, "last_success_at": None}
WITH_EXTENSIONS = {"params": {"extensions": True}}


@pytest.mark.parametrize(
    ("ask", "method", "path", "call"),
    [
        (lambda hooks: hooks.add("u", "n"), "POST", PATH, {"params": {"url": "u", "name": "n", "description": "n"}}),
        (lambda hooks: hooks.remove("wh_1"), "DELETE", f"{PATH}/wh_1", {}),
        (lambda hooks: hooks.reset("wh_1"), "POST", f"{PATH}/wh_1/reset_delivery_state", {}),
        (lambda hooks: hooks.test("wh_1"), "POST", f"{PATH}/wh_1/test_event", {}),
        (lambda hooks: hooks.of_project(), "GET", "P/webhook", WITH_EXTENSIONS),
        (lambda hooks: hooks.set_of_project("u"), "PUT", "P/webhook", {"body": {"url": "u"}}),
        (lambda hooks: hooks.remove_of_project(), "DELETE", "P/webhook", {}),
        (lambda hooks: hooks.signing_key(), "GET", "P/webhook/signing_key", {}),
        (lambda hooks: hooks.rotate_key(), "POST", "P/webhook/regenerate_signing_key", {}),
    ],
)
def test_what_is_asked(ask: Any, method: str, path: str, call: Any) -> None:
    recorder = Recorder({"data": None})
    ask(Webhooks(recorder))
    assert recorder.calls == [("the project", method, path, call)]


def test_one_is_found_among_all() -> None:
    assert Webhooks(Recorder({"data": [HOOK]})).get("wh_1").state == "deactivated"
    with pytest.raises(NotFound):
        Webhooks(Recorder({"data": [HOOK]})).get("wh_2")


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_a_service_that_lists_none(refusal: Exception) -> None:
    assert Webhooks(Recorder(refusal)).general() is None
    with pytest.raises(NotFound):
        Webhooks(Recorder(refusal)).get("wh_1")


@pytest.mark.parametrize("refusal", [NotFound(), Forbidden()])
def test_a_service_that_shows_neither_webhook_nor_key(refusal: Exception) -> None:
    assert Webhooks(Recorder(refusal)).of_project() is None
    assert Webhooks(Recorder(refusal)).signing_key() is None


def test_a_key_is_shown() -> None:
    assert Webhooks(Recorder({"data": {"signing_key": "k"}})).signing_key() == "k"
