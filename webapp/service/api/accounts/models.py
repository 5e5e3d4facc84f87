"""What the API answers about connected accounts, and about what happened to them."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from webapp.service.api.accounts.app_models import App
from webapp.service.api.base.models import Answer, DateTime, identifier


class Credentials(Answer):
    """The credentials that the developer's own OAuth client obtained, and the app's fields."""

    model_config = ConfigDict(extra="allow")

    oauth_client_id: str
    oauth_access_token: str = ""
    oauth_refresh_token: str = ""
    oauth_uid: str = ""


class Identity(Answer):
    """Who the account belongs to at its provider."""

    id: str | None = Field(examples=["id_1Ab2Cd"])
    name: str | None = Field(examples=["Ada"])


class Account(Answer):
    """A connected account."""

    id: str = identifier("apn_5hQ2kLm9RtVx")
    name: str | None = Field(examples=["GitHub"])
    external_id: str = Field(examples=["user-123"])
    healthy: bool
    dead: bool | None = Field(examples=[False])
    app: App
    created_at: DateTime
    updated_at: DateTime
    authorized_scopes: list[str] = Field(examples=[["repo"]])
    error: str | None = Field(examples=[None])
    last_refreshed_at: DateTime | None
    next_refresh_at: DateTime | None
    expires_at: DateTime = Field("", description="Missing where the credentials do not expire.")
    credentials: Annotated[
        Credentials | None, Field(description="Only where `include_credentials` was true and they may be given.")
    ] = None


class ExtendedAccount(Account):
    """A connected account; the last six fields are there when `extensions` were asked for."""

    identity: Identity | None = None
    last_checked_at: DateTime | None = None
    next_check_at: DateTime | None = None
    oauth_app_id: str | None = None
    scope_profile: str | None = None
    available: bool = Field(True, description="False where its app was removed from this installation.")


class ActivityEntry(Answer):
    """One thing that happened; `good` tells whether it is good news."""

    id: str = Field(examples=["ev_7Ns4Ty"])
    account_id: str | None = Field(examples=["apn_5hQ2kLm9RtVx"])
    trigger_id: str | None = Field(examples=["dc_6Gt1Nv"])
    app: str | None = Field(examples=["github"])
    at: DateTime
    kind: str = Field(examples=["connected"])
    good: bool
    sentence: str = Field(examples=["Ada connected GitHub."])


class AccountUse(Answer):
    """A trigger that stops without the account."""

    id: str = Field(examples=["dc_6Gt1Nv"])
    kind: Literal["trigger"]
    name: str = Field(examples=["New issue"])
    app: str | None = Field(examples=["github"])
    active: bool


class LinkSession(Answer):
    """A page of the Connect Link, for one connection."""

    url: str = Field(examples=["https://connect.example.com/_static/connect/ls_5Hq8Vb.…"])
    expires_at: DateTime
