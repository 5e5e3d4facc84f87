"""Create an issue."""

from webapp.service.catalog.shared import gitlab


class CreateIssue(gitlab.CreateIssue):
    pass
