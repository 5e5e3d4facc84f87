"""``patchbay audit``: prints the newest entries of the audit log."""

import click

from webapp import audit as audit_log
from webapp.cli.options import JSON, opened, table
from webapp.kit.cursors import MAX_LIMIT, Window


@click.command()
@click.option("--project", "project_id", help="Only what was done in this project, or to the whole installation.")
@click.option("--noun", help="Only what was done to this kind of thing: account, trigger, client, key, ...")
@click.option("--subject", "subject_id", help="Only what was done to the thing with this id.")
@click.option("--last", type=click.IntRange(1), default=50, show_default=True, help="How many entries, newest first.")
@JSON
def audit(project_id: str | None, noun: str | None, subject_id: str | None, last: int, as_json: bool) -> None:
    """Who did what to which account, trigger, client or key, newest first."""
    criteria, entries, after = audit_log.Filter(project_id, None, noun, subject_id), list[audit_log.AuditEntry](), None
    with opened() as service:
        while len(entries) < last:
            page = audit_log.page(
                service.store, criteria, Window(after=after, limit=min(MAX_LIMIT, last - len(entries)))
            )
            entries += page.items
            after = page.end_cursor
            if not after:
                break
    table([_row(entry) for entry in entries], as_json, "audit", "Nothing has been done yet.")


def _row(entry: audit_log.AuditEntry) -> dict[str, object]:
    fields = entry.to_json()
    return {name: fields[name] for name in ("at", "actor_type", "actor", "noun", "subject_id", "verb", "sentence")}
