"""What must hold within one part of an app's requests."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.catalog.requests import Credential

SOURCE = "https://docs.example/auth"


@pytest.mark.parametrize("place", ["header", "query", "body"])
def test_a_credential_needs_the_name_under_which_it_goes_there(place: Any) -> None:
    assert Credential(place=place, name="X-Key", source=SOURCE).name == "X-Key"
    with pytest.raises(ValidationError, match=f"a credential in the {place} needs the name"):
        Credential(place=place, source=SOURCE)


def test_a_basic_credential_needs_one_of_its_parts() -> None:
    assert Credential(place="basic", username="{api_key}", source=SOURCE).password == ""
    with pytest.raises(ValidationError, match="needs a username or a password"):
        Credential(place="basic", source=SOURCE)
