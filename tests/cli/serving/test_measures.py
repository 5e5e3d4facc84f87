"""Several web processes count in one folder, where they are measured; it ends with the process that made it."""

import atexit
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from webapp.cli.serving import measures
from webapp.settings import Settings


@pytest.mark.parametrize(("web", "token", "shared"), [("2", "m" * 20, True), ("1", "m" * 20, False), ("2", "", False)])
def test_there_is_a_folder_where_several_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, web: str, token: str, shared: bool
) -> None:
    monkeypatch.setenv(measures.FOLDER, "")
    ends: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    env = {"PATCHBAY_WEB": web, **({"PATCHBAY_METRICS_TOKEN": token} if token else {})}
    measures.share(Settings.from_env(env, data=tmp_path))
    folder = os.environ[measures.FOLDER]
    assert bool(folder) == shared == bool(ends)
    for end in ends:
        assert Path(folder).is_dir()
        end()
        assert not Path(folder).exists()
