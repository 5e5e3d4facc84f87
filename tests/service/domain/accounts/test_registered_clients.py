"""Clients that nobody has to make: by a document or by registration, known to their server when somebody signs in, and
made anew where it has forgotten them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from tests.fakes.mcp_server import McpServer, SignIns, reach, serving
from webapp.errors import Invalid
from webapp.kit.clock import DAY, HOUR
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import oauth_apps, registered_clients
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import ProviderDown, RejectedByProvider
from webapp.service.domain.base.service import Service
from webapp.service.outbound import mcp_sign_in
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.mcp_sign_in import McpSignIn
from webapp.service.outbound.oauth import Provider
from webapp.service.outbound.probe import RequestSpec
from webapp.service.outbound.urls import HostRules
from webapp.settings import Settings


@dataclass(frozen=True)
class Notes:
    """The app of ``server``, as far as clients need it."""

    server: McpServer
    slug: str = "notes"
    name: str = "Notes"
    provider_name: str = "Notes"
    is_discovered: bool = False
    is_sandbox: bool = False

    @property
    def mcp_request(self) -> RequestSpec:
        return RequestSpec(self.server.url)

    @property
    def oauth(self) -> Any:
        class Facts:
            token_auth_method, check = "none", None

        return Facts

    @property
    def spec(self) -> Any:
        class Spec:
            fields: tuple[Any, ...] = ()

        return Spec

    @property
    def client_note(self) -> Any:
        class Note:
            id_name = secret_name = ""

        return Note

    def provider(self, client_id: str, secret: str | None, *_: Any, **__: Any) -> Provider:
        home = f"http://{self.server.host}"
        return Provider(
            f"{home}/authorize", f"{home}/token", client_id, secret, token_auth_method="none",
            extra_token_params={"resource": self.server.url}, allowed_hosts=HostRules.of(self.server.host),
        )  # fmt: skip


@pytest.fixture
def server() -> Iterator[McpServer]:
    with serving() as started:
        started.open_to_people()
        yield started


@pytest.fixture
def reaching(service: Service, server: McpServer, monkeypatch: pytest.MonkeyPatch) -> Service:
    reach(monkeypatch, service, server)
    return service


def sign_in(service: Service, server: McpServer, **changes: Any) -> McpSignIn:
    found = mcp_sign_in.discover(service.outbound, server.url)
    assert isinstance(found, McpSignIn), found
    return replace(found, **changes)


def registered(service: Service, server: McpServer) -> OAuthApp:
    made = registered_clients.make(service, sign_in(service, server))
    return registered_clients.add(service, "notes", "Notes", made)


def ids(service: Service) -> list[str]:
    return [client.client_id for client in oauth_apps.self_registered(service.store, "notes")]


def app_of(server: McpServer) -> App:
    return cast("App", Notes(server))


def sign_ins(server: McpServer) -> SignIns:
    assert server.sign_ins is not None
    return server.sign_ins


def at_https(service: Service) -> Service:
    data = service.settings.data
    return replace(
        service, settings=Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://connect.acme.example"}, data=data)
    )


def test_a_document_comes_before_registration_and_that_before_an_owner(reaching: Service, server: McpServer) -> None:
    safe = at_https(reaching)
    server.manner.pages["/.well-known/oauth-authorization-server"]["client_id_metadata_document_supported"] = True
    taken = sign_in(safe, server)
    assert taken.takes_documents
    by_document = registered_clients.make(safe, taken)
    assert by_document.client_id == "https://connect.acme.example/.well-known/oauth-client/127.0.0.1"
    assert (by_document.secret, server.registered) == (None, [])
    assert registered_clients.document(safe, "127.0.0.1")["client_id"] == by_document.client_id

    assert registered_clients.make(safe, replace(taken, takes_documents=False)).client_id == "client-1"
    assert registered_clients.make(reaching, taken).client_id == "client-2", "nobody could read a document over http"
    with pytest.raises(Invalid, match="add a client that you made there yourself"):
        registered_clients.make(reaching, replace(taken, takes_documents=False, register_url=""))


def test_a_document_that_needs_a_secret_is_not_taken(reaching: Service, server: McpServer) -> None:
    server.open_to_people(
        client_id_metadata_document_supported=True, token_endpoint_auth_methods_supported=["client_secret_basic"]
    )
    assert not sign_in(reaching, server).takes_documents


def test_a_client_that_the_server_knows_stays(reaching: Service, server: McpServer) -> None:
    client = registered(reaching, server)
    assert registered_clients.known(reaching, app_of(server), client) == client
    assert [asked["client_id"] for asked in sign_ins(server).asked] == ["client-1"]
    assert registered_clients.at(reaching, "notes", client.registered_issuer or "") == client


def test_a_client_that_was_forgotten_is_registered_anew(reaching: Service, server: McpServer) -> None:
    client = registered(reaching, server)
    sign_ins(server).clients.clear()
    renewed = registered_clients.known(reaching, app_of(server), client)
    assert renewed.client_id == "client-2"
    assert ids(reaching) == ["client-2"], "nothing is left of the old one"
    assert registered_clients.known(reaching, app_of(server), renewed) == renewed


def test_another_address_of_this_installation_needs_another_client(reaching: Service, server: McpServer) -> None:
    client = registered(reaching, server)
    moved = at_https(reaching)
    assert registered_clients.at(moved, "notes", client.registered_issuer or "") is None
    assert registered_clients.known(moved, app_of(server), client).client_id == "client-2"
    assert server.registered[-1]["redirect_uris"] == ["https://connect.acme.example/connect/oauth/callback/127.0.0.1"]


def test_a_client_that_somebody_made_is_never_replaced(reaching: Service, server: McpServer) -> None:
    own = oauth_apps.add(reaching, app="notes", client_id="by-hand", client_secret=None)
    assert registered_clients.known(reaching, app_of(server), own) == own
    registered_clients.forget(reaching, "notes")
    assert oauth_apps.choose(reaching.store, "", "notes") == own
    assert sign_ins(server).asked == []


def test_an_issuer_that_nobody_has_looked_at_gets_no_client(reaching: Service, server: McpServer) -> None:
    client = registered(reaching, server)
    sign_ins(server).clients.clear()
    with serving() as other:
        reach_both = [server.host, other.host]
        other.open_to_people()
        pages = server.manner.pages["/.well-known/oauth-protected-resource/mcp"]
        pages["authorization_servers"] = [f"http://{other.host}"]
        widened = replace(reaching, outbound=OutboundClient(Guard(reach_both), user_agent="Patchbay/tests"))
        with pytest.raises(RejectedByProvider, match=r"now signs people in at 127\.0\.0\.1\. Whoever runs"):
            registered_clients.known(widened, app_of(server), client)
        assert other.registered == []
    assert ids(reaching) == ["client-1"]


@pytest.mark.parametrize(
    ("registration", "page"), [({"error": "slow_down"}, None), (None, {"registration_endpoint": ""})]
)
def test_where_no_new_client_can_be_had_it_is_said(
    reaching: Service, server: McpServer, registration: Any, page: Any
) -> None:
    client = registered(reaching, server)
    sign_ins(server).clients.clear()
    server.manner.client = registration
    server.manner.pages["/.well-known/oauth-authorization-server"].update(page or {})
    with pytest.raises(ProviderDown, match="Notes no longer knows this service, and registers no new client"):
        registered_clients.known(reaching, app_of(server), client)
    assert ids(reaching) == ["client-1"]


def test_clients_that_were_replaced_are_purged_when_nothing_needs_them(
    reaching: Service, server: McpServer, clock: Any
) -> None:
    registered(reaching, server)
    clock.advance(HOUR)
    registered(reaching, server)
    assert oauth_apps.purge(reaching) == 0, "a sign-in may be under way with the old one"
    clock.advance(DAY + HOUR)
    assert oauth_apps.purge(reaching) == 1
    assert ids(reaching) == ["client-2"]
    registered_clients.forget(reaching, "notes")
    assert ids(reaching) == []
