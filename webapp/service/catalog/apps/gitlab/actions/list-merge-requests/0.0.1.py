"""List merge requests of a project."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, integer, string

from ..common import account, listed, project_prop, project_url


class ListMergeRequests(Action):
    name = "List merge requests"
    description = (
        "List the merge requests of a project, newest first. "
        "[See the documentation](https://docs.gitlab.com/api/merge_requests/)"
    )
    annotations = READS

    gitlab = account
    project_id = project_prop
    state = string(
        label="State",
        default="opened",
        options=[
            Option("Open", "opened"),
            Option("Merged", "merged"),
            Option("Closed", "closed"),
            Option("All", "all"),
        ],
        optional=True,
    )
    most = integer(label="At most", default=20, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        path = project_url(ctx, "merge_requests")
        merge_requests = listed(ctx, path, ctx.props.most, state=ctx.props.state)
        ctx.export("$summary", f"Listed {counted(merge_requests, 'merge request')}")
        return merge_requests
