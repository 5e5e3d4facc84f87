"""List merge requests of a project."""

from webapp.service.catalog.shared import gitlab


class ListMergeRequests(gitlab.ListMergeRequests):
    pass
