"""Makes an app of an MCP server: what it offers is a document, which is imported (:mod:`app_imports`).

An owner names the server's address. Its tools are listed with a key that is used for this once, with an account that is
connected already, or without either; a server that shows nothing to strangers becomes an app without actions, which get
listed once somebody has connected an account. Where people sign in at the provider, a client registers itself there
(:mod:`webapp.service.domain.accounts.registered_clients`), so that nobody has to. Nothing that the server says changes
an app before an owner imports it again: the files of its actions stay as they were seen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.kit.networks import LOOPBACK_NAMES
from webapp.service.catalog.hosted_servers import key_way
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.accounts import accounts, registered_clients
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants
from webapp.service.domain.instance import app_imports
from webapp.service.domain.instance.app_imports import IN_SERVER, Source
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound import mcp_sign_in
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp import Handshake, McpClient, McpFailure, ToolList
from webapp.service.outbound.mcp_sign_in import McpSignIn
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.probe import ProbeOutcome, RequestSpec, mcp_client
from webapp.service.outbound.templates import host_rule
from webapp.service.outbound.urls import parse_url

if TYPE_CHECKING:
    from webapp.service.catalog.importing.files import Written

OAUTH = "oauth"
_KEY = "key"
_SIGN_IN_FIRST = (401, 403)
_GENERAL = ("api", "mcp", "www")  # names of hosts that tell nothing of whose they are
_WAYS = "Choose how accounts sign in: bearer, header:NAME, query:NAME, oauth or none."
_REFUSED = "The server does not accept this key. Check it, and how it is sent."


@dataclass(frozen=True, slots=True)
class Asker:
    """With what a server is asked for its tools: a ``key`` sent as ``auth`` says (``bearer``, ``header:NAME`` or
    ``query:NAME``), or the account ``account_id`` of an environment; with neither, as a stranger. Where ``auth`` is
    empty, people sign in as the server says."""

    auth: str = ""
    key: str = field(default="", repr=False)
    account_id: str = ""
    scene: Scene | None = None


def preview(service: Service, url: str, slug: str, asker: Asker, options: Options) -> "Written":
    """What :func:`add` would do. No client is registered. Raises like it."""
    asker, options = _as_declared(service, url, slug, asker, options)
    return app_imports.preview(service, _read(service, url, slug, asker).source, slug, options)


def add(service: Service, url: str, slug: str, asker: Asker, options: Options) -> "Written":
    """Make the app ``slug`` of the server at ``url``, or update it. Where people sign in there, a client of this
    installation is registered first, unless it has one, or ``asker.auth`` is ``oauth``: then an owner makes one there.

    Raises :class:`Invalid`, :class:`webapp.errors.Conflict` and :class:`webapp.errors.NotFound`.
    """
    return take(service, slug, ask(service, url, slug, asker, options))


def ask(service: Service, url: str, slug: str, asker: Asker, options: Options) -> "Answered":
    """What the server at ``url`` says, for :func:`take`. Nothing is written. Raises like :func:`add`."""
    asker, options = _as_declared(service, url, slug, asker, options)
    return Answered(_read(service, url, slug, asker), asker, options)


def take(service: Service, slug: str, answered: "Answered") -> "Written":
    """Make the app ``slug`` of what a server ``answered``, or update it; the server is asked only to register a client.

    Raises like :func:`add`.
    """
    offer, asker, options = answered.offer, answered.asker, answered.options
    if offer.sign_in is None or asker.auth == OAUTH or registered_clients.at(service, slug, offer.sign_in.issuer):
        return app_imports.bring(service, offer.source, slug, options)
    app_imports.preview(service, offer.source, slug, options)  # nothing is registered for what cannot be imported
    registration = registered_clients.make(service, offer.sign_in)
    written = app_imports.bring(service, offer.made(replace(offer.sign_in, method=registration.method)), slug, options)
    registered_clients.add(service, slug, written.plan.title, registration)
    return written


def _as_declared(service: Service, url: str, slug: str, asker: Asker, options: Options) -> tuple[Asker, Options]:
    """``asker`` and ``options`` with what is declared of a server that its provider hosts, where nothing was chosen."""
    app = service.catalog.app(slug)
    server = app.spec.mcp if app and app.server else None
    if app is None or server is None or server.url != _checked(url):
        return asker, options
    way = {"registers": "", "client": OAUTH, "key": key_way(server.header), "none": "none"}[server.way]
    auth = "" if server.auth == "oauth" else way
    declared = Options(auth=auth, name=app.name, docs_url=server.source)
    return replace(asker, auth=asker.auth or way), options.or_else(declared)


@dataclass(frozen=True, slots=True)
class _Offer:
    """What a server says: its ``address``, ``about`` itself, its tools, and where one signs in, if one does."""

    address: str
    about: Mapping[str, Any]
    tools: ToolList
    sign_in: McpSignIn | None

    @property
    def source(self) -> Source:
        return self.made(self.sign_in)

    def made(self, sign_in: McpSignIn | None) -> Source:
        """The document of it, in which people sign in so."""
        from webapp.service.catalog.importing import mcp_tools

        facts = _oauth_facts(sign_in) if sign_in else None
        tools, left_out = self.tools.tools, self.tools.left_out
        content = mcp_tools.listing(self.address, self.about, tools, left_out=left_out, oauth=facts)
        return Source(content, f"{IN_SERVER}{self.address}")


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server offers, who asked it, and how its app is made."""

    offer: _Offer
    asker: Asker
    options: Options


def _read(service: Service, url: str, slug: str, asker: Asker) -> _Offer:
    """Ask the server for its tools, and where people sign in."""
    address = _checked(url)
    client = _client(service, address, asker)
    shaken = client.begin()
    tools = shaken if isinstance(shaken, McpFailure) else client.tools()
    client.end()
    about = shaken.server if isinstance(shaken, Handshake) else {}
    refused = tools if isinstance(tools, McpFailure) and tools.status in _SIGN_IN_FIRST else None
    sign_in = _sign_in(service, address, slug, asker, refused)
    if isinstance(tools, McpFailure):
        tools = _unseen(service, slug, tools, asker, sign_in)
    return _Offer(address, about, tools, sign_in)


def _sign_in(service: Service, url: str, slug: str, asker: Asker, refused: McpFailure | None) -> McpSignIn | None:
    """Where people sign in to the server; None where accounts have a key, or none are needed."""
    app = service.catalog.app(slug)
    has_oauth = app is not None and app.oauth is not None and bool(app.own or app.server)
    if asker.key or asker.auth not in ("", OAUTH) or not (refused or has_oauth or asker.auth == OAUTH):
        return None
    outcome = mcp_sign_in.discover(service.outbound, url, refused.challenge if refused else "")
    if isinstance(outcome, Failure):
        raise Invalid.of("auth", f"{outcome.sentence} {_WAYS}")
    return outcome


def _oauth_facts(sign_in: McpSignIn) -> dict[str, Any]:
    """The facts of an app's ``[oauth]``. Tokens are asked for this server only (RFC 8707)."""
    resource = {"resource": sign_in.resource}
    return {
        "authorize_url": sign_in.authorize_url,
        "token_url": sign_in.token_url,
        **({"revoke_url": sign_in.revoke_url} if sign_in.revoke_url else {}),
        "issuer": sign_in.issuer,
        "iss_required": sign_in.iss_required,
        "token_auth_method": sign_in.method,
        "refresh": "rotating",
        "authorize_params": resource,
        "token_params": resource,
        "refresh_params": resource,
        "scopes": list(sign_in.scopes),
    }


def address_of(source: str) -> str:
    """The address of the server in the ``source`` of an app; empty for an app from elsewhere."""
    return source.removeprefix(IN_SERVER) if source.startswith(IN_SERVER) else ""


def proposed_slug(url: str) -> str:
    """A slug for the app of a server: ``linear_mcp`` for ``https://mcp.linear.app/mcp``."""
    labels = (urlsplit(url.strip()).hostname or "").split(".")
    names = [label for label in (labels[:-1] if len(labels) > 1 else labels) if label not in _GENERAL]
    text = re.sub(r"[^a-z0-9]+", "_", "_".join(names).lower()).strip("_")[:40]
    return f"{text if text[:1].isalpha() else 'own'}_mcp"


def _checked(url: str) -> str:
    """``url`` as it is asked. Raises :class:`Invalid` for one that cannot be an MCP server's."""
    text = url.strip().partition("#")[0]
    checked = parse_url(text)
    if isinstance(checked, Failure):
        raise Invalid.of("url", checked.sentence)
    if checked.scheme != "https" and checked.host not in LOOPBACK_NAMES:
        raise Invalid.of("url", "Write the address with https://, so that nobody on the way reads the credentials.")
    return text if urlsplit(text).path else f"{text}/"


def _client(service: Service, url: str, asker: Asker) -> McpClient:
    if asker.account_id:
        return _of_account(service, url, asker)
    placement = _placement(asker.auth) if asker.key else None
    spec = RequestSpec(url, placements=(placement,) if placement else (), allowed_hosts=(host_rule(url),))
    return _made(mcp_client(service.outbound, spec, {_KEY: asker.key}))


def _of_account(service: Service, url: str, asker: Asker) -> McpClient:
    if asker.scene is None:
        raise Invalid.of("account_id", "Name the project and the environment of the account, too.")
    account = account_grants.fresh(service, accounts.get(service.store, asker.scene, asker.account_id))
    app = accounts.app_of(service, account)
    spec = app.mcp_request
    if spec is None or spec.url != url:
        raise Invalid.of("account_id", f"This account is one of {app.name}, which does not sign in to this server.")
    return _made(mcp_client(service.client_for(app), spec, account_grants.given_values(service, account)))


def _made(client: McpClient | ProbeOutcome) -> McpClient:
    if isinstance(client, ProbeOutcome):
        raise Invalid.of("auth", client.sentence)
    return client


def _placement(auth: str) -> Placement:
    """Where a key goes. Raises :class:`Invalid` for a way that sends none."""
    kind, _, name = auth.partition(":")
    if auth in ("", "bearer"):
        return Placement("bearer", value=f"{{{_KEY}}}")
    if kind == "header" and name:
        return Placement("header", name, f"{{{_KEY}}}")
    if kind == "query" and name:
        return Placement("query", name, f"{{{_KEY}}}")
    raise Invalid.of("auth", f"{auth[:100]!r} sends no key. {_WAYS}")


def _unseen(service: Service, slug: str, failure: McpFailure, asker: Asker, sign_in: McpSignIn | None) -> ToolList:
    """The tools that somebody saw before, for a server that shows them only to accounts. Raises :class:`Invalid` for
    any other failure."""
    from webapp.service.catalog.importing import files

    if failure.status not in _SIGN_IN_FIRST:
        raise Invalid.of("url", failure.sentence)
    if asker.key or asker.account_id:
        raise Invalid.of("auth", _REFUSED)
    if asker.auth in ("", "none") and sign_in is None:
        raise Invalid.of("auth", f"The server asks for a sign-in. {_WAYS}")
    return ToolList(tuple(files.pinned_tools(service.settings.data, slug).values()))
