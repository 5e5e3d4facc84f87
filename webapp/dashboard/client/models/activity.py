"""What happened in a project: the history of accounts and triggers, and who changed what (both extensions)."""

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient


class ActivityEntry(Lenient):
    """One line of an account's or trigger's history. What it is not about is ""; ``at`` is ISO 8601."""

    at: str | None = None
    good: bool = True
    sentence: str = ""
    account_id: str = ""
    app: str = ""
    kind: str = ""
    trigger_id: str = ""


class AuditEntry(Lenient):
    """Something that somebody did to something. ``at`` is ISO 8601; what is not told is ""."""

    id: str = ""
    at: str = ""
    actor_kind: str = Field(default="", alias="actor_type")
    actor: str = ""
    noun: str = ""
    subject_id: str = ""
    verb: str = ""
    sentence: str = ""
    user: str = Field(default="", alias="external_user_id")
