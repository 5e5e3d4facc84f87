"""List merge requests of a project."""

from webapp.service.catalog.shared import gitlab
from webapp.service.components.authoring import app


class ListMergeRequests(gitlab.ListMergeRequests):
    gitlab = app("gitlab_self_managed")
