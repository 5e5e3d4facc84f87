"""A project's own OAuth clients at providers over the API (contract "OAuth apps"): listed, made, checked and deleted.

Three of the calls and the check are extensions; where a service lacks them, clients are made without.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Conflict, Forbidden, NotFound

CHECK_TIMEOUT_S = 30.0  # a provider is asked twice at most
MOST = 100
_NOUN = "oauth_apps"


class Events(Lenient):
    """Where the provider tells a client's events, and whether the secret that signs them was entered.

    One that ``brings_secret`` makes it, and sent the one that waits at ``secret_sent_at`` (ISO 8601, "" for none). One
    that ``takes_topic`` has the name of a topic in its place."""

    uri: str = ""
    address_name: str = ""
    secret_name: str = ""
    has_secret: bool = False
    brings_secret: bool = False
    takes_topic: bool = False
    secret_sent_at: str = ""


class Use(Lenient):
    """What a client serves; numbers that the service does not give are None."""

    app_name: str = ""
    accounts: int | None = None
    shared_with: tuple[str, ...] = ()
    used_for_new: bool = True
    installation_has_one: bool = False
    events: Events | None = None


class Verdict(Lenient):
    """Whether the provider knows a client, in a word (known, unknown, redirect_uri, unchecked) and in a sentence."""

    verdict: str = "unchecked"
    sentence: str = ""

    @property
    def tone(self) -> str:
        """How it is shown of a client that is kept in any case."""
        return "warn" if self.sentence and self.verdict == "unchecked" else "ok"


class OAuthApp(Lenient):
    """A client; ``slug`` is its app's. Times are ISO 8601."""

    id: NonEmpty
    slug: str = Field(default="", alias="name_slug")
    name: str = ""
    logo: str = Field(default="", alias="img_src")
    client_id: str = ""
    scopes: tuple[str, ...] = ()
    redirect_uri: str = ""
    created_at: str = ""
    check: Verdict = Field(default_factory=Verdict)
    use: Use = Field(default_factory=Use, alias="patchbay")

    @property
    def app_name(self) -> str:
        """What its app is called."""
        return self.use.app_name or self.name

    @property
    def own_name(self) -> str:
        """What it is called besides, "" where nobody said."""
        return self.name if self.name != self.app_name else ""


class Taken(Lenient):
    """The secret that signs a client's events from now on."""

    events_secret: NonEmpty


class OAuthApps:
    """The clients of one project. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self, *, app: str = "", after: str = "") -> PageOf[OAuthApp] | None:
        """``GET P/oauth_apps``, oldest first; ``None`` where the dashboard's own client may not."""
        params: dict[str, str | int | bool] = {"limit": MOST, "extensions": True}
        params |= {name: value for name, value in {"app": app, "after": after}.items() if value}
        try:
            return read(PageOf[OAuthApp], self._client.as_project("GET", self._client.path(_NOUN), params=params))
        except (NotFound, Forbidden):
            return None

    def get(self, oauth_app_id: str) -> OAuthApp:
        """One of them. Raises :class:`NotFound`."""
        return self._ask("GET", oauth_app_id, params={"extensions": True})

    def create(self, app: str, client_id: str, client_secret: str, *, check: bool) -> OAuthApp:
        """Make one. Raises :class:`webapp.errors.Invalid`, also where the provider does not know it."""
        body = {"app": app, "client_id": client_id, "client_secret": client_secret, "check": check}
        return self._ask("POST", body=body, timeout=CHECK_TIMEOUT_S)

    def change(self, oauth_app_id: str, changes: Mapping[str, Any]) -> OAuthApp:
        """Change what ``changes`` names. Raises like :meth:`create`, and :class:`Conflict`."""
        return self._ask("PUT", oauth_app_id, body=changes, timeout=CHECK_TIMEOUT_S)

    def delete(self, oauth_app_id: str) -> None:
        """Delete one. Raises :class:`Conflict` while accounts use it."""
        self._client.as_project("DELETE", self._client.path(_NOUN, oauth_app_id))

    def check(self, oauth_app_id: str) -> Verdict:
        """Ask the provider whether it knows one (an extension)."""
        answer = self._client.as_project(
            "POST", self._client.path(_NOUN, oauth_app_id, "check"), timeout=CHECK_TIMEOUT_S
        )
        return read(Verdict, answer)

    def take_events_secret(self, oauth_app_id: str) -> str:
        """Let the secret that the provider sent sign its events (an extension). Raises :class:`Conflict` for none."""
        answer = self._client.as_project("POST", self._client.path(_NOUN, oauth_app_id, "events_secret"))
        return read(Taken, answer).events_secret

    def share(self, oauth_app_id: str, apps: Iterable[str]) -> None:
        """Let each of ``apps`` (slugs) use one (an extension); one that does already is passed over."""
        for app in apps:
            try:
                self._ask("POST", oauth_app_id, "share", body={"app": app})
            except Conflict:
                continue

    def _ask(self, method: str, *path: str, **call: Any) -> OAuthApp:
        return read(OAuthApp, self._client.as_project(method, self._client.path(_NOUN, *path), **call))
