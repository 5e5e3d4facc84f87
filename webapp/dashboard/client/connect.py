"""A typed client of the Connect API: all that the dashboard knows of the service.

:class:`ConnectClient` stands for one project and environment; :meth:`ConnectClient.user` narrows it to one external
user. Every call that a Connect token may make is made with that user's Connect token; OAuth is used only to create
tokens and to read or rotate a signing key. Methods raise the errors of :mod:`.transport`; an extension that a service
lacks answers ``None``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from webapp.dashboard.client.models import accounts as shapes
from webapp.dashboard.client.models.accounts import Account, App, Category, Happening, PageOf, TestResult, Use
from webapp.dashboard.client.models.reading import Json
from webapp.dashboard.client.tokens import AccessToken, UserTokens
from webapp.dashboard.client.transport import TEST_TIMEOUT_S, TIMEOUT_S, Params, ServiceDown, Transport
from webapp.errors import NotFound, Unauthorized
from webapp.kit.clock import Clock

T = TypeVar("T")

_EXTENDED: Params = {"extensions": True}  # ask for what only the embedded service knows; others ignore it


@dataclass(frozen=True, slots=True)
class AppFilter:
    """Which apps to list; every field as in specification 4.3."""

    q: str = ""
    category: str = ""
    has_actions: bool = False
    has_triggers: bool = False
    sort_key: str = "featured_weight"
    sort_direction: str = "desc"

    def params(self) -> dict[str, str | bool | int | list[str]]:
        """The query of ``GET /v1/connect/apps``."""
        found: dict[str, str | bool | int | list[str]] = {
            "sort_key": self.sort_key,
            "sort_direction": self.sort_direction,
            **_EXTENDED,
        }
        if self.q:
            found["q"] = self.q
        if self.category:
            found["category_ids"] = [self.category]
        if self.has_actions:
            found["has_actions"] = True
        if self.has_triggers:
            found["has_triggers"] = True
        return found


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
    ) -> None:
        self.transport, self._project, self._environment = transport, project, environment
        self._access = AccessToken(transport, clock, client_id, client_secret)
        self._tokens = UserTokens(clock, self._create_token)

    def user(self, external_user_id: str) -> "UserClient":
        """This service as one external user sees it."""
        return UserClient(self, external_user_id)

    def create_token(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """``POST P/tokens`` (section 4.2), with the OAuth access token."""
        answer = self.as_project("POST", self._path("tokens"), body={"project_id": self._project(), **body})
        return _object(answer)

    def as_project(self, method: str, path: str, *, params: Params | None = None, body: Any = None) -> Any:
        """A call with the OAuth access token, once more with a new one when it was refused.

        It sees every user's things: whoever calls it has made sure whose they are.
        """
        for attempt in (1, 2):
            access = self._access.get()
            try:
                return self.transport.call(
                    method, path, token=access, environment=self._environment, params=params, body=body
                )
            except Unauthorized:
                self._access.drop(access)
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def as_user(
        self, user: str, method: str, path: str, *, params: Params | None = None, body: Any = None,
        timeout: float = TIMEOUT_S,
    ) -> Any:  # fmt: skip
        """A call with the Connect token of ``user``, once more with a new one when it was refused."""
        for attempt in (1, 2):
            token = self._tokens.get(user)
            try:
                return self.transport.call(
                    method, path, token=token, environment=self._environment, params=params, body=body, timeout=timeout
                )
            except Unauthorized:
                self._tokens.drop(user)
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def project_path(self, *parts: str) -> str:
        """A path below ``/v1/connect/{project_id}``, each part quoted."""
        return self._path("/".join(quote(part, safe="") for part in parts))

    def _path(self, rest: str) -> str:
        return f"/v1/connect/{self._project()}/{rest}"

    def _create_token(self, user: str) -> tuple[str, str]:
        answer = self.create_token({"external_user_id": user})
        return str(answer.get("token", "")), str(answer.get("expires_at", ""))


class UserClient:
    """What one external user may see and do."""

    def __init__(self, client: ConnectClient, external_user_id: str) -> None:
        self._client, self.user_id = client, external_user_id

    def apps(self, wanted: AppFilter, *, limit: int, after: str = "") -> PageOf[App]:
        """``GET /v1/connect/apps`` (section 4.3)."""
        answer = self._call("GET", "/v1/connect/apps", wanted.params() | _window(limit, after))
        return shapes.page_of(_object(answer), shapes.listed_app)

    def app(self, slug: str) -> App:
        """``GET /v1/connect/apps/{slug}``. Raises :class:`NotFound`."""
        answer = _object(self._call("GET", "/v1/connect/apps/" + quote(slug, safe=""), _EXTENDED))
        data = answer.get("data")
        return shapes.app(data if isinstance(data, dict) else answer)

    def categories(self) -> list[Category]:
        """``GET /v1/connect/app_categories``, a bare array; empty where the service has none."""
        try:
            answer = self._call("GET", "/v1/connect/app_categories", _EXTENDED)
        except NotFound:
            return []
        return [shapes.category(item) for item in _array(answer)]

    def accounts(self, *, limit: int, after: str = "", app: str = "") -> PageOf[Account]:
        """``GET P/accounts`` of this user."""
        params = {
            "external_user_id": self.user_id,
            **_EXTENDED,
            **_window(limit, after),
            **({"app": app} if app else {}),
        }
        return shapes.page_of(_object(self._call("GET", self._account(), params)), shapes.account)

    def account(self, account_id: str) -> Account:
        """``GET P/accounts/{id}`` (section 4.14). Raises :class:`NotFound`."""
        answer = _object(self._call("GET", self._account(account_id), _EXTENDED))
        data = answer.get("data")
        return shapes.account(data if isinstance(data, dict) else answer)

    def delete_account(self, account_id: str) -> None:
        """``DELETE P/accounts/{id}``. Raises :class:`NotFound`."""
        self._call("DELETE", self._account(account_id))

    def rename_account(self, account_id: str, name: str) -> Account | None:
        """``PATCH P/accounts/{id}`` (an extension)."""
        return self._extension("PATCH", self._account(account_id), shapes.account, body={"name": name or None})

    def test_account(self, account_id: str) -> TestResult | None:
        """``POST P/accounts/{id}/test`` (an extension); takes as long as the account's provider."""
        path = self._account(account_id, "test")
        return self._extension("POST", path, shapes.test_result, timeout=TEST_TIMEOUT_S)

    def revoke_account(self, account_id: str) -> Account | None:
        """``POST P/accounts/{id}/revoke`` (an extension). Raises :class:`webapp.errors.Conflict` where impossible."""
        path = self._account(account_id, "revoke")
        return self._extension("POST", path, shapes.account, timeout=TEST_TIMEOUT_S)

    def uses(self, account_id: str, *, limit: int = 50) -> PageOf[Use] | None:
        """``GET P/accounts/{id}/uses`` (an extension): what stops without the account."""
        path, params = self._account(account_id, "uses"), _window(limit)
        return self._extension("GET", path, lambda data: shapes.page_of(data, shapes.use), params=params)

    def history(self, account_id: str, *, limit: int = 10, after: str = "") -> PageOf[Happening] | None:
        """``GET P/accounts/{id}/history`` (an extension), newest first."""
        path, params = self._account(account_id, "history"), _window(limit, after)
        return self._extension("GET", path, lambda data: shapes.page_of(data, shapes.happening), params=params)

    def activity(
        self, *, limit: int, after: str = "", app: str = "", account: str = "", kind: str = ""
    ) -> PageOf[Happening] | None:
        """``GET P/activity`` (an extension): what happened to this user's accounts, newest first."""
        wanted = {"external_user_id": self.user_id, "app": app, "account_id": account, "kind": kind}
        params = {name: value for name, value in wanted.items() if value} | _window(limit, after)
        path = self._client.project_path("activity")
        return self._extension("GET", path, lambda data: shapes.page_of(data, shapes.happening), params=params)

    def link(self, *, success: str, error: str) -> str:
        """A new ``connect_link_url`` that leads back to ``success`` or ``error`` (section 4.2)."""
        answer = self._client.create_token(
            {"external_user_id": self.user_id, "success_redirect_uri": success, "error_redirect_uri": error}
        )
        url = answer.get("connect_link_url")
        if not isinstance(url, str) or not url.startswith(("https://", "http://")):
            raise ServiceDown("The Connect service answered something that is not its API.")
        return url

    def _account(self, *parts: str) -> str:
        return self._client.project_path("accounts", *parts)

    def _call(self, method: str, path: str, params: Params | None = None) -> Any:
        return self._client.as_user(self.user_id, method, path, params=params)

    def _extension(
        self, method: str, path: str, read: Callable[[Json], T], *, params: Params | None = None,
        body: Any = None, timeout: float = TIMEOUT_S,
    ) -> T | None:  # fmt: skip
        try:
            answer = self._client.as_user(self.user_id, method, path, params=params, body=body, timeout=timeout)
        except NotFound:
            return None
        return read(_object(answer))


def _window(limit: int, after: str = "") -> dict[str, str | bool | int | list[str]]:
    return {"limit": limit, "after": after} if after else {"limit": limit}


def _object(answer: object) -> Mapping[str, Any]:
    if not isinstance(answer, dict):
        raise ServiceDown("The Connect service answered something that is not its API.")
    return answer


def _array(answer: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(answer, dict):
        answer = answer.get("data")
    if not isinstance(answer, list):
        raise ServiceDown("The Connect service answered something that is not its API.")
    return [item for item in answer if isinstance(item, dict)]
