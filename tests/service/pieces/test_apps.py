"""Apps that are there already, and connect as a piece does.

The apps of a piece.
"""

from typing import Any, cast

import pytest

from tests.service.pieces import described
from webapp.service.catalog.app import App
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import AppSpec
from webapp.service.pieces import metadata
from webapp.service.pieces.apps import Apps, Package, agreeing, apps
from webapp.service.pieces.metadata import Auth

BASE: dict[str, Any] = {
    "slug": "acme", "name": "Acme", "description": "Tasks.", "categories": ["tools"], "logo": {"icon": "acme"},
}  # fmt: skip
SOURCE = "https://docs.acme.io/"
KEY = {"name": "api_key", "label": "Key", "secret": True}
SIGN_IN: dict[str, Any] = {
    "auth_type": "oauth",
    "oauth": {
        "authorize_url": "https://eu.acme.io/oauth", "token_url": "https://api.acme.io/oauth/token", "token_at": "user",
        "keep": {"team_id": "team.id"}, "sources": [SOURCE],
        "client": {"console_url": SOURCE, "steps": ["Go."], "source": SOURCE},
    },
}  # fmt: skip
PACKAGE = Package("@acme/piece-acme-tasks", "0.2.0", "packages/piece-acme-tasks/0.2.0")


class Standing:
    """As much of an app as is looked at."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.spec = AppSpec.model_validate({**BASE, **facts})


def agrees(facts: dict[str, Any], told: dict[str, Any]) -> Any:
    return agreeing(cast("App", Standing(facts)), [(2, Auth.model_validate(told))])


def keys(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"auth_type": "keys", "fields": list(fields), **more}


def test_a_sign_in_at_the_same_provider_brings_what_its_address_says() -> None:
    form = agrees(SIGN_IN, described.OAUTH)
    assert (form.type, form.index) == ("OAUTH2", 2)
    assert form.fields["region"].value == "eu"
    assert form.data == {"team.id": "team_id", "user.access_token": "oauth_access_token"}


@pytest.mark.parametrize(
    "told",
    [
        {**described.OAUTH, "tokenUrl": "https://api.globex.io/token"},
        {**described.OAUTH, "props": {**described.OAUTH["props"], "x": {"type": "SHORT_TEXT", "required": True}}},
        described.CLIENT,
        described.SECRET,
        described.OIDC,
    ],
)
def test_a_sign_in_elsewhere_or_with_more_is_another(told: dict[str, Any]) -> None:
    assert agrees(SIGN_IN, told) is None


def test_a_key_is_the_one_secret() -> None:
    form = agrees(keys({"name": "subdomain", "label": "Subdomain"}, KEY), described.SECRET)
    assert form.fields["secret_text"].field == "api_key"
    assert agrees(keys(KEY, {**KEY, "name": "other_key"}), described.SECRET) is None


def test_a_name_and_a_password_are_those_of_the_credential() -> None:
    basic = {"place": "basic", "username": "{email}", "password": "{api_key}", "source": SOURCE}
    form = agrees(keys({"name": "email", "label": "E-mail"}, KEY, credentials=[basic]), described.BASIC)
    assert (form.fields["username"].field, form.fields["password"].field) == ("email", "api_key")
    assert agrees(keys(KEY), described.BASIC) is None


def test_fields_agree_by_their_names_and_the_one_secret_by_being_it() -> None:
    server = {"name": "base_url", "label": "Server"}
    form = agrees(keys(server, {**KEY, "name": "token"}, allowed_hosts=["{base_url}"]), described.CUSTOM)
    assert {own: field.field for own, field in form.fields.items()} == {"baseUrl": "base_url", "apiKey": "token"}
    assert form.hosts == ("{base_url}",)
    assert agrees(keys(KEY), described.CUSTOM) is None
    assert (
        agrees(keys(server, KEY, {"name": "team", "label": "T"}, base_url="https://{team}.acme.io"), described.CUSTOM)
        is None
    )


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
