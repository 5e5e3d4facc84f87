"""What the Todoist actions share: reading a list page by page, and choosing a project or a task."""

from typing import Any

from webapp.service.components.authoring import Context, Option, Options, app, string

_PAGE = 200
_PAGES_AT_ONCE = 5
JsonObject = dict[str, Any]


def listed(ctx: Context, path: str, most: int, **params: Any) -> list[JsonObject]:
    """Up to ``most`` of a list."""
    items: list[JsonObject] = []
    cursor = None
    while True:
        page = {**params, "limit": min(_PAGE, most - len(items)), "cursor": cursor}
        answer = ctx.http.get(path, params=page).json()
        items += answer["results"]
        cursor = answer["next_cursor"]
        if not cursor or len(items) >= most:
            return items


def find_projects(ctx: Context) -> Options:
    """The person's projects."""
    return _find(ctx, "/projects", "name")


def find_tasks(ctx: Context) -> Options:
    """The tasks that are not done."""
    return _find(ctx, "/tasks", "content")


def _find(ctx: Context, path: str, named_by: str) -> Options:
    """Read pages until one holds something that fits the query."""
    cursor = ctx.previous.get("cursor")
    options: list[Option] = []
    if ctx.page and not cursor:
        return Options([])
    for _ in range(_PAGES_AT_ONCE):
        answer = ctx.http.get(path, params={"limit": _PAGE, "cursor": cursor}).json()
        named = [Option(result[named_by], result["id"]) for result in answer["results"]]
        options = [option for option in named if ctx.query.lower() in option.label.lower()]
        cursor = answer["next_cursor"]
        if options or not cursor:
            break
    return Options(options, {"cursor": cursor} if cursor else None)


account = app("todoist")
project_prop = string(label="Project", options=find_projects, use_query=True, optional=True)
task_prop = string(label="Task", options=find_tasks, use_query=True, with_label=True)
