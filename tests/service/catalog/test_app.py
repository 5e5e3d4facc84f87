"""What an app hands to ``outbound``: provider, placements, requests, refusals, scopes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.catalog.samples import KEYS, OAUTH
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import absolute
from webapp.service.outbound.oauth import read_token
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.placements import Placement, apply
from webapp.service.outbound.probe import BodyRule, RefusalRules
from webapp.service.outbound.responses import Response
from webapp.service.outbound.templates import TemplateError, fill_hosts, fill_url
from webapp.service.outbound.urls import HostRules, Url, parse_url

Declare = Callable[[str, str], Path]


def of(catalog: Catalog, slug: str) -> App:
    """The app, which must be there."""
    app = catalog.app(slug)
    assert app is not None
    return app


def test_provider_of_the_sandbox(shipped: Catalog) -> None:
    provider = of(shipped, "sandbox").provider("id", "secret")
    assert provider.authorize_url == "http://localhost:8001/oauth/authorize"
    assert provider.token_url == "http://localhost:8001/oauth/token"
    assert provider.revoke_url == "http://localhost:8001/oauth/revoke"
    assert (provider.issuer, provider.iss_required, provider.pkce) == ("http://localhost:8001", True, True)
    assert provider.allowed_hosts == HostRules.of("localhost:8001")
    assert (provider.client_id, provider.client_secret) == ("id", "secret")


def test_provider_without_a_secret_is_public(shipped: Catalog) -> None:
    assert of(shipped, "sandbox").provider("id", None).token_auth_method == "none"


def test_provider_of_an_app_without_oauth(shipped: Catalog) -> None:
    with pytest.raises(ValueError, match="stripe has no OAuth"):
        of(shipped, "stripe").provider("id", "secret")


def test_quirks_reach_the_provider(shipped: Catalog) -> None:
    slack = of(shipped, "slack").provider("id", "secret")
    assert (slack.scope_param, slack.scope_separator, slack.token_at, slack.pkce) == (
        *("user_scope", ",", "authed_user"),
        False,
    )
    notion = of(shipped, "notion").provider("id", "secret")
    assert (notion.json_body, notion.token_auth_method) == (True, "client_secret_basic")
    assert notion.extra_authorize_params == {"owner": "user"}
    google = of(shipped, "google_sheets").provider("id", "secret")
    assert google.extra_authorize_params == {"access_type": "offline", "prompt": "consent"}
    assert google.allowed_hosts == HostRules.of("oauth2.googleapis.com:443")
    assert of(shipped, "github").provider("id", "secret").token_headers == {"Accept": "application/json"}


def test_addresses_are_filled_with_fields(declare: Declare, opened: Callable[..., Catalog]) -> None:
    text = OAUTH.replace("https://globex.example", "https://{shop}.globex.example")
    text = text.replace('console_url = "https://{shop}.', 'console_url = "https://')
    text = text.replace(
        "[oauth]\n", '[oauth]\nauthorize_params = { resource = "https://{shop}.globex.example/.default" }\n'
    )
    text += '\n[[fields]]\nname = "shop"\nlabel = "Shop"\n'
    declare("globex", text)
    globex = of(opened(), "globex")
    provider = globex.provider("id", "secret", {"shop": "roses"})
    assert provider.extra_authorize_params == {"resource": "https://roses.globex.example/.default"}
    assert provider.token_url == "https://roses.globex.example/token"
    assert provider.allowed_hosts == HostRules.of("roses.globex.example:443")
    with pytest.raises(TemplateError):
        globex.provider("id", "secret", {"shop": "evil.example/"})
    with pytest.raises(TemplateError):
        globex.provider("id", "secret")


def test_placements(shipped: Catalog) -> None:
    assert of(shipped, "sandbox_keys").placements == (Placement("header", "X-Api-Key", "{api_key}"),)
    applied = apply(of(shipped, "sandbox_basic").placements, {"account_id": "acct_ada", "api_key": "k"})
    assert applied.headers == {"Authorization": "Basic YWNjdF9hZGE6aw=="}
    applied = apply(of(shipped, "github").placements, {"oauth_access_token": "t"})
    assert applied.headers == {"Authorization": "Bearer t"}
    assert of(shipped, "http").placements == ()


def test_requests(declare: Declare, opened: Callable[..., Catalog]) -> None:
    declare("acme", KEYS + '\n[headers]\nX-Version = "2"\n')
    request = of(opened(), "acme").test_request
    assert request is not None
    assert request.url == "https://{subdomain}.acme.example/api/me"
    assert request.headers == {"X-Version": "2"}
    assert request.placements == (Placement("header", "X-Key", "Token {api_key}"),)
    assert fill_hosts(request.allowed_hosts, {"subdomain": "road"}) == ("road.acme.example",)


def test_identity_falls_back_to_the_test(shipped: Catalog) -> None:
    sandbox = of(shipped, "sandbox")
    assert sandbox.identity_request == sandbox.test_request
    assert sandbox.identity_paths == ("id", "name", "email", "")
    openai = of(shipped, "openai")
    assert openai.identity_request is None
    assert openai.identity_paths == ("", "", "", "")


def test_an_identity_request_of_its_own(declare: Declare, opened: Callable[..., Catalog]) -> None:
    declare("globex", OAUTH.replace("[identity]\n", '[identity]\nurl = "/who"\n'))
    globex = of(opened(), "globex")
    assert globex.identity_request is not None
    assert globex.identity_request.url == "https://api.globex.example/who"


def test_postgres_has_no_http_request(shipped: Catalog) -> None:
    postgres = of(shipped, "postgresql")
    assert (postgres.test_kind, postgres.test_request, postgres.identity_request) == ("postgres", None, None)
    assert [field.name for field in postgres.spec.fields if not field.optional] == [
        *("host", "port", "database", "user", "password")
    ]
    assert of(shipped, "schedule").test_kind is None


def test_refusal_rules(shipped: Catalog) -> None:
    assert of(shipped, "http").refusal_rules == RefusalRules()
    assert of(shipped, "sandbox").refusal_rules == RefusalRules((401,))
    rule = of(shipped, "slack").refusal_rules.body
    assert isinstance(rule, BodyRule)
    assert (rule.path, rule.equals, rule.error_path) == ("ok", False, "error")
    assert {"invalid_auth", "token_revoked", "account_inactive"} <= set(rule.refused)
    assert "ratelimited" not in rule.refused


def test_scopes(shipped: Catalog) -> None:
    sandbox, github = of(shipped, "sandbox"), of(shipped, "github")
    assert sandbox.functional_scopes == ("profile",)
    assert sandbox.default_scopes == ("profile", "tasks:read", "tasks:write", "webhooks")
    assert sandbox.profile_scopes("read_only") == ("profile", "tasks:read")
    assert sandbox.profile_scopes("nothing") is None
    assert sandbox.scope_words("tasks:read") == "See projects, their fields and tasks"
    assert sandbox.scope_words("unheard:of") == "unheard:of"
    assert github.implied("public_repo", ["repo"])
    assert not github.implied("repo", ["public_repo"])
    assert "public_repo" not in github.default_scopes


def test_only_the_sandbox_is_the_sandbox(shipped: Catalog) -> None:
    found = {app.slug for app in shipped.search().items if app.is_sandbox}
    assert found == {"sandbox", "sandbox_keys", "sandbox_basic"}


@pytest.mark.parametrize("slug", ["sandbox", "github", "google_sheets", "slack", "notion", "stripe", "openai"])
def test_every_request_stays_within_the_allowed_hosts(shipped: Catalog, slug: str) -> None:
    app = of(shipped, slug)
    rules = HostRules.of(*app.allowed_hosts)
    for request in (app.test_request, app.identity_request):
        if request is not None:
            url = parse_url(fill_url(request.url, {}))
            assert isinstance(url, Url)
            assert rules.admit(url)
            assert request.allowed_hosts == app.allowed_hosts


# Apps of later releases, to show that app.toml can say what they need.
SALESFORCE = {
    'base_url = "https://api.globex.example"': 'base_url = "{instance_url}"',
    '["api.globex.example"]': '["*.globex.example"]',
    "[oauth]\n": '[oauth]\nkeep = { instance_url = "instance_url" }\n',
}
TWO_IN_THE_QUERY = {
    'place = "header"\nname = "X-Key"\nvalue = "Token {api_key}"': (
        'place = "query"\nname = "key"\nvalue = "{subdomain}"\nsource = "https://docs.acme.example/"\n'
        '\n[[credentials]]\nplace = "query"\nname = "token"\nvalue = "{api_key}"'
    ),
}
IN_THE_PATH = {
    "https://{subdomain}.acme.example/api": "https://{subdomain}.acme.example/bot{api_key}",
    'place = "header"\nname = "X-Key"\nvalue = "Token {api_key}"': 'place = "url"',
}


def changed(text: str, changes: dict[str, str]) -> str:
    """``text`` with each change made once."""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_an_address_from_the_token_answer(declare: Declare, opened: Callable[..., Catalog]) -> None:
    declare("globex", changed(OAUTH, SALESFORCE))
    globex = of(opened(), "globex")
    assert globex.oauth is not None
    assert globex.oauth.keep == {"instance_url": "instance_url"}
    assert globex.test_request is not None
    found = fill_url(globex.test_request.url, {"instance_url": "https://eu9.globex.example"})
    assert found == "https://eu9.globex.example/me"


def test_two_credentials_in_the_query(declare: Declare, opened: Callable[..., Catalog]) -> None:
    declare("acme", changed(KEYS, TWO_IN_THE_QUERY))
    applied = apply(of(opened(), "acme").placements, {"subdomain": "a", "api_key": "b"})
    assert applied.params == {"key": "a", "token": "b"}


def test_a_token_in_the_path(declare: Declare, opened: Callable[..., Catalog]) -> None:
    declare("acme", changed(KEYS, IN_THE_PATH))
    acme = of(opened(), "acme")
    assert acme.placements == ()
    assert acme.test_request is not None
    assert fill_url(acme.test_request.url, {"subdomain": "a", "api_key": "1x"}) == "https://a.acme.example/bot1x/me"


def test_absolute() -> None:
    assert absolute("https://a.example/v1/", "/me") == "https://a.example/v1/me"
    assert absolute("https://a.example/v1", "https://b.example/me") == "https://b.example/me"
    assert absolute(None, "/me") == "/me"


@pytest.mark.parametrize(
    "code", ["account_inactive", "invalid_auth", "invalid_refresh_token", "token_expired", "token_revoked"]
)
def test_slack_says_in_words_of_its_own_that_a_grant_has_ended(shipped: Catalog, code: str) -> None:
    provider = of(shipped, "slack").provider("id", "secret")
    answer = Response(
        200, {}, json.dumps({"ok": False, "error": code}).encode(), "https://slack.com/api/oauth.v2.access"
    )
    failure = read_token(answer, token_at=provider.token_at, strict=False, codes=provider.error_codes)
    assert isinstance(failure, OAuthFailure)
    assert (failure.kind, failure.error_code) == ("grant_dead", code)


def test_a_scope_profile_may_sign_in_otherwise(shipped: Catalog) -> None:
    slack = of(shipped, "slack")
    person, bot = (slack.provider("id", "secret", profile=profile) for profile in ("full", "bot"))
    assert (person.scope_param, person.token_at) == ("user_scope", "authed_user")
    assert (bot.scope_param, bot.token_at) == ("scope", "")
    assert slack.api_dict["scope_profiles"][-1] == {"name": "bot", "scopes": list(slack.profile_scopes("bot") or ())}
