"""What is kept while a person is asked: the question, and the grant with the life that it has left.

The way of an attempt: each step can be taken once, by whoever may, in time.

The beginning of an attempt: once, in time, and with nothing in the clear.

A sign-in by OAuth 1.0a against a provider that checks each signature, from the click to a request with the token.
"""

import json
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.catalog_bench import Bench
from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import ConnectToken, TokenRequest
from webapp.service.domain.accounts import attempts, connections, credentials, oauth_apps, provider
from webapp.service.domain.accounts.attempts import (
    REPLACE,
    SITE,
    Attempt,
    AttemptRequest,
    Question,
    SignInStart,
    grant_from_json,
    grant_to_json,
)
from webapp.service.domain.base.failures import AttemptUnknown, Cancelled, LinkExpired, LinkUsed
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.oauth_failures import OAuthFailure

REDIRECT_URI = "http://localhost:8600/connect/oauth/callback/discogs"


def test_a_question_admits_what_it_offers() -> None:
    again, site = Question(REPLACE, "ada", (("apn_1", "ada"),)), Question(SITE, "Jira", (("https://a", "https://a"),))
    assert Question.of(json.loads(json.dumps(asdict(again)))) == again
    assert [again.admits(answer) for answer in ("apn_1", "both", "apn_2", "")] == [True, True, False, False]
    assert [site.admits(answer) for answer in ("https://a", "both")] == [True, False]


def test_a_grant_grows_older_while_its_person_thinks() -> None:
    result = TokenResult("access", "refresh", 3600, ("read",), "bearer", {"workspace": "Acme"})
    kept = json.loads(json.dumps(grant_to_json(result, now=0)))
    assert grant_from_json(kept, now=0) == result
    assert grant_from_json(kept, now=10 * MINUTE).expires_in == 3000
    assert grant_from_json(kept, now=90 * MINUTE).expires_in == 1
    endless = TokenResult("access", None, None, None, "bearer", {})
    assert grant_from_json(json.loads(json.dumps(grant_to_json(endless, now=0))), now=MINUTE) == endless


def opened(bench: Any, **wish: Any) -> tuple[Attempt, str]:
    return attempts.create(bench.service, bench.token(), AttemptRequest("acme", **wish))


def started(bench: Any, secret: str) -> SignInStart:
    return attempts.start(
        bench.service, secret, scopes=["read"], scope_profile="read_only", oauth_app_id="oa_1", mode="window"
    )


def connected(bench: Any, attempt: Attempt) -> Attempt:
    with bench.service.store.write() as tx:
        attempts.record_connected(attempt)(tx, "apn_1")
    return attempts.get(bench.service.store, attempt.id)


def test_an_account_whose_attempt_has_ended_otherwise_is_undone(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    attempts.fail(bench.service, begun.attempt, Cancelled())
    with pytest.raises(AttemptUnknown):
        bench.connect(on_commit=attempts.record_connected(begun.attempt))
    assert bench.service.store.all("SELECT id FROM accounts") == []


def test_the_whole_way(bench: Any) -> None:
    attempt, secret = opened(bench, fields={"subdomain": "acme"})
    assert attempt.status == "open" and attempts.find(bench.service, secret) == attempt
    begun = started(bench, secret)
    assert begun.attempt.scopes == ("read",) and begun.attempt.scope_profile == "read_only"
    assert begun.fields == {"subdomain": "acme"}
    assert attempts.unsealed(bench.service, begun.attempt) == {"verifier": begun.verifier, "fields": begun.fields}
    returned = attempts.by_state(bench.service, begun.state)
    assert returned is not None
    taken = attempts.claim_sign_in(bench.service, returned, begun.binding)
    assert taken.status == "exchanging"
    done = connected(bench, taken)
    assert (done.status, done.result_account_id) == ("connected", "apn_1")
    assert done.sealed is None and attempts.unsealed(bench.service, done) == {}


def test_one_success_uses_the_link_of_a_token_up(bench: Any) -> None:
    token = bench.token()

    def begun(secret: str) -> SignInStart:
        return attempts.start(bench.service, secret, scopes=[], scope_profile=None, oauth_app_id="oa_1", mode="tab")

    def exchanging() -> Attempt:
        begin = begun(attempts.create(bench.service, token, AttemptRequest("acme"))[1])
        return attempts.claim_sign_in(bench.service, begin.attempt, begin.binding)

    late, last = attempts.create(bench.service, token, AttemptRequest("acme"))
    first, second = exchanging(), exchanging()
    with pytest.raises(AttemptUnknown):
        attempts.claim_keys(bench.service, first)
    connected(bench, first)
    with pytest.raises(LinkUsed):
        bench.connect(on_commit=attempts.record_connected(second))
    assert bench.service.store.all("SELECT id FROM accounts") == []
    for action in (lambda: attempts.claim_keys(bench.service, late), lambda: begun(last)):
        with pytest.raises(LinkUsed):
            action()


def test_continuing_in_another_place_ends_what_was_begun_before(bench: Any) -> None:
    token = bench.token()
    before = [attempts.create(bench.service, token, AttemptRequest("acme"))[1] for _ in range(2)]
    begun = [started(bench, secret) for secret in before]
    other = started(bench, opened(bench)[1])
    states = [attempts.get(bench.service.store, one.attempt.id) for one in (*begun, other)]
    assert [(attempt.status, attempt.error_code) for attempt in states] == [
        ("failed", attempts.ELSEWHERE), ("started", None), ("started", None),
    ]  # fmt: skip
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun[0].attempt, begun[0].binding)


def test_each_step_is_taken_once(bench: Any) -> None:
    _, secret = opened(bench)
    begun = started(bench, secret)
    with pytest.raises(AttemptUnknown):
        started(bench, secret)
    attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    connected(bench, begun.attempt)
    late = attempts.fail(bench.service, begun.attempt, Cancelled())
    assert late.status == "connected"  # what is settled stays settled


@pytest.mark.parametrize("binding", [None, "", "somebody else's"])
def test_another_browser_takes_nothing(bench: Any, binding: str | None) -> None:
    begun = started(bench, opened(bench)[1])
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, binding)
    assert attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)


def test_nothing_is_found_by_guessing(bench: Any) -> None:
    attempt, secret = opened(bench)
    assert attempts.find(bench.service, "") is None
    assert attempts.find(bench.service, attempt.id) is None  # the id is no secret
    assert attempts.by_state(bench.service, "") is None
    with pytest.raises(AttemptUnknown):
        started(bench, secret[:-1])


def test_an_open_attempt_ends_with_its_token(bench: Any) -> None:
    attempt, _ = opened(bench)
    bench.clock.advance(4 * HOUR)
    with pytest.raises(LinkExpired):
        attempts.claim_keys(bench.service, attempt)


def test_a_sign_in_has_15_minutes(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    bench.clock.advance(15 * MINUTE)
    with pytest.raises(AttemptUnknown):
        attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    found = attempts.by_state(bench.service, begun.state)
    assert found is not None and (found.status, found.error_code) == ("failed", attempts.TIMED_OUT)


def test_an_exchange_that_nobody_finishes_has_failed(bench: Any) -> None:
    begun = started(bench, opened(bench)[1])
    taken = attempts.claim_sign_in(bench.service, begun.attempt, begun.binding)
    bench.clock.advance(attempts.EXCHANGE_TIME)
    assert attempts.by_id(bench.service, taken.id) == taken
    bench.clock.advance(1)
    found = attempts.by_id(bench.service, taken.id)
    assert found is not None and (found.status, found.error_code) == ("failed", attempts.INTERRUPTED)


def test_keys_can_be_given_back_and_sent_again(bench: Any) -> None:
    attempt, _ = opened(bench)
    attempts.reopen(bench.service, attempts.claim_keys(bench.service, attempt))
    taken = attempts.claim_keys(bench.service, attempt)
    failed = attempts.fail(bench.service, taken, Cancelled("No."))
    assert (failed.status, failed.error_code, failed.error_sentence) == ("failed", "access_denied", "No.")


def test_the_latest_of_a_page_is_the_one_begun_last(bench: Any) -> None:
    first, second = (opened(bench, session_id="ls_1") for _ in range(2))
    assert attempts.latest(bench.service, "session_id", "ls_1") is None
    started(bench, second[1])
    bench.clock.advance(1)
    started(bench, first[1])
    found = attempts.latest(bench.service, "session_id", "ls_1")
    assert found is not None and found.id == first[0].id


def test_old_attempts_are_forgotten(bench: Any) -> None:
    opened(bench)
    bench.clock.advance(4 * HOUR + DAY)
    assert attempts.purge(bench.service) == 0
    bench.clock.advance(1)
    assert attempts.purge(bench.service) == 1


def started_sign_in(bench: Any, secret: str) -> SignInStart:
    return attempts.start(bench.service, secret, scopes=["read"], scope_profile=None, oauth_app_id="oa_1", mode="tab")


def test_a_sign_in_begins_once_and_has_15_minutes_from_then(bench: Any) -> None:
    _, secret = opened(bench)
    bench.clock.advance(HOUR)
    begun = started_sign_in(bench, secret)
    assert (begun.attempt.status, begun.attempt.expires_at) == ("started", bench.clock.at + 15 * MINUTE)
    with pytest.raises(AttemptUnknown):
        started_sign_in(bench, secret)


def test_it_does_not_begin_after_its_token_has_ended(bench: Any) -> None:
    _, secret = opened(bench)
    bench.clock.advance(4 * HOUR)
    with pytest.raises(LinkExpired):
        started_sign_in(bench, secret)


def test_no_secret_stands_in_a_row_or_a_representation(bench: Any) -> None:
    attempt, secret = opened(bench, fields={"subdomain": "canary-subdomain"})
    begun = started_sign_in(bench, secret)
    row = repr(bench.service.store.one("SELECT * FROM connect_attempts WHERE id = :id", {"id": attempt.id}))
    shown = row + repr(begun) + repr(attempts.find(bench.service, secret))
    for hidden in (secret, begun.state, begun.binding, begun.verifier, "canary-subdomain"):
        assert hidden not in shown


class Discogs:
    """One sign-in at Discogs, as its declaration has it."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.service, self.app = bench, bench.service, bench.app("discogs")
        self.fake = bench.provider(self.app)
        client = oauth_apps.choose(self.service.store, bench.scene.project_id, "discogs")
        assert client is not None
        self.client = client
        self.facts = provider.oauth_provider(self.service, self.app, client, {})
        self.token = self.new_token()

    def new_token(self) -> ConnectToken:
        made = connect_tokens.create(self.service, self.bench.scene, TokenRequest("alice"), client_id=None)
        return connect_tokens.verify(self.service, made["token"])

    def start(self, token: ConnectToken | None = None) -> SignInStart:
        _, secret = attempts.create(self.service, token or self.token, AttemptRequest("discogs"))
        return attempts.start(
            self.service, secret, scopes=(), scope_profile=None, oauth_app_id=self.client.id, mode="tab"
        )

    def come_back(self, started: SignInStart) -> dict[str, str]:
        """What the person brings back who allowed it."""
        address = attempts.begin_oauth1(self.service, self.app, self.facts, REDIRECT_URI, started)
        assert isinstance(address, str)
        place = urlsplit(self.fake.sign_ins.allow(parse_qs(urlsplit(address).query)["oauth_token"][0]))
        assert place._replace(query="").geturl() == REDIRECT_URI
        return {name: values[0] for name, values in parse_qs(place.query).items()}

    def exchange(self, started: SignInStart, token: str, verifier: str) -> TokenResult | OAuthFailure:
        sealed = attempts.unsealed(self.service, attempts.get(self.service.store, started.attempt.id))
        return attempts.exchange_oauth1(self.service, self.app, self.facts, sealed, token, verifier)


@pytest.fixture
def discogs(slack_bench: Bench) -> Discogs:
    return Discogs(slack_bench)


def test_from_the_click_to_requests_that_are_signed(discogs: Discogs) -> None:
    started = discogs.start()
    back = discogs.come_back(started)
    assert back["state"] == started.state
    result = discogs.exchange(started, back["oauth_token"], back["oauth_verifier"])
    assert isinstance(result, TokenResult)
    account = connections.connect_with_grant(
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
    sealed = attempts.get(discogs.service.store, started.attempt.id).sealed or b""
    assert back["oauth_token"].encode() not in sealed
    discogs.start()  # another with the same token, which ends the first
    with pytest.raises(AttemptUnknown):
        attempts.add_sealed(discogs.service, started, temporary={})


def test_a_provider_that_is_down_is_reported(discogs: Discogs) -> None:
    discogs.fake.down = "all"
    failure = attempts.begin_oauth1(discogs.service, discogs.app, discogs.facts, REDIRECT_URI, discogs.start())
    assert isinstance(failure, OAuthFailure) and failure.kind == "temporary"
