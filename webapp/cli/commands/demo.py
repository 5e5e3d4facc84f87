"""``patchbay demo``: fills an empty data folder with a made-up product, and empties such a folder again.

Everything is made in a folder of its own inside the data folder and moved into place when it is whole, so that a
command that is stopped or fails leaves the data folder as it was.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from webapp import demo as mark
from webapp.cli.options import JSON, opened, settings_from_env, show
from webapp.errors import Conflict
from webapp.kit.clock import FakeClock, now
from webapp.kit.scratch import Scratch
from webapp.settings import Settings
from webapp.store import lock_files
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import refuse_server

FILLING = ".filling"
MEMORY = Path("/dev/shm")  # noqa: S108  # shm_overview(7); only a folder of our own in it is written


@click.command()
@click.option("--empty", is_flag=True, help="Remove all of a demo again, so that the folder is empty.")
@click.option(
    "--link",
    "component",
    type=click.Choice(list(mark.FORMS)),
    is_flag=False,
    flag_value=next(iter(mark.FORMS)),
    help="Print a link to one form of a demo, filled in, good for a day and without a login.",
)
@JSON
def demo(empty: bool, component: str | None, as_json: bool) -> None:
    """Fill an empty data folder with a made-up product: users, accounts, triggers, an agent and 30 days of logs.

    Each of its pages says that it is a demo. ``patchbay serve`` serves it.
    """
    settings = settings_from_env()
    refuse_server(settings, "A demo is kept in the embedded database; unset PATCHBAY_DATABASE_URL.")
    if empty and component:
        raise click.UsageError("Use one of --empty and --link.")
    if component:
        show({"url": _link(settings, component)}, as_json)
        return
    if empty:
        _empty(settings)
        show({"data": str(settings.data)}, as_json, "The demo was removed; the folder is empty.")
        return
    _check(settings)
    from webapp.cli import demo_story
    from webapp.cli.serving.logs import configure
    from webapp.service.domain.instance.opening import close_service, open_service

    configure("error", form=settings.log_format)  # the story has failures on purpose
    with _filled(settings) as filling:
        clock = FakeClock(now())
        service = open_service(filling, clock)
        try:
            login = demo_story.tell(service, clock)
        finally:
            close_service(service)
    facts = {"email": login.email, "password": login.password, "url": settings.public_url}
    show(facts, as_json, "The demo is ready. Start it with patchbay serve, and sign in:")


def _check(settings: Settings) -> None:
    """Raise :class:`Conflict` where no demo can be made."""
    if not settings.sandbox:
        raise Conflict("A demo needs the sandbox: leave PATCHBAY_PUBLIC_URL on this machine and PATCHBAY_SANDBOX on.")
    if settings.connect_url:
        raise Conflict("A demo fills the embedded service; unset PATCHBAY_CONNECT_URL.")
    if settings.data.exists() and (not settings.data.is_dir() or any(settings.data.iterdir())):
        raise Conflict(
            f"{settings.data} is not empty. A demo is only made in an empty folder; set PATCHBAY_DATA to one that is."
        )


@contextmanager
def _filled(settings: Settings) -> Iterator[Settings]:
    """The settings with which to fill the data folder: what they lead to is moved into it when the block ends well.

    Thousands of commits need not survive a power loss one by one, so they are made in memory where there is a file
    system in memory.
    """
    is_new, filling = not settings.data.exists(), settings.data / FILLING
    filling.mkdir(mode=0o700, parents=True)
    try:
        with Scratch("patchbay-demo-", MEMORY if os.access(MEMORY, os.W_OK) else filling) as scratch:
            yield replace(settings, data=scratch / "data")
            shutil.copytree(scratch / "data", filling / "data")
        entries = sorted((filling / "data").iterdir(), key=lambda entry: entry.name == settings.database.name)
        for entry in entries:  # the database with the mark last
            entry.rename(settings.data / entry.name)
    finally:
        shutil.rmtree(filling)
        if is_new and not any(settings.data.iterdir()):
            settings.data.rmdir()


def _link(settings: Settings, component: str) -> str:
    """The URL of a demo link. Raises :class:`Conflict` where there is no demo."""
    if not _is_demo(settings.database):
        raise Conflict(f"{settings.data} is no demo, so it has no demo links.")
    with opened() as service:
        links = mark.Links(service.store, service.clock, service.keys.derive(mark.KEY))
        return f"{settings.public_url}{links.create(component)}"


def _empty(settings: Settings) -> None:
    """Remove everything in the folder of a demo. Raises :class:`Conflict` if it is none, or is in use."""
    if not _is_demo(settings.database):
        raise Conflict(f"{settings.data} is no demo, so nothing was removed.")
    with lock_files.exclusive(settings.database):
        for entry in _without_database_first(settings):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink(missing_ok=True)


def _without_database_first(settings: Settings) -> list[Path]:
    """What is in the folder, the database last: a removal that is stopped can be repeated."""
    return sorted(settings.data.iterdir(), key=lambda entry: entry.name.startswith(settings.database.name))


def _is_demo(database: Path) -> bool:
    if not database.is_file():
        return False
    with closing(SQLiteStore(database)) as store:
        has_mark = store.one("SELECT 1 AS n FROM sqlite_master WHERE name = 'demo'")  # not in one of an earlier version
        return has_mark is not None and mark.is_demo(store)
