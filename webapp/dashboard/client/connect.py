"""Calls the Connect API for one project and environment, each call with the token that it needs.

Calls that a Connect token allows use the token of the external user (:class:`UserCalls`). The dashboard's OAuth access
token creates those tokens, reads and rotates signing keys and reads the audit log. Tokens are kept only in memory and
renewed before they expire: the access token 120 seconds before (contract "Access tokens"), Connect tokens five minutes
before. Browsers never get them; the tokens of Connect Links are not stored. In the portal that a product shows its
users, only the user's Connect token is available (:class:`TokenClient`): calls outside its scope raise
:class:`NotFound`, so that pages leave the data out. Connect Links are then sessions of the token
(``POST P/link_sessions``, an extension), or else the token's only link. HTTP and errors are left to :mod:`.transport`.
"""

import copy
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

from webapp.dashboard.client.models.audit import AuditEntry
from webapp.dashboard.client.models.lenient import Lenient, PageOf
from webapp.dashboard.client.transport import Memory, NotTheApi, Params, Remembered, ServiceDown, Transport
from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized
from webapp.kit.clock import DAY, MINUTE, SECOND, Clock, parse_iso

EARLY = 120 * SECOND
USER_EARLY = 5 * MINUTE
USER_TOKENS = 10_000
SLUGS = 200  # of apps in one call


class AccessToken:
    """The OAuth access token of a client, fetched when needed and shared between threads (section 4.1)."""

    def __init__(self, transport: Transport, clock: Clock, client_id: str, client_secret: str) -> None:
        self._transport, self._clock = transport, clock
        self._client_id, self._client_secret = client_id, client_secret
        self._lock = threading.Lock()
        self._token, self._renew_at = "", 0

    def get(self) -> str:
        """A token with at least two minutes left. Raises :class:`ServiceDown`, also for a refused client."""
        with self._lock:
            if self._clock() >= self._renew_at:
                self._fetch()
            return self._token

    def drop(self, token: str) -> None:
        """Discard ``token``, which the service refused, unless it was replaced already."""
        with self._lock:
            if self._token == token:
                self._renew_at = 0

    def _fetch(self) -> None:
        body = {
            "grant_type": "client_credentials",
            "client_id": self._client_id,
            "client_secret": self._client_secret,
        }
        try:
            answer = self._transport.call("POST", "/v1/oauth/token", body=body)
            self._token = str(answer["access_token"])
            lifetime = int(answer.get("expires_in", 3600)) * SECOND
        except Unauthorized as error:
            raise ServiceDown(
                "The Connect service refused the dashboard’s own client; check its id and secret."
            ) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NotTheApi from error
        self._renew_at = self._clock() + max(lifetime - EARLY, lifetime // 2)


M = TypeVar("M", bound=Lenient)


class Call(TypedDict, total=False):
    """The options of a call; ``timeout`` is in seconds. Calls for the dashboard's own tokens are not ``noted``."""

    params: Params
    body: Mapping[str, Any]
    file: bytes
    timeout: float
    noted: bool


class ConnectClient:
    """One project and environment of a Connect service. Safe to share between threads."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        *,
        client_id: str,
        client_secret: str,
        project: Callable[[], str],
        environment: str,
        remembered: Remembered | None = None,
    ) -> None:
        """With ``remembered``, reads that fail return their last response again."""
        self._remembered = remembered
        self.transport, self._clock, self._project, self._environment = transport, clock, project, environment
        self._access = AccessToken(transport, clock, client_id, client_secret)
        self._tokens: Memory[str] = Memory(clock, lifetime=0, size=USER_TOKENS)
        self._others: Memory[ConnectClient] = Memory(clock, lifetime=DAY)

    @property
    def project_id(self) -> str:
        """The id of the project."""
        return self._project()

    def within(self, project_id: str, environment: str) -> "ConnectClient":
        """A client for another environment, and for another project unless ``project_id`` is ""."""
        known = self._others.get(f"{project_id} {environment}")
        if known:
            return known
        other = copy.copy(self)
        other._project, other._environment = (lambda: project_id) if project_id else self._project, environment
        other._tokens = Memory(self._clock, lifetime=0, size=USER_TOKENS)
        return self._others.put(f"{project_id} {environment}", other)

    @property
    def environment(self) -> str:
        """The environment, development or production."""
        return self._environment

    def create_token(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """``POST P/tokens`` (section 4.2)."""
        answer = self.as_project("POST", self.path("tokens"), body={"project_id": self._project(), **body})
        return object_of(answer)

    def new_link(self, user: str, uris: Mapping[str, str], app: str, account_id: str = "", action: str = "") -> str:
        """The ``connect_link_url`` of a new token, for one app; for an account, with what ``action`` needs besides."""
        url = str(self.create_token({"external_user_id": user, **uris}).get("connect_link_url", ""))
        chosen = {"app": app, "accountId": account_id, "action": action}
        return f"{url}&{urlencode({name: value for name, value in chosen.items() if value}, quote_via=quote)}"

    def audit(self, filters: Mapping[str, str], *, limit: int) -> PageOf[AuditEntry] | None:
        """``GET P/audit`` (an extension), newest first; ``None`` if the service has none or refuses it.

        ``filters`` may have noun, subject_id, actor and after. The caller has checked that the person may see what
        everybody in the project does.
        """
        try:
            answer = self.as_project("GET", self.path("audit"), params={**filters, "limit": limit})
        except (NotFound, Forbidden):
            return None
        return read(PageOf[AuditEntry], answer)

    def as_project(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the OAuth access token.

        It gives access to all users' data: the caller has checked whose data it is.
        """
        return self._authorized(self._access.get, self._access.drop, method, path, call)

    def as_user(self, user: str, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the Connect token of ``user``. Two threads may create a token at once; both work."""

        def token() -> str:
            return self._tokens.get(user) or self._new_token(user)

        def ask(timeout: float | None = None) -> Any:
            patience: Call = {"timeout": timeout} if timeout else {}
            return self._authorized(token, lambda _: self._tokens.drop(user), method, path, {**call, **patience})

        if self._remembered is None or method != "GET":
            return ask()
        question = f"{self._project()} {self._environment} {user} {path} {call.get('params')}"
        return self._remembered.read(question, ask)

    def path(self, *parts: str) -> str:
        """A path below ``/v1/connect/{project_id}``, each part quoted."""
        return "/v1/connect/" + "/".join(quote(part, safe="") for part in (self._project(), *parts))

    def _authorized(
        self, token: Callable[[], str], drop: Callable[[str], None], method: str, path: str, call: Call
    ) -> Any:
        """A call, repeated with a new token if the service refused the first one."""
        for last in (False, True):
            current = token()
            try:
                return self.transport.call(method, path, token=current, environment=self._environment, **call)
            except Unauthorized:
                drop(current)
                if last:
                    raise
        raise AssertionError("unreachable")

    def _new_token(self, user: str) -> str:
        """A new Connect token of ``user``, cached until shortly before it expires."""
        body = {"project_id": self._project(), "external_user_id": user}
        answer = object_of(self.as_project("POST", self.path("tokens"), body=body, noted=False))
        try:
            lifetime = parse_iso(str(answer.get("expires_at", ""))) - self._clock()
        except ValueError as error:
            raise NotTheApi from error
        return self._tokens.put(user, str(answer.get("token", "")), max(lifetime - USER_EARLY, lifetime // 2))


class UserCalls:
    """Calls as one external user, with responses as models. The base of all clients by noun."""

    def __init__(self, client: ConnectClient, external_user_id: str) -> None:
        self.client, self.user_id = client, external_user_id

    def call(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call; its JSON response."""
        return self.client.as_user(self.user_id, method, path, **call)

    def ask(self, model: type[M], method: str, path: str, **call: Unpack[Call]) -> M:
        """A call; its response as ``model``. Raises the errors of :mod:`.transport`."""
        return read(model, self.call(method, path, **call))

    def ask_extension(self, model: type[M], method: str, path: str, **call: Unpack[Call]) -> M | None:
        """Like :meth:`ask` for an extension; ``None`` if the service does not have it."""
        try:
            return self.ask(model, method, path, **call)
        except NotFound:
            return None


def read(model: type[M], answer: object) -> M:
    """``answer`` as a model; some services wrap a single object in ``data``. Raises :class:`.NotTheApi`."""
    whole = object_of(answer)
    data = whole.get("data")
    return model.model_validate(data if isinstance(data, dict) else whole)


def object_of(answer: object) -> Mapping[str, Any]:
    """``answer`` if it is a JSON object. Raises :class:`.NotTheApi`."""
    if not isinstance(answer, dict):
        raise NotTheApi
    return answer


class TokenFacts(Lenient):
    """The facts about a Connect token (contract "Token validation", with extensions)."""

    success: bool = False
    project_id: str = ""
    project_environment: str = ""
    project_app_name: str = ""
    project_support_email: str = ""
    project_brand_hue: int | None = None
    project_logo_url: str = ""
    external_user_id: str = ""
    user_id: str = ""
    allowed_origins: tuple[str, ...] = ()
    scope: str = ""
    expires_at: str = ""

    @property
    def works(self) -> bool:
        """Whether the token is valid and its user is known, which needs an extension."""
        return bool(self.success and self.project_id and self.external_user_id and self.ends_at)

    @property
    def ends_at(self) -> int:
        """When the token expires, in epoch milliseconds; 0 if that is unknown."""
        try:
            return parse_iso(self.expires_at) if self.expires_at else 0
        except ValueError:
            return 0

    def admits(self, scope: str) -> bool:
        """Whether the token has ``scope``, or one that includes it (contract "Scopes")."""
        return any(
            granted == scope or (granted.endswith("*") and scope.startswith(granted[:-1]))
            for granted in self.scope.split()
        )

    def same_user(self, other: "TokenFacts") -> bool:
        """Whether both tokens belong to the same user of the same project and environment."""
        names = ("project_id", "project_environment", "external_user_id")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class TokenClient(ConnectClient):
    """A client with only a Connect token, for its user, project and environment."""

    def __init__(
        self, transport: Transport, clock: Clock, token: str, facts: TokenFacts, look: Mapping[str, str] | None = None
    ) -> None:
        """``look`` is the theme and language of Connect Links."""
        super().__init__(
            transport, clock, client_id="", client_secret="", project=lambda: facts.project_id,
            environment=facts.project_environment,
        )  # fmt: skip
        self._token, self._look = token, look or {}

    def as_user(self, user: str, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the token. Raises :class:`NotFound` for calls outside its scope."""
        try:
            return self.transport.call(method, path, token=self._token, environment=self._environment, **call)
        except Forbidden as error:
            raise NotFound from error

    def as_project(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """Raises :class:`NotFound`: there is no OAuth client."""
        raise NotFound

    def new_link(self, user: str, uris: Mapping[str, str], app: str, account_id: str = "", action: str = "") -> str:
        """The URL of a new Connect Link session, or of the token's only link."""
        body = {**self._look, **uris, "app": app, "account_id": account_id or None}
        if action:  # which a service of an earlier version does not know
            body["action"] = action
        try:
            return str(object_of(self.as_user(user, "POST", self.path("link_sessions"), body=body)).get("url", ""))
        except NotFound:
            chosen = {"app": app, "accountId": account_id, "action": action, **self._look}
            return own_link(self.transport.base_url, self._token, chosen)


def own_link(base_url: str, token: str, chosen: Mapping[str, str]) -> str:
    """The token's own Connect Link, with the parameters ``chosen`` that are not empty (contract "Connect Link")."""
    query = {"token": token, "connectLink": "true", **chosen} if token else {}
    return f"{base_url}/_static/connect.html?{urlencode({name: value for name, value in query.items() if value})}"


def facts_of(transport: Transport, token: str) -> TokenFacts:
    """``GET /v1/connect/tokens/{ctok}/validate``; empty facts for a token that is not valid."""
    path = f"/v1/connect/tokens/{quote(token[:200], safe='')}/validate"
    try:
        return read(TokenFacts, transport.call("GET", path, params={"extensions": True}))
    except (NotFound, Forbidden, Invalid, Unauthorized):
        return TokenFacts()
