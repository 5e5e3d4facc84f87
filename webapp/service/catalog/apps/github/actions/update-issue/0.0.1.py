"""Change an issue: its text, its labels and people, or whether it is open."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, Option, app, string

from .. import common

STATES = [Option("Open", "open"), Option("Closed", "closed")]
REASONS = [
    Option("Completed", "completed"),
    Option("Not planned", "not_planned"),
    Option("Duplicate", "duplicate"),
    Option("Reopened", "reopened"),
]


class UpdateIssue(Action):
    name = "Update issue"
    description = (
        "Change what you fill in and leave the rest of the issue as it is. "
        "[See the documentation](https://docs.github.com/en/rest/issues/issues#update-an-issue)"
    )
    annotations = OVERWRITES

    account = app("github")
    repository = common.repository
    issue_number = common.issue_number
    title = string(label="Title", optional=True)
    body = string(label="Body", description="In Markdown.", optional=True)
    state = string(label="State", options=STATES, optional=True)
    state_reason = string(label="Reason", description="Why the state changes.", options=REASONS, optional=True)
    labels = common.labels.but(description="These replace the labels that it has.")
    assignees = common.assignees.but(description="These replace the people who are assigned.")

    def run(self, ctx: Context) -> Any:
        change = common.filled(ctx, "title", "body", "state", "state_reason", "labels", "assignees")
        issue = ctx.http.patch(common.of_issue(ctx), json=change).json()
        ctx.export("$summary", f"Updated issue #{issue['number']}, which is {issue['state']}")
        return issue
