"""Where components stand: code by name and version, data by name alone."""

from pathlib import Path

from webapp.service.catalog.component_files import components
from webapp.service.catalog.source_files import look


def write(folder: Path, *places: str, text: str = "version = '1.2.0'\n") -> None:
    for place in places:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)


def test_components_that_are_data_stand_by_their_names(tmp_path: Path) -> None:
    app, problems = tmp_path / "acme", list[str]()
    write(app, "actions/say.toml", "actions/say/1.1.0.toml", "triggers/hear/1.0.0.py", "triggers/Heard.toml")
    write(app, "actions/mute.toml", text="name = 'Mute'\n")
    write(app, "app.toml", "shared.toml", "actions/common.py", "actions/say/parts/1.1.0.toml", "other/say.toml")
    listed = list(components(look(tmp_path), "acme", "acme", problems))
    assert {(each.key, each.version, each.kind) for each in listed} == {
        ("acme-say", "1.2.0", "action"),
        ("acme-say", "1.1.0", "action"),
        ("acme-hear", "1.0.0", "trigger"),
    }
    assert sorted(problem.partition(":")[0] for problem in problems) == [
        "acme/actions/mute.toml",
        "acme/triggers/Heard.toml",
    ]
    assert all((tmp_path / each.path) == each.file for each in listed)


def test_those_of_the_operator_belong_to_no_app(tmp_path: Path) -> None:
    write(tmp_path, "shout.toml")
    (shout,) = components(look(tmp_path), None, None, [])
    assert (shout.key, shout.version, shout.kind, shout.app) == ("~/shout", "1.2.0", None, None)


def test_a_name_is_one_component(tmp_path: Path) -> None:
    problems = list[str]()
    write(tmp_path / "acme", "actions/say.toml", "actions/say/1.2.0.py", "triggers/say.toml")
    (kept,) = components(look(tmp_path), "acme", "acme", problems)
    left = [problem.partition(":")[0] for problem in problems]
    assert sorted([kept.path, *left]) == [
        "acme/actions/say.toml", "acme/actions/say/1.2.0.py", "acme/triggers/say.toml",
    ]  # fmt: skip
    assert kept.name == "say" and len(left) == 2
