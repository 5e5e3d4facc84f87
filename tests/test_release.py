"""A release: what is built is compared byte by byte, a container's context holds what its file copies, and the workflow
publishes what ``make release`` has proved, without a token."""

import io
import re
import tarfile
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from tests import release
from tests.installed import ROOT

WORKFLOWS = {file.name: yaml.safe_load(file.read_text()) for file in (ROOT / ".github" / "workflows").glob("*.yml")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
KEPT = (
    *PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"],
    "pyproject.toml",
    "README.md",
    "LICENSE",
)


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    """A source distribution in which each file of the real one is a line."""
    target = tmp_path / "patchbay-1.tar.gz"
    names = [*KEPT, *(f"{release.FILES}/{name}" for name in release.CONTAINER)]
    with tarfile.open(target, "w:gz") as archive:
        for name in names:
            path = f"{name}/file" if (ROOT / name).is_dir() else name
            text = (ROOT / name).read_bytes() if name.startswith(release.FILES) else b"x\n"
            member = tarfile.TarInfo(f"patchbay-1/{path}")
            member.size, member.mtime = len(text), 1_700_000_000
            archive.addfile(member, io.BytesIO(text))
    return target


def test_a_containers_context_holds_what_is_copied_and_is_the_same_each_time(sdist: Path, tmp_path: Path) -> None:
    contexts = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        contexts.append(release.container_of(sdist, tmp_path / place))
    release.compare(contexts[:1], contexts[1:])
    with tarfile.open(contexts[0]) as archive:
        names = archive.getnames()
        text = archive.extractfile("Containerfile")
        assert text is not None
        copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text.read().decode(), re.MULTILINE)
        assert {member.mtime for member in archive} == {1_700_000_000}
    words = [word for line in copied for word in line.split()]
    assert len(words) > 8
    assert [word for word in words if not any(name == word or name.startswith(f"{word}/") for name in names)] == []


def test_builds_that_differ_end_a_release(tmp_path: Path) -> None:
    for place, text in (("one", "a"), ("two", "b")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.whl").write_text(text)
    with pytest.raises(click.ClickException, match=r"a\.whl differs from build to build"):
        release.compare([tmp_path / "one" / "a.whl"], [tmp_path / "two" / "a.whl"])


def test_what_is_published_has_its_hashes_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"")
    release.publish([tmp_path / "a.whl"], tmp_path / "dist")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (tmp_path / "dist" / "SHA256SUMS").read_text() == f"{empty}  a.whl\n"
    assert (tmp_path / "dist" / "a.whl").exists()


def test_only_the_job_that_publishes_may_write_and_it_needs_the_build() -> None:
    jobs = WORKFLOWS["release.yml"]["jobs"]
    assert all(flow["permissions"] == {"contents": "read"} for flow in WORKFLOWS.values())
    writing = {name for flow in WORKFLOWS.values() for name, job in flow["jobs"].items() if "permissions" in job}
    assert writing == {"publish"} and jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"]["id-token"] == "write" and "environment" in jobs["publish"]
    texts = [file.read_text() for file in (ROOT / ".github" / "workflows").glob("*.yml")]
    assert not any("secrets." in text for text in texts)


def test_what_workflows_run_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    lines = [
        step["run"]
        for flow in WORKFLOWS.values()
        for job in flow["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    targets = [target for line in lines for target in re.findall(r"(?:^|&& )make (?:PYTHON=\S+ )?([a-z]+)", line)]
    assert {"release", "test", "installed"} <= set(targets)
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_each_python_that_is_named_is_tried() -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    matrix = WORKFLOWS["ci.yml"]["jobs"]["pythons"]["strategy"]["matrix"]["python"]
    assert tuple(named) == tuple(matrix) == release.PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
