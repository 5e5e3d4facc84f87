"""Agents whose client id is the URL of a metadata document (OAuth Client ID Metadata Document).

They are not registered: the document is fetched through the outbound guard when a signed-in person is asked for
consent. It must contain its own URL, so that its host vouches for it, and the consent page shows that host. It is
cached as long as its host allows, within bounds. Failures are not cached.

Reference: draft-ietf-oauth-client-id-metadata-document, which revision 2026-07-28 of the Model Context Protocol names.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Invalid
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, Clock
from webapp.kit.translation import gettext
from webapp.people.agents import clients
from webapp.people.agents.clients import AgentClient
from webapp.service.outbound.bodies import Json
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response
from webapp.store.contract import Store

MAX_ADDRESS = 500
MAX_BYTES = 16 * 1024
DEADLINE_S = 5.0
SHORTEST, USUAL, LONGEST = 5 * MINUTE, HOUR, DAY
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?(\d{1,9})")


def _is_address(client_id: str) -> bool:
    """Whether ``client_id`` is the URL of a document: https with a path, without user, fragment and dot segments."""
    if len(client_id) > MAX_ADDRESS or not client_id.isascii() or not client_id.isprintable():
        return False
    try:
        parts = urlsplit(client_id)
        port = parts.port
    except ValueError:
        return False
    is_plain = parts.scheme == "https" and bool(parts.hostname) and port != 0 and "@" not in parts.netloc
    has_path = len(parts.path) > 1 and not {".", ".."} & set(parts.path.split("/"))
    return is_plain and has_path and "#" not in client_id and " " not in client_id


def host(client: AgentClient) -> str:
    """The host that vouches for the name of ``client``; "" if it registered itself."""
    return urlsplit(client.id).netloc if _is_address(client.id) else ""


class Documents:
    """Fetches metadata documents. Safe to share between threads."""

    def __init__(self, outbound: OutboundClient, store: Store, clock: Clock) -> None:
        self._outbound, self._store, self._clock = outbound, store, clock

    def client(self, client_id: str) -> AgentClient | None:
        """The client with that id, registered or described by its document; None if it does not exist.

        Raises :class:`Invalid`, with a sentence for the person, if its document cannot be read or used.
        """
        known = clients.find(self._store, client_id)
        if not _is_address(client_id) or (known is not None and self._clock() < (known.fresh_until or 0)):
            return known
        return self._learnt(client_id)

    def _learnt(self, address: str) -> AgentClient:
        facts, kept = self._read(address)
        name, uris = facts.get("client_name"), facts.get("redirect_uris")
        if facts.get("client_id") != address or not isinstance(name, str) or not isinstance(uris, list):
            raise _unfit(address)
        if facts.get("token_endpoint_auth_method", "none") != "none" or not all(isinstance(uri, str) for uri in uris):
            raise _unfit(address)
        return clients.learn(self._store, self._clock(), address, name, tuple(uris), kept)

    def _read(self, address: str) -> tuple[dict[str, Any], int]:
        """The document at ``address``, and for how many milliseconds it may be cached."""
        accepts = {"Accept": "application/json"}
        answer = self._outbound.request("GET", address, headers=accepts, deadline_s=DEADLINE_S, max_bytes=MAX_BYTES)
        if not isinstance(answer, Response) or answer.status != 200:
            sentence = gettext("{host} does not say what this agent is. Try again later.")
            raise Invalid(sentence.format(host=urlsplit(address).netloc))
        document = answer.json()
        if not isinstance(document, Json) or not isinstance(document.value, dict):
            raise _unfit(address)
        return document.value, _lifetime(answer.headers.get("cache-control", "").lower())


def _lifetime(policy: str) -> int:
    age = _MAX_AGE.search(policy)
    lifetime = int(age[1]) * SECOND if age else USUAL
    return min(max(0 if "no-store" in policy or "no-cache" in policy else lifetime, SHORTEST), LONGEST)


def _unfit(address: str) -> Invalid:
    sentence = gettext("The description of this agent at {host} is not valid. Contact its makers.")
    return Invalid(sentence.format(host=urlsplit(address).netloc))
