"""``patchbay move``: copies the database to another one, of either kind."""

import time

import click

from webapp.cli.options import JSON, settings_from_env, show
from webapp.kit.clock import now
from webapp.service.domain.instance import database_move
from webapp.settings import Settings
from webapp.store.move import total


@click.command()
@click.option("--to", "destination", help="An empty PostgreSQL database (postgresql://…), or a folder.")
@click.option("--back", is_flag=True, help="From PostgreSQL to the embedded database in PATCHBAY_DATA.")
@JSON
def move(destination: str | None, back: bool, as_json: bool) -> None:
    """Copy the whole database, that of the settings, into another one, and compare the two. Patchbay must be stopped.

    If it is interrupted, run it again to continue.
    """
    if (destination is None) != back:
        raise click.UsageError("Say where to move to: --to postgresql://…, --to FOLDER, or --back.")
    settings = settings_from_env()
    target = database_move.target_of(settings, destination or str(settings.data))
    began_at = time.monotonic()
    sums = database_move.carry_over(settings, target, now, lambda line: click.echo(line, err=True))
    rows, sha256 = total(sums)
    result = {
        "from": database_move.place(settings),
        "to": database_move.place(target),
        "tables": len(sums),
        "rows": rows,
        "sha256": sha256,
        "seconds": round(time.monotonic() - began_at, 1),
    }
    show(result, as_json, f"Everything was copied, and is the same in both. {_next(settings, target)}")


def _next(settings: Settings, target: Settings) -> str:
    """The steps that are left to the operator."""
    if target.database_url is not None:
        change = "Set PATCHBAY_DATABASE_URL to the new database and start Patchbay."
    elif target.data == settings.data:
        change = "Unset PATCHBAY_DATABASE_URL and start Patchbay."
    else:
        change = f"Set PATCHBAY_DATA to {target.data}, without PATCHBAY_DATABASE_URL, and start Patchbay."
    return (
        f"{change} {_key(settings, target)} The old database stays as it is: start nothing on it, and remove it later."
    )


def _key(settings: Settings, target: Settings) -> str:
    if settings.secret_key is not None:
        return "PATCHBAY_SECRET_KEY stays what it is."
    if target.data == settings.data:
        return f"The key stays in {settings.data / 'keys'}."
    return f"Copy {settings.data / 'keys'} there yourself, and your own apps and components."
