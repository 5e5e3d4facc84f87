"""``patchbay project``: make and list projects."""

from tests.cli.in_process import Commands


def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands) -> None:
    assert patchbay.refused("project", "create", "--name", " ") == (
        "Error: A project needs a name; give one with --name."
    )


def test_an_empty_list_says_what_to_do(patchbay: Commands) -> None:
    assert patchbay.run("project", "list").stdout == (
        "There is no project yet; `patchbay project create --name N` makes one.\n"
    )
