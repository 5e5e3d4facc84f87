"""Brings the public directory in a program of its own, which has none of our settings and secrets.

Reading its documents takes 250 MB of memory and 15 seconds of a processor, which the worker should neither keep nor
share. The program ends with its caller, however that ends; what was here before stays then.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from webapp import errors
from webapp.errors import PatchbayError, Unwritable, UpstreamFailed
from webapp.kit.scratch import Scratch, sweep
from webapp.service.directory import directory, download
from webapp.service.directory.directory import About
from webapp.service.directory.download import Wanted
from webapp.service.directory.progress import Progress, Step
from webapp.service.pieces import npm

DEADLINE_S = 1_800.0
_SCRATCH = ".program-directory-"
_PROGRESS = "progress"
_STOPPED = "it was stopped"
_LOW_PRIORITY = 10
_FAILURES: tuple[type[PatchbayError], ...] = (errors.Invalid, UpstreamFailed, Unwritable)


class Stopped(Exception):
    """It was stopped by its caller."""


def bring(
    data: Path, url: str | None, wanted: Wanted, now: int, progress: Progress, stopped: Callable[[], bool]
) -> About | None:
    """Bring the directory as :func:`webapp.service.directory.download.bring`, in another process.

    ``progress`` is called while it works, and so is ``stopped``, which ends it. Raises :class:`Stopped` then, and
    otherwise the same.
    """
    with Scratch(_SCRATCH, data) as folder:
        file, known = folder / _PROGRESS, ("", 0)

        def look() -> str:
            nonlocal known
            if (new := _read(file)) and new != known:
                known = new
                progress(*new)
            return _STOPPED if stopped() else ""

        arguments = json.dumps([str(data), url, asdict(wanted), now, str(file)])
        answer = npm.run(_command(arguments), folder, npm.environment(), DEADLINE_S, look)
    if answer.ended:
        for prefix in (directory.SCRATCH, download.SCRATCH):  # the program could not
            sweep(data, prefix)
    if answer.ended == _STOPPED:
        raise Stopped
    return _result(answer)


def main(arguments: str) -> None:
    """What the program does; it prints what came of it."""
    os.nice(_LOW_PRIORITY)
    data, url, wanted, now, file = json.loads(arguments)
    try:
        brought = download.bring(Path(data), url, Wanted(**wanted), now, _writer(Path(file)))
        result: dict[str, Any] = {"about": asdict(brought) if brought else None}
    except _FAILURES as error:
        result = {"error": type(error).__name__, "message": error.message}
    sys.stdout.write(json.dumps(result))


def _command(arguments: str) -> list[str]:
    program = (
        f"import sys; sys.path[:] = {[entry for entry in sys.path if entry]!r}\n"
        f"from webapp.service.directory.program import main; main({arguments!r})"
    )
    return [sys.executable, "-c", program]


def _result(answer: npm.Answer) -> About | None:
    """What the program printed. Raises what :func:`main` could not do."""
    try:
        result = json.loads(answer.out)
    except ValueError:
        raise UpstreamFailed(f"The public directory could not be brought: {answer.reason}.") from None
    if "error" in result:
        raise next(kind for kind in _FAILURES if kind.__name__ == result["error"])(result["message"])
    return directory.about_of(result["about"]) if result["about"] else None


def _writer(file: Path) -> Progress:
    draft = file.with_suffix(".new")

    def write(step: Step, done: int) -> None:
        draft.write_text(json.dumps([step, done]))
        draft.replace(file)

    return write


def _read(file: Path) -> tuple[Step, int] | None:
    try:
        step, done = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return step, done
