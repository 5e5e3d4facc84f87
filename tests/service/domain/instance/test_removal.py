"""Removing a user or a project: everything that is theirs goes, and nothing of others."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.triggers import deploy
from webapp.errors import Conflict, NotFound
from webapp.people import setup_requests, users
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removal
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
    removal.user(service, alice)
    assert external_users.find(service.store, scene, "alice") is None
    assert deployed_triggers.of_project(service.store, scene.project_id) == []
    assert [account.id for account in accounts.of_app(service.store, scene, "tinykeys", user=None)] == [bobs.id]


def test_a_project_goes_but_the_one_the_dashboard_works_in(service: Service, project: Project) -> None:
    deploy(service, Scene(project.id, "production"), "~/echo")
    working = replace(service, settings=replace(service.settings, project=project.id))
    with pytest.raises(Conflict, match="PATCHBAY_PROJECT"):
        removal.project(working, project)
    asking = users.create(service.store, service.clock, email="a@example.com", password="a long one", role="member")
    for project_id in (project.id, "other"):
        setup_requests.add(service.store, service.clock, project_id, "gmail", asking.id)
    removal.project(service, project)
    assert setup_requests.counts(service.store, project.id) == {}
    assert setup_requests.counts(service.store, "other") == {"gmail": 1}
    with pytest.raises(NotFound):
        projects.get(service.store, project.id)


def test_what_worked_with_the_account_stops(service: Service, scene: Scene, plant: Plant, provider: Any) -> None:
    account, other = plant(name="Work"), plant()
    stopped, goes_on = (
        deploy(service, scene, given={"account": {"authProvisionId": one.id}}) for one in (account, other)
    )
    removal.delete(service, account)
    after = deployed_triggers.get(service.store, scene, stopped.id)
    assert not after.active and "account Work was disconnected" in (after.switched_off or "")
    assert deployed_triggers.get(service.store, scene, goes_on.id).active


def test_all_accounts_of_an_app(service: Service, scene: Scene, plant: Plant) -> None:
    plant("alice"), plant("bob"), plant("alice", app="tinyoauth")
    assert removal.delete_of_app(service, scene, "tinykeys", user=None) == 2
    left = accounts.of_app(service.store, scene, "tinyoauth", user=None)
    assert len(left) == 1 and accounts.of_app(service.store, scene, "tinykeys", user=None) == []
