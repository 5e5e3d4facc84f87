"""Create an issue."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, boolean, string, string_list

from ..common import account, project_prop, project_url


class CreateIssue(Action):
    name = "Create issue"
    description = "Create an issue in a project. [See the documentation](https://docs.gitlab.com/api/issues/)"
    annotations = CREATES

    gitlab = account
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
