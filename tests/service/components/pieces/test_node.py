"""Node is the machine's, else the wheel's, and never one that is too old."""

from pathlib import Path

import pytest

from webapp.service.components.pieces import node


def program(folder: Path, answer: str) -> Path:
    path = folder / "node"
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ('["20.1.0", "/opt/node", ["linux-vdso.so.1", "/lib/a.so"], 614400]', "20.1.0"),
        ('["18.20.0", "/opt/node", [], 0]', None),
        ("v20.1.0", None),
        ("[]", None),
    ],
    ids=["new enough", "too old", "another program", "another answer"],
)
def test_a_node_is_asked_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, version: str | None
) -> None:
    program(tmp_path, answer)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    node_here = node.find()
    assert (node_here and node_here.version) == version
    if node_here is not None:
        assert (node_here.path, node_here.libraries, node_here.base_mb) == (
            Path("/opt/node"),
            (Path("/lib/a.so"),),
            600,
        )


def test_there_may_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert node.find() is None


def test_the_wheels_is_taken_where_the_machine_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", '["24.1.0", "/wheel/node", [], 0]')

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: Spec)
    node_here = node.find()
    assert node_here is not None
    assert node_here.path == Path("/wheel/node")
