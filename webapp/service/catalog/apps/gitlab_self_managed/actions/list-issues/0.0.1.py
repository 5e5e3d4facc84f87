"""List issues of a project."""

from webapp.service.catalog.shared import gitlab
from webapp.service.components.authoring import app


class ListIssues(gitlab.ListIssues):
    gitlab = app("gitlab_self_managed")
