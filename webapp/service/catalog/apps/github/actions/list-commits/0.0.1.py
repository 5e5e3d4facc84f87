"""List the commits of a repository."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, app, integer, string

from .. import common


class ListCommits(Action):
    name = "List commits"
    description = (
        "List commits of a branch, the newest first. "
        "[See the documentation](https://docs.github.com/en/rest/commits/commits#list-commits)"
    )
    annotations = READS

    account = app("github")
    repository = common.repository
    branch = common.branch
    path = string(label="Path", description="Only commits that changed this file or folder.", optional=True)
    since = string(label="Since", description="A time such as 2030-01-31T08:00:00Z.", optional=True)
    until = string(label="Until", description="A time such as 2030-01-31T08:00:00Z.", optional=True)
    limit = integer(label="At most", description="How many to return.", min=1, max=100, default=30)

    def run(self, ctx: Context) -> Any:
        params = common.filled(ctx, "path", "since", "until") | {"sha": ctx.props.branch, "per_page": ctx.props.limit}
        commits = ctx.http.get(common.of_repository(ctx, "commits"), params=params).json()
        ctx.export("$summary", f"Listed {counted(commits, 'commit')}")
        return commits
