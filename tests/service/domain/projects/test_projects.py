"""Projects: making, finding, listing; who sees which.

Each field of a project that cannot stay as it is gets a sentence.

The first project: which one it is, and how the first start names it.
"""

from dataclasses import replace

import pytest

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.clock import FakeClock
from webapp.kit.cursors import BadCursor, Window
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects


def test_a_project_has_the_fields_of_the_specification(service: Service) -> None:
    made = projects.create(service, name="Acme")
    assert made.to_json() == {
        "id": made.id,
        "name": "Acme",
        "app_name": "Acme",
        "support_email": "support@localhost",
        "connect_require_key_auth_test": True,
    }
    assert projects.get(service.store, made.id) == made


def test_absent_and_not_yours_are_the_same(service: Service) -> None:
    one, other = projects.create(service, name="One"), projects.create(service, name="Other")
    sentences = set()
    for project_id in (one.id, "proj_none"):
        with pytest.raises(NotFound) as caught:
            projects.get(service.store, project_id, only=other.id)
        sentences.add(caught.value.message)
    assert len(sentences) == 1


def test_pages_cover_the_list_once_and_end(service: Service, clock: FakeClock) -> None:
    made = []
    for index in range(5):
        clock.advance(index % 2)  # some share their time of making
        made.append(projects.create(service, name=f"Project {index}").id)
    seen, cursor = [], None
    for _ in range(3):
        page = projects.page(service.store, Window(2, after=cursor))
        seen += [project.id for project in page.items]
        cursor = page.end_cursor
        assert page.total_count == 5
    assert cursor == "" and sorted(seen) == sorted(made)


def test_search_is_by_name_and_takes_wildcards_literally(service: Service) -> None:
    projects.create(service, name="100% Acme", app_name="x")
    projects.create(service, name="Beta", app_name="acme app")
    projects.create(service, name="Gamma_")

    def names(q: str) -> list[str]:
        return [found.name for found in projects.page(service.store, Window(), q=q).items]

    assert sorted(names("ACME")) == ["100% Acme", "Beta"]
    assert names("%") == ["100% Acme"]
    assert names("_") == ["Gamma_"]


def test_a_client_of_one_project_lists_that_one(service: Service) -> None:
    projects.create(service, name="One")
    mine = projects.create(service, name="Mine")
    page = projects.page(service.store, Window(), only=mine.id)
    assert [found.id for found in page.items] == [mine.id] and page.total_count == 1


def test_a_cursor_of_another_search_is_refused(service: Service) -> None:
    for name in ("Acme", "Acme too"):
        projects.create(service, name=name)
    cursor = projects.page(service.store, Window(1)).end_cursor
    with pytest.raises(BadCursor):
        projects.page(service.store, Window(1, after=cursor), q="acme")


def test_environments() -> None:
    assert projects.environment("production") == "production"
    with pytest.raises(Invalid):
        projects.environment("staging")


def test_one_works_in_the_settings_project_else_in_the_oldest_else_in_a_new_one(
    service: Service, clock: FakeClock
) -> None:
    assert projects.default_id(service, service.store) is None
    project_id = projects.default(service)
    assert projects.get(service.store, project_id).name == projects.UNNAMED
    clock.advance(1)
    other = projects.create(service, name="Other")
    assert projects.default_id(service, service.store) == projects.default(service) == project_id
    told = replace(service, settings=replace(service.settings, project=other.id))
    assert projects.default_id(told, service.store) == projects.default(told) == other.id
    projects.check_removable(told, projects.get(service.store, project_id))
    with pytest.raises(Conflict, match="PATCHBAY_PROJECT"):
        projects.check_removable(told, other)


@pytest.mark.parametrize(
    "name, app_name, email, hue, fields",
    [
        ("Acme", "Acme Desk", "help@acme.example", 0, []),
        ("", "x" * 101, "acme", 361, ["name", "app_name", "support_email", "brand_hue"]),
        ("a\nb", "Acme", "a@b c", -1, ["name", "support_email", "brand_hue"]),
    ],
)
def test_each_field_is_told_what_is_wrong_with_it(
    name: str, app_name: str, email: str, hue: int, fields: list[str]
) -> None:
    assert [detail.field for detail in projects.problems(name, app_name, email, hue)] == fields
