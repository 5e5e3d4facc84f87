"""What a failed step of OAuth means, by the code that the provider sends or by how the network failed."""

import json
from typing import Any

import pytest

from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth_failures import failure_for, refusal, transport_failure, unusable
from webapp.service.outbound.responses import Response


def refused(answer: dict[str, Any], status: int, **codes: Any) -> str | None:
    response = Response(status, {}, json.dumps(answer).encode(), "https://provider.example/token")
    failure = refusal(response, answer, codes)
    return failure.kind if failure else None


def test_callback_errors_use_the_same_words() -> None:
    assert failure_for("access_denied").kind == "denied"
    assert failure_for("temporarily_unavailable").kind == "temporary"
    assert failure_for("odd one").error_code is None


def test_an_answer_is_refused_by_its_code_and_what_the_app_says_of_it_comes_first() -> None:
    assert refused({"error": "invalid_grant"}, 200) == "grant_dead"
    assert refused({"error": "token_gone"}, 400) == "misconfigured"
    assert refused({"error": "token_gone"}, 400, token_gone="grant_dead") == "grant_dead"
    assert refused({"error": "invalid_grant"}, 400, invalid_grant="temporary") == "temporary"
    assert refused({"error": "invalid_grant"}, 503) == "temporary"
    assert refused({"error": {"code": "access_denied"}}, 403) == "denied"
    assert refused({"ok": False}, 200) == "misconfigured"
    assert refused({}, 404) == "misconfigured"
    assert refused({"access_token": "a"}, 200) is None


@pytest.mark.parametrize(
    ("kind", "means"),
    [("timeout", "temporary"), ("dns", "temporary"), ("tls", "misconfigured"), ("refused_by_guard", "misconfigured")],
)
def test_a_failure_of_the_network_passes_unless_the_address_is_wrong(kind: Any, means: str) -> None:
    assert transport_failure(Failure(kind, "No.")).kind == means


def test_an_answer_with_nothing_to_use_passes_if_the_provider_calls_it_a_success() -> None:
    assert (unusable("Nothing.").kind, unusable("Nothing.", 302).kind) == ("temporary", "misconfigured")
