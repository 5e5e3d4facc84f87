"""Apps by name, categories, and search with every filter, sort and cursor.

Rows of ``catalog.db`` in the forms that the service keeps: what each holds, and what an installation leaves out.
"""

import gc
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import KEYS, OAUTH, bare
from webapp.kit.crypto import stable_id
from webapp.kit.cursors import Window
from webapp.service.catalog import index
from webapp.service.catalog.app import App
from webapp.service.catalog.build import build
from webapp.service.catalog.components import ComponentFilter
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.catalog.spec import AppSpec

Declare = Callable[[str, str], Path]
Open = Callable[..., Catalog]
TOOLS, CAFE = stable_id("appcat", "tools"), stable_id("appcat", "cafe")
PUBLIC = "https://patchbay.example"


def test_app_by_slug_and_id(several: Catalog) -> None:
    app = several.app("acme")
    assert app is not None
    assert app.id == stable_id("app", "acme")
    assert several.app(app.id) is app
    assert several.app("nothing") is None
    assert [one.slug for one in several.apps(["zeta", "nothing", app.id])] == ["zeta", "acme"]
    assert len(several) == 6


def test_an_app_by_the_document_that_it_was_imported_from(declare: Declare, opened: Open) -> None:
    origin = '\n[origin]\ndirectory = "acme.io"\nversion = "1.3.17"\ndate = "2026-08-21"\n'
    declare("acme", bare("acme", "Acme") + origin)
    declare("zeta", bare("zeta", "Zeta"))
    catalog = opened()
    assert (catalog.imported("acme.io"), catalog.imported("zeta.io")) == ("acme", "")


def test_half_a_character_names_nothing(several: Catalog) -> None:
    assert several.component("\ud800") is several.component("acme-launch", "\ud800") is None
    narrowed = ComponentFilter.of(None, "\ud800", None, "all")
    assert several.components(narrowed, Window()).total_count == 0


def test_json_is_the_app_object(several: Catalog) -> None:
    app = several.app("acme")
    assert app is not None
    found = json.loads(app.json)
    fields = json.loads(found.pop("custom_fields_json"))
    assert found.pop("img_src").startswith("http://localhost:8000/logos/acme.svg?v=")
    assert found == {
        "id": stable_id("app", "acme"),
        "name_slug": "acme",
        "name": "Acme",
        "categories": ["Tools"],
        "featured_weight": 0,
        "description": "Rockets and anvils.",
        "auth_type": "keys",
        "scope_profiles": [],
        "oauth_app_id": None,
    }
    assert fields == [
        {"name": "subdomain", "label": "Subdomain", "description": "", "default": None, "optional": False},
        {"name": "api_key", "label": "API key", "description": "", "default": None, "optional": False, "secret": True},
    ]
    globex = several.app("globex")
    assert globex is not None
    assert globex.api_dict["scope_profiles"] == [{"name": "full", "scopes": ["me", "weather"]}]
    assert json.loads(app.with_client("oa_1")) == {**json.loads(app.json), "oauth_app_id": "oa_1"}
    assert app.with_client(None) == app.json


def test_variables_decide_what_exists(declare: Declare, opened: Open) -> None:
    declare("acme", KEYS.replace("https://docs.acme.example/", "${sandbox}/docs"))
    declare("plain", bare("plain", "Plain"))
    without, given = opened(), opened({"sandbox": 'http://localhost:9/"quoted"'})
    assert without.app("acme") is None
    assert [app.slug for app in without.search().items] == ["plain"]
    assert without.search(q="acme").total_count == 0
    assert [one.apps for one in without.categories()] == [1]
    acme = given.app("acme")
    assert acme is not None
    assert acme.is_sandbox
    assert acme.spec.docs_url == 'http://localhost:9/"quoted"/docs'


def test_an_empty_catalog_answers(opened: Open) -> None:
    catalog = opened()
    page = catalog.search(q="acme")
    assert (list(page.items), page.total_count, page.start_cursor, page.end_cursor) == ([], 0, "", "")
    assert catalog.categories() == []
    assert catalog.logo("acme") is None


def test_many_threads_at_once(many: Catalog) -> None:
    wrong: list[object] = []

    def ask(number: int) -> None:
        try:
            for turn in range(40):
                found = many.search(q=f"app {(number + turn) % 23}").items
                many.logo(found[0].slug)
                if found[0].spec.slug != found[0].slug:
                    wrong.append(found[0])
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_file_cannot_be_written(many: Catalog) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        many._contents._rows("DELETE FROM apps")


def test_a_file_in_place_of_the_one_that_is_read_is_taken_in(declare: Declare, folder: Path, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, Places(built_in=folder))
    catalog, heard = Catalog.open(target, public_url="http://localhost:8000"), list[int]()
    catalog.when_refreshed(lambda: heard.append(len(catalog)))
    assert not catalog.refresh()
    before = catalog.apps(["acme"])[0]
    declare("acme", KEYS.replace("Rockets", "Springs"))
    declare("globex", OAUTH)
    build(target, Places(built_in=folder))
    assert catalog.refresh() and not catalog.refresh()
    assert (len(catalog), heard, [app.slug for app in catalog.search(q="globex").items]) == (2, [2], ["globex"])
    assert "Springs" in catalog.apps(["acme"])[0].description
    assert before.spec.description == before.description, "who holds an app reads on in the file that it came from"
    catalog.close()


def test_a_file_that_nobody_reads_any_more_is_closed(declare: Declare, folder: Path, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, Places(built_in=folder))
    catalog = Catalog.open(target, public_url="http://localhost:8000")
    close = catalog._contents.close
    build(target, Places(built_in=folder))
    catalog.refresh()
    gc.collect()
    assert not close.alive
    catalog.close()


@pytest.mark.faults
@pytest.mark.alone
def test_three_thousand_apps(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["north", "south", "mail", "sheet", "data", "cloud", "task", "note"]
    for number in range(3000):
        name = f"{words[number % 8].title()} {words[number // 8 % 8].title()} {number}"
        (folder / f"app_{number}").mkdir()
        (folder / f"app_{number}" / "app.toml").write_text(bare(f"app_{number}", name, weight=number % 50), "utf-8")
    build(tmp_path / "catalog.db", Places(built_in=folder))
    catalog = Catalog.open(tmp_path / "catalog.db", public_url="http://localhost:8000")
    spent = 0.0
    for number in range(300):
        first, last = words[number % 8], words[number // 8 % 8]
        start = time.process_time()
        page = catalog.search(q=f"{first} {last}", category_ids=[str(number)], window=Window(20))
        spent += time.process_time() - start
        assert page.total_count == 0
        start = time.process_time()
        page = catalog.search(q=f"{first} {number * 10}", window=Window(20))
        spent += time.process_time() - start
        whole = [
            n for n in range(3000) if str(n).startswith(str(number * 10)) and first in {words[n % 8], words[n // 8 % 8]}
        ]
        assert page.total_count == len(whole)
    start = time.process_time()
    for _ in range(100):
        assert catalog.search(q="sheet", window=Window(20)).total_count > 300
    often = (time.process_time() - start) / 100
    catalog.close()
    with capsys.disabled():
        print(
            f"\n3,000 apps: a new search {1000 * spent / 600:.3f} ms CPU, a repeated one {1000 * often:.3f} ms CPU",
            file=sys.stderr,
        )


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
        "server": "", "origin": "", "signs_in": 0,
    }  # fmt: skip
    return row(**{**facts, **changes})


def apps(*app_rows: sqlite3.Row, **variables: str) -> dict[int, App]:
    return index.apps(app_rows, PUBLIC, variables, never_read)


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
    listed = index.categories(shelves, held.values())
    assert [(category.slug, category.apps) for category in listed] == [("cafe", 2), ("tools", 1)]
    assert listed[0].api_dict == {"id": listed[0].id, "name": "Étagère", "description": "Places."}


def test_an_app_that_says_nothing_readable_is_an_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        apps(app_row(variables="sandbox"))
