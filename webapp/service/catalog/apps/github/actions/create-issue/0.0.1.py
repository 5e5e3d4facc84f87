"""Open an issue in a repository."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, app, string

from .. import common


class CreateIssue(Action):
    name = "Create issue"
    description = (
        "Open an issue in a repository. "
        "[See the documentation](https://docs.github.com/en/rest/issues/issues#create-an-issue)"
    )
    annotations = CREATES

    account = app("github")
    repository = common.repository
    title = string(label="Title")
    body = string(label="Body", description="In Markdown.", optional=True)
    labels = common.labels
    assignees = common.assignees

    def run(self, ctx: Context) -> Any:
        issue = common.filled(ctx, "title", "body", "labels", "assignees")
        created = ctx.http.post(common.of_repository(ctx, "issues"), json=issue).json()
        ctx.export("$summary", f"Created issue #{created['number']}: {created['title']}")
        return created
