"""What templates may look at, by where they stand.

The models of requests: one body, and pages that say how the next is asked for.

The models of a component: what a prop may offer, and a pattern with its advice.

The models of triggers: one way to be set off, and a signature over the body.
"""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from webapp.service.components.declared.form import (
    AnswerTemplate,
    ItemTemplate,
    Kind,
    Listing,
    Lookup,
    Pages,
    PropForm,
    Push,
    Request,
    RequestTemplate,
    Signature,
    TriggerForm,
)

PROPS = {"props": ["title"]}
FACTS = {"name": "Note", "version": "1.0.0", "description": "Notes.", "id": "{$item.id}", "summary": "{$item.id}"}
POLL = {"poll": {"url": "/notes"}}
WEBHOOK = {"webhook": {"subscribe": {"url": "/hooks"}, "unsubscribe": {"url": "/hooks"}}}
APPHOOK = {"apphook": {"events": ["note"]}}


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        (RequestTemplate, "{title} {$label.title}", True),
        (RequestTemplate, "{$answer.id}", False),
        (RequestTemplate, "{other}", False),
        (AnswerTemplate, "{$answer.id|or(title)}", True),
        (AnswerTemplate, "{$answer.id|or(other)}", False),
        (AnswerTemplate, "{$item.id}", False),
        (ItemTemplate, "{$item.id}", True),
    ],
)
def test_names_that_are_known(kind: Any, text: str, fits: bool) -> None:
    adapter = TypeAdapter[str](kind)
    if fits:
        assert adapter.validate_python(text, context=PROPS) == text
    else:
        with pytest.raises(ValidationError, match="is not known here"):
            adapter.validate_python(text, context=PROPS)


@pytest.mark.parametrize(
    "fields",
    [
        {"by": "page"},
        {"by": "cursor", "param": "c"},
        {"by": "url"},
        {"by": "link", "cap": 0},
        {"by": "link", "size": 0},
        {"by": "link", "most": "{unknown}"},
        {"by": "guess"},
    ],
)
def test_pages_that_could_not_be_read(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Pages.model_validate(fields, context={"props": []})


@pytest.mark.parametrize("body", [{"json": {}, "form": {}}, {"text": "a", "file": "b"}])
def test_a_request_has_one_body(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="one body"):
        Request.model_validate({"method": "POST", "url": "/a", **body})


@pytest.mark.parametrize("name", ["Host", "content-length", "a b", ""])
def test_a_header_that_cannot_be_sent(name: str) -> None:
    Request.model_validate({"url": "/a", "headers": {"X-Kind": "note"}})
    with pytest.raises(ValidationError, match="header"):
        Request.model_validate({"url": "/a", "headers": {name: "note"}})


@pytest.mark.parametrize(
    ("place", "fields"),
    [("json", {}), ("json", {"method": "POST", "form": {}}), ("form", {"method": "POST"}), ("form", {"method": "GET"})],
)
def test_pages_need_the_body_that_they_are_asked_for_in(place: str, fields: dict[str, Any]) -> None:
    pages = {"by": "page", "param": "page", "place": place}
    with pytest.raises(ValidationError, match=f'place = "{place}" need'):
        Listing.model_validate({"url": "/a", "pages": pages, **fields})
    Listing.model_validate({"url": "/a", "method": "POST", "pages": pages, **({"form": {}} if place == "form" else {})})


def test_a_kind_has_a_type_of_props() -> None:
    assert Kind(type="integer").type == "integer"
    with pytest.raises(ValidationError, match="'string'"):
        Kind.model_validate({"type": "strnig"})


def test_options_stand_there_or_are_looked_up() -> None:
    assert PropForm.model_validate({"type": "string", "options": ["a"]}).options == ("a",)
    looked_up = PropForm.model_validate({"type": "string", "options": {"url": "/a", "value": "{$item.id}"}})
    assert isinstance(looked_up.options, Lookup)


def test_a_pattern_is_one_and_has_advice() -> None:
    with pytest.raises(ValidationError, match="belong together"):
        PropForm.model_validate({"type": "string", "advice": "Write a number."})
    with pytest.raises(ValidationError, match="no regular expression"):
        PropForm.model_validate({"type": "string", "pattern": "(", "advice": "Write a number."})


def test_a_trigger_has_one_way_to_be_set_off() -> None:
    ways: list[dict[str, Any]] = [POLL, WEBHOOK, APPHOOK]
    for way in ways:
        TriggerForm.model_validate({**FACTS, **way}, context={"props": []})
    for wrong in ({}, {**POLL, **WEBHOOK}, {**WEBHOOK, **APPHOOK}):
        with pytest.raises(ValidationError, match="either"):
            TriggerForm.model_validate({**FACTS, **wrong}, context={"props": []})


def test_what_is_signed_holds_the_body() -> None:
    with pytest.raises(ValidationError):
        Signature.model_validate({"header": "X-Sig", "signed": "{$time}"})


def test_an_inner_list_needs_a_time_and_is_not_of_changes() -> None:
    inner = {"url": "/a/{$item.id}/b", "changed": "{$item.at}"}
    poll: dict[str, Any] = {**POLL["poll"], "inner": inner}
    facts: dict[str, Any] = {**FACTS, "time": "{$item.at}"}
    form = TriggerForm.model_validate({**facts, "poll": poll}, context={"props": []})
    assert form.poll is not None and form.poll.inner is not None
    with pytest.raises(ValidationError, match="needs time"):
        TriggerForm.model_validate({**facts, "time": None, "poll": poll}, context={"props": []})
    with pytest.raises(ValidationError, match="needs time"):
        sync = {"param": "token", "next": "next"}
        TriggerForm.model_validate({**facts, "poll": {**poll, "sync": sync}}, context={"props": []})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"at": "client"}, None),
        ({"token": "{$event.body.secret}"}, None),
        ({}, "needs token"),
        ({"signature": {"header": "X-Sig"}}, None),
        ({"signature": {"header": "X-Sig"}, "token": "{$event.body.secret}"}, "needs token"),
        ({"signature": {"header": "X-Sig"}, "items": "{$event.body.all}"}, "no items"),
        ({"at": "client", "token": "{$event.body.secret}"}, "has none"),
        ({"at": "client", "renew_if": "{$event.body.over}"}, "excludes"),
    ],
)
def test_a_push_is_recognized_by_its_secret_or_at_the_url_of_a_client(
    changes: dict[str, Any], sentence: str | None
) -> None:
    request = {"method": "POST", "url": "https://tiny.example/hooks"}
    push = {"lasts": 60, "subscribe": request, "unsubscribe": request, **changes}
    if sentence is None:
        assert Push.model_validate(push, context={"props": []}).at == changes.get("at", "trigger")
        return
    with pytest.raises(ValidationError, match=sentence):
        Push.model_validate(push, context={"props": []})
