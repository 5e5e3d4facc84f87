"""Connecting accounts of a piece on the real framework: each of its ways, as its code and its addresses have them."""

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.pieces import packages
from tests.peers.pieces.conftest import Ours
from webapp.errors import Invalid, PatchbayError
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps, provider
from webapp.service.domain.accounts.accounts import Account
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth import TokenResult
from webapp.service.pieces import plans

pytestmark = pytest.mark.peer
VERIFIER = "v" * 43


def connect(ours: Ours, slug: str, fields: dict[str, str]) -> Account:
    installation = ours.bench.installation
    token = connect_tokens.verify(installation.service, installation.token("alice"))
    return connections.connect_with_keys(installation.service, token, installation.service.app(slug), fields)


KEYS = [
    ("workbench_api_key", {"api_key": "key-alice"}, {"api_key": "key-nobody"}),
    ("workbench_token", {"token": "token-alice", "region": "eu"}, {"token": "token-nobody", "region": "eu"}),
]


@pytest.mark.parametrize(("slug", "right", "wrong"), KEYS)
def test_the_piece_says_whether_a_key_works(
    ours: Ours, slug: str, right: dict[str, str], wrong: dict[str, str]
) -> None:
    account = connect(ours, slug, right)
    me = ours.bench.run(f"{slug}-get-me", "alice", {"workbench": {"authProvisionId": account.id}})["ret"]["me"]
    assert me["name"] == "alice"
    with pytest.raises(PatchbayError, match="The workbench does not know this key"):
        connect(ours, slug, wrong)


def test_a_user_and_password_that_nobody_can_try_are_kept(ours: Ours) -> None:
    account = connect(ours, "workbench_user_and_password", {"username": "alice", "password": "secret"})
    values = {"workbench": {"authProvisionId": account.id}}
    assert ours.bench.run("workbench_user_and_password-get-me", "alice", values)["ret"]["me"]["name"] == "alice"


def test_client_credentials_are_made_a_token_in_the_body(ours: Ours) -> None:
    account = connect(ours, "workbench_machine", {"client_id": "robot", "client_secret": "s3"})
    values = {"workbench_machine": {"authProvisionId": account.id}}
    assert ours.bench.run("workbench_machine-get-token", "alice", values)["ret"] == {"token": "token-robot"}
    asked = [asked for asked in ours.bench.web.asked if asked.host == "auth.workbench.example"][-1]
    sent = {"grant_type": "client_credentials", "client_id": "robot", "client_secret": "s3", "scope": "rows:read"}
    assert (asked.place, asked.body) == ("POST /token", sent)


def test_a_sign_in_goes_where_the_account_says_with_a_challenge(ours: Ours) -> None:
    service = ours.bench.installation.service
    client = oauth_apps.get(service.store, ours.bench.client("workbench", "s"))
    app, redirect_uri = service.app("workbench"), "https://patchbay.example/connect/oauth/callback"
    told = provider.oauth_provider(service, app, client, {"tenant": "acme"})
    address = urlsplit(
        oauth.authorization_url(
            told, redirect_uri=redirect_uri, state="state-1", verifier=VERIFIER, scopes=app.default_scopes
        )
    )
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert (address.netloc, address.path) == ("acme.workbench.example", "/authorize")
    assert (query["scope"], query["audience"], query["prompt"]) == ("rows:read rows:write", "api", "consent")
    assert query["code_challenge_method"] == "S256" and query["code_challenge"] != VERIFIER
    outbound = service.client_for(app)
    result = oauth.exchange_code(outbound, told, code="code-alice", redirect_uri=redirect_uri, verifier=VERIFIER)
    assert isinstance(result, TokenResult), result
    assert result.access_token == "token-alice"
    asked = ours.bench.web.asked[-1]
    assert (asked.place, asked.body["code_verifier"]) == ("POST /token", VERIFIER)
    assert asked.headers["authorization"] == f"Basic {base64.b64encode(b'c:s').decode()}"


def test_what_cannot_be_connected_here_is_refused_by_its_name(ours: Ours, tmp_path: Any) -> None:
    package = packages.install(tmp_path, "workbench-oidc")
    installation = ours.bench.installation
    described = installation.service.executor.ask_package(PackageCall(tmp_path, package, "describe"))
    with pytest.raises(Invalid, match="OpenID Connect"):
        plans.plan(
            described.value, package=package, version="1.0.0", folder="packages/x/1.0.0", data=installation.data,
            catalog=installation.service.catalog,
        )  # fmt: skip
