"""``patchbay import-accounts``: brings accounts over that another service connected."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

import click

from webapp.cli.options import JSON, opened, show
from webapp.errors import Invalid
from webapp.service.domain.accounts import account_imports, accounts, import_files
from webapp.service.domain.accounts.account_imports import FAILED, KINDS, RowResult
from webapp.service.domain.accounts.import_files import FORMATS, Format
from webapp.service.domain.instance import hosted_servers
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Environment, Scene

_EVERY = 500
_MOST_AT_ONCE = 32


@click.command("import-accounts")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--project", "project_id", help="The project (the oldest).")
@click.option(
    "--environment", default="production", show_default=True, type=click.Choice(projects.ENVIRONMENTS), metavar="E"
)
@click.option("--format", "kind", type=click.Choice(["csv", "jsonl"]), help="Where the file's name does not say it.")
@click.option("--dry-run", is_flag=True, help="Check the file only: no provider is asked, nothing is written.")
@click.option("--no-test", is_flag=True, help="Ask no provider; the accounts are tested within the hour.")
@click.option(
    "--at-once", default=4, show_default=True, type=click.IntRange(1, _MOST_AT_ONCE), help="Accounts at the same time."
)
@click.option("--report", type=click.Path(), help="Write what became of each row to this file, as JSON lines.")
@JSON
def import_accounts(
    file: str,
    project_id: str | None,
    environment: Environment,
    kind: Format | None,
    dry_run: bool,
    no_test: bool,
    at_once: int,
    report: str | None,
    as_json: bool,
) -> None:
    """Import accounts from FILE (- is standard input), each tested at its provider. It may be run again.

    An account that is there already stays as it is. Ends with 1 if a row was not imported.
    """
    form = kind or FORMATS.get(Path(file).suffix.lower())
    if form is None:
        raise click.UsageError("Say what the file is: --format csv, or --format jsonl.")
    began_at, counts, slugs = time.monotonic(), Counter[str](), set[str]()
    with _reading(file) as rows_file, opened() as service, _report(report) as report_file:
        chosen = project_id or projects.default_id(service, service.store)
        if chosen is None:
            raise Invalid("There is no project yet; `patchbay init` makes one.")
        scene = Scene(projects.get(service.store, chosen).id, environment)
        results = account_imports.import_rows(
            service, scene, import_files.rows(rows_file, form), test=not no_test, dry_run=dry_run, at_once=at_once
        )
        for result in results:
            if not no_test and result.kind == "imported" and result.row.app not in slugs:
                slugs.add(result.row.app)
                hosted_servers.read_tools(service, accounts.get(service.store, scene, result.account_id or ""))
            counts[result.kind] += 1
            if report_file:
                report_file.write(json.dumps(result.to_json()) + "\n")
            if result.kind in FAILED and not as_json:
                click.echo(_line(result))
            if counts.total() % _EVERY == 0:
                click.echo(f"{counts.total():,} rows …", err=True)
    facts: dict[str, object] = {
        **{name: counts[name] for name in KINDS},
        "seconds": round(time.monotonic() - began_at, 1),
    }
    if as_json:
        show(facts, as_json)
    else:
        click.echo(_sentence(counts))
    if any(counts[name] for name in FAILED):
        click.get_current_context().exit(1)


def _line(result: RowResult) -> str:
    row = result.row
    who = " ".join(part for part in (row.app, row.external_user, row.id) if part)
    return f"Line {row.line}, {who or 'no account'}: {KINDS[result.kind]}. {result.reason or ''}".rstrip()


def _sentence(counts: Counter[str]) -> str:
    if not counts:
        return "The file has no rows."
    parts = ", ".join(f"{counts[name]:,} {words}" for name, words in KINDS.items() if counts[name])
    return f"{counts.total():,} rows: {parts}."


@contextmanager
def _reading(file: str) -> Iterator[IO[str]]:
    """The text of ``file``. Bytes that are no UTF-8 stay visible as such, so that only their row is refused."""
    try:
        with click.open_file(file, encoding="utf-8-sig", errors="surrogateescape") as opened_file:
            yield opened_file
    except OSError as error:
        if error.filename != file:
            raise
        raise click.UsageError(f"{file} cannot be read ({(error.strerror or 'no reason given').lower()}).") from error


@contextmanager
def _report(path: str | None) -> Iterator[TextIO | None]:
    """The file of the report, which only its owner may read: it names people."""
    if path is None:
        yield None
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise click.UsageError(
            f"{path} cannot be written ({(error.strerror or 'no reason given').lower()})."
        ) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened_file:
        yield opened_file
