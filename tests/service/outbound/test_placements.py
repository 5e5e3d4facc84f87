"""Where a credential goes in a request."""

import pytest

from webapp.service.outbound.placements import Placement, apply
from webapp.service.outbound.templates import TemplateError


def test_every_placement() -> None:
    fields = {"access_token": "at", "api_key": "k", "user": "u"}
    applied = apply(
        [
            Placement("bearer"),
            Placement("header", name="X-Api-Key", value="Token token={api_key}"),
            Placement("query", name="key", value="{api_key}"),
            Placement("body", name="token", value="{api_key}"),
        ],
        fields,
    )
    assert applied.headers == {"Authorization": "Bearer at", "X-Api-Key": "Token token=k"}
    assert applied.params == {"key": "k"}
    assert applied.body == {"token": "k"}
    assert "k" not in repr(applied).removeprefix("Applied")


@pytest.mark.parametrize(
    ("username", "password", "expected"),
    [("{user}", "{api_key}", "dTpr"), ("{api_key}", "", "azo="), ("{user}/token", "{api_key}", "dS90b2tlbjpr")],
)
def test_basic(username: str, password: str, expected: str) -> None:
    applied = apply([Placement("basic", username=username, password=password)], {"user": "u", "api_key": "k"})
    assert applied.headers == {"Authorization": f"Basic {expected}"}


def test_missing_field_and_line_break() -> None:
    with pytest.raises(TemplateError):
        apply([Placement("bearer")], {})
    with pytest.raises(TemplateError):
        apply([Placement("bearer")], {"access_token": "a\nb"})
