"""A person signs in for PyPI's ``mcp`` client, which finds the way by itself: metadata, registration, PKCE, tokens."""

from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.peers.agents import Person, carry_out, installation
from webapp.kit.cursors import Window
from webapp.service.domain.components import runs

pytestmark = pytest.mark.peer
BACK = "http://localhost:5005/callback"


class Storage:
    """What the client keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_it_acts_for_the_person_who_let_it_in(data: Path) -> None:
    with installation(data) as served:
        person, storage = Person(served), Storage()
        metadata = OAuthClientMetadata(client_name="Desk Helper", redirect_uris=[AnyUrl(BACK)])
        url = f"{served.url}/mcp"
        answers: list[dict[str, str]] = []

        async def open_page(address: str) -> None:
            answers.append(await anyio.to_thread.run_sync(person.agree, address))

        async def come_back() -> AuthorizationCodeResult:
            return AuthorizationCodeResult(**answers[-1])

        sign_in = OAuthClientProvider(url, metadata, storage, open_page, come_back)

        async def talk() -> None:
            async with (
                httpx2.AsyncClient(auth=sign_in, timeout=30) as http,
                Client(streamable_http_client(url, http_client=http)) as agent,
            ):
                assert (await agent.call_tool("slow", {"seconds": 0})).content[0].text == "awake"  # type: ignore[union-attr]

        carry_out(talk)
        (run,) = runs.page(served.service.store, served.scene, runs.Filter(), Window()).items
        assert (run.external_id, run.agent) == (person.id, "Desk Helper")
        assert storage.tokens is not None and storage.tokens.refresh_token
