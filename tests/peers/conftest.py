"""A certified OpenID provider in a process of its own, and an installation that has it as an app."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
import requests

from tests.fakes.installation import Installation, write_app
from tests.fakes.ports import free_port
from webapp.kit.clock import SECOND, FakeClock, now
from webapp.service.domain.accounts import oauth_apps

HERE = Path(__file__).parent
INDEX = HERE.parents[1] / "instance" / "node" / "node_modules" / "oidc-provider" / "lib" / "index.js"
CLIENT_ID, CLIENT_SECRET = "patchbay-at-the-peer", "a secret with: signs & spaces, 0123456789"

APP = """
slug = "oidc"
name = "Oidc"
description = "A certified OpenID provider."
categories = ["developer_tools"]
auth_type = "oauth"
docs_url = "https://openid.net/specs/openid-connect-core-1_0.html"
sources = ["https://openid.net/specs/openid-connect-core-1_0.html"]
base_url = "{issuer}"
allowed_hosts = ["{issuer}"]
logo = {{ letter = "O", color = "#993366" }}

[[credentials]]
place = "bearer"
source = "https://openid.net/specs/openid-connect-core-1_0.html"

[oauth]
authorize_url = "{issuer}/auth"
token_url = "{issuer}/token"
revoke_url = "{issuer}/token/revocation"
issuer = "{issuer}"
iss_required = true
refresh = "rotating"
sources = ["{issuer}/.well-known/openid-configuration"]
scopes = [
  {{ scope = "openid", words = "see who you are", functional = true }},
  {{ scope = "profile", words = "see your name" }},
]

[oauth.client]
console_url = "{issuer}/"
steps = ["Enter {{redirect_uri}}."]
source = "https://openid.net/specs/openid-connect-core-1_0.html"

[test]
url = "/me"
source = "https://openid.net/specs/openid-connect-core-1_0.html"

[identity]
id = "sub"
name = "name"
source = "https://openid.net/specs/openid-connect-core-1_0.html"
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """The running provider."""

    issuer: str

    def count(self, name: str, grant_type: str | None = None) -> int:
        """How often something happened at the provider."""
        found = requests.get(f"{self.issuer}/_test/events", timeout=10).json()
        return sum(one["name"] == name and grant_type in (None, one["grant_type"]) for one in found)

    def revoke(self, token: str) -> None:
        """Take a grant back, as its owner could at the provider (RFC 7009)."""
        client = (quote_plus(CLIENT_ID), quote_plus(CLIENT_SECRET))  # RFC 6749 section 2.3.1
        done = requests.post(f"{self.issuer}/token/revocation", data={"token": token}, auth=client, timeout=10)
        assert done.status_code == 200, done.text

    def knows(self, access_token: str) -> bool:
        """Whether it accepts an access token now."""
        headers = {"Authorization": f"Bearer {access_token}"}
        return requests.get(f"{self.issuer}/me", headers=headers, timeout=10).status_code == 200


@dataclass
class Meeting:
    """The installation, the provider, and one clock for both."""

    installation: Installation
    peer: Peer
    clock: FakeClock

    def later(self, seconds: int) -> None:
        """Let time go by on both sides."""
        self.clock.advance(seconds * SECOND)
        requests.post(f"{self.peer.issuer}/_test/later?seconds={seconds}", timeout=10).raise_for_status()


@pytest.fixture
def meeting(data: Path) -> Iterator[Meeting]:
    """Both, running; the provider's client is the project's own."""
    port, clock = free_port(), FakeClock(now())
    with peer_for(f"http://127.0.0.1:{port}/connect/oauth/callback") as peer:
        write_app(data, "oidc", APP.format(issuer=peer.issuer))
        allowed = peer.issuer.removeprefix("http://")
        installation = Installation(data, clock=clock, port=port, PATCHBAY_ALLOW_HOSTS=allowed).start()
        try:
            oauth_apps.add(
                installation.service, app="oidc", client_id=CLIENT_ID, client_secret=CLIENT_SECRET,
                project_id=installation.project.id,
            )  # fmt: skip
            yield Meeting(installation, peer, clock)
        finally:
            installation.stop()


@contextmanager
def peer_for(redirect_uri: str) -> Iterator[Peer]:
    """The provider, which knows the installation's client."""
    client = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
    }
    with _process(_node(), {"clients": [client]}) as peer:
        yield peer


@contextmanager
def _process(node: str, given: Mapping[str, Any]) -> Iterator[Peer]:
    command = [node, str(HERE / "oidc_provider.mjs"), str(INDEX), json.dumps(given)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        try:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            yield Peer(json.loads(line)["issuer"])
        finally:
            process.kill()


def _node() -> str:
    """The machine's node, when the provider is installed too; else the test is skipped, or fails in CI."""
    node = shutil.which("node")
    if node and INDEX.is_file():
        return node
    missing = "oidc-provider is not installed" if node else "there is no node"
    reason = f"{missing}; `python -m webapp.frontend --tests` installs what the tests run against"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
