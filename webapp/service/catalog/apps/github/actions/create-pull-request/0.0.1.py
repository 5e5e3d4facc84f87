"""Propose the commits of one branch to another."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, app, boolean, string

from .. import common


class CreatePullRequest(Action):
    name = "Create pull request"
    description = (
        "Open a pull request from one branch to another. "
        "[See the documentation](https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request)"
    )
    annotations = CREATES

    account = app("github")
    repository = common.repository
    head = common.branch.but(label="From branch", description="Where the changes are.", optional=False)
    base = common.branch.but(label="Into branch", description="Where they should go.", optional=False)
    title = string(label="Title")
    body = string(label="Body", description="In Markdown.", optional=True)
    draft = boolean(label="Draft", optional=True, default=False)

    def run(self, ctx: Context) -> Any:
        pull = common.filled(ctx, "head", "base", "title", "body", "draft")
        created = ctx.http.post(common.of_repository(ctx, "pulls"), json=pull).json()
        ctx.export("$summary", f"Created pull request #{created['number']}: {created['title']}")
        return created
