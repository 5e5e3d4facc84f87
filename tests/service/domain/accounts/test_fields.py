"""The custom fields of an app: trimmed, completed, refused with a sentence for each."""

import pytest

from webapp.errors import Invalid
from webapp.service.domain.accounts import app_overrides, fields
from webapp.service.domain.base.service import Service
from webapp.service.outbound.urls import HostRules


def test_an_object_in_a_string() -> None:
    assert fields.parse_cfmap('{"a": "x", "b": 5, "c": null}') == {"a": "x", "b": "5", "c": ""}
    for text in ("", "[]", "nonsense", '{"a": {}}', '{"a": true}'):
        with pytest.raises(Invalid):
            fields.parse_cfmap(text)


def test_values_are_trimmed_and_what_is_missing_is_named(service: Service) -> None:
    app = service.app("tinykeys")
    assert fields.checked(app.spec.fields, {"api_key": "  k  ", "other": "x"}) == {"api_key": "k", "region": "eu"}
    for value in ("", "a\0b", "x" * 20_001):
        with pytest.raises(Invalid) as caught:
            fields.checked(app.spec.fields, {"api_key": value})
        assert [detail.field for detail in caught.value.details] == ["api_key"]


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("", "login"),
        ("login", "login"),
        ("test.salesforce.com", "test"),
        ("acme.my.salesforce.com", "acme.my"),
        ("https://Acme--uat.sandbox.my.salesforce.com/lightning", "acme--uat.sandbox.my"),
    ],
)
def test_a_sign_in_address_is_read_as_it_is_pasted(service: Service, text: str, host: str) -> None:
    salesforce = service.app("salesforce")
    provider = salesforce.provider("id", "secret", fields.checked(salesforce.spec.fields, {"environment": text}))
    assert provider.token_url == f"https://{host}.salesforce.com/services/oauth2/token"
    assert provider.allowed_hosts == HostRules.of(f"{host}.salesforce.com:443")


@pytest.mark.parametrize(
    "text", ["acme", "evil.example", "my.salesforce.com.evil.example", "evil.example/.my", "a@b.my"]
)
def test_a_secret_goes_to_the_provider_only(service: Service, text: str) -> None:
    salesforce = service.app("salesforce")
    advice = "Enter login.salesforce.com, test.salesforce.com or your My Domain, such as acme.my.salesforce.com."
    with pytest.raises(Invalid, match=advice):
        fields.checked(salesforce.spec.fields, {"environment": text})
    values, problems = app_overrides.preset(salesforce, {"environment": text})
    assert (values, [problem.message for problem in problems]) == ({}, [advice])


def test_a_value_is_read_from_another_field(service: Service) -> None:
    mailchimp = service.app("mailchimp")
    read = {"api_key": "0123-us19", "data_center": "us19"}
    assert fields.checked(mailchimp.spec.fields, {"api_key": "0123-us19"}) == read
    assert fields.checked(mailchimp.spec.fields, {"api_key": "0123", "data_center": "us6"})["data_center"] == "us6"
    for texts, field, sentence in (
        ({"api_key": "0123"}, "api_key", "Copy the whole key."),
        ({}, "api_key", "Enter the API key."),
        ({"api_key": "0123", "data_center": "evil.example"}, "data_center", "Copy the whole key."),
    ):
        with pytest.raises(Invalid) as caught:
            fields.checked(mailchimp.spec.fields, texts)
        assert [detail.field for detail in caught.value.details] == [field]
        assert caught.value.details[0].message.endswith(sentence)
