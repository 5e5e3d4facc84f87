"""Projects over the API: what end users read of them, their colour and their logo."""

import base64
from collections.abc import Mapping
from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Forbidden, NotFound

MOST = 100  # on one page
MOST_PAGES = 10
_PATH = "/v1/connect/projects"
_EXTENDED = {"extensions": True}


class Project(Lenient):
    """A project. A service without the extension does not tell of a colour."""

    id: NonEmpty
    name: str = ""
    app_name: str = ""
    support_email: str = ""
    connect_require_key_auth_test: bool = False
    brand_hue: int | None = None
    logo_url: str = ""


class ProjectProgress(Lenient):
    """What was done at least once in a project, by the steps of the checklist that it shows to be done."""

    account: bool = False
    action: bool = Field(default=False, alias="run")
    trigger: bool = False
    client: bool = False
    embed: bool = Field(default=False, alias="call")
    oauth_app: bool = False


def progress(client: ConnectClient) -> ProjectProgress:
    """``GET P/progress`` (an extension); nothing was done where the service does not say."""
    try:
        return read(ProjectProgress, client.as_project("GET", client.path("progress")))
    except (NotFound, Forbidden):
        return ProjectProgress()


class Projects:
    """What Build does with projects. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> PageOf[Project]:
        """The oldest thousand as one page; none where the service does not list them."""
        try:
            page = self._page("")
            projects = page.items
            for _ in range(1, MOST_PAGES):
                if not (page.items and page.end_cursor):
                    break
                page = self._page(page.end_cursor)
                projects += page.items
        except (NotFound, Forbidden):
            return PageOf[Project].model_validate({"data": []})
        return page.model_copy(update={"items": projects})

    def _page(self, after: str) -> PageOf[Project]:
        params: dict[str, str | int | bool] = {"limit": MOST, **_EXTENDED, **({"after": after} if after else {})}
        return read(PageOf[Project], self._client.as_project("GET", _PATH, params=params))

    def get(self, project_id: str) -> Project:
        """One of them. Raises :class:`NotFound`."""
        return read(Project, self._client.as_project("GET", _below(project_id), params=_EXTENDED))

    def create(self, fields: Mapping[str, object]) -> Project:
        """A new project. Raises :class:`webapp.errors.Invalid` with a detail per field."""
        return read(Project, self._client.as_project("POST", _PATH, params=_EXTENDED, body=fields))

    def update(self, project_id: str, fields: Mapping[str, object]) -> Project:
        """The project with other values for ``fields``; raises likewise."""
        return read(Project, self._client.as_project("PATCH", _below(project_id), params=_EXTENDED, body=fields))

    def set_logo(self, project_id: str, image: bytes, media_type: str) -> None:
        """Give it another logo."""
        uri = f"data:{media_type};base64,{base64.b64encode(image).decode('ascii')}"
        self._client.as_project("POST", f"{_below(project_id)}/logo", body={"logo": uri})

    def delete(self, project_id: str) -> None:
        """Delete it with everything in it. Raises :class:`webapp.errors.Conflict` for the one that is in use."""
        self._client.as_project("DELETE", _below(project_id))


def _below(project_id: str) -> str:
    return f"{_PATH}/{quote(project_id, safe='')}"
