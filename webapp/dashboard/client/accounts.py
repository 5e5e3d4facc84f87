"""The apps, accounts and history of one external user (contract "Accounts").

Methods for an extension return ``None`` if the service does not have it.
"""

from typing import NamedTuple
from urllib.parse import quote

from webapp.dashboard.client.models.accounts import Account, ActivityEntry, App, AppPage, Category, TestResult, Use
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.overview import EXTENDED, Lists
from webapp.dashboard.client.transport import NotTheApi, Params
from webapp.errors import NotFound

TEST_TIMEOUT_S = 35.0  # testing an account waits for its provider
_APPS = "/v1/connect/apps"


class AppFilter(NamedTuple):
    """The parameters of a list of apps (contract "Apps"); lists are joined with commas."""

    q: str = ""
    category_ids: str = ""
    has_actions: bool = False
    has_triggers: bool = False
    sort_key: str = "featured_weight"
    sort_direction: str = "desc"
    ready: str = ""
    without: str = ""
    states: str = ""
    connected: str = ""

    @property
    def chosen(self) -> Params:
        """Those that are set: a service may take a false one for the opposite."""
        return {name: value for name, value in self._asdict().items() if value}


class UserClient(Lists):
    """Apps and accounts of one external user; the list of accounts is in :mod:`.overview`."""

    def apps(self, filters: AppFilter, *, limit: int, after: str = "") -> AppPage:
        """``GET /v1/connect/apps`` (section 4.3)."""
        params = {**filters.chosen, **EXTENDED, "limit": limit, "after": after}
        return self.ask(AppPage, "GET", _APPS, params=params)

    def app(self, slug: str) -> App:
        """``GET /v1/connect/apps/{slug}``. Raises :class:`NotFound`."""
        return self.ask(App, "GET", f"{_APPS}/{quote(slug, safe='')}", params=EXTENDED)

    def categories(self, filters: AppFilter) -> list[Category]:
        """``GET /v1/connect/app_categories``, a bare array; empty where the service has none."""
        params = {name: value for name, value in filters.chosen.items() if name in ("q", "has_actions", "has_triggers")}
        try:
            answer = self.call("GET", "/v1/connect/app_categories", params={**params, **EXTENDED})
        except NotFound:
            return []
        categories = answer if isinstance(answer, list) else answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(categories, list):
            raise NotTheApi
        return list(PageOf[Category].model_validate({"data": categories}).items)

    def account(self, account_id: str) -> Account:
        """``GET P/accounts/{id}`` (section 4.14). Raises :class:`NotFound`."""
        return self.ask(Account, "GET", self._path(account_id), params=EXTENDED)

    def delete_account(self, account_id: str) -> None:
        """``DELETE P/accounts/{id}``. Raises :class:`NotFound`."""
        self.call("DELETE", self._path(account_id))

    def rename_account(self, account_id: str, name: str) -> Account | None:
        """``PATCH P/accounts/{id}`` (an extension)."""
        return self.ask_extension(Account, "PATCH", self._path(account_id), body={"name": name or None})

    def test_account(self, account_id: str) -> TestResult | None:
        """``POST P/accounts/{id}/test`` (an extension); waits for the account's provider."""
        return self.ask_extension(TestResult, "POST", self._path(account_id, "test"), timeout=TEST_TIMEOUT_S)

    def revoke_account(self, account_id: str) -> Account | None:
        """``POST P/accounts/{id}/revoke`` (an extension). Raises :class:`webapp.errors.Conflict` if unsupported."""
        return self.ask_extension(Account, "POST", self._path(account_id, "revoke"), timeout=TEST_TIMEOUT_S)

    def uses(self, account_id: str, *, limit: int = 50) -> PageOf[Use] | None:
        """``GET P/accounts/{id}/uses`` (an extension): what stops working without the account."""
        return self.ask_extension(PageOf[Use], "GET", self._path(account_id, "uses"), params={"limit": limit})

    def siblings(self, account_id: str) -> PageOf[Account] | None:
        """``GET P/accounts/{id}/siblings`` (an extension): the other accounts that end when it is revoked."""
        return self.ask_extension(PageOf[Account], "GET", self._path(account_id, "siblings"))

    def history(self, account_id: str, *, limit: int = 10, after: str = "") -> PageOf[ActivityEntry] | None:
        """``GET P/accounts/{id}/history`` (an extension), newest first."""
        params: Params = {"limit": limit, "after": after}
        return self.ask_extension(PageOf[ActivityEntry], "GET", self._path(account_id, "history"), params=params)

    def link(self, *, success: str, error: str, app: str, account_id: str = "", action: str = "") -> str:
        """The URL of a Connect Link for ``app`` or one of its accounts, which returns to ``success`` or ``error``.

        What the account lacks for ``action`` is asked for besides.
        """
        uris = {"success_redirect_uri": success, "error_redirect_uri": error}
        url = self.client.new_link(self.user_id, uris, app, account_id, action)
        if not url.startswith(("https://", "http://")):
            raise NotTheApi
        return url

    def _path(self, *parts: str) -> str:
        return self.client.path("accounts", *parts)
