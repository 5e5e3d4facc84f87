"""What an app may say of its session and its signatures: what is complete is taken, every mistake has its sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.service.catalog.facts.samples import KEYS, check
from webapp.service.catalog.facts.sessions import Session
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.requests import Credential
from webapp.service.catalog.sources import Places

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
