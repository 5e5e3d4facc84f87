"""Files of declared components: what they hold, and what they share."""

from pathlib import Path

import pytest

from tests.service.components.declared.conftest import Desk
from webapp.service.components.declared import source
from webapp.service.components.errors import LoadError


def test_what_an_app_shares(desk: Desk) -> None:
    desk.share('[props.note]\ntype = "string"\nlabel = "Note"\n[errors]\nmessage = "why"\ncode = "code"\n')
    path = desk.write('[props.note]\nuse = "note"\noptional = true\n[errors]\ncode = "kind"\n')
    read = source.read(path)
    assert read.fields["props"]["note"] == {"type": "string", "label": "Note", "optional": True}
    assert read.fields["errors"] == {"message": "why", "code": "kind"}
    assert [file.name for file in read.files] == ["add-note.toml", "shared.toml"]


def test_what_is_like_another(desk: Desk, tmp_path: Path) -> None:
    desk.share('[props.note]\ntype = "string"\nlabel = "Note"\n')
    desk.write('[props.note]\nuse = "note"\n[request]\nurl = "/notes"\n')
    other = tmp_path / "other" / "actions" / "add-note.toml"
    other.parent.mkdir(parents=True)
    other.write_text('like = "tiny/actions/add-note"\nprops.tiny.app = "other"\n')
    read = source.read(other)
    assert read.fields["name"] == "Add note"
    assert (read.fields["props"]["tiny"]["app"], read.fields["props"]["note"]["label"]) == ("other", "Note")
    assert [file.parent.parent.name for file in read.files][:2] == ["other", "tiny"]


@pytest.mark.parametrize(
    ("place", "name", "app"),
    [
        ("tiny/actions/add-note.toml", "add-note", "tiny"),
        ("tiny/actions/add-note/1.0.0.toml", "add-note", "tiny"),
        ("components/say-hello.toml", "say-hello", "components"),
        ("components/say-hello/1.0.0.toml", "say-hello", "components"),
    ],
)
def test_name_and_app_of_a_file(place: str, name: str, app: str) -> None:
    assert (source.name_of(Path(place)), source.app_folder(Path(place)).name) == (name, app)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for content in (b"name = \n", b"\xff"):
        (tmp_path / "a.toml").write_bytes(content)
        with pytest.raises(LoadError):
            source.read(tmp_path / "a.toml")
    with pytest.raises(LoadError, match="There is no readable file"):
        source.read(tmp_path / "b.toml")


@pytest.mark.parametrize("shared", ["props = 3", "errors = 3", "[props]\nnote = 3", "a = " + "[" * 5_000])
def test_what_is_shared_has_another_shape(desk: Desk, shared: str) -> None:
    path = desk.write('[props.note]\nuse = "note"\n[errors]\n')
    desk.share(shared)
    with pytest.raises(LoadError, match=r"shared\.toml"):
        source.read(path)


@pytest.mark.parametrize("like", ['"tiny/actions/b"', "3", '"../x"', '"tiny/actions/none"', '"\\u0000"'])
def test_what_is_like_itself_or_like_nothing(desk: Desk, like: str) -> None:
    path = desk.write("", "a", head=f"like = {like}\n")
    desk.write("", "b", head='like = "tiny/actions/a"\n')
    with pytest.raises(LoadError):
        source.read(path)


@pytest.mark.parametrize("text", ["props = 3", "errors = 3", "[props]\nnote = 3", "[props.note]\nuse = []"])
def test_a_file_of_another_shape_is_left_to_its_form(desk: Desk, text: str) -> None:
    desk.share('[props.note]\ntype = "string"\n[errors]\ncode = "why"\n')
    path = desk.folder / "tiny" / "actions" / "a.toml"
    path.parent.mkdir()
    path.write_text(text)
    assert source.read(path).fields["props" if "props" in text else "errors"]


def test_a_push_of_another_app(desk: Desk) -> None:
    other = desk.folder / "other"
    other.mkdir()
    (other / "shared.toml").write_text('[push.news]\nlasts = 60\nvalues = { what = "all" }\n')
    path = desk.write('[push]\nuse = "other/news"\nvalues = { which = "{a}" }\n')
    read = source.read(path)
    assert read.fields["push"] == {"lasts": 60, "values": {"what": "all", "which": "{a}"}}
    assert read.files[-1] == other / "shared.toml" and source.may_inherit(read.text)
    for use, words in (('"other/old"', "has no"), ('"news"', "names another push"), ("3", "names another push")):
        with pytest.raises(LoadError, match=words):
            source.read(desk.write(f"[push]\nuse = {use}\n"))
    with pytest.raises(LoadError, match="no readable file"):
        source.read(desk.write('[push]\nuse = "none/news"\n'))
