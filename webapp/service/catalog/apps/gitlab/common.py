"""What the GitLab actions share: choosing a project, and reading a list page by page."""

from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import Context, Option, Options, app, string

_PAGE = 100


def find_projects(ctx: Context) -> Options:
    """The projects that the person is a member of, last active first."""
    answer = ctx.http.get(
        "/projects",
        params={
            "membership": True,
            "simple": True,
            "order_by": "last_activity_at",
            "search": ctx.query or None,
            "search_namespaces": True if ctx.query else None,
            "per_page": _PAGE,
            "page": ctx.page + 1,
        },
    )
    return Options([Option(project["path_with_namespace"], str(project["id"])) for project in answer.json()])


def project_url(ctx: Context, rest: str) -> str:
    """An address within the chosen project, whether it was given by its id or its path."""
    return f"/projects/{quote(ctx.props.project_id, safe='')}/{rest}"


def listed(ctx: Context, path: str, most: int, **params: Any) -> list[dict[str, Any]]:
    """Up to ``most`` of a list."""
    rows: list[dict[str, Any]] = []
    page = 1
    while True:
        some = ctx.http.get(path, params={**params, "per_page": _PAGE, "page": page}).json()
        rows += some
        page += 1
        if len(some) < _PAGE or len(rows) >= most:
            return rows[:most]


account = app("gitlab")
project_prop = string(
    label="Project", description="Its id, or its path such as group/project.", options=find_projects, use_query=True
)
