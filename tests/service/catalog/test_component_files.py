"""Where components stand: code by name and version, data by name alone."""

from pathlib import Path

from webapp.service.catalog.component_files import PATTERNS, component_files, components, python_files


def write(folder: Path, *places: str, text: str = "version = '1.2.0'\n") -> None:
    for place in places:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)


def test_components_that_are_data_stand_by_their_names(tmp_path: Path) -> None:
    app, problems = tmp_path / "acme", list[str]()
    write(app, "actions/say.toml", "actions/say/1.1.0.toml", "triggers/hear/1.0.0.py", "triggers/Heard.toml")
    write(app, "actions/mute.toml", text="name = 'Mute'\n")
    files = sorted(path for kind in ("actions", "triggers") for each in PATTERNS for path in app.glob(f"{kind}/{each}"))
    listed = list(components(files, tmp_path, "acme", problems))
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
    (shout,) = components([tmp_path / "shout.toml"], tmp_path, None, [])
    assert (shout.key, shout.version, shout.kind, shout.app) == ("~/shout", "1.2.0", None, None)


def test_every_file_that_has_a_part_in_a_component(tmp_path: Path) -> None:
    write(tmp_path, "app.toml", "shared.toml", "common.py", "actions/say.toml", "actions/do/1.0.0.py", "notes.txt")
    assert [file.name for file in component_files(tmp_path)] == [
        "1.0.0.py", "say.toml", "app.toml", "common.py", "shared.toml",
    ]  # fmt: skip
    assert [file.name for file in python_files(tmp_path)] == ["1.0.0.py", "common.py"]


def test_a_name_is_one_component(tmp_path: Path) -> None:
    problems = list[str]()
    write(tmp_path, "actions/say.toml", "actions/say/1.2.0.py", "triggers/say.toml")
    files = [tmp_path / place for place in ("actions/say.toml", "actions/say/1.2.0.py", "triggers/say.toml")]
    assert [each.path for each in components(files, tmp_path, "acme", problems)] == ["actions/say.toml"]
    assert [problem.partition(":")[0] for problem in problems] == ["actions/say/1.2.0.py", "triggers/say.toml"]
