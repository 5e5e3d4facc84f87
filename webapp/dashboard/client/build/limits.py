"""How rate limits stand, over the API (an extension)."""

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, object_of
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.errors import Forbidden, NotFound


class LimitNow(Lenient):
    """One limit in the window that is open now; ``reset_at`` in seconds of Unix time."""

    name: NonEmpty
    limit: int = 0
    window_seconds: int = 0
    used: int = 0
    reset_at: int = 0


class _Limits(Lenient):
    limits: tuple[LimitNow, ...] = Field(default=(), alias="data")


def now(client: ConnectClient) -> tuple[LimitNow, ...] | None:
    """``GET P/limits``; ``None`` where the service does not tell."""
    try:
        answer = client.as_project("GET", client.path("limits"))
    except (NotFound, Forbidden):
        return None
    return _Limits.model_validate(object_of(answer)).limits
