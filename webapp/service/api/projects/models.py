"""Tokens, projects, users, usage, limits: what frames everything else."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from webapp.service.api.accounts.app_models import App
from webapp.service.api.base.models import DateTime, Seconds, Shape, one_of


class TokenRequest(BaseModel):
    """A client's request for an access token (RFC 6749 section 4.4.2). HTTP Basic may carry the id and secret."""

    grant_type: Literal["client_credentials"]
    client_id: str
    client_secret: str
    scope: Annotated[str, Field(description="Space-separated; `*` unless given.")] = "*"


class AccessToken(Shape):
    """An OAuth access token."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    scope: str
    created_at: Seconds


class ConnectToken(Shape):
    """A Connect token, and the page on which its user connects an account."""

    token: Annotated[str, Field(pattern="^ctok_[0-9a-f]{32}$")]
    expires_at: DateTime
    connect_link_url: str


class Validity(Shape):
    """Whether a Connect token works; all but `success` and `error` are there when it does."""

    success: bool
    error: str = ""
    app: App | None = None
    project_id: str = ""
    project_environment: str = ""
    project_app_name: str = ""
    project_support_email: str = ""
    success_redirect_uri: str | None = None
    error_redirect_uri: str | None = None
    oauth_app_id: str | None = None


class Project(Shape):
    """A project."""

    id: Annotated[str, one_of("proj")]
    name: str
    app_name: str
    support_email: str
    connect_require_key_auth_test: bool


class ExternalUser(Shape):
    """One of the developer's end users."""

    id: Annotated[str, one_of("exu")]
    external_id: str
    created_at: DateTime
    updated_at: DateTime


class UsageHour(Shape):
    """What was used in one hour."""

    credits_used: int
    usage_start_ts: Seconds
    usage_end_ts: Seconds
    action_run_credits_used: int
    proxy_credits_used: int
    source_emit_credits_used: int


class Usage(Shape):
    """Usage, oldest hour first."""

    data: list[UsageHour]


class LimitToken(Shape):
    """The token of a custom rate limit, for the header `x-pd-rate-limit`."""

    token: str


class Workspace(Shape):
    """The installation."""

    id: str
    name: str
    orgname: str
    email: str


class Me(Shape):
    """The person who calls, or for whom the client works."""

    id: str
    username: str
    email: str
    role: str
    orgs: list[Workspace]


class Deed(Shape):
    """Who did what to which thing; without a project it concerns the whole workspace."""

    id: str
    at: DateTime
    actor_type: Literal["client", "user", "person", "command", "system"]
    actor: str
    noun: str
    subject_id: str
    verb: str
    sentence: str
    project_id: str | None
    environment: str | None
    external_user_id: str | None
