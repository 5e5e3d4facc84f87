"""Rows of ``catalog.db`` in the forms that the service keeps: what each holds, and what an installation leaves out."""

import json
import sqlite3
from typing import Any

import pytest

from webapp.service.catalog import rows
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import AppSpec

PUBLIC = "https://patchbay.example"


def row(**values: Any) -> sqlite3.Row:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    columns = ", ".join(f":{name} AS {name}" for name in values)
    made: sqlite3.Row = connection.execute(f"SELECT {columns}", values).fetchone()
    connection.close()
    return made


def app_row(slug: str = "my_sheets", name: str = "Éclair Sheets", **changes: Any) -> sqlite3.Row:
    facts: dict[str, Any] = {
        "id": 7, "slug": slug, "name": name, "description": "Cells.", "auth_type": "keys", "categories": '["cafe"]',
        "category_names": '["Café"]', "featured_weight": 5, "custom_fields": "[]", "scope_profiles": "[]",
        "logo_hash": "abc", "actions": 2, "triggers": 1, "variables": "[]", "aliases": "[]", "own": 0,
    }  # fmt: skip
    return row(**{**facts, **changes})


def apps(*app_rows: sqlite3.Row, **variables: str) -> dict[int, App]:
    return rows.apps(app_rows, PUBLIC, variables, never_read)


def never_read(slug: str) -> AppSpec:
    raise AssertionError(f"the spec of {slug} was read for a list")


def test_an_app_is_found_by_words_and_shown_as_it_is() -> None:
    app = apps(app_row())[7]
    assert (app.sort_name, app.name_words) == ("eclair sheets", "\neclair sheets\nmy_sheets eclair sheets my sheets")
    assert (app.actions, app.triggers, app.own, app.variables) == (2, 1, False, frozenset())
    assert app.category_ids == ("appcat_K5SRiJBlSzmb",)
    assert json.loads(app.json) == {
        "id": app.id,
        "name_slug": "my_sheets",
        "name": "Éclair Sheets",
        "img_src": "https://patchbay.example/logos/my_sheets.svg?v=abc",
        "custom_fields_json": "[]",
        "categories": ["Café"],
        "featured_weight": 5,
        "description": "Cells.",
        "auth_type": "keys",
        "scope_profiles": [],
        "oauth_app_id": None,
    }


def test_an_app_whose_variable_is_missing_is_left_out() -> None:
    needy = app_row(variables='["sandbox"]', custom_fields='[{"description": "See ${sandbox}."}]')
    assert apps(needy) == {} == apps(needy, other="x")
    app = apps(needy, sandbox='http://localhost/"a"')[7]
    assert json.loads(app.api_dict["custom_fields_json"]) == [{"description": 'See http://localhost/"a".'}]


def test_apps_that_say_the_same_share_it() -> None:
    one, other = apps(app_row(), app_row("beans", "Beans", id=8)).values()
    for name in ("category_ids", "categories", "variables"):
        assert getattr(one, name) is getattr(other, name)


def test_categories_that_hold_an_app_stand_by_their_folded_names() -> None:
    shelves = [
        row(slug="tools", name="tools", description="Things."),
        row(slug="cafe", name="Étagère", description="Places."),
        row(slug="empty", name="A shelf without apps", description="Nothing."),
    ]
    held = apps(app_row(), app_row("beans", "Beans", id=8), app_row("saw", "Saw", id=9, categories='["tools"]'))
    listed = rows.categories(shelves, held.values())
    assert [(category.slug, category.apps) for category in listed] == [("cafe", 2), ("tools", 1)]
    assert listed[0].api_dict == {"id": listed[0].id, "name": "Étagère", "description": "Places."}


def test_an_app_that_says_nothing_readable_is_an_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        apps(app_row(variables="sandbox"))
