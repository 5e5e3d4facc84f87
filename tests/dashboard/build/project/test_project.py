"""Build → Project: owners change what people read, developers see it, members meet nothing."""

import re

import pytest

from tests.dashboard.embedded import Embedded
from webapp.dashboard.client.build.projects import Projects
from webapp.errors import Invalid
from webapp.service.domain.projects import projects

GOOD = {"name": "Acme backend", "app_name": "Acme Desk", "support_email": "desk@acme.example"}


def test_owners_change_what_people_read(studio: Embedded) -> None:
    owner = studio.browser()
    page = owner.get("/build/project")
    assert 'value="help@acme.example"' in page and f"<code>{studio.project.id}</code>" in page
    assert "The project is saved." in owner.follow("/build/project", GOOD)
    project = projects.get(studio.service.store, studio.project.id)
    assert (project.name, project.app_name, project.support_email) == tuple(GOOD.values())
    assert project.connect_require_key_auth_test is False
    owner.follow("/build/project", GOOD | {"connect_require_key_auth_test": "1"})
    assert projects.get(studio.service.store, studio.project.id).connect_require_key_auth_test is True


@pytest.mark.parametrize(
    "change, field",
    [({"support_email": "desk"}, "support_email"), ({"app_name": " "}, "app_name"), ({"name": "x" * 101}, "name")],
)
def test_what_is_wrong_stands_beside_its_field(studio: Embedded, change: dict[str, str], field: str) -> None:
    before = projects.get(studio.service.store, studio.project.id)
    answer = studio.browser().send("/build/project", GOOD | {"name": "<i>x"} | change)
    assert answer.status_code == 422
    assert f'id="f-{field}-err"' in answer.text and "<i>x" not in answer.text
    assert projects.get(studio.service.store, studio.project.id) == before


def test_developers_look_and_members_meet_nothing(studio: Embedded) -> None:
    developer, member = studio.browser("developer"), studio.browser("member")
    page = developer.get("/build/project")
    assert "Only owners can change it" in page and 'type="submit">Save' not in page and "disabled" in page
    absent = member.get("/build/nothing", code=404)
    assert "/build/project" not in member.get("/settings")
    for path in ("/build/project", "/build/project/brand/contrast", "/build/project/deletion"):
        assert member.get(path, code=404).split("</header>")[1] == absent.split("</header>")[1]
    for path in ("/build/project", "/build/project/brand", "/build/project/deletion"):
        assert developer.send(path, GOOD).status_code == member.send(path, GOOD).status_code == 404


@pytest.mark.parametrize(
    ("verb", "url", "form"),
    [
        ("update", "/build/project", GOOD),
        ("update", "/build/project/brand", {"brand_hue": "20"}),
        ("create", "/build/project/new", GOOD),
    ],
)
def test_a_refusal_of_the_whole_is_reported(
    studio: Embedded, monkeypatch: pytest.MonkeyPatch, verb: str, url: str, form: dict[str, str]
) -> None:
    def refuse(*_: object) -> None:
        raise Invalid("Not today.")

    monkeypatch.setattr(Projects, verb, refuse)
    answer = studio.browser().send(url, form)
    assert answer.status_code == 422 and re.search(r'role="alert".*?Not today\.', answer.text, re.DOTALL)
