"""The apps of a piece."""

from typing import Any, cast

from tests.service.pieces import described
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.pieces import metadata
from webapp.service.pieces.connecting.apps import Apps, Package, apps

PACKAGE = Package("@acme/piece-acme-tasks", "0.2.0", "packages/piece-acme-tasks/0.2.0")


class Nothing:
    """A catalog without apps."""

    def app(self, _: str) -> None:
        return None

    def named(self, _: str) -> list[App]:
        return []


def brought(*auth: dict[str, Any], **changes: Any) -> Apps:
    description = metadata.read(described.piece(*auth, **changes))
    return apps(
        description, PACKAGE, cast("Catalog", Nothing()), lambda _: False, ("api.acme.io",), {"team": "team.id"}
    )


def test_the_first_way_is_the_app_and_the_others_stand_beside_it() -> None:
    own = brought(described.SECRET, described.OIDC, described.OAUTH, described.OAUTH)
    assert own.made == ("acme_tasks", "acme_tasks_sign_in", "acme_tasks_sign_in_2")
    assert [facts.get("of") for facts in own.files.values()] == [None, "acme_tasks", "acme_tasks"]
    assert {slug: form.index for slug, form in own.auth.items()} == dict(zip(own.made, (0, 2, 3), strict=True))
    assert [name for name, _ in own.left_out] == ["Workload"]
    assert own.auth_type == "keys"


def test_an_app_says_what_people_see_and_who_tests_it() -> None:
    facts = brought(described.OAUTH, categories=["PRODUCTIVITY", "CORE", "NEW"]).files["acme_tasks"]
    assert facts["description"] == "Tasks of Acme."
    assert facts["categories"] == ["productivity", "developer_tools"]
    assert facts["logo"]["letter"] == "A"
    assert facts["test"]["kind"] == "piece"
    assert facts["piece"]["hosts"] == ["api.acme.io"]
    assert facts["piece_events"] == {"package": PACKAGE.name, "folder": PACKAGE.folder}
    assert facts["oauth"]["keep"] == {"team": "team.id"}


def test_what_it_does_not_say_of_itself_is_said() -> None:
    facts = brought(displayName="", description="Fast!", categories=[], logoUrl=None).files["acme_tasks"]
    assert (facts["name"], facts["description"], facts["categories"]) == ("Acme tasks", "Fast.", ["developer_tools"])
    assert facts["auth_type"] == "none"
    assert "test" not in facts
