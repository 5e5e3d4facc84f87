"""Comment on an issue or a pull request."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, app, string

from .. import common


class CreateComment(Action):
    name = "Create comment"
    description = (
        "Add a comment to an issue or a pull request. "
        "[See the documentation](https://docs.github.com/en/rest/issues/comments#create-an-issue-comment)"
    )
    annotations = CREATES

    account = app("github")
    repository = common.repository
    issue_number = common.issue_number
    body = string(label="Comment", description="In Markdown.")

    def run(self, ctx: Context) -> Any:
        comment = ctx.http.post(common.of_issue(ctx, "comments"), json={"body": ctx.props.body}).json()
        ctx.export("$summary", f"Commented on #{ctx.props.issue_number}")
        return comment
