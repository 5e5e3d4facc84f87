"""``patchbay catalog``: what is wrong with the apps, and the building of what is sound."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from tests.service.catalog.samples import CATEGORIES, KEYS, bare
from tests.service.catalog.test_registry_keys import ACTION, TABLE
from webapp.service.catalog import checked, logos
from webapp.service.catalog.sources import Places

PROBLEM = "umbrella/app.toml: the category nowhere does not exist; add it to categories.toml or use another."


@pytest.fixture
def own_apps(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two apps of the operator's own, one of them unsound, and none that are built in."""
    built_in = data / "no-built-in-apps"
    monkeypatch.setattr(Places, "of", lambda data: Places([data / "apps"], built_in, data / "components"))
    folder = data / "apps"
    for slug, facts in (("acme", KEYS), ("umbrella", bare("umbrella", "Umbrella", category="nowhere"))):
        (folder / slug).mkdir(parents=True)
        (folder / slug / "app.toml").write_text(facts)
    (folder / "categories.toml").write_text(CATEGORIES)
    return folder


def test_the_catalog_is_sound_and_can_be_built(patchbay: Commands, data: Path) -> None:
    (data / "catalog.db").unlink()
    checked = patchbay.json("catalog", "check")
    assert checked["problems"] == []
    assert sum(row["registry_keys"] for row in checked["apps"]) >= 300
    assert min(checked["checked"].values()) >= 400
    assert {"github", "slack", "notion", "stripe", "openai"} <= {row["slug"] for row in checked["apps"]}
    assert logos.letters().items() <= checked["letters"].items()
    assert patchbay.json("catalog", "build")["apps"] == len(checked["apps"])
    assert (data / "catalog.db").is_file()


def test_check_shows_every_app_and_says_what_is_wrong(patchbay: Commands, own_apps: Path) -> None:
    done = patchbay.run("catalog", "check")
    assert (done.exit_code, done.stderr) == (1, PROBLEM + "\n")
    *rows, summary, totals = done.stdout.splitlines()
    assert totals == "2 apps have 0 actions and 0 triggers."
    assert summary == "0 keys of the public registry are accepted; each required prop of theirs has its place."
    assert [line.split() for line in rows] == [
        ["slug", "name", "auth", "type", "actions", "triggers", "categories", "registry", "keys", "problems"],
        ["acme", "Acme", "keys", "0", "0", "tools", "0", "0"],
        ["umbrella", "Umbrella", "none", "0", "0", "nowhere", "0", "1"],
    ]
    printed = patchbay.run("catalog", "check", "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout)["problems"] == [PROBLEM]


def test_check_counts_what_was_checked_by_machine(patchbay: Commands) -> None:
    done = patchbay.run("catalog", "check", "linear", "zendesk")
    against = checked.counted(["linear", "zendesk"])
    assert against["description"] >= 12 and against["sdk"] >= 14
    counted = f"{against['description']} components agree with descriptions, {against['sdk']} with SDKs."
    assert counted in done.stdout.splitlines()
    assert patchbay.json("catalog", "check", "linear")["checked"] == {"description": 12, "sdk": 0}


def test_only_keys_of_the_registry_that_work_are_counted(patchbay: Commands, own_apps: Path) -> None:
    (own_apps / "umbrella" / "app.toml").unlink()
    (own_apps / "acme" / "actions").mkdir()
    (own_apps / "acme" / "actions" / "send.toml").write_text(ACTION)
    wrong = TABLE.replace("create-message", "tell").replace('content = "text"', 'words = "to"')
    (own_apps / "acme" / "registry.toml").write_text(TABLE + wrong)
    done = patchbay.run("catalog", "check")
    assert "1 keys of the public registry are accepted; each required prop of theirs has its place." in done.stdout
    assert "acme/registry.toml: tell: words stands for to, which is no prop of the component." in done.stderr
    (own_apps / "acme" / "registry.toml").write_text(TABLE)
    assert patchbay.json("catalog", "check", "acme")["apps"][0]["registry_keys"] == 1


def test_check_names_the_props_that_lack_an_explanation(patchbay: Commands, own_apps: Path) -> None:
    (own_apps / "umbrella" / "app.toml").unlink()
    (own_apps / "acme" / "actions").mkdir()
    more = 'text = { type = "string", label = "Text" }\nparent_id = { type = "string", label = "Parent" }'
    action = ACTION.replace('text = { type = "string", label = "Text" }', more)
    assert more in action
    (own_apps / "acme" / "actions" / "send.toml").write_text(action)
    gap = "acme/actions/send.toml: parent_id: nothing says where this id is found."
    assert (
        "0 of 1 ids can be chosen, or their description says where they are."
        in patchbay.run("catalog", "check").stdout.splitlines()
    )
    assert gap in patchbay.run("catalog", "check", "--gaps").stdout.splitlines()
    assert patchbay.json("catalog", "check", "--gaps")["props"]["gaps"][0] == gap


def test_a_component_that_cannot_be_loaded_is_a_problem(patchbay: Commands, data: Path, own_apps: Path) -> None:
    (own_apps / "umbrella" / "app.toml").unlink()
    assert patchbay.json("catalog", "check")["problems"] == []
    component = data / "components" / "say-hello" / "0.0.1.py"
    component.parent.mkdir(parents=True)
    component.write_text("raise ValueError('not today')\n")
    done = patchbay.run("catalog", "check", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["problems"] == ["say-hello/0.0.1.py: ValueError: not today"]


def test_build_leaves_out_what_has_problems(patchbay: Commands, data: Path, own_apps: Path) -> None:
    done = patchbay.run("catalog", "build", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (1, {"apps": 1, "problems": [PROBLEM]})
    with closing(sqlite3.connect(data / "catalog.db")) as database:
        assert database.execute("SELECT slug FROM apps").fetchall() == [("acme",)]
    (own_apps / "umbrella" / "app.toml").unlink()
    told = "The catalog was built. A service that runs takes it in within a second."
    assert patchbay.run("catalog", "build").stdout == f"{told}\n  apps      1\n  problems  –\n"


def test_some_apps_alone_are_checked(patchbay: Commands, own_apps: Path) -> None:
    checked = patchbay.json("catalog", "check", "acme")
    assert ([row["slug"] for row in checked["apps"]], checked["problems"]) == (["acme"], [])
    done = patchbay.run("catalog", "check", "acme", "umbrella")
    assert (done.exit_code, done.stderr) == (1, PROBLEM + "\n")
    assert "There is no app nobody" in patchbay.refused("catalog", "check", "acme", "nobody")
    (own_apps / "broken").mkdir()
    (own_apps / "broken" / "app.toml").write_text("slug = ")
    assert "cannot be read as TOML" in patchbay.run("catalog", "check", "broken").stderr
