"""``patchbay backup`` and ``patchbay restore``: back up and restore the database and the operator's own apps."""

from pathlib import Path

import click

from webapp.cli.options import JSON, settings_from_env, show
from webapp.kit.clock import now
from webapp.service.domain.instance import backups

FILE = click.argument("file", type=click.Path(path_type=Path))


KEEP = click.option(
    "--keep",
    type=click.IntRange(1),
    help="FILE is a folder: name the backup by its time, and keep so many of such names there.",
)


@click.command()
@FILE
@KEEP
@JSON
def backup(file: Path, keep: int | None, as_json: bool) -> None:
    """Write the database and your own apps to FILE, a ZIP; Patchbay may run meanwhile. The key is not part of it."""
    settings = settings_from_env()
    if keep is None:
        manifest = backups.write(settings, file, now)
    else:
        file, manifest = backups.write_dated(settings, file, keep, now)
    key = "PATCHBAY_SECRET_KEY" if settings.secret_key else str(settings.data / "keys")
    sentence = f"The backup is written. Keep {key} too, in another place: the one is worth nothing without the other."
    show({"file": str(file), "made_at": manifest["made_at"], "bytes": file.stat().st_size}, as_json, sentence)


@click.command()
@FILE
@JSON
def restore(file: Path, as_json: bool) -> None:
    """Put the backup FILE in the place of the database and your own apps. Patchbay must be stopped."""
    settings = settings_from_env()
    manifest = backups.restore(settings, file, now)
    replaced = settings.data / backups.REPLACED
    result = {"made_at": manifest["made_at"], "replaced": str(replaced) if replaced.exists() else None}
    show(result, as_json, "The backup was restored; start Patchbay again. What it replaced is kept until the next one.")
