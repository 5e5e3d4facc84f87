"""What the Embed page shows, all of it in its address; and the token that its preview uses, which no address holds.

The token stands in the browser's signed form cookie: only whoever made it can see it, and no process keeps it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from flask import session, url_for
from pydantic import StringConstraints

from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import ListQuery, among, at_most
from webapp.kit.translation import lazy as _

WAYS: Mapping[str, str] = {
    "link": _("Link to send"),
    "window": _("Window"),
    "page": _("In the page"),
    "portal": _("Portal"),
    "server": _("Server"),
    "clients": _("Existing clients"),
}
SHOWN: Mapping[str, str] = {"link": _("Link"), "portal": _("Portal")}
SIZES: Mapping[str, tuple[str, str]] = {"desktop": (_("Desktop"), "screen"), "phone": (_("Phone"), "phone")}
FIRST_USER = "user-42"
_KEY = "embed"
Text = Annotated[str, StringConstraints(strip_whitespace=True), at_most(2_000)]


class EmbedQuery(ListQuery):
    """The form and the switches. ``origins`` are separated by spaces, which none of them holds."""

    user: Annotated[str, StringConstraints(strip_whitespace=True), at_most(250)] = FIRST_USER
    app: Annotated[str, StringConstraints(pattern=r"^[\w-]{0,100}$")] = ""
    origins: Annotated[str, at_most(6_000)] = ""
    success: Text = ""
    error: Text = ""
    way: Annotated[str, among(WAYS)] = "link"
    shown: Annotated[str, among(SHOWN)] = "link"
    size: Annotated[str, among(SIZES)] = "desktop"

    @classmethod
    def of_form(cls, form: Mapping[str, str], shown: "EmbedQuery") -> "EmbedQuery":
        """``shown``, as the form says it now."""
        named = {name: form[name] for name in ("user", "app", "origins", "success", "error") if name in form}
        return cls.model_validate(shown.model_dump() | named)

    @property
    def listed(self) -> list[str]:
        """The origins, each once."""
        return list(dict.fromkeys(self.origins.split()))

    def with_origins(self, origins: list[str]) -> "EmbedQuery":
        """The same with other origins."""
        return self.model_copy(update={"origins": " ".join(dict.fromkeys(origins))})

    def address(self, part: str = "", endpoint: str = "page", **changes: str) -> str:
        """The page as it is shown, with ``changes``, at its ``part``; or another address below it."""
        anchor = f"#{part}" if part else ""
        return url_for(f"dashboard.build_embed.{endpoint}") + self.query_string(**changes) + anchor

    def token_body(self) -> dict[str, Any]:
        """What the API takes. The dashboard's own origin may show the token, too: it shows the preview."""
        body = {
            "external_user_id": self.user,
            "app_id": self.app,
            "success_redirect_uri": self.success,
            "error_redirect_uri": self.error,
        }
        own = dashboard().settings.public_url
        return {name: value for name, value in body.items() if value} | {"allowed_origins": [*self.listed, own]}


@dataclass(frozen=True, slots=True)
class Token:
    """The token of the preview, and where its Connect Link opens."""

    token: str
    link_url: str

    def preview(self, query: EmbedQuery) -> str:
        """What the preview frames: the Connect Link, or the portal, which is always the dashboard's own."""
        portal = f"{dashboard().settings.public_url}/portal?token={self.token}"
        return portal if query.shown == "portal" else self.link(query.app)

    def link(self, app: str) -> str:
        """The address of the Connect Link, for ``app`` or for a choice of apps."""
        return self.link_url + (f"&app={app}" if app else "")


def keep(token: str, link_url: str) -> None:
    """Show ``token`` from now on, to this person in this browser."""
    session[_KEY] = [viewer().key, token, link_url]


def kept() -> Token | None:
    """The token that was made last, by this person."""
    match session.get(_KEY):
        case [owner, str(token), str(link_url)] if owner == viewer().key:
            return Token(token, link_url)
    return None
