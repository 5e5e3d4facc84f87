"""``patchbay audit``: who did what."""

import click

from webapp import audit as deeds
from webapp.cli.options import JSON, opened, table
from webapp.kit.cursors import MAX_LIMIT, Window


@click.command()
@click.option("--project", "project_id", help="Only what was done in this project, or to the whole installation.")
@click.option("--noun", help="Only what was done to this kind of thing: account, trigger, client, key, ...")
@click.option("--subject", "subject_id", help="Only what was done to the thing with this id.")
@click.option("--last", type=click.IntRange(1), default=50, show_default=True, help="How many deeds, newest first.")
@JSON
def audit(project_id: str | None, noun: str | None, subject_id: str | None, last: int, as_json: bool) -> None:
    """Who did what to which account, trigger, client or key, newest first."""
    wanted, found, after = deeds.Filter(project_id, None, noun, subject_id), list[deeds.AuditEntry](), None
    with opened() as service:
        while len(found) < last:
            page = deeds.page(service.store, wanted, Window(after=after, limit=min(MAX_LIMIT, last - len(found))))
            found += page.items
            after = page.end_cursor
            if not after:
                break
    table([_row(one) for one in found], as_json, "audit", "Nothing has been done yet.")


def _row(entry: deeds.AuditEntry) -> dict[str, object]:
    told = entry.to_json()
    return {name: told[name] for name in ("at", "actor_type", "actor", "noun", "subject_id", "verb", "sentence")}
