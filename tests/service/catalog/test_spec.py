"""The shapes of app.toml: what is filled in, what is refused, and custom fields as the wire has them."""

import pytest
from pydantic import ValidationError

from webapp.service.catalog.requests import Credential
from webapp.service.catalog.spec import AppSpec, CustomField, Logo


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
