"""What ``patchbay check`` says of another Connect service that the dashboard drives (PATCHBAY_CONNECT_URL)."""

from collections.abc import Mapping
from contextlib import closing

from webapp.cli.commands.database_looks import Looks
from webapp.dashboard.client.connect import ConnectClient
from webapp.dashboard.client.transport import Params, ServiceDown, Transport
from webapp.errors import Forbidden, NotFound, PatchbayError
from webapp.kit.clock import now
from webapp.settings import Settings

_NOBODY = "patchbay-check"
# What a page shows of each extension, by the path below the project that tells whether there is one.
_EXTENSIONS: Mapping[str, str] = {
    "activity": "Activity",
    "runs": "the history of runs",
    "trigger-stats": "what triggers sent in a day",
    "audit": "the audit",
}


def connect_service(settings: Settings) -> Looks:
    """Whether that service answers, knows the client and the project, and which extensions it lacks."""
    if not settings.connect_url:
        return
    with closing(Transport(settings.connect_url)) as transport:
        client = ConnectClient(
            transport,
            now,
            client_id=settings.connect_client_id or "",
            client_secret=settings.connect_client_secret or "",
            project=lambda: settings.project or "",
            environment=settings.environment,
        )
        try:
            client.as_project("GET", client.path("accounts"), params={"limit": 1})
            lacking = [words for path, words in _EXTENSIONS.items() if not _offers(client, path)]
        except NotFound:
            yield "problem", f"{settings.connect_url} has no project {settings.project}; set PATCHBAY_PROJECT to one."
            return
        except PatchbayError as error:
            yield "problem", f"{settings.connect_url}: {error.message}"
            return
    yield "ok", f"{settings.connect_url} answers for the project {settings.project} in {settings.environment}."
    if lacking:
        yield "note", f"It lacks {', '.join(lacking)}; the dashboard hides what needs them."


def _offers(client: ConnectClient, path: str) -> bool:
    """Whether the service knows an address; refusing what was asked there counts as knowing it."""
    params: Params = {"limit": 1, "external_user_id": _NOBODY}
    try:
        client.as_project("GET", client.path(path), params=params)
    except (NotFound, Forbidden):
        return False
    except ServiceDown:
        raise
    except PatchbayError:
        return True
    return True
