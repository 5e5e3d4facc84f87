"""The public directory is brought by the worker, for those who ask over the API: begun, followed and stopped.

What was asked for and how far it is stands in a file of the data folder, ``DATA/directory-download.json``, as the
directory itself is on this machine only. A worker that ends meanwhile leaves it there, and the next one begins anew.
"""

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from webapp import audit
from webapp.audit import Actor, ActorKind
from webapp.errors import PatchbayError, Unwritable
from webapp.kit.clock import iso
from webapp.kit.crypto import ordered_id
from webapp.service.directory import program
from webapp.service.directory.directory import About
from webapp.service.directory.download import Wanted
from webapp.service.directory.program import Stopped
from webapp.service.directory.progress import EXPECTED, Step
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import directory

FILE = "directory-download.json"
_LOCK = ".directory-download"
_NOTED_EVERY_S = 0.5
State = Literal["waiting", "working", "failed", "done"]


@dataclass(frozen=True, slots=True)
class Download:
    """What was asked for, by whom and when (epoch milliseconds), and how far it is.

    ``done`` counts what ``step`` does: bytes or documents. ``error`` is why it failed, as a sentence; ``version`` the
    one that was brought, "" where nothing newer was found.
    """

    id: str
    actor_kind: ActorKind
    actor: str
    began_at: int
    state: State = "waiting"
    step: Step = "looking"
    done: int = 0
    error: str = ""
    version: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it waits or is at work."""
        return self.state in ("waiting", "working")

    def to_json(self) -> dict[str, Any]:
        """It as the API returns it."""
        return {
            "state": self.state,
            "step": self.step,
            "done": self.done,
            "expected": max(EXPECTED[self.step], self.done),
            "error": self.error,
            "version": self.version,
            "began_at": iso(self.began_at),
        }


def current(service: Service) -> Download | None:
    """The last one that was asked for, and not dismissed; None if there is none."""
    try:
        return Download(**json.loads(_path(service).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def begin(service: Service) -> Download:
    """Have the directory brought: the known version, or the newest one where a directory is here.

    While it is being brought, that is what it returns. Raises :class:`Unwritable`.
    """
    actor = audit.ACTOR.get()
    with _changing(service):
        present = current(service)
        if present is not None and present.is_active:
            return present
        begun = Download(ordered_id("dd"), actor.kind, actor.id, service.clock())
        _write(service, begun)
    service.wake()
    return begun


def stop(service: Service) -> None:
    """End what is being brought, or dismiss what failed. What was here before stays."""
    with _changing(service):
        _path(service).unlink(missing_ok=True)
    service.wake()


def remove(service: Service) -> About:
    """Remove the directory. Raises ``NotFound`` if there is none, and ``Busy`` while one is brought."""
    with _changing(service):
        present = current(service)
        if present is not None and present.is_active:
            raise directory.Busy
        removed = directory.remove(service)
        _path(service).unlink(missing_ok=True)
        return removed


def work(service: Service, stopping: Callable[[], bool]) -> Download | None:
    """Bring what waits; return how it ended, or None if nothing did.

    It waits on while somebody else brings the directory, and when ``stopping`` says that this process ends.
    """
    begun = current(service)
    if begun is None or not begun.is_active:
        return None
    with audit.acting(Actor(begun.actor_kind, begun.actor)):
        try:
            version = _bring(service, begun, stopping)
        except directory.Busy:
            return None
        except Stopped:
            _change(service, begun.id, state="waiting", step="looking", done=0)  # unless it is gone
            return None
        except PatchbayError as error:
            return _change(service, begun.id, state="failed", error=error.message)
    return _change(service, begun.id, state="done", version=version)


def _bring(service: Service, begun: Download, stopping: Callable[[], bool]) -> str:
    """Bring it; the version that was brought, or ""."""
    settings, noted_at = service.settings, 0.0

    def progress(step: Step, done: int) -> None:
        nonlocal noted_at
        if time.monotonic() - noted_at >= _NOTED_EVERY_S:
            noted_at = time.monotonic()
            _change(service, begun.id, state="working", step=step, done=done)

    def stopped() -> bool:
        present = current(service)
        return stopping() or present is None or present.id != begun.id

    def bring(wanted: Wanted) -> About | None:
        _change(service, begun.id, state="working")
        return program.bring(settings.data, settings.piece_registry, wanted, service.clock(), progress, stopped)

    if directory.about(service) is None:
        return directory.add(service, bring).version
    newest, is_new = directory.update(service, bring)
    return newest.version if is_new else ""


def _change(service: Service, download_id: str, **facts: Any) -> Download | None:
    """The download with ``facts``; None if it was stopped."""
    with _changing(service):
        present = current(service)
        if present is None or present.id != download_id:
            return None
        changed = replace(present, **facts)
        _write(service, changed)
        return changed


def _write(service: Service, download: Download) -> None:
    draft = _path(service).with_suffix(".new")
    try:
        draft.write_text(json.dumps(asdict(download)))
        draft.replace(_path(service))
    except OSError as error:
        raise Unwritable.because((error.strerror or "the disk takes no more").lower()) from error


def _path(service: Service) -> Path:
    return service.settings.data / FILE


@contextmanager
def _changing(service: Service) -> Iterator[None]:
    with (service.settings.data / _LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
