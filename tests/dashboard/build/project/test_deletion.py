"""Deleting a project: never the one that the dashboard works in."""

from tests.dashboard.embedded import Embedded
from webapp.service.domain.projects import projects


def test_the_project_that_the_dashboard_works_in_stays(studio: Embedded) -> None:
    owner = studio.browser()
    assert "Delete this project" not in owner.get("/build/project")
    owner.get("/build/project/deletion", code=404)
    assert owner.send("/build/project/deletion", {"name": "Acme"}).status_code == 404
    assert projects.get(studio.service.store, studio.project.id)
