"""The client of a request and the protocol revision it speaks (:class:`Client`); no state is kept between requests.

What a client of an older revision declares by ``initialize`` is signed into its session id, which it sends with each
later request. So every process understands it, also after a restart.
"""

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadData, URLSafeSerializer
from werkzeug.datastructures import Headers

from webapp.service.domain.base.service import Service
from webapp.service.mcp import protocol
from webapp.service.mcp.protocol import HANDSHAKES, MODERN, Message, ProtocolError

REVISION_HEADER, METHOD_HEADER, NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"
SESSION_HEADER = "mcp-session-id"
SESSIONS = "mcp-sessions"  # the purpose for which the signing key is derived
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Client:
    """The program at the other end. ``session`` names its conversation, of one person; a modern one has none."""

    revision: str
    name: str = ""
    opens_links: bool = False
    session: str = ""

    @property
    def is_modern(self) -> bool:
        """Whether the client declares itself in every request."""
        return self.revision == MODERN


def read(service: Service, headers: Headers, message: Message, external_id: str) -> Client:
    """The client that sent ``message`` for the user ``external_id``. Raises :class:`ProtocolError`."""
    revision = headers.get(REVISION_HEADER)
    if revision not in HANDSHAKES and (revision is not None or protocol.REVISION_KEY in message.meta):
        return _modern(headers, message, revision)
    if message.method == "initialize":
        return Client(_answered(message.params.get("protocolVersion")))
    session = headers.get(SESSION_HEADER)
    return _recalled(service, session, revision, external_id) if session else Client(revision or protocol.ASSUMED)


def revision_of(service: Service, headers: Headers, external_id: str) -> str:
    """The protocol revision in the headers of a request. Raises :class:`ProtocolError`."""
    revision, session = headers.get(REVISION_HEADER), headers.get(SESSION_HEADER)
    return revision or (_recalled(service, session, None, external_id).revision if session else protocol.ASSUMED)


def begin(service: Service, params: Mapping[str, Any]) -> tuple[str, str]:
    """Handle ``initialize``: return the agreed revision and the id of the session."""
    revision = _answered(params.get("protocolVersion"))
    facts = [revision, protocol.name_of(params.get("clientInfo")), protocol.opens_links(params.get("capabilities"))]
    signed = _signer(service).dumps([*facts, secrets.token_urlsafe(9)])
    return revision, signed if isinstance(signed, str) else signed.decode()


def _answered(revision: Any) -> str:
    return revision if revision in HANDSHAKES else HANDSHAKES[-1]


def _modern(headers: Headers, message: Message, revision: str | None) -> Client:
    """The client that the request declares; its headers must agree."""
    if message.id is None:  # notifications carry no client information
        _check_supported(revision)
        return Client(MODERN)
    meta = message.meta
    missing = [key for key in (protocol.REVISION_KEY, protocol.CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise ProtocolError(protocol.INVALID_PARAMS, f"params._meta must hold {' and '.join(missing)}.")
    if revision != meta[protocol.REVISION_KEY]:
        raise _mismatch(REVISION_HEADER, "the revision in params._meta")
    if headers.get(METHOD_HEADER) != message.method:
        raise _mismatch(METHOD_HEADER, "the method")
    value = message.params.get(_NAMED.get(message.method or "", ""))
    if value is not None and _decoded(headers.get(NAME_HEADER)) != value:
        raise _mismatch(NAME_HEADER, "the name in params")
    _check_supported(revision)
    capabilities = meta[protocol.CAPABILITIES_KEY]
    return Client(MODERN, protocol.name_of(meta.get(protocol.CLIENT_KEY)), protocol.opens_links(capabilities))


def _decoded(value: str | None) -> str | None:
    """A header's value, decoded from ``=?base64?…?=`` if it is not plain ASCII."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except ValueError:
        return None


def _check_supported(revision: str | None) -> None:
    if revision != MODERN:
        data = {"supported": [MODERN], "requested": revision}
        raise ProtocolError(protocol.UNSUPPORTED_REVISION, "This revision is not spoken here.", data)


def _mismatch(header: str, meant: str) -> ProtocolError:
    return ProtocolError(protocol.HEADER_MISMATCH, f"The header {header} must be the same as {meant}.")


def _recalled(service: Service, session: str, revision: str | None, external_id: str) -> Client:
    try:
        agreed, name, links, _ = _signer(service).loads(session)
    except (BadData, ValueError, TypeError) as error:
        message = "This session is not known here; begin with initialize."
        raise ProtocolError(protocol.INVALID_REQUEST, message, status=404) from error
    return Client(revision or agreed, name, links, f"{session} {external_id}")


def _signer(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(SESSIONS), salt="mcp")
