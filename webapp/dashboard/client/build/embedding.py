"""Connect tokens for trying the Connect Link, and whether a page can show it (contract "Connect tokens")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.dashboard.client.transport import NotTheApi
from webapp.errors import Forbidden, NotFound

CHECK_TIMEOUT_S = 20.0  # the page that is looked at may be slow


class Validity(Lenient):
    """Whether a Connect token works. ``expires_at`` and ``link_used`` are extensions: None where they are not told."""

    success: bool = False
    error: str = ""
    project_id: str = ""
    project_environment: str = ""
    expires_at: str | None = None
    link_used: bool | None = None


class Finding(Lenient):
    """One condition of showing the Connect Link on a page; ``remedy`` is a line to copy."""

    code: NonEmpty
    state: Literal["ok", "warn", "bad"] = "warn"
    title: str = ""
    detail: str = ""
    remedy: str = ""


class EmbedCheck(Lenient):
    """What was found out about a page; ``looked_at`` is empty where it could not be looked at."""

    origin: str = ""
    looked_at: str = ""
    findings: tuple[Finding, ...] = ()
    checked_at: str | None = None


class RefusedOrigin(Lenient):
    """The origin of a page that showed a token which does not allow it."""

    origin: NonEmpty
    refused_at: str | None = None


@dataclass(frozen=True, slots=True)
class EmbedClient:
    """Embedding in one project and environment."""

    client: ConnectClient

    def make_token(self, body: Mapping[str, Any]) -> tuple[str, str]:
        """``POST P/tokens``: the token and its ``connect_link_url``. Raises :class:`webapp.errors.Invalid`."""
        answer = self.client.create_token(body)
        token, url = answer.get("token"), answer.get("connect_link_url")
        if not isinstance(token, str) or not isinstance(url, str) or not url.startswith(("https://", "http://")):
            raise NotTheApi
        return token, url

    def validity(self, token: str) -> Validity:
        """``GET /v1/connect/tokens/{ctok}/validate``."""
        path, params = f"/v1/connect/tokens/{quote(token, safe='')}/validate", {"extensions": True}
        return read(Validity, self.client.as_project("GET", path, params=params))

    def check_page(self, url: str, origins: Sequence[str], printed: str) -> EmbedCheck | None:
        """``POST P/embed_check`` (an extension). Raises :class:`webapp.errors.Invalid`."""
        body: dict[str, Any] = {"url": url, "allowed_origins": list(origins)}
        path = self.client.path("embed_check")
        try:
            answer = self.client.as_project(
                "POST", path, body=body | ({"printed": printed} if printed else {}), timeout=CHECK_TIMEOUT_S
            )
        except (NotFound, Forbidden):
            return None
        return read(EmbedCheck, answer)

    def refused_origins(self) -> tuple[RefusedOrigin, ...]:
        """``GET P/refused_origins`` (an extension), the latest first; none where the service does not tell."""
        try:
            answer = self.client.as_project("GET", self.client.path("refused_origins"))
        except (NotFound, Forbidden):
            return ()
        return PageOf[RefusedOrigin].model_validate(answer).items
