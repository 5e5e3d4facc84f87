"""What the API answers about projects, their users, webhook, usage and audit log."""

from typing import Literal

from pydantic import Field

from webapp.service.api.access.refusals import Refusals
from webapp.service.api.base.models import Answer, DateTime, Milliseconds, Seconds, identifier
from webapp.service.api.triggers.models import DeliveryState


class Project(Answer):
    """A project."""

    id: str = identifier("proj_8Fw3ZsKd")
    name: str = Field(examples=["Shop"])
    app_name: str = Field(examples=["Acme"])
    support_email: str = Field(examples=["help@example.com"])
    connect_require_key_auth_test: bool


class ExtendedProject(Project):
    """A project; the last two fields are there when `extensions` were asked for."""

    brand_hue: int = Field(0, description="The colour of its pages: degrees of OKLCH, from 0 to 360.")
    logo_url: str = Field("", description="Its logo; empty without one.")


class ExternalUser(Answer):
    """One of the developer's end users."""

    id: str = identifier("exu_4Jr6Yh")
    external_id: str = Field(examples=["user-123"])
    created_at: DateTime
    updated_at: DateTime


class SigningKey(Answer):
    """The key that signs what goes to an environment's webhooks, or to a workflow."""

    signing_key: str = Field(examples=["whsec_…"])


class UsageHour(Answer):
    """What was used in one hour."""

    credits_used: int
    usage_start_ts: Seconds
    usage_end_ts: Seconds
    action_run_credits_used: int
    proxy_credits_used: int
    source_emit_credits_used: int


class Usage(Answer):
    """Usage, oldest hour first."""

    data: list[UsageHour]


class AuditEntry(Answer):
    """Who did what to which thing; without a project it concerns the whole workspace."""

    id: str = Field(examples=["aud_6Rb3Vg"])
    at: DateTime
    actor_type: Literal["client", "user", "person", "command", "system"]
    actor: str = Field(examples=["oc_4Tf7Bn"])
    noun: str = Field(examples=["account"])
    subject_id: str = Field(examples=["apn_5hQ2kLm9RtVx"])
    verb: str = Field(examples=["created"])
    sentence: str = Field(examples=["Ada connected GitHub."])
    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    environment: str | None = Field(examples=["development"])
    external_user_id: str | None = Field(examples=["user-123"])


class AppName(Answer):
    """An app by its two names."""

    id: str = Field(examples=["app_1K7bQx9dTz"])
    name_slug: str = Field(examples=["github"])


class ProjectInfo(Answer):
    """The apps for which a project has an OAuth client of its own."""

    apps: list[AppName]


class ProjectWebhook(Answer):
    """The webhook of a project's environment. `signing_key` is shown when it is made or regenerated."""

    id: str = ""
    url: str = ""
    signing_key_set: bool
    created_at: Seconds = 0
    updated_at: Seconds = 0
    signing_key: str = Field("", description="Shown once.")


class NamedWorkflow(Answer):
    """A named URL that triggers send their events to. `signing_key` is there when it was just made."""

    id: str = identifier("p_2Vc9Lk")
    name: str = Field(examples=["Orders"])
    url: str = Field(examples=["https://app.example.com/orders"])
    signing_key_set: bool
    active: bool
    delivery_state: DeliveryState
    last_success_at: Milliseconds | None = Field(description="When something arrived there last.")
    triggers: int = Field(description="How many triggers send their events there.")
    created_at: Seconds
    updated_at: Seconds
    signing_key: str = Field("", description="What signs its deliveries (`whsec_…`).")


class WorkflowTrigger(Answer):
    """A trigger that sends its events to a workflow."""

    id: str = identifier("dc_6Gt1Nv")
    name: str = Field(examples=["New issue"])
    external_user_id: str = Field(examples=["user-123"])


class ProjectWebhookState(ProjectWebhook):
    """The same; the last two are there when `extensions` were asked for."""

    active: bool = True
    delivery_state: DeliveryState | None = None


class LimitNow(Refusals):
    """How one rate limit stands in the window that is open now."""

    name: Literal["tokens", "accounts", "tools", "executions", "proxy"]
    limit: int = Field(examples=[2000])
    window_seconds: int = Field(examples=[300])
    used: int | None = Field(description="Null where each external user has a window of their own.", examples=[118])
    reset_at: Seconds | None = Field(description="When the window ends; null likewise.")
