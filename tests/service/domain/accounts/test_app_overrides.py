"""App overrides: what may be preset, names that are unique in a project, and nothing of another project's."""

from typing import Any

import pytest

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain.accounts import app_overrides, oauth_apps
from webapp.service.domain.accounts.app_overrides import AppOverride, Draft
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project


def make(service: Service, project: Project, name: str = "Europe", app: str = "tinykeys", **fields: Any) -> AppOverride:
    return app_overrides.create(service, project.id, service.app(app), Draft(name, None, fields))


def names(service: Service, project_id: str, **filters: Any) -> list[str]:
    """By the alphabet: those of one millisecond stand in the order of their ids, which are drawn by chance."""
    page = app_overrides.page(service.store, project_id, cursors.Window(), **filters)
    return sorted(override.name for override in page.items)


def test_a_secret_cannot_be_preset(service: Service) -> None:
    values, problems = app_overrides.preset(service.app("tinykeys"), {"api_key": "k", "nothing": "x"})
    assert values == {} and {problem.field for problem in problems} == {"api_key", "nothing"}


def test_an_override_is_made_changed_and_removed(service: Service, project: Project) -> None:
    override = make(service, project, " Europe ", region="eu")
    assert (override.name, dict(override.fields)) == ("Europe", {"region": "eu"})
    assert app_overrides.get(service.store, project.id, override.id) == override
    changed = app_overrides.update(service, override, Draft("America", None, {"region": "us"}))
    assert (changed.name, changed.to_json(service)["cfmap"]) == ("America", {"region": "us"})
    app_overrides.remove(service, changed)
    with pytest.raises(NotFound):
        app_overrides.get(service.store, project.id, override.id)


@pytest.mark.parametrize(
    ("name", "fields", "wrong"),
    [
        ("", {}, ["name"]),
        ("x" * 101, {}, ["name"]),
        ("a\nb", {}, ["name"]),
        ("Europe", {"region": "mars"}, ["cfmap.region"]),
        ("Europe", {"api_key": "canary"}, ["cfmap.api_key"]),
        ("Europe", {"nothing": "x"}, ["cfmap.nothing"]),
        ("", {"api_key": "canary"}, ["name", "cfmap.api_key"]),
    ],
)
def test_what_cannot_be_preset(
    service: Service, project: Project, name: str, fields: dict[str, str], wrong: list[str]
) -> None:
    with pytest.raises(Invalid) as refusal:
        make(service, project, name, **fields)
    assert [detail.field for detail in refusal.value.details] == wrong
    assert "canary" not in str(refusal.value.details)
    assert names(service, project.id) == []


def test_the_client_must_be_the_apps_and_the_projects(service: Service, project: Project) -> None:
    client = oauth_apps.add(service, app="tinyoauth", client_id="c", client_secret=None, project_id=project.id)
    draft = Draft("Ours", client.id, {})
    assert app_overrides.create(service, project.id, service.app("tinyoauth"), draft).oauth_app_id == client.id
    stranger = projects.create(service, name="Other", support_email="help@other.example")
    for project_id, app in ((stranger.id, "tinyoauth"), (project.id, "tinykeys")):
        with pytest.raises(Invalid, match="no such OAuth client"):
            app_overrides.create(service, project_id, service.app(app), draft)


def test_a_name_is_taken_once_in_each_project(service: Service, project: Project) -> None:
    first, second = make(service, project), make(service, project, "America")
    with pytest.raises(Conflict):
        make(service, project)
    with pytest.raises(Conflict):
        app_overrides.update(service, second, Draft("Europe", None, {}))
    assert app_overrides.update(service, first, Draft("Europe", None, {"region": "us"})).fields == {"region": "us"}
    stranger = projects.create(service, name="Other", support_email="help@other.example")
    make(service, stranger)
    with pytest.raises(NotFound):
        app_overrides.get(service.store, stranger.id, first.id)
    assert (names(service, project.id), names(service, stranger.id)) == (["America", "Europe"], ["Europe"])


def test_a_search_takes_its_signs_as_they_are(service: Service, project: Project) -> None:
    for name in ("100% Europe", "100 Europe"):
        make(service, project, name)
    assert names(service, project.id, q="0% e") == ["100% Europe"]
    assert names(service, project.id, q="EUROPE", app="tinykeys") == ["100 Europe", "100% Europe"]
    assert names(service, project.id, app="tinyoauth") == []


def test_each_change_is_audited(service: Service, project: Project) -> None:
    override = make(service, project)
    app_overrides.remove(service, app_overrides.update(service, override, Draft("America", None, {})))
    rows = service.store.all("SELECT * FROM audit ORDER BY id")
    assert [row["sentence"] for row in rows if row["project_id"] == project.id][-3:] == [
        "Made the app override “Europe”.",
        "Changed the app override “America”.",
        "Removed the app override “America”.",
    ]
