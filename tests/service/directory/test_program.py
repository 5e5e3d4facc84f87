"""The directory is brought by a program of its own, without our settings, with its progress, until it is stopped."""

import json
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.fakes.npm_registry import NpmRegistry
from tests.fakes.public_directory import archive, written
from webapp.errors import Invalid, UpstreamFailed
from webapp.service.directory import directory, program
from webapp.service.directory.archive import integrity_of
from webapp.service.directory.download import NEWEST, Wanted
from webapp.service.directory.program import Stopped
from webapp.service.directory.progress import Step, unseen
from webapp.service.pieces import npm


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def going() -> bool:
    return False


@pytest.mark.faults
def test_it_is_brought_with_its_progress(served: NpmRegistry, data: Path) -> None:
    served.publish(archive())
    steps: list[tuple[Step, int]] = []
    about = program.bring(data, served.url, Wanted(NEWEST), 5, lambda *step: steps.append(step), going)
    assert about is not None and about == directory.about(data)
    assert (about.version, about.documents, about.added_at) == ("1.3.17", 103, 5)
    assert steps[0] == ("looking", 0) and {step for step, _ in steps} <= {"looking", "downloading", "indexing"}
    assert [file.name for file in data.iterdir()] == [directory.FILE]
    assert program.bring(data, served.url, Wanted(NEWEST, present=about.integrity), 6, unseen, going) is None


@pytest.mark.faults
def test_what_fails_there_fails_here_with_its_sentence(served: NpmRegistry, data: Path, tmp_path: Path) -> None:
    with pytest.raises(UpstreamFailed, match="did not give the public directory"):
        program.bring(data, "http://127.0.0.1:1", Wanted(NEWEST), 5, unseen, going)
    served.publish(archive(filled=2))
    with pytest.raises(UpstreamFailed, match="has another integrity"):
        other = integrity_of(written(tmp_path, archive(version="1.4.0")))
        program.bring(data, served.url, Wanted(NEWEST, other), 5, unseen, going)
    with pytest.raises(Invalid, match="which is not the whole public directory"):
        program.bring(data, served.url, Wanted(NEWEST), 5, unseen, going)
    assert list(data.iterdir()) == []


@pytest.mark.faults
def test_it_is_stopped_at_once_and_leaves_nothing(served: NpmRegistry, data: Path) -> None:
    served.publish(archive())
    served.stalls = True
    try:
        began = time.monotonic()
        with pytest.raises(Stopped):
            program.bring(data, served.url, Wanted(NEWEST), 5, unseen, lambda: time.monotonic() - began > 1)
        assert time.monotonic() - began < 15
    finally:
        served.stalls = False
    assert list(data.iterdir()) == []
    assert program.bring(data, served.url, Wanted(NEWEST), 5, unseen, going) is not None
    assert [file.name for file in data.iterdir()] == [directory.FILE]


def test_it_has_none_of_our_settings(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "canary")
    calls = []

    def run(command: list[str], folder: Path, environment: dict[str, str], *_: object) -> npm.Answer:
        calls.append((command, environment))
        return npm.Answer(1, "", "it crashed")

    monkeypatch.setattr(npm, "run", run)
    with pytest.raises(UpstreamFailed, match="could not be brought: it crashed"):
        program.bring(data, None, Wanted(NEWEST), 5, unseen, going)
    assert "canary" not in repr(calls)


def test_the_program_prints_what_came_of_it(
    served: NpmRegistry, data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.nice", lambda by: by)
    order = [str(data), served.url, asdict(Wanted("9.9.9")), 5, str(data / "progress")]
    program.main(json.dumps(order))
    result = json.loads(capsys.readouterr().out)
    assert result["error"] == "UpstreamFailed" and "did not give" in result["message"]
    assert program._read(data / "progress") == ("looking", 0)
    assert program._read(data / "nothing") is None
