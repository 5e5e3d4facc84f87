"""What an app says about its OAuth: a look-up that finds several sites names the field to tell them apart by."""

import pytest
from pydantic import ValidationError

from webapp.service.catalog.oauth import LookUp, Shape


def test_the_label_of_sites_is_a_field_that_is_kept() -> None:
    facts = {"url": "https://a.example/sites", "source": "https://a.example/docs", "keep": {"site_url": "url"}}
    assert LookUp.model_validate({**facts, "label": "site_url"}).label == "site_url"
    with pytest.raises(ValidationError, match="one of the fields that it keeps"):
        LookUp.model_validate({**facts, "label": "name"})


def test_a_shape_is_a_regular_expression() -> None:
    assert Shape(pattern="[0-9]+", advice="Digits.").pattern == "[0-9]+"
    with pytest.raises(ValidationError, match="regular expression"):
        Shape(pattern="[0-9", advice="Digits.")
