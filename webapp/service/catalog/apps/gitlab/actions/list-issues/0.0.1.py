"""List issues of a project."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, integer, string

from ..common import account, listed, project_prop, project_url


class ListIssues(Action):
    name = "List issues"
    description = (
        "List the issues of a project, newest first. [See the documentation](https://docs.gitlab.com/api/issues/)"
    )
    annotations = READS

    gitlab = account
    project_id = project_prop
    state = string(
        label="State",
        default="opened",
        options=[Option("Open", "opened"), Option("Closed", "closed"), Option("All", "all")],
        optional=True,
    )
    search = string(label="Search", description="Words in title or description.", optional=True)
    most = integer(label="At most", default=20, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        path = project_url(ctx, "issues")
        issues = listed(ctx, path, ctx.props.most, state=ctx.props.state, search=ctx.props.search)
        ctx.export("$summary", f"Listed {counted(issues, 'issue')}")
        return issues
