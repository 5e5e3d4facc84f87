"""The models of requests: one body, and pages that say how the next is asked for."""

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.service.components.declared.request_form import Pages, Request


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
