"""The first project: which one it is, and how the first start names it."""

import pytest

from webapp.people.start_tokens import ProjectNames
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.first_project import FirstProject

ACME = ProjectNames("Acme Desk", "help@acme.example")


def named(service: Service) -> tuple[str, str, str]:
    project = projects.first(service.store)
    assert project
    return project.name, project.app_name, project.support_email


def test_without_any_project_one_is_made_that_nobody_has_named(service: Service) -> None:
    first = FirstProject(service)
    assert projects.default(service)
    assert first.names() == ProjectNames("", "")
    with service.store.write() as tx:
        first.save(tx, ACME)
    assert named(service) == ("Acme Desk", "Acme Desk", "help@acme.example")
    assert first.names() == ACME


def test_a_first_start_before_anything_else_makes_the_project(service: Service) -> None:
    with service.store.write() as tx:
        FirstProject(service).save(tx, ACME)
    assert named(service) == ("Acme Desk", "Acme Desk", "help@acme.example")
    project = projects.first(service.store)
    assert project and projects.default_id(service, service.store) == project.id
    with service.store.write() as tx:
        assert service.keys.newest(tx, project.id) == 1


def test_a_project_that_has_a_name_keeps_it(service: Service) -> None:
    projects.create(service, name="Acme backend", support_email="help@acme.example")
    assert FirstProject(service).names() == ProjectNames("Acme backend", "help@acme.example")
    with service.store.write() as tx:
        FirstProject(service).save(tx, ACME)
    assert named(service) == ("Acme backend", "Acme Desk", "help@acme.example")


@pytest.mark.parametrize(
    "names, fields",
    [
        (ACME, []),
        (ProjectNames("", "help@acme.example"), ["app_name"]),
        (ProjectNames("Acme", ""), ["support_email"]),
        (ProjectNames(" ", "acme"), ["app_name", "support_email"]),
        (ProjectNames("x" * 101, "a@b.example"), ["app_name"]),
    ],
)
def test_each_field_is_told_what_is_wrong_with_it(service: Service, names: ProjectNames, fields: list[str]) -> None:
    assert [detail.field for detail in FirstProject(service).problems(names)] == fields
