"""``patchbay files``: what stands in the manual to be copied, byte for byte."""

import pytest

from tests.cli.in_process import Commands
from webapp.manual.files import FILES


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_printed_as_it_stands(name: str) -> None:
    assert Commands({}).run("files", name).stdout == FILES[name].read()


def test_they_are_listed_and_what_is_none_is_said() -> None:
    commands = Commands({})
    assert [row["name"] for row in commands.json("files")["files"]] == list(FILES)
    assert commands.refused("files", "nothing") == "Error: There is no file nothing; `patchbay files` lists them."
