"""What a file declares, and when it is read again."""

from pathlib import Path

import pytest

from tests.service.components.declared.conftest import HEAD, Desk
from webapp.service.components.declared import definition, source
from webapp.service.components.errors import LoadError

GOOD = """
[props.title]
type = "string"
label = "Title"
aliases = ["heading"]

[props.color]
type = "string"
label = "Color"
options = ["red", { label = "Blue", value = "blue" }]
optional = true

[props.folder]
type = "string"
label = "Folder"
options = { url = "/folders", label = "{$item.name}", value = "{$item.id}" }

[request]
method = "POST"
url = "/notes"
json = { title = "{title}" }
"""


def test_what_the_catalog_keeps(desk: Desk) -> None:
    facts, problems = definition.examine(desk.write(GOOD))
    assert problems == []
    assert facts == {
        "kind": "action",
        "name": "Add note",
        "description": "Adds a note.",
        "app": "tiny",
        "configurable_props": [
            {"name": "tiny", "type": "app", "app": "tiny"},
            {"name": "title", "type": "string", "label": "Title"},
            {
                "name": "color", "type": "string", "label": "Color", "optional": True,
                "options": [{"label": "red", "value": "red"}, {"label": "Blue", "value": "blue"}],
            },
            {"name": "folder", "type": "string", "label": "Folder", "remoteOptions": True},
        ],
        "annotations": {
            "readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True,
        },
        "has_reload": False,
        "dedupe": None,
        "hooks": [],
        "stash": None,
        "tag": "",
        "aliases": [],
        "prop_aliases": {"heading": "title"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("component", "prop", "sentence"),
    [
        ('["Note It"]', '["a"]', "aliases: the alias Note It must be written in lower case with hyphens, such as"),
        ('"note"', '["a"]', "aliases: input should be a valid tuple."),
        ("[]", '["color"]', "props.title.aliases: the alias color is a name of the prop color already."),
        ("[]", '["two words"]', "props.title.aliases: the alias two words must be of letters, digits and"),
    ],
)
def test_other_names_have_the_form_of_names_and_lead_to_one_prop(
    desk: Desk, component: str, prop: str, sentence: str
) -> None:
    path = desk.write(GOOD.replace('["heading"]', prop))
    path.write_text(f"aliases = {component}\n{path.read_text()}")
    (problem,) = definition.examine(path)[1]
    assert sentence in problem


def test_a_file_is_read_again_when_it_or_what_it_shares_changed(desk: Desk) -> None:
    path = desk.write(GOOD)
    first = definition.component(path)
    assert definition.component(path) is first
    desk.write(GOOD.replace('"Title"', '"Heading"'))
    assert definition.component(path).props["title"].label == "Heading"
    with pytest.raises(LoadError, match="does not declare a component: line"):
        definition.component(desk.write("[request]\nurl = 3"))


def test_what_an_app_comes_to_share_counts_at_once(desk: Desk) -> None:
    path = desk.write(GOOD)
    assert definition.component(path).form.errors is None
    desk.share('[errors]\nmessage = "why"\n')
    assert definition.component(path).form.errors is not None
    (desk.folder / "tiny" / "shared.toml").unlink()
    assert definition.component(path).form.errors is None


def test_a_file_that_changes_while_it_is_read_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text_of = desk.write(GOOD), source._text

    def changing(path: Path) -> str:
        text = text_of(path)
        desk.write(GOOD.replace('"Title"', '"Heading"'))
        return text

    monkeypatch.setattr(source, "_text", changing)
    assert definition.component(path).props["title"].label == "Title"
    monkeypatch.undo()
    assert definition.component(path).props["title"].label == "Heading"


def test_props_of_another_shape_are_a_mistake(desk: Desk) -> None:
    path = desk.folder / "hello.toml"
    path.write_text("props = 3\n" + HEAD + '[request]\nurl = "https://example.com"\n')
    assert definition.examine(path) == (None, ["line 1: props: input should be a valid dictionary."])
