"""List issues of a project."""

from webapp.service.catalog.shared import gitlab


class ListIssues(gitlab.ListIssues):
    pass
