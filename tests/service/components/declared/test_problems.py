"""Everything that is wrong with a file, at once and with its line."""

from pathlib import Path

import pytest

from tests.service.components.declared.conftest import ACCOUNT, HEAD, Desk
from webapp.service.components.declared import definition
from webapp.service.components.declared.problems import line_of

WRONG = """
[props.note]
use = "note"

[props.title]
type = "string"
labl = "Title"

[request]
method = "FETCH"
url = "/notes/{id}"
params = { a = "{title|shout}" }
json = { a = 1 }
form = { b = "{$item.name}" }

[pages]
by = "page"
"""


def test_all_mistakes_at_once_with_their_lines(desk: Desk) -> None:
    facts, problems = definition.examine(desk.write(WRONG))
    start = (HEAD + ACCOUNT).count("\n")
    lines = [(int(problem.split(":")[0].removeprefix("line ")) - start, problem) for problem in problems]
    assert facts is None
    assert [line for line, _ in lines] == [2, 3, 7, 10, 11, 12, 14, 16]
    sentences = "\n".join(problems)
    for sentence in (
        "props.note.type: it is missing.",
        "props.note.use: shared.toml has no such prop.",
        "props.title.labl: nothing is called so here; check its spelling.",
        "request.method: input should be 'GET'",
        "request.url: {id} is not known here; there are tiny, note, title, $account",
        "request.params: there is no filter shout",
        "request.form: {$item} is not known here",
        "pages: nothing is called so here",
    ):
        assert sentence in sentences


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[request]\nurl = "notes"', "request.url: it begins with / or https://"),
        ('[request]\nmethod = "POST"\nurl = "/a"\ntext = "a"\nform = { a = 1 }', "request: a request has one body"),
        ('[request]\nurl = "/a"\njson = { a = 1 }', "request: GET has no body"),
        ('[request]\nurl = "/a"\npages = { by = "page" }', "request.pages: pages by page need param"),
        ('[request]\nurl = "/a"\npages = { by = "cursor", param = "c" }', "pages by cursor need next or last"),
        ('[request]\nurl = "/a"\npages = { by = "url" }', "pages by url need next"),
        ('[props.a]\ntype = "string"\n[request]\nurl = "/a"', "props.a: it needs a label."),
        (
            '[props.a]\ntype = "string"\nlabel = "A"\npattern = "("\nadvice = "B"\n[request]\nurl = "/a"',
            "pattern is no",
        ),
        ('[props.a]\ntype = "string"\nlabel = "A"\npattern = "a"\n[request]\nurl = "/a"', "pattern and advice belong"),
        ('[props.a]\ntype = "string"\nlabel = "A"\nreload_props = true\n[request]\nurl = "/a"', "reload: a prop with"),
        (
            '[props.other]\ntype = "app"\napp = "tiny"\n[request]\nurl = "/a"',
            "props.other: the prop tiny has the type app",
        ),
        ('[request]\nurl = "/a"\nparams = { hook = "{$hook.id}" }', "request.params: {$hook} is not known here"),
        ('[request]\nurl = "/a"\nwhere = { a = "{title|frob}" }', "request.where: there is no filter frob"),
        ('[request]\nurl = "/a"\nwhere = { a = "{nope}" }', "request.where: {nope} is not known here"),
        (
            '[props.a]\ntype = "strnig"\nlabel = "A"\n[request]\nurl = "/a"',
            "props.a.type: input should be 'app', 'alert'",
        ),
        (
            '[props.a]\ntype = "string"\nlabel = "A"\npattern = "(a+)+b"\nadvice = "B"\n[request]\nurl = "/a"',
            "props.a: pattern repeats a group",
        ),
        ('[annotations]\nkind = true\n[request]\nurl = "/a"', "annotations: nobody knows kind."),
    ],
)
def test_a_mistake(desk: Desk, text: str, sentence: str) -> None:
    _, problems = definition.examine(desk.write(text))
    assert len(problems) == 1
    assert sentence in problems[0]


def test_an_address_without_an_account_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "say-hello.toml"
    path.write_text(HEAD + '[request]\nurl = "/hello"')
    assert "there is no prop of type app" in definition.examine(path)[1][0]
    path.write_text(HEAD + '[request]\nurl = "https://example.com/hello"')
    assert definition.examine(path)[1] == []


TEXT = '''name = "A"  # one
description = """
[request]
title = 3
"""

[request]
url = "/a"
json = { a = [
  "[[steps]]",
] }
headers."X-A" = "b"

[[steps]]
name = "one"
[[steps]]
name = "two"

[props."odd.name".options]
url = "/b"
'''


def test_the_lines_of_members() -> None:
    places = [
        (("name",), 1), (("description",), 2), (("request", "url"), 8), (("request", "json", "a", 0), 9),
        (("request", "headers", "X-A"), 12), (("steps", 0), 14), (("steps", 1, "name"), 17),
        (("props", "odd.name", "options", "url"), 20), (("nothing",), 1),
    ]  # fmt: skip
    assert [line_of(TEXT, place) for place, _ in places] == [line for _, line in places]
