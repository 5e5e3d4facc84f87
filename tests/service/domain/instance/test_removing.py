"""Removing a user or a project: everything that is theirs goes, and nothing of others."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.fakes.triggers import deploy
from webapp.errors import Conflict, NotFound
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Project, Scene
from webapp.service.domain.triggers import deployed_triggers

Plant = Callable[..., Account]


def test_a_user_goes_with_accounts_and_triggers(service: Service, scene: Scene, plant: Plant) -> None:
    plant("alice")
    bobs = plant("bob")
    deploy(service, scene, "~/echo")
    alice = external_users.find(service.store, scene, "alice")
    assert alice is not None
    removing.user(service, alice)
    assert external_users.find(service.store, scene, "alice") is None
    assert deployed_triggers.of_project(service.store, scene.project_id) == []
    assert [account.id for account in accounts.of_app(service.store, scene, "tinykeys", user=None)] == [bobs.id]


def test_a_project_goes_but_the_one_the_dashboard_works_in(service: Service, project: Project) -> None:
    deploy(service, Scene(project.id, "production"), "~/echo")
    working = replace(service, settings=replace(service.settings, project=project.id))
    with pytest.raises(Conflict, match="PATCHBAY_PROJECT"):
        removing.project(working, project)
    removing.project(service, project)
    with pytest.raises(NotFound):
        projects.get(service.store, project.id)
