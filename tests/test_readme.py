"""README and the manual say only what is so: their app passes the checker, their commands exist, their map leads
somewhere. Links, options, settings and routes are looked at in ``tests/manual``."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.manual.documents import FILES, text_of
from webapp.cli.main import main
from webapp.service.catalog.check import judge
from webapp.service.catalog.sources import Places, read

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SHOWN = "\n".join(file.read_text("utf-8") for file in FILES)


def test_the_example_of_an_app_passes_the_checker(tmp_path: Path) -> None:
    example, *parts = re.findall(r"```toml\n(.*?)```", text_of("apps"), re.DOTALL)
    assert all(map(tomllib.loads, parts))
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "app.toml").write_text(example, "utf-8")
    assert judge(read(Places([tmp_path]))).problems == ()
    (folder / "app.toml").write_text(example.replace('"ecommerce"', '"nonsense"'), "utf-8")
    assert len(judge(read(Places([tmp_path]))).problems) == 1


COMMANDS = sorted({" ".join(found.split()[1:]) for found in re.findall(r"patchbay(?: [a-z][a-z-]*\b){1,2}", SHOWN)})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_is_named_exists(command: str) -> None:
    words = command.split()
    for length in range(len(words), 0, -1):  # the last word may be an argument, but not of a group
        found = CliRunner().invoke(main, [*words[:length], "--help"])
        if found.exit_code == 0:
            break
    assert found.exit_code == 0, command
    assert length == len(words) or "COMMAND" not in found.output, command


@pytest.mark.parametrize("path", re.findall(r"^\| `(webapp/[^`]+)`", text_of("architecture"), re.MULTILINE))
def test_the_map_leads_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


def test_pictures_are_there_in_both_themes() -> None:
    named = re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert len(named) == 4 and [path for path in named if not (ROOT / path).is_file()] == []


def test_it_is_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) <= 150
