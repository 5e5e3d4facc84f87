"""An app that names its provider by the issuer alone: its addresses are asked for once an hour, then used as others."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from webapp.errors import UpstreamFailed
from webapp.kit.clock import HOUR
from webapp.service.domain.accounts import client_checks, connecting, credentials, provider, provider_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.outbound.templates import TemplateError

PLACE = "/.well-known/oauth-authorization-server"


class Issuer:
    """What the issuer says of itself, and how often it was asked."""

    def __init__(self, acme: Any) -> None:
        self.asked, self.status, self._origin = 0, 200, acme.origin
        acme.plays |= {PLACE: self._tell, "/.well-known/openid-configuration": self._tell}

    def _tell(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        endpoints = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "revocation_endpoint": "/revoke",
        }
        raw = json.dumps({"issuer": self._origin} | {n: self._origin + p for n, p in endpoints.items()}).encode()
        handler.send_response(self.status)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)


@pytest.fixture
def issuer(bench: Any) -> Issuer:
    return Issuer(bench.acme)


def connect(bench: Any) -> Account:
    client = provider_clients.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    return connecting.connect_with_grant(
        bench.service, bench.token(), bench.service.app("acmeissuer"), client, bench.result(),
        requested=("read", "write"), profile="full", fields={}, account_id=None,
    )  # fmt: skip


def test_the_addresses_are_asked_for_once_an_hour(bench: Any, issuer: Issuer) -> None:
    client = provider_clients.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    for _ in range(3):
        named = provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})
    origin = bench.acme.origin
    urls = named.authorize_url, named.token_url, named.revoke_url
    assert urls == (f"{origin}/authorize", f"{origin}/token", f"{origin}/revoke")
    assert issuer.asked == 1
    bench.clock.advance(HOUR)
    provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})
    assert issuer.asked == 2


def test_tokens_are_renewed_there_and_an_issuer_that_is_away_is_a_passing_failure(bench: Any, issuer: Issuer) -> None:
    account = connect(bench)
    bench.clock.advance(HOUR)
    issuer.status = 503
    with pytest.raises(UpstreamFailed, match="The issuer does not say where people sign in"):
        credentials.ensure_fresh(bench.service, account)
    bench.clock.advance(HOUR)
    issuer.status = 200
    account = credentials.ensure_fresh(bench.service, account)
    assert (account.healthy, credentials.read(bench.service, account)["oauth_access_token"]) == (True, "a1")


def test_a_client_is_checked_there(bench: Any, issuer: Issuer) -> None:
    bench.acme.clients = {"c": "s"}
    bench.acme.refused_code = (400, "invalid_grant")
    app = bench.service.app("acmeissuer")
    assert client_checks.check(bench.service, app, "c", "s", "http://x/").verdict == "known"
    assert client_checks.check(bench.service, app, "c", "wrong", "http://x/").verdict == "unknown"


def test_without_an_answer_nothing_is_made_up(bench: Any, issuer: Issuer) -> None:
    issuer.status = 404
    client = provider_clients.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    with pytest.raises(TemplateError):
        provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})
