"""What the API takes for access tokens, and what it answers about tokens, rate limits and the workspace."""

from typing import Literal

from pydantic import Field

from webapp.service.api.access.refusals import Refusals
from webapp.service.api.accounts.app_models import App
from webapp.service.api.base.models import Answer, Body, DateTime, Milliseconds, Seconds
from webapp.service.api.triggers.models import DeliveryState


class TokenRequest(Body):
    """A client's request for an access token (RFC 6749 section 4.4.2). HTTP Basic may carry the id and secret; a client
    with a public key may send an assertion instead (RFC 7523)."""

    grant_type: Literal["client_credentials"] = Field(description="What is shown to get the token.")
    client_id: str = Field("", description="The client's id.")
    client_secret: str = Field("", description="The client's secret.")
    client_assertion_type: str = Field("", description="`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.")
    client_assertion: str = Field("", description="A JWT that the client signed: `iss`, `sub`, `aud`, `exp` and `jti`.")
    scope: str = Field("*", description="Space-separated; `*` unless given.")


class AccessToken(Answer):
    """An OAuth access token."""

    access_token: str = Field(examples=["eyJhbGciOi…"])
    token_type: Literal["Bearer"]
    expires_in: int = Field(examples=[3600])
    scope: str = Field(examples=["*"])
    created_at: Seconds


class ConnectToken(Answer):
    """A Connect token, and the page on which its user connects an account."""

    token: str = Field(pattern="^ctok_[0-9a-f]{32}$", examples=["ctok_0123456789abcdef0123456789abcdef"])
    expires_at: DateTime
    connect_link_url: str = Field(
        examples=["https://connect.example.com/_static/connect.html?token=ctok_…&connectLink=true"]
    )


class TokenValidity(Answer):
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
    project_brand_hue: int = Field(0, description="When `extensions` were asked for, as what follows.")
    project_logo_url: str = ""
    external_user_id: str = ""
    user_id: str = Field("", examples=["exu_7Rt2Mw"])
    allowed_origins: list[str] = Field([])
    scope: str = ""
    expires_at: DateTime = Field("", description="Until when it works.")
    link_used: bool = Field(False, description="Whether its Connect Link is used up.")


class EmbedFinding(Answer):
    """One condition of showing the Connect Link on a page. `remedy` is a line to copy where something has to change."""

    code: Literal["origin", "https", "page", "status", "opener", "frame", "script", "connect", "embedder", "sandbox"]
    state: Literal["ok", "warn", "bad"]
    title: str = Field(examples=["Your page forbids our frame"])
    detail: str
    remedy: str = Field(examples=["frame-src https://connect.example.com"])


class EmbedCheck(Answer):
    """What was found out about a page. `looked_at` is the address that answered; empty where none did."""

    origin: str = Field(examples=["https://app.example.com"])
    looked_at: str
    findings: list[EmbedFinding]
    checked_at: DateTime


class RefusedOrigin(Answer):
    """The origin of a page that showed a Connect token which does not allow it."""

    origin: str = Field(examples=["http://localhost:5173"])
    refused_at: DateTime


class CustomLimit(Refusals):
    """A custom rate limit, without its token."""

    id: str = Field(examples=["3b7cf09a51e2"])
    window_size_seconds: int = Field(examples=[60])
    requests_per_window: int = Field(examples=[100])
    remaining: int = Field(description="How many requests may pass in the window that is open now.", examples=[97])
    reset_at: Seconds = Field(description="When that window ends.")
    created_at: DateTime


class LimitToken(Answer):
    """The token of a custom rate limit, for the header `x-pd-rate-limit`."""

    token: str = Field(examples=["rl_Xk4Tq8…"])


class Workspace(Answer):
    """The installation."""

    id: str = Field(examples=["o_2Zk9Fp"])
    name: str = Field(examples=["connect.example.com"])
    orgname: str
    email: str = Field(examples=["ada@example.com"])


class Me(Answer):
    """The person who calls, or for whom the client works."""

    id: str = Field(examples=["u_1Wq6Df"])
    username: str = Field(examples=["ada"])
    email: str = Field(examples=["ada@example.com"])
    role: str = Field(examples=["owner"])
    orgs: list[Workspace] = Field(examples=[[]])


class Login(Answer):
    """The login of a person. `disabled_at` is null while they may sign in."""

    id: str = Field(examples=["u_1Wq6Df"])
    email: str = Field(examples=["ada@example.com"])
    role: Literal["owner", "developer", "member"]
    created_at: DateTime
    updated_at: DateTime
    disabled_at: DateTime | None
    seen_at: DateTime | None = Field(description="When a browser of theirs was last here, to the minute.")


class Invitation(Answer):
    """An invitation that waits for an answer. `active` is whether its link still works."""

    id: str = Field(examples=["inv_5Pq2Lx"])
    email: str = Field(examples=["lena@example.com"])
    role: Literal["owner", "developer", "member"]
    invited_by: str | None = Field(description="The person who invited; null for a client or a command.")
    created_at: DateTime
    expires_at: DateTime
    active: bool
    url: str = Field("", description="The link, shown once, when it is made.")


class PasswordReset(Answer):
    """A link with which a person chooses another password, once. It is shown this once."""

    url: str = Field(examples=["https://connect.example.com/new-password?token=…"])
    expires_at: DateTime


class OAuthClient(Answer):
    """An OAuth client of the workspace; `project_id` is null when it sees every project."""

    id: str = Field(examples=["oc_4Tf7Bn"])
    name: str = Field(examples=["Server"])
    scope: str = Field(examples=["*"])
    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    rotated_at: DateTime
    old_secret_ends_at: DateTime | None = Field(
        description="Until when the secret before this one works as well; null when one secret works."
    )
    last_used_at: DateTime | None = Field(description="When it called last, to the minute; null before its first call.")
    key_thumbprint: str | None = Field(description="Names its public key (RFC 7638); null without one.")
    client_secret: str = Field("", description="Shown once, when it is made or rotated.")


class GeneralWebhook(Answer):
    """A webhook of the workspace."""

    id: str = Field(examples=["wh_2Sd7Kj"])
    user_id: str = Field(examples=["u_1Wq6Df"])
    name: str | None = Field(examples=["Everything"])
    description: str | None = Field(examples=[""])
    url: str = Field(examples=["https://app.example.com/events"])
    active: bool
    created_at: Seconds
    updated_at: Seconds


class GeneralWebhookState(GeneralWebhook):
    """A webhook of the workspace with how it does; `project_id` is null when it hears of every project."""

    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    delivery_state: DeliveryState
    last_success_at: Milliseconds | None = Field(description="When something arrived there last.")
    median_ms: int | None = Field(description="How long an answer usually takes, of the newest that arrived.")
    next_attempt_at: Milliseconds | None = Field(description="When what waits is tried next.")
