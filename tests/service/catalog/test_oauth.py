"""What an app says about its OAuth: a look-up that finds several sites names the field to tell them apart by."""

import pytest
from pydantic import ValidationError

from webapp.service.catalog.oauth import LookUp, OAuth, Shape


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
