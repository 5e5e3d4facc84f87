"""Whether a provider knows an OAuth client: told without a sign-in, and said honestly where it cannot be told."""

from dataclasses import replace
from typing import Any

import pytest

from webapp.service.catalog.spec import ClientCheck
from webapp.service.domain.accounts import oauth_app_checks
from webapp.service.domain.accounts.oauth_app_checks import ClientVerdict

URI = "https://connect.example.com/connect/oauth/callback/acme"
SOURCE = "https://docs.example.com/"


def check(bench: Any, client_id: str = "id", secret: str | None = "canary-secret", **facts: Any) -> ClientVerdict:
    """What comes of asking about a client; ``facts`` are what Acme's app declares of its check."""
    app, spec = bench.app, bench.app.spec
    if facts:
        oauth = spec.oauth.model_copy(update={"check": ClientCheck(source=SOURCE, **facts)})
        app = replace(app, read_spec=lambda _: spec.model_copy(update={"oauth": oauth}))
    return oauth_app_checks.check(bench.service, app, client_id, secret, URI)


@pytest.fixture
def strict(bench: Any) -> Any:
    """A bench whose provider looks at the client first, then at the code, as RFC 6749 has it."""
    bench.acme.clients, bench.acme.refused_code = {"id": "canary-secret"}, (400, "invalid_grant")
    return bench


def test_a_client_is_known_where_its_code_alone_is_refused(strict: Any) -> None:
    assert check(strict) == ClientVerdict("known", "Acme knows this client.")
    assert strict.acme.token_calls == 2, "a wrong secret has to be refused otherwise"


@pytest.mark.parametrize(("client_id", "secret"), [("other", "canary-secret"), ("id", "wrong"), ("id", None)])
def test_a_wrong_id_or_secret_is_unknown(strict: Any, client_id: str, secret: str | None) -> None:
    verdict = check(strict, client_id, secret)
    assert (verdict.verdict, verdict.refused) == ("unknown", True)
    assert verdict.sentence == "Acme does not know this client. Compare the client ID and the client secret."


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ((200, "incorrect_client_credentials"), {"unknown_codes": ["incorrect_client_credentials"]}),
        ((404, "Not Found"), {"unknown_statuses": [404]}),
        ((401, "access_denied"), {}),
    ],
)
def test_what_a_provider_says_in_its_own_way(strict: Any, answer: tuple[int, str], facts: dict[str, Any]) -> None:
    strict.acme.unknown = answer
    assert check(strict, "other", **facts).verdict == "unknown"
    assert check(strict, **facts).verdict == "known"


def test_a_redirect_uri_that_is_not_entered_there_is_reported(strict: Any) -> None:
    strict.acme.refused_code = (400, "redirect_uri_mismatch")
    verdict = check(strict)
    assert (verdict.verdict, verdict.refused) == ("redirect_uri", True)
    assert "not the redirect URI" in verdict.sentence
    strict.acme.refused_code = (200, "bad_address")
    assert check(strict, redirect_uri_codes=["bad_address"]).verdict == "redirect_uri"


def test_what_cannot_be_told_is_said_to_be_so(strict: Any) -> None:
    strict.acme.clients = None  # it looks at the code alone
    verdict = check(strict)
    assert (verdict.verdict, verdict.refused) == ("unchecked", False)
    assert verdict.sentence.startswith("The client could not be checked. Acme checks the client secret only when")
    strict.acme.refused_code = None  # it gives tokens for anything
    assert check(strict).verdict == "unchecked"
    strict.acme.refused_code = (400, "invalid_request")
    assert check(strict).sentence.endswith("Acme's response does not show whether it knows the client.")
    strict.acme.token_status = 503
    assert check(strict).verdict == "unchecked"
    asked = strict.acme.token_calls
    assert "checks a client only when somebody signs in" in check(strict, possible=False).sentence
    assert strict.acme.token_calls == asked


def test_an_address_that_each_account_has_for_itself_is_not_asked(strict: Any) -> None:
    app, spec = strict.app, strict.app.spec
    oauth = spec.oauth.model_copy(update={"token_url": "https://{shop}.example.com/token"})
    assert oauth_app_checks.is_possible(app)
    app = replace(app, read_spec=lambda _: spec.model_copy(update={"oauth": oauth}))
    assert not oauth_app_checks.is_possible(app)
    verdict = oauth_app_checks.check(strict.service, app, "id", "s", URI)
    assert verdict.sentence.endswith("Acme has a different address for each account.")


def test_nothing_is_asked_where_nothing_may_be_reached(strict: Any) -> None:
    app, spec = strict.app, strict.app.spec
    oauth = spec.oauth.model_copy(update={"token_url": "https://169.254.169.254/token"})
    app = replace(app, read_spec=lambda _: spec.model_copy(update={"oauth": oauth}))
    verdict = oauth_app_checks.check(strict.service, app, "id", "canary-secret", URI)
    assert verdict.verdict == "unchecked" and "canary" not in verdict.sentence
