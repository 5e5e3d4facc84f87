"""GitLab's actions, for GitLab.com and for a GitLab at an address of one's own, which differ in their account alone.

An app's own file names its account; what is here chooses projects, reads lists page by page and does the rest.
"""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import CREATES, READS, counted
from webapp.service.components.authoring import (
    Action,
    Context,
    Option,
    Options,
    Prop,
    app,
    boolean,
    integer,
    string,
    string_list,
)

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


project_prop = string(
    label="Project", description="Its id, or its path such as group/project.", options=find_projects, use_query=True
)
most_prop = integer(label="At most", default=20, min=1, max=1000, optional=True)


def state_prop(*ended: Option) -> Prop:
    """Which of a list are meant: the open ones, those that ended in one way, or all."""
    options = [Option("Open", "opened"), *ended, Option("All", "all")]
    return string(label="State", default="opened", options=options, optional=True)


class CreateIssue(Action):
    """Create an issue."""

    name = "Create issue"
    description = "Create an issue in a project. [See the documentation](https://docs.gitlab.com/api/issues/)"
    annotations = CREATES

    gitlab = app("gitlab")  # an app of its own account puts that in its place
    project_id = project_prop
    title = string(label="Title")
    text = string(label="Description", description="In GitLab's Markdown.", optional=True)
    labels = string_list(label="Labels", optional=True)
    confidential = boolean(label="Confidential", optional=True)

    def run(self, ctx: Context) -> Any:
        props = ctx.props
        fields = {
            "title": props.title,
            "description": props.text,
            "labels": ",".join(props.labels or []) or None,
            "confidential": props.confidential,
        }
        body = {name: value for name, value in fields.items() if value is not None}
        issue = ctx.http.post(project_url(ctx, "issues"), json=body).json()
        ctx.export("$summary", f"Created issue #{issue['iid']} {issue['title']}")
        return issue


class ListIssues(Action):
    """List issues of a project."""

    name = "List issues"
    description = (
        "List the issues of a project, newest first. [See the documentation](https://docs.gitlab.com/api/issues/)"
    )
    annotations = READS

    gitlab = app("gitlab")  # an app of its own account puts that in its place
    project_id = project_prop
    state = state_prop(Option("Closed", "closed"))
    search = string(label="Search", description="Words in title or description.", optional=True)
    most = most_prop

    def run(self, ctx: Context) -> Any:
        path = project_url(ctx, "issues")
        issues = listed(ctx, path, ctx.props.most, state=ctx.props.state, search=ctx.props.search)
        ctx.export("$summary", f"Listed {counted(issues, 'issue')}")
        return issues


class ListMergeRequests(Action):
    """List merge requests of a project."""

    name = "List merge requests"
    description = (
        "List the merge requests of a project, newest first. "
        "[See the documentation](https://docs.gitlab.com/api/merge_requests/)"
    )
    annotations = READS

    gitlab = app("gitlab")  # an app of its own account puts that in its place
    project_id = project_prop
    state = state_prop(Option("Merged", "merged"), Option("Closed", "closed"))
    most = most_prop

    def run(self, ctx: Context) -> Any:
        path = project_url(ctx, "merge_requests")
        merge_requests = listed(ctx, path, ctx.props.most, state=ctx.props.state)
        ctx.export("$summary", f"Listed {counted(merge_requests, 'merge request')}")
        return merge_requests
