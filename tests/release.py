"""``make release``: builds what is published, proves it, and writes it with its hashes to ``dist``.

    patchbay-X.tar.gz, patchbay-X-…whl   the source distribution and the wheel, each with the front end inside
    patchbay-X-container.tar.gz          a context for ``podman build``
    SHA256SUMS                           the hashes, also printed

Everything is built twice, from two exports of the commit in folders of their own, with the time of the commit
(SOURCE_DATE_EPOCH); a byte of difference ends it, as does a wheel that the source distribution does not give as well.
Then it is installed as people install it, served in empty folders, upgraded from the data of an earlier schema, and
removed again. What is not committed is not in it.
"""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from tests.installed import ROOT, UV, Copy, environment, journey, kept, outside, run

TWINE, PIPX = "twine==7.0.0", "pipx==1.18.4"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CONTAINER = ("Containerfile", "compose.yml")
FILES = "templates/docs/files"


@click.command()
@click.option("--out", default="dist", show_default=True, type=click.Path(path_type=Path), help="Where it is written.")
@click.option("--python", "pythons", multiple=True, help=f"A Python to prove it with ({', '.join(PYTHONS)} as found).")
@click.option("--only-build", is_flag=True, help="Build twice and compare, without installing anything.")
def main(out: Path, pythons: Sequence[str], only_build: bool) -> None:
    """Build a release of the commit that is checked out, and prove it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    with tempfile.TemporaryDirectory(prefix="patchbay-release-") as name:
        scratch = Path(name)
        click.echo(f"== Patchbay {version}, built twice")
        built, again = (build(exported("HEAD", scratch / place)) for place in ("one", "elsewhere/two"))
        compare(built, again)
        sdist, wheel = built
        from_sdist = build_wheel(unpacked(sdist, scratch / "from-sdist"), scratch / "wheel-of-sdist")
        compare([wheel], [from_sdist])
        artifacts = [sdist, wheel, container_of(sdist, scratch)]
        click.echo("== twine check")
        click.echo(run(UV, "tool", "run", "--from", TWINE, "twine", "check", "--strict", sdist, wheel).strip())
        if not only_build:
            prove(wheel, scratch, pythons or PYTHONS)
        publish(artifacts, out)


def exported(commit: str, folder: Path) -> Path:
    """The source of ``commit`` in ``folder``, with a front end that is fetched for it."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        source.extractall(folder, filter="data")
    python(folder, "-m", "webapp.frontend")
    return folder


def build(tree: Path) -> list[Path]:
    """The source distribution and the wheel of ``tree``."""
    python(tree, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel")
    return sorted((tree / "dist").iterdir(), key=lambda path: path.suffix)


def build_wheel(tree: Path, folder: Path) -> Path:
    """The wheel of ``tree``, in ``folder``."""
    python(tree, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.iterdir()
    return wheel


def python(tree: Path, *words: str) -> None:
    """Run this environment's Python in ``tree``, at the time of the commit."""
    epoch = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, check=True, text=True)
    env = {**outside(), "SOURCE_DATE_EPOCH": epoch.stdout.strip(), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-P", *words], cwd=tree, env={**env, "PYTHONPATH": str(tree)}, check=False)
    if done.returncode:
        raise click.ClickException(f"{' '.join(words)} failed in {tree}.")


def compare(built: Iterable[Path], again: Iterable[Path]) -> None:
    """Refuse two builds that differ."""
    for one, other in zip(built, again, strict=True):
        if hash_of(one) != hash_of(other):
            raise click.ClickException(f"{one.name} differs from build to build.")
        click.echo(f"{one.name}: the same bytes")


def unpacked(sdist: Path, folder: Path) -> Path:
    """The one folder of a source distribution."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def container_of(sdist: Path, scratch: Path) -> Path:
    """The source distribution as a context, with the files for containers on top, in the same bytes each time."""
    tree, target = unpacked(sdist, scratch / "context"), scratch / sdist.name.replace(".tar.gz", "-container.tar.gz")
    for name in CONTAINER:
        shutil.copy(tree / FILES / name, tree / name)
    epoch = int(max(path.stat().st_mtime for path in tree.rglob("*.toml")))
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                archive.addfile(_member(path, tree, epoch), io.BytesIO(path.read_bytes()))
    target.write_bytes(gzip.compress(plain.getvalue(), mtime=epoch))
    return target


def _member(path: Path, tree: Path, epoch: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path.relative_to(tree).as_posix())
    member.size, member.mtime, member.mode = path.stat().st_size, epoch, 0o755 if os.access(path, os.X_OK) else 0o644
    return member


def prove(wheel: Path, scratch: Path, pythons: Iterable[str]) -> None:
    """Install ``wheel`` in each way and with each Python that is here, and use it."""
    ways(wheel, scratch)
    for name in pythons:
        program = program_of(name)
        if program is None:
            click.echo(f"== Python {name}: not on this machine, so not run")
            continue
        click.echo(f"== Python {name}: installed, served in an empty folder, first steps, restarted")
        copy = Copy(environment(scratch / f"env-{name}", wheel, program), scratch / f"empty-{name}")
        kept(copy, journey(copy))
        last = (scratch / f"env-{name}", copy)
    upgrade(last[1], scratch)
    uninstall(*last)


def ways(wheel: Path, scratch: Path) -> None:
    """As the manual's readers install it; without the lock, from what the registry has today."""
    env = {"UV_TOOL_DIR": str(scratch / "uv"), "UV_TOOL_BIN_DIR": str(scratch / "uv-bin")}
    run(UV, "tool", "install", "--quiet", wheel, **env)
    click.echo(f"== uv tool install: {run(scratch / 'uv-bin' / 'patchbay', '--version').strip()}")
    env = {"PIPX_HOME": str(scratch / "pipx"), "PIPX_BIN_DIR": str(scratch / "pipx-bin")}
    run(UV, "tool", "run", "--from", PIPX, "pipx", "install", "--python", sys.executable, wheel, **env)
    click.echo(f"== pipx install: {run(scratch / 'pipx-bin' / 'patchbay', '--version').strip()}")
    run(sys.executable, "-m", "venv", scratch / "pip")
    run(scratch / "pip" / "bin" / "pip", "install", "--quiet", wheel)
    click.echo(f"== pip install: {run(scratch / 'pip' / 'bin' / 'patchbay', '--version').strip()}")


def program_of(version: str) -> str | None:
    """The path of a Python of that version that runs, or of the path ``version``."""
    if "/" in version:
        return version
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    for program in (f"python{version}", *map(str, pyenv)):
        try:
            code = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"
            done = subprocess.run([program, "-c", code], capture_output=True, text=True, env=outside(), check=False)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.split()[1:] == version.split("."):
            return done.stdout.split()[0]
    return None


def upgrade(copy: Copy, scratch: Path) -> None:
    """What the version before the newest migration kept is there, and works, in this one."""
    schema = "webapp/store/schema"
    newest = run("git", "-C", ROOT, "log", "-1", "--format=%H", "--diff-filter=A", "--", schema).strip()
    if not newest:
        click.echo("== There is no history to take an earlier version from: no upgrade was tried")
        return
    wheel = build_wheel(exported(f"{newest}^", scratch / "earlier"), scratch / "earlier-wheel")
    before = Copy(environment(scratch / "env-earlier", wheel), scratch / "data-earlier")
    names = journey(before)
    copy.folder, copy.env, copy.url = before.folder, before.env, before.url
    kept(copy, names)
    click.echo(f"== Upgraded from the data of {newest[:8]}^, the version before the newest migration")


def uninstall(env: Path, copy: Copy) -> None:
    """Nothing of the program stays; the data does."""
    run(UV, "pip", "uninstall", "--quiet", "--python", env, "patchbay")
    rest = [path for path in env.rglob("*") if path.name in ("webapp", "patchbay") or path.name.startswith("patchbay-")]
    assert not copy.command.exists() and rest == [], rest
    assert list(copy.folder.rglob("patchbay.db"))
    click.echo("== Uninstalled: the program is gone, its data stays")


def publish(artifacts: Iterable[Path], out: Path) -> None:
    """Write the artifacts to ``out``, with their hashes."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    lines = [f"{hash_of(path)}  {path.name}" for path in artifacts]
    for path in artifacts:
        shutil.copy(path, out)
    (out / "SHA256SUMS").write_text("\n".join(lines) + "\n")
    click.echo("\n".join(lines))


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
