"""What somebody did, as the Connect API tells it (contract "Extensions")."""

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient


class AuditEntry(Lenient):
    """Something that somebody did to something. ``at`` is ISO 8601; what the service does not say is ""."""

    id: str = ""
    at: str = ""
    actor_kind: str = Field(default="", alias="actor_type")
    actor: str = ""
    noun: str = ""
    subject_id: str = ""
    verb: str = ""
    sentence: str = ""
    user: str = Field(default="", alias="external_user_id")
