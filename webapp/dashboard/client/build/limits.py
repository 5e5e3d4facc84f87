"""How rate limits stand, over the API (extensions), and custom ones, which are made there."""

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, object_of, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import parse_iso

_CUSTOM = "/v1/connect/rate_limits"
LATEST = 20


class Caller(Lenient):
    """Who made calls: an OAuth client or an external user."""

    name: NonEmpty


class _Refusals(Lenient):
    """How many calls beyond a limit there were in the last hour, and who made all of them, if it was one."""

    refused: int = 0
    refused_by: Caller | None = None


class LimitNow(_Refusals):
    """One limit in the window that is open now; ``used`` is ``None`` where there is no one window to tell of."""

    name: NonEmpty
    limit: int = 0
    window_seconds: int = 0
    used: int | None = None


class CustomLimit(_Refusals):
    """A custom limit, in the window that is open now."""

    id: NonEmpty
    window_size_seconds: int = 0
    requests_per_window: int = 0
    remaining: int = 0
    created_at: str = ""

    @property
    def made(self) -> int | None:
        """When it was made, in epoch milliseconds."""
        try:
            return parse_iso(self.created_at)
        except ValueError:
            return None


class _Limits(Lenient):
    limits: tuple[LimitNow, ...] = Field(default=(), alias="data")


def now(client: ConnectClient) -> tuple[LimitNow, ...] | None:
    """``GET P/limits``; ``None`` where the service does not tell."""
    try:
        answer = client.as_project("GET", client.path("limits"))
    except (NotFound, Forbidden):
        return None
    return _Limits.model_validate(object_of(answer)).limits


def custom(client: ConnectClient) -> PageOf[CustomLimit] | None:
    """The latest custom limits; ``None`` where the service does not tell."""
    try:
        answer = client.as_project("GET", _CUSTOM, params={"limit": LATEST})
    except (NotFound, Forbidden):
        return None
    return read(PageOf[CustomLimit], answer)


def create(client: ConnectClient, requests: int, window_s: int) -> str:
    """Make a custom limit; its token. Raises :class:`webapp.errors.Invalid`."""
    body = {"window_size_seconds": window_s, "requests_per_window": requests}
    return str(object_of(client.as_project("POST", _CUSTOM, body=body)).get("token", ""))
