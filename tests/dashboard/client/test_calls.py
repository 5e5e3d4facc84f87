"""Records of calls: what their errors said, and which failed."""

import pytest

from webapp.dashboard.client.calls import CallRecord, sentence_of
from webapp.errors import Conflict, Detail, Invalid

TYPED = "canary-typed"


def test_the_sentence_repeats_nothing_that_was_typed() -> None:
    body = {"id": "http-get", "configured_props": {"id": TYPED, "to": ["second-one"]}}
    error = Invalid(f"“{TYPED}” is wrong.", [Detail("to", "second-one is no address of http-get.")])
    assert sentence_of(error, body) == "“…” is wrong. to: … is no address of http-get."
    assert sentence_of(Conflict("It is in use."), None) == "It is in use."


@pytest.mark.parametrize(("status", "failed"), [(200, False), (204, False), (0, True), (404, True), (503, True)])
def test_what_counts_as_failed(status: int, failed: bool) -> None:
    assert CallRecord("GET", "/v1", "development", True, None, status, 1, 0, "").failed is failed
