"""Connected accounts, and what happened to them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from webapp.service.api.accounts.app_models import App
from webapp.service.api.base.models import DateTime, Shape, one_of


class Credentials(Shape):
    """The credentials that the developer's own OAuth client obtained, and the app's fields."""

    model_config = ConfigDict(extra="allow")

    oauth_client_id: str
    oauth_access_token: str = ""
    oauth_refresh_token: str = ""
    oauth_uid: str = ""


class Identity(Shape):
    """Who the account belongs to at its provider."""

    id: str | None
    name: str | None


class Account(Shape):
    """A connected account."""

    id: Annotated[str, one_of("apn")]
    name: str | None
    external_id: str
    healthy: bool
    dead: bool | None
    app: App
    created_at: DateTime
    updated_at: DateTime
    authorized_scopes: list[str]
    error: str | None
    last_refreshed_at: DateTime | None
    next_refresh_at: DateTime | None
    expires_at: Annotated[DateTime, Field(description="Missing where the credentials do not expire.")] = ""
    credentials: Annotated[
        Credentials | None, Field(description="Only where `include_credentials` was true and they may be given.")
    ] = None


class ExtendedAccount(Account):
    """A connected account; the last five fields are there when `extensions` were asked for."""

    identity: Identity | None = None
    last_checked_at: DateTime | None = None
    next_check_at: DateTime | None = None
    oauth_app_id: str | None = None
    scope_profile: str | None = None


class Entry(Shape):
    """One thing that happened; `good` tells whether it is good news."""

    id: str
    account_id: str | None
    trigger_id: str | None
    app: str | None
    at: DateTime
    kind: str
    good: bool
    sentence: str


class Use(Shape):
    """A trigger that stops without the account."""

    id: str
    kind: Literal["trigger"]
    name: str
    app: str | None
    active: bool
