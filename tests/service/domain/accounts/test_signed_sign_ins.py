"""A sign-in by OAuth 1.0a against a provider that checks each signature, from the click to a request with the token."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.catalog_bench import Bench
from webapp.service.domain.access import tokens
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import (
    attempts,
    connecting,
    credentials,
    provider,
    provider_clients,
    signed_sign_ins,
    starting,
)
from webapp.service.domain.accounts.starting import AttemptRequest, SignInStart
from webapp.service.domain.base.failures import AttemptUnknown
from webapp.service.outbound.oauth import OAuthFailure, TokenResult

REDIRECT_URI = "http://localhost:8600/connect/oauth/callback/discogs"


class Discogs:
    """One sign-in at Discogs, as its declaration has it."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.service, self.app = bench, bench.service, bench.app("discogs")
        self.fake = bench.provider(self.app)
        client = provider_clients.choose(self.service.store, bench.scene.project_id, "discogs")
        assert client is not None
        self.client = client
        self.facts = provider.oauth_provider(self.service, self.app, client, {})
        self.token = self.new_token()

    def new_token(self) -> ConnectToken:
        made = tokens.create(self.service, self.bench.scene, tokens.TokenRequest("alice"), client_id=None)
        return tokens.verify(self.service, made["token"])

    def start(self, token: ConnectToken | None = None) -> SignInStart:
        _, secret = starting.create(self.service, token or self.token, AttemptRequest("discogs"))
        return starting.start(
            self.service, secret, scopes=(), scope_profile=None, oauth_app_id=self.client.id, mode="tab"
        )

    def come_back(self, started: SignInStart) -> dict[str, str]:
        """What the person brings back who allowed it."""
        address = signed_sign_ins.begin(self.service, self.app, self.facts, REDIRECT_URI, started)
        assert isinstance(address, str)
        place = urlsplit(self.fake.sign_ins.allow(parse_qs(urlsplit(address).query)["oauth_token"][0]))
        assert place._replace(query="").geturl() == REDIRECT_URI
        return {name: values[0] for name, values in parse_qs(place.query).items()}

    def exchange(self, started: SignInStart, token: str, verifier: str) -> TokenResult | OAuthFailure:
        sealed = attempts.unsealed(self.service, attempts.reread(self.service, started.attempt))
        return signed_sign_ins.exchange(self.service, self.app, self.facts, sealed, token, verifier)


@pytest.fixture
def discogs(slack_bench: Bench) -> Discogs:
    return Discogs(slack_bench)


def test_from_the_click_to_requests_that_are_signed(discogs: Discogs) -> None:
    started = discogs.start()
    back = discogs.come_back(started)
    assert back["state"] == started.state
    result = discogs.exchange(started, back["oauth_token"], back["oauth_verifier"])
    assert isinstance(result, TokenResult)
    account = connecting.connect_with_grant(
        discogs.service, discogs.token, discogs.app, discogs.client, result,
        requested=(), profile=None, fields={}, account_id=None,
    )  # fmt: skip
    assert discogs.fake.problems == []
    kept = credentials._opened(discogs.service, account)
    assert "oauth_client_secret" not in kept and kept["oauth_token_secret"]
    assert credentials.read(discogs.service, account)["oauth_client_secret"]
    assert "oauth_client_secret" not in (credentials.for_developer(discogs.service, account) or {})
    assert provider.test(discogs.service, discogs.app, credentials.read(discogs.service, account)).kind == "ok"


def test_an_answer_about_another_sign_in_or_without_its_proof_gets_nothing(discogs: Discogs) -> None:
    mine, theirs = discogs.start(), discogs.start(discogs.new_token())
    back, other = discogs.come_back(mine), discogs.come_back(theirs)
    refused = discogs.exchange(mine, other["oauth_token"], other["oauth_verifier"])
    assert isinstance(refused, OAuthFailure) and refused.kind == "denied"
    guessed = discogs.exchange(theirs, other["oauth_token"], "guessed")
    assert isinstance(guessed, OAuthFailure) and guessed.kind == "grant_dead"
    assert back["oauth_token"] != other["oauth_token"]


def test_what_is_temporary_is_sealed_and_a_sign_in_that_ended_keeps_none(discogs: Discogs) -> None:
    started = discogs.start()
    back = discogs.come_back(started)
    sealed = attempts.reread(discogs.service, started.attempt).sealed or b""
    assert back["oauth_token"].encode() not in sealed
    discogs.start()  # another with the same token, which ends the first
    with pytest.raises(AttemptUnknown):
        starting.add(discogs.service, started, temporary={})


def test_a_provider_that_is_down_is_told(discogs: Discogs) -> None:
    discogs.fake.down = "all"
    failure = signed_sign_ins.begin(discogs.service, discogs.app, discogs.facts, REDIRECT_URI, discogs.start())
    assert isinstance(failure, OAuthFailure) and failure.kind == "temporary"
