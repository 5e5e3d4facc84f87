"""Every app of the catalog is connected once, through the code that connects people's accounts.

The provider is a fake made from the app's own declaration (``tests/fakes/declared/``), so this proves that each
declaration is complete, that the service does what it says and nothing beside it, and that a refusal and an outage
are told apart as declared. It does not prove that the real provider agrees with the declaration.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.catalog_bench import BY_SIGN_IN, SIGN_IN, SLUGS, Bench, catalog_bench
from tests.fakes.declared.provider import (
    IDENTITY_ID,
    IDENTITY_NAME,
    Answer,
)
from webapp.errors import Invalid, UpstreamFailed
from webapp.kit.clock import DAY
from webapp.service.catalog.app import App
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.catalog.spec import Identity, LookUp, Request
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import accounts, connections, credentials, health, provider, token_refresh
from webapp.service.domain.accounts.attempts import Question, Undecided
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown
from webapp.service.domain.components import account_grants
from webapp.service.outbound.oauth_failures import OAuthFailure


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with catalog_bench(tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("ca")) as opened:
        yield opened


@pytest.mark.parametrize("slug", [*SLUGS, *BY_SIGN_IN])
def test_it_connects(bench: Bench, slug: str) -> None:
    app = bench.app(slug)
    if app.auth_type == "none":
        _refuses_to_connect(bench, app)
        return
    fake = bench.provider(app)
    made = bench.connect(app)
    assert fake.problems == []
    account = accounts.get(bench.service.store, bench.scene, made.id)
    assert (account.app, account.healthy, account.dead, account.error) == (app.slug, True, False, None)
    assert account.authorized_scopes == app.default_scopes
    kept = credentials.read(bench.service, account)
    right = bench.values(app, "right")
    for name in (*(field.name for field in app.spec.fields), *(app.oauth.keep if app.oauth else ())):
        assert kept[name] == right[name]
    if app.spec.identity:
        shown = IDENTITY_NAME if app.spec.identity.name else IDENTITY_ID
        assert (account.identity_id, account.identity_name) == (IDENTITY_ID, shown)
    if app.test_kind == "http":
        assert "test" in fake.asked
    elif app.test_kind == "none":
        assert (account.identity_name, fake.asked) == (None, [])
    else:
        assert account.identity_name is not None
    if app.oauth:
        assert kept["oauth_access_token"] == right["oauth_access_token"]
        assert ("oauth_refresh_token" in kept) is (app.oauth.refresh != "none")


def _refuses_to_connect(bench: Bench, app: App) -> None:
    made = connect_tokens.create(bench.service, bench.scene, connect_tokens.TokenRequest("alice"), client_id=None)
    with pytest.raises(Invalid):
        connections.connect_with_keys(bench.service, connect_tokens.verify(bench.service, made["token"]), app, {})
    assert connections.unavailable_reason(bench.service, app, bench.scene.project_id) == f"{app.name} needs no account."


REVOKED_BY_REQUEST = ["dropbox", "github", "github_app", "linear", "quickbooks", "slack", "strava", "vimeo"]


def test_those_without_rfc_7009_are_known() -> None:
    declared = [slug for slug in SLUGS if "[oauth.revocation]" in (BUILT_IN / slug / "app.toml").read_text("utf-8")]
    assert declared == REVOKED_BY_REQUEST


@pytest.mark.parametrize("slug", REVOKED_BY_REQUEST)
def test_access_is_withdrawn_as_declared(bench: Bench, slug: str) -> None:
    app = bench.app(slug)
    fake = bench.provider(app)
    account = bench.connect(app)
    revoked = health.revoke(bench.service, account)
    assert "oauth.revocation" in fake.asked
    assert fake.problems == []
    assert revoked.dead


def test_a_withdrawal_that_the_provider_cannot_make_now_leaves_the_account(bench: Bench) -> None:
    app = bench.app("slack")
    fake = bench.provider(app)
    account = bench.connect(app)
    fake.down = "api"
    with pytest.raises(UpstreamFailed):
        health.revoke(bench.service, account)
    assert not accounts.get(bench.service.store, bench.scene, account.id).dead


def test_jira_works_with_the_site_that_the_sign_in_reaches(bench: Bench) -> None:
    app = bench.app("jira")
    fake = bench.provider(app)
    kept = credentials.read(bench.service, bench.connect(app))
    assert "oauth.look_up" in fake.asked
    assert kept["cloud_id"] == bench.values(app, "right")["cloud_id"]


def test_of_several_sites_of_jira_the_person_chooses_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """As https://developer.atlassian.com/cloud/oauth/getting-started/making-calls-to-api/ shows the sites."""
    app = bench.app("jira")
    fake = bench.provider(app)
    good, (one, two) = fake._good, ("https://acme.atlassian.net", "https://beta.atlassian.net")

    def reach_two(request: Request) -> Any:
        sites = [{"id": "1", "url": one}, {"id": "2", "url": two}]
        return sites if isinstance(request, LookUp) else good(request)

    monkeypatch.setattr(fake, "_good", reach_two)
    with pytest.raises(Undecided) as asked:
        bench.connect(app, answers={"again": "both"})
    assert asked.value.question == Question("site", "Jira", ((one, one), (two, two)))
    account = bench.connect(app, answers={"again": "both", "site": two})
    kept = credentials.read(bench.service, account)
    assert (kept["cloud_id"], account.identity_name) == ("2", f"{IDENTITY_NAME} · beta.atlassian.net")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (f"klaviyo{SIGN_IN}", {"pkce": False}),
        (f"klaviyo{SIGN_IN}", {"token_auth_method": "client_secret_post"}),
        (f"squarespace{SIGN_IN}", {"scope_separator": " "}),
        (f"bigcommerce{SIGN_IN}", {"extra_token_params": {}}),
        (f"lever{SIGN_IN}", {"extra_authorize_params": {}}),
        ("tiktok", {"client_id_param": "client_id"}),
    ],
)
def test_the_fake_notices_what_a_provider_would_refuse(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, wrong: dict[str, Any]
) -> None:
    app = bench.app(name)
    fake, right = bench.provider(app), provider.oauth_provider

    def changed(*facts: Any) -> Any:
        return replace(right(*facts), **wrong)

    monkeypatch.setattr(provider, "oauth_provider", changed)
    bench.grant(app, {field.name: bench.values(app, "right")[field.name] for field in app.spec.fields})
    assert fake.problems


def test_a_token_of_sixty_days_is_renewed_with_itself_long_before_it_ends(bench: Bench) -> None:
    """As https://developers.facebook.com/docs/instagram-platform/reference/refresh_access_token has it."""
    app = bench.app(f"instagram_business{SIGN_IN}")
    fake = bench.provider(app)
    account = bench.connect(app)
    now = bench.service.clock()
    assert account.expires_at == now + 60 * DAY and account.next_refresh_at == now + 48 * DAY
    renewed = token_refresh.refresh(bench.service, accounts.get(bench.service.store, bench.scene, account.id))
    kept = credentials.read(bench.service, renewed)
    assert kept["oauth_access_token"] == kept["oauth_refresh_token"] == "secret-token-right+"
    assert (renewed.next_refresh_at, fake.problems) == (now + 48 * DAY, [])


def test_the_token_of_a_page_does_not_expire_and_is_that_of_the_page(bench: Bench) -> None:
    app = bench.app(f"facebook_pages{SIGN_IN}")
    fake = bench.provider(app)
    account = bench.connect(app)
    kept = credentials.read(bench.service, account)
    assert (account.expires_at, account.next_refresh_at, "oauth_refresh_token" in kept) == (None, None, False)
    secrets = set(account_grants.of_values(app, kept).secrets or ())
    assert {"page_token", "oauth_access_token"} <= secrets and "page_id" not in secrets
    assert fake.asked[0] == "oauth.look_up"


def test_a_key_that_may_not_ask_whose_it_is_is_good_all_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stripe's restricted keys may lack the permission to read the account: https://docs.stripe.com/keys."""
    app = bench.app("stripe")
    fake = bench.provider(app)
    good = fake._good

    def restricted(request: Request) -> Any:
        return (
            Answer(403, {"error": {"message": "lacks a permission"}})
            if isinstance(request, Identity)
            else good(request)
        )

    monkeypatch.setattr(fake, "_good", restricted)
    assert bench.connect(app).identity_id is None
    monkeypatch.setattr(fake, "_good", good)
    assert bench.connect(app).identity_name == IDENTITY_NAME


TESTED = [
    slug
    for slug in SLUGS
    if not re.search('(auth_type|kind) = "none"', (BUILT_IN / slug / "app.toml").read_text("utf-8"))
]


def test_those_that_cannot_be_tested_are_known() -> None:
    """Segment takes any key and answers 200: see its app.toml."""
    declared = [slug for slug in SLUGS if '\nkind = "none"' in (BUILT_IN / slug / "app.toml").read_text("utf-8")]
    assert declared == ["segment"]


@pytest.mark.parametrize("slug", [*TESTED, *BY_SIGN_IN])
def test_a_wrong_credential_is_refused(bench: Bench, slug: str) -> None:
    app = bench.app(slug)
    before = bench.count()
    for refusal in _refusals(app):
        fake = bench.provider(app, refuses_by=refusal, grants="wrong")
        with pytest.raises(CredentialsRefused):
            bench.connect(app, "wrong")
        assert fake.problems == []
    assert bench.count() == before


def _refusals(app: App) -> list[Any]:
    if app.test_kind != "http":
        return [401]
    rules = app.refusal_rules
    return [*sorted(rules.statuses), *(["body"] if rules.body else [])]


@pytest.mark.parametrize("slug", [*TESTED, *BY_SIGN_IN])
def test_a_provider_that_is_down_is_trouble(bench: Bench, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = bench.app(slug)
    fake = bench.provider(app)
    before = bench.count()
    monkeypatch.setattr(bench.mail, "greeting", b"421 4.3.2 Shutting down")
    for database in bench.databases.values():
        monkeypatch.setattr(database, "down", True)
    if app.oauth:
        fields = {field.name: fake.right[field.name] for field in app.spec.fields}
        failed = bench.grant(app, fields, down=True)
        assert isinstance(failed, OAuthFailure)
        assert failed.kind == "temporary"
    fake.down = "api"
    with pytest.raises(ProviderDown):
        bench.connect(app)
    assert fake.problems == []
    assert bench.count() == before


@pytest.mark.parametrize("slug", ["email", "mysql", "postgresql"])
@pytest.mark.parametrize("port", ["many", "0", "65536", "-1"])
def test_a_port_that_is_none_is_refused(bench: Bench, slug: str, port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = bench.app(slug)
    monkeypatch.setattr(bench.databases.get(app.test_kind or "", bench.mail), "port", port)
    with pytest.raises(CredentialsRefused, match="port"):
        bench.connect(app)
