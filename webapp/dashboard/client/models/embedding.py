"""What the Connect API tells about a Connect token, and about a page that is to show the Connect Link."""

from typing import Literal

from webapp.dashboard.client.models.lenient import Lenient, NonEmpty


class Validity(Lenient):
    """Whether a Connect token works. ``expires_at`` and ``link_used`` are extensions: None where they are not told."""

    success: bool = False
    error: str = ""
    project_id: str = ""
    project_environment: str = ""
    expires_at: str | None = None
    link_used: bool | None = None


class Finding(Lenient):
    """One condition of showing the Connect Link on a page; ``remedy`` is a line to copy."""

    code: NonEmpty
    state: Literal["ok", "warn", "bad"] = "warn"
    title: str = ""
    detail: str = ""
    remedy: str = ""


class EmbedCheck(Lenient):
    """What was found out about a page; ``looked_at`` is empty where it could not be looked at."""

    origin: str = ""
    looked_at: str = ""
    findings: tuple[Finding, ...] = ()
    checked_at: str | None = None


class RefusedOrigin(Lenient):
    """The origin of a page that showed a token which does not allow it."""

    origin: NonEmpty
    refused_at: str | None = None
