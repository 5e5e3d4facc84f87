"""Deleting a project: another one, once its name is typed, and never the one that the dashboard works in."""

import pytest

from tests.dashboard.embedded import Embedded
from webapp.errors import NotFound
from webapp.service.domain.projects import projects


def test_the_project_that_the_dashboard_works_in_stays(studio: Embedded) -> None:
    owner = studio.browser()
    assert "Delete this project" not in owner.get("/build/project")
    owner.get("/build/project/deletion", code=404)
    assert owner.send("/build/project/deletion", {"name": "Acme"}).status_code == 404
    assert projects.get(studio.service.store, studio.project.id)


def test_another_project_goes_once_its_name_is_typed(studio: Embedded) -> None:
    shop = projects.create(studio.service, name="Shop", support_email="help@shop.example")
    owner, developer, colleague = studio.browser(), studio.browser("developer"), studio.browser()
    for browser in (owner, developer, colleague):
        assert browser.send("/scene", {"project": shop.id}).status_code == 303
    assert "Delete “Shop”?" in owner.get("/build/project/deletion")
    developer.get("/build/project/deletion", code=404)
    assert developer.send("/build/project/deletion", {"name": "Shop"}).status_code == 404
    refused = owner.send("/build/project/deletion", {"name": "shop"})
    assert refused.status_code == 422 and "Type the name exactly" in refused.text
    page = owner.follow("/build/project/deletion", {"name": " Shop "})
    assert "“Shop” is deleted." in page and f"<code>{studio.project.id}</code>" in page
    with pytest.raises(NotFound):
        projects.get(studio.service.store, shop.id)
    assert f"<code>{studio.project.id}</code>" in colleague.get("/build/project")  # nobody is left behind
