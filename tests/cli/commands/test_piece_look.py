"""What ``patchbay check`` says of integrations."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import Commands
from tests.service.domain.instance.pieces.tried import describe, tarball
from webapp.cli.commands import piece_look
from webapp.service.components.pieces import node
from webapp.settings import Settings


def looks(data: Path) -> list[Any]:
    return list(piece_look.pieces(Settings.from_env({}, data=data)))


def test_node_and_each_integration_are_looked_at(
    patchbay: Commands, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    monkeypatch.setattr(node, "find", lambda: None)
    assert looks(data) == [("note", node.MISSING)]
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.1.0"))
    patchbay.json("piece", "add", str(tarball(tmp_path)))
    assert looks(data) == [("ok", "Node 20.1.0 runs them."), ("ok", "1 stands whole on this machine.")]
    next(data.glob("pieces/packages/*/*/package-lock.json")).parent.rename(tmp_path / "gone")
    (_, (verdict, sentence)) = looks(data)
    assert (verdict, sentence.endswith("Run `patchbay piece sync`, or start the worker again.")) == ("problem", True)
    monkeypatch.setattr(node, "find", lambda: None)
    assert looks(data)[0] == ("problem", node.MISSING)
