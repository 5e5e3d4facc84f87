"""Apps by name, categories, and search with every filter, sort and cursor."""

import gc
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import KEYS, OAUTH, bare
from webapp.kit.crypto import stable_id
from webapp.kit.cursors import Window
from webapp.service.catalog.build import build
from webapp.service.catalog.component_search import ComponentFilter
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places

Declare = Callable[[str, str], Path]
Open = Callable[..., Catalog]

TOOLS, CAFE = stable_id("appcat", "tools"), stable_id("appcat", "cafe")


def test_app_by_slug_and_id(several: Catalog) -> None:
    app = several.app("acme")
    assert app is not None
    assert app.id == stable_id("app", "acme")
    assert several.app(app.id) is app
    assert several.app("nothing") is None
    assert [one.slug for one in several.apps(["zeta", "nothing", app.id])] == ["zeta", "acme"]
    assert len(several) == 6


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
        print(f"\n3,000 apps: a new search {1000 * spent / 600:.3f} ms CPU, a repeated one {1000 * often:.3f} ms CPU")
