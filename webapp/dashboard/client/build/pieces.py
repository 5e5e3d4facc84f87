"""Integrations from npm packages, which owners add over the API (contract "Integrations")."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.pieces import Packages, Piece, Pieces
from webapp.errors import Forbidden, NotFound

PATIENCE_S = 60.0
"""For the registry, and for a catalog that is built anew."""
_PATH = "/v1/pieces"


class PieceClient:
    """The integrations of an installation. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> Pieces | None:
        """All by name; ``None`` where the service offers none."""
        try:
            return Pieces.model_validate(self._client.as_project("GET", _PATH))
        except (NotFound, Forbidden):
            return None

    def get(self, piece_id: str) -> Piece:
        """One, with its licence. Raises :class:`NotFound`."""
        return read(Piece, self._client.as_project("GET", _below(piece_id)))

    def search(self, q: str) -> Packages:
        """What the registry has by that name. Raises :class:`webapp.errors.Unavailable` where it does not answer."""
        answer = self._client.as_project("GET", "/v1/piece_packages", params={"q": q}, timeout=PATIENCE_S)
        return Packages.model_validate(answer)

    def begin(self, name: str, version: str = "") -> Piece:
        """Bring a package here and look at it; nobody sees it yet.

        Raises :class:`webapp.errors.Invalid`, :class:`webapp.errors.Conflict`.
        """
        body = {"name": name, **({"version": version} if version else {})}
        return read(Piece, self._client.as_project("POST", _PATH, body=body, timeout=PATIENCE_S))

    def look_for_newer(self) -> None:
        """Ask the registry for newer versions. Raises :class:`webapp.errors.Unavailable` where it does not answer."""
        self._client.as_project("POST", f"{_PATH}/look", timeout=PATIENCE_S)

    def confirm(self, piece_id: str, hosts: Sequence[str], *, version: str, hidden: bool) -> Piece:
        """Add what was looked at, the version ``version``, to reach ``hosts`` alone. Raises as :meth:`begin`."""
        return self._send("POST", piece_id, "confirm", {"hosts": list(hosts), "hidden": hidden, "version": version})

    def stop(self, piece_id: str) -> None:
        """Give up what is not added yet. Raises :class:`NotFound`, :class:`webapp.errors.Conflict`."""
        self._client.as_project("POST", _below(piece_id, "stop"))

    def hide(self, piece_id: str, *, hidden: bool) -> Piece:
        """Hide it from people, or show it."""
        return self._send("PATCH", piece_id, "", {"hidden": hidden})

    def set_hosts(self, piece_id: str, hosts: Sequence[str]) -> Piece:
        """Let it reach ``hosts`` alone. Raises :class:`webapp.errors.Invalid`."""
        return self._send("PATCH", piece_id, "", {"hosts": list(hosts)})

    def allow(self, piece_id: str, host: str) -> Piece:
        """Let it reach ``host``, too, which it was refused. Raises :class:`webapp.errors.Invalid`."""
        return self._send("POST", piece_id, "allow", {"host": host})

    def remove(self, piece_id: str) -> None:
        """Remove it; its accounts and triggers stay. Raises :class:`NotFound`, :class:`webapp.errors.Conflict`."""
        self._client.as_project("DELETE", _below(piece_id), params={"with_uses": True}, timeout=PATIENCE_S)

    def _send(self, method: str, piece_id: str, verb: str, body: dict[str, Any]) -> Piece:
        return read(Piece, self._client.as_project(method, _below(piece_id, verb), body=body, timeout=PATIENCE_S))


def _below(piece_id: str, verb: str = "") -> str:
    return "/".join(filter(None, (_PATH, quote(piece_id, safe=""), verb)))
