"""Create an issue."""

from webapp.service.catalog.shared import gitlab
from webapp.service.components.authoring import app


class CreateIssue(gitlab.CreateIssue):
    gitlab = app("gitlab_self_managed")
