"""What an MCP server offers, as a document from which an app is imported (:mod:`app_imports`).

An owner names the server's address. Its tools are listed with a key that is used for this once, with an account that is
connected already, or without either; a server that shows nothing to strangers becomes an app without actions, which get
listed once somebody has connected an account. Nothing that the server says changes an app before an owner imports it
again: the files of its actions stay as they were seen.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.instance.app_imports import Source
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.mcp import Handshake, McpClient, McpFailure, ToolList
from webapp.service.outbound.probe import ProbeOutcome, RequestSpec, mcp_client
from webapp.service.outbound.templates import Placement, host_rule
from webapp.service.outbound.urls import parse_url

IN_SERVER = "mcp:"
"""What the source of an app begins with that comes from a server."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_KEY = "key"
_GENERAL = ("api", "mcp", "www")  # names of hosts that tell nothing of whose they are
_WAYS = "Choose how accounts sign in: bearer, header:NAME, query:NAME, or none."
_REFUSED = "The server does not accept this key. Check it, and how it is sent."


@dataclass(frozen=True, slots=True)
class Asker:
    """With what a server is asked for its tools: a ``key`` sent as ``auth`` says (``bearer``, ``header:NAME`` or
    ``query:NAME``), or the account ``account_id`` of an environment; with neither, as a stranger."""

    auth: str = ""
    key: str = field(default="", repr=False)
    account_id: str = ""
    scene: Scene | None = None


def listed(service: Service, url: str, asker: Asker) -> Source:
    """The tools of the server at ``url``. Raises :class:`Invalid` and :class:`webapp.errors.NotFound`."""
    from webapp.service.catalog.importing import mcp_tools

    address = _checked(url)
    client = _client(service, address, asker)
    shaken = client.begin()
    tools = shaken if isinstance(shaken, McpFailure) else client.tools()
    client.end()
    if isinstance(tools, McpFailure):
        tools = _unseen(tools, asker)
    about = shaken.server if isinstance(shaken, Handshake) else {}
    content = mcp_tools.listing(address, about, tools.tools, left_out=tools.left_out)
    return Source(content, f"{IN_SERVER}{address}")


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
    if checked.scheme != "https" and checked.host not in LOOPBACK:
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
    account = grants.fresh(service, accounts.get(service.store, asker.scene, asker.account_id))
    app = service.app(account.app)
    spec = app.mcp_request
    if spec is None or spec.url != url:
        raise Invalid.of("account_id", f"This account is one of {app.name}, which does not sign in to this server.")
    return _made(mcp_client(service.client_for(app), spec, grants.given_values(service, account)))


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


def _unseen(failure: McpFailure, asker: Asker) -> ToolList:
    """No tools, for a server that shows them only to accounts. Raises :class:`Invalid` for any other failure."""
    if failure.status not in (401, 403):
        raise Invalid.of("url", failure.sentence)
    if asker.key or asker.account_id:
        raise Invalid.of("auth", _REFUSED)
    if asker.auth in ("", "none"):
        raise Invalid.of("auth", f"The server asks for a sign-in. {_WAYS}")
    return ToolList(())
