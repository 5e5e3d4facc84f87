"""What must hold within one part of an app's requests.

What an app says about its OAuth: a look-up that finds several sites names the field to tell them apart by.

What an app may say of its session and its signatures: what is complete is taken, every mistake has its sentence.

What an app may say of the events that come to its OAuth client.

Apps that an npm package brought: tested by it, and other ways to connect an app that it has parts for.

The shapes of app.toml: what is filled in, what is refused, and custom fields as the wire has them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.service.catalog.samples import KEYS, check
from webapp.service.catalog import spec, variants
from webapp.service.catalog.check import breaches
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.catalog.spec import (
    AppSpec,
    Category,
    Credential,
    CustomField,
    EventAccount,
    Handshake,
    Logo,
    LookUp,
    Member,
    OAuth,
    SeenBy,
    Session,
    Shape,
    handshake_answer,
    member,
)

SOURCE = "https://docs.example/auth"
URL = "https://docs.acme.example/"
TOKEN = KEYS.replace("Token {api_key}", "{session_token}")
SESSION = f"""
[session]
url = "/login"
json = {{ key = "{{api_key}}" }}
source = "{URL}"
"""
STATEMENT = f"""
[session.assertion]
algorithm = "RS256"
key = "api_key"
source = "{URL}"
"""
BROUGHT: dict[str, Any] = {
    "slug": "acme_token", "of": "acme", "name": "Acme (token)", "auth_type": "keys", "docs_url": "https://npm.example/x",
    "fields": [{"name": "token", "label": "Token", "secret": True}],
    "test": {"kind": "piece", "source": "https://npm.example/x"},
    "piece": {"package": "@acme/piece-acme", "folder": "packages/piece-acme/0.2.0", "auth": {"type": "SECRET_TEXT"}},
}  # fmt: skip
BASE: dict[str, Any] = {
    "slug": "acme", "description": "Rockets.", "categories": ["tools"], "logo": {"letter": "A", "color": "#aa3300"},
    "base_url": "https://acme.example/api", "allowed_hosts": ["acme.example"], "headers": {"x": "y"},
    "test": {"url": "/me"}, "identity": {"id": "id"},
}  # fmt: skip
CATEGORIES = {"tools": Category(slug="tools", name="Tools", description="Things.")}


@pytest.mark.parametrize("place", ["header", "query", "body"])
def test_a_credential_needs_the_name_under_which_it_goes_there(place: Any) -> None:
    assert Credential(place=place, name="X-Key", source=SOURCE).name == "X-Key"
    with pytest.raises(ValidationError, match=f"a credential in the {place} needs the name"):
        Credential(place=place, source=SOURCE)


def test_a_basic_credential_needs_one_of_its_parts() -> None:
    assert Credential(place="basic", username="{api_key}", source=SOURCE).password == ""
    with pytest.raises(ValidationError, match="needs a username or a password"):
        Credential(place="basic", source=SOURCE)


def test_the_label_of_sites_is_a_field_that_is_kept() -> None:
    facts = {"url": "https://a.example/sites", "source": "https://a.example/docs", "keep": {"site_url": "url"}}
    assert LookUp.model_validate({**facts, "label": "site_url"}).label == "site_url"
    with pytest.raises(ValidationError, match="one of the fields that it keeps"):
        LookUp.model_validate({**facts, "label": "name"})
    with pytest.raises(ValidationError, match="need a label"):
        LookUp.model_validate({**facts, "items": "sites"})


def test_a_shape_is_a_regular_expression() -> None:
    assert Shape(pattern="[0-9]+", advice="Digits.").pattern == "[0-9]+"
    with pytest.raises(ValidationError, match="regular expression"):
        Shape(pattern="[0-9", advice="Digits.")


@pytest.mark.parametrize("changes", [{"refresh": "rotating"}, {"keep": {}}])
def test_oauth_1_renews_nothing_and_keeps_the_secret_of_its_token(changes: dict[str, object]) -> None:
    address = "https://a.example/x"
    client = {"console_url": address, "steps": ["Make one."], "source": address}
    facts = {"authorize_url": address, "token_url": address, "request_token_url": address, "client": client,
             "sources": [address], "refresh": "none", "keep": {"oauth_token_secret": "oauth_token_secret"}}  # fmt: skip
    assert OAuth.model_validate(facts).request_token_url == address
    with pytest.raises(ValidationError, match=r"OAuth 1\.0a has"):
        OAuth.model_validate(facts | changes)


def test_a_session_as_the_service_takes_it(declare: Any, opened: Callable[..., Catalog]) -> None:
    declare("acme", TOKEN + SESSION + STATEMENT)
    app = opened().app("acme")
    assert app is not None
    assert app.session is not None
    assert app.session.url == "https://{subdomain}.acme.example/api/login"
    assert app.session.json == {"key": "{api_key}"}
    assert app.session.assertion is not None
    assert (app.session.assertion.algorithm, app.session.assertion.life_s) == ("RS256", 3600)
    assert app.exchanged == {"api_key"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TOKEN + SESSION, ""),
        (KEYS + SESSION, "no credential uses {session_token}, which the session gives."),
        (TOKEN + SESSION.replace("{api_key}", "{other}"), "session uses {other}, which is not a field of this app."),
        (
            TOKEN + SESSION.replace("{api_key}", "{assertion}"),
            "session uses {assertion}, which is not a field of this app.",
        ),
        (TOKEN + SESSION.replace("/login", "http://x.example/"), "session.url must begin with https://."),
        (
            TOKEN + SESSION + STATEMENT.replace('"api_key"', '"other"'),
            "session.assertion.key is other, which is not a field of this app.",
        ),
        (
            TOKEN.replace('name = "subdomain"', 'name = "assertion"').replace("{subdomain}", "x") + SESSION,
            "the field assertion may not be one; that name belongs to what the session gives.",
        ),
        (TOKEN, "credentials uses {session_token}, which is not a field of this app."),
    ],
)
def test_each_mistake_has_its_sentence(folder: Path, declare: Any, text: str, problem: str) -> None:
    declare("acme", text)
    assert check(Places(built_in=folder)) == ([f"acme/app.toml: {problem}"] if problem else [])


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"url": "/x", "form": {}, "json": {}},
        {"url": "/x", "method": "GET", "form": {}},
        {"url": "/x", "credentials": [{"place": "url", "source": URL}]},
    ],
)
def test_a_session_that_makes_no_request_of_it_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Session.model_validate({**fields, "source": URL})


def test_a_signature_names_all_its_parts_and_no_other() -> None:
    keys = {"access_key_id": "{a}", "secret_access_key": "{b}", "region": "{c}", "service": "s3"}
    assert Credential(place="sigv4", parts=keys, source=URL).texts == ("{a}", "{b}", "{c}", "s3")
    with pytest.raises(ValidationError, match="needs region in parts"):
        Credential(place="sigv4", parts={n: v for n, v in keys.items() if n != "region"}, source=URL)
    with pytest.raises(ValidationError, match="has no part token"):
        Credential(place="sigv4", parts={**keys, "token": "{d}"}, source=URL)
    with pytest.raises(ValidationError, match="has no part value"):
        Credential(place="bearer", parts={"value": "x"}, source=URL)


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


def test_one_beside_an_app_of_ours_takes_what_people_see_and_no_request() -> None:
    fields = variants.whole(BROUGHT, BASE)
    assert fields["description"] == "Rockets."
    assert "base_url" not in fields
    assert "identity" not in fields
    assert fields["test"]["kind"] == spec.PIECE
    assert variants.only_joined(BROUGHT, BASE)
    assert list(breaches(AppSpec.model_validate(fields), CATEGORIES, own=True)) == []


def test_one_beside_another_of_its_package_takes_all() -> None:
    other = {**BASE, "test": BROUGHT["test"]}
    assert variants.whole(BROUGHT, other)["base_url"] == "https://acme.example/api"
    assert not variants.only_joined(BROUGHT, other)
    assert not variants.only_joined(BASE, other)


@pytest.mark.parametrize("without", ["test", "piece"])
def test_who_tests_it_and_that_it_does_belong_together(without: str) -> None:
    fields = {name: value for name, value in variants.whole(BROUGHT, BASE).items() if name != without}
    fields = (
        {**fields, "test": {"url": "https://acme.example/me", "source": "https://npm.example/x"}}
        if without == "test"
        else fields
    )
    told = list(breaches(AppSpec.model_validate(fields), CATEGORIES, own=True))
    assert "a test of the kind piece and a [piece] section, which says whose, belong together." in told


def test_an_app_says_of_itself_whether_a_package_tests_it() -> None:
    assert spec.asks_piece(BROUGHT)
    assert not spec.asks_piece({"text": KEYS})
    assert not spec.asks_piece({"test": "piece"})


def test_custom_field_in_full() -> None:
    field = CustomField.model_validate(
        {
            "name": "region",
            "label": "Region",
            "description": "Where it runs.",
            "default": "eu",
            "optional": True,
            "format": "region",
            "options": ["eu", {"label": "United States", "value": "us"}],
            "docs_url": "https://docs.acme.example/regions",
        }
    )
    assert field.to_json() == {
        "name": "region",
        "label": "Region",
        "description": "Where it runs.",
        "default": "eu",
        "optional": True,
        "format": "region",
        "options": [{"label": "eu", "value": "eu"}, {"label": "United States", "value": "us"}],
        "docs_url": "https://docs.acme.example/regions",
    }


@pytest.mark.parametrize(
    "facts",
    [
        {"pattern": "(us[0-9]+)"},
        {"advice": "Copy it."},
        {"read_from": "key"},
        {"pattern": "us[0-9]+", "advice": "Copy it."},
        {"pattern": "(us", "advice": "Copy it."},
    ],
)
def test_a_pattern_keeps_a_part_and_gives_advice(facts: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        CustomField.model_validate({"name": "a", "label": "A", **facts})


def test_a_field_that_is_read_from_another_may_be_left_out() -> None:
    facts = {"name": "a", "label": "A", "pattern": "(us[0-9]+)", "read_from": "key", "advice": "Copy it."}
    assert CustomField.model_validate(facts).to_json()["optional"] is True


def test_models_are_frozen_and_closed() -> None:
    field = CustomField(name="a", label="A")
    with pytest.raises(ValidationError):
        field.label = "B"
    with pytest.raises(ValidationError):
        CustomField.model_validate({"name": "a", "label": "A", "colour": "red"})


@pytest.mark.parametrize(
    "address", ["ftp://a.example", "javascript:alert(1)", "//a.example", "https://a b", "a.example"]
)
def test_addresses_are_http_or_templates(address: str) -> None:
    with pytest.raises(ValidationError):
        Credential(place="bearer", source=address)


def test_a_basic_credential_needs_a_part() -> None:
    with pytest.raises(ValidationError, match="username or a password"):
        Credential(place="basic", source="https://a.example")


def test_a_letter_needs_a_color() -> None:
    with pytest.raises(ValidationError, match="a letter needs a color"):
        Logo(letter="A")


def test_an_app_without_oauth_has_no_scopes() -> None:
    spec = AppSpec(
        slug="a",
        name="A",
        description="A.",
        categories=("tools",),
        auth_type="none",
        logo=Logo(letter="A", color="#000000"),
    )
    assert (spec.scopes, spec.scope_profiles) == ((), ())
