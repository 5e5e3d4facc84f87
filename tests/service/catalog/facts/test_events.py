"""What an app may say of the events that come to its OAuth client."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.catalog.facts.events import EventAccount, Handshake, Member, SeenBy, handshake_answer, member


def test_a_handshake_is_answered_with_what_it_asks_for() -> None:
    when = Member(path="event", equals="endpoint.url_validation")
    answer = {"plainToken": "payload.plainToken", "encryptedToken": "hmac:payload.plainToken"}
    handshake = Handshake(when=when, answer=answer)
    body = {"event": "endpoint.url_validation", "payload": {"plainToken": "abc"}}
    expected = {"plainToken": "abc", "encryptedToken": "signed abc"}
    assert handshake_answer(handshake, body, lambda text: f"signed {text}") == expected
    assert handshake_answer(handshake, {"event": "meeting.started"}, str) is None
    assert handshake_answer(handshake, [], str) is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"everyone": True, "users": "a", "of": "b"},
        {"users": "authorizations"},
        {"everyone": True, "shown": "data.issue"},
    ],
)
def test_who_may_see_an_event_is_said_in_one_way(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SeenBy.model_validate(fields)


def test_a_handshake_signs_something() -> None:
    with pytest.raises(ValidationError):
        Handshake(when=Member(path="a", equals="b"), answer={"x": "hmac:"})


def test_a_handshake_is_answered_or_brings_the_secret() -> None:
    assert handshake_answer(Handshake(secret="verification_token"), {"verification_token": "t"}, str) is None
    when = Member(path="a", equals="b")
    for fields in ({}, {"when": when}, {"answer": {"x": "y"}}, {"when": when, "answer": {"x": "y"}, "secret": "t"}):
        with pytest.raises(ValidationError):
            Handshake.model_validate(fields)


def test_an_account_may_be_several() -> None:
    request = {"url": "/installations", "source": "https://example.com"}
    several = EventAccount.model_validate({"paths": ["id"], "of": "rows", "request": request, "each": "id"})
    assert several.keys_in({"rows": [{"id": 2}, {"id": "x"}, {}, {"id": 2}]}) == ["2", "x"]
    assert several.keys_in({"rows": None}) == several.keys_in(None) == []
    single = EventAccount(paths=("id",), of="team.id")
    assert (single.keys_in({"team": {"id": 7}}), single.keys_in({"team": {"id": ""}})) == (["7"], [])
    with pytest.raises(ValidationError):
        EventAccount.model_validate({"paths": ["id"], "of": "rows", "each": "id"})


def test_a_path_leads_into_the_body_or_to_a_header() -> None:
    headers = {"x-shopify-topic": "orders/create"}
    assert member({"a": {"b": 7}}, headers, "a.b") == 7
    assert member({"a": {"b": 7}}, headers, "header:X-Shopify-Topic") == "orders/create"
    assert member({"header:X-Other": 1}, headers, "header:X-Other") is None
