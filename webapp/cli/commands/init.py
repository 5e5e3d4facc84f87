"""``patchbay init``, ``migrate`` and ``compact``: prepare the database; all of them may be run repeatedly."""

from contextlib import closing

import click

from webapp.cli.commands.projects import changed
from webapp.cli.options import JSON, opened, settings_from_env, show
from webapp.kit.clock import now
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.instance import instance_key
from webapp.service.domain.projects import projects
from webapp.store import lock_files
from webapp.store.move import refuse_unfinished
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import open_store, refuse_server


@click.command()
@click.option("--app-name", default="", help="What your product is called; end users read it.")
@click.option("--support-email", default="", help="Where end users ask for help.")
@JSON
def init(app_name: str, support_email: str, as_json: bool) -> None:
    """Make a project and a client for scripts where there is none, and print what a script needs.

    The secret is derived from the instance key, so a second run prints the same one.
    """
    with opened() as service:
        project = projects.get(service.store, projects.default(service))
        project = changed(service, project, app_name=app_name, support_email=support_email)
        client, secret = oauth_clients.scripted(service)
        result = {
            "project_id": project.id,
            "client_id": client.id,
            "client_secret": secret,
            "base_url": service.settings.public_url,
        }
    show(result, as_json, "Ready. A server of yours signs in with these:")


@click.command()
@JSON
def migrate(as_json: bool) -> None:
    """Bring the database's schema up to date."""
    settings = settings_from_env()
    store = open_store(settings)
    try:
        applied = store.migrate()
        refuse_unfinished(store)
        instance_key.proven(settings, store, now)
    finally:
        store.close()
    show({"applied": applied}, as_json, "The schema is up to date.")


@click.command()
@JSON
def compact(as_json: bool) -> None:
    """Rewrite the database without its free pages. Nothing else may use it meanwhile."""
    settings = settings_from_env()
    refuse_server(settings, "PostgreSQL reuses space automatically; there is nothing to compact.")
    with lock_files.exclusive(settings.database), closing(SQLiteStore(settings.database, exclusive=True)) as store:
        before = store.sizes().database
        store.compact()
        after = store.sizes().database
    show({"before": before, "after": after}, as_json, "The database was compacted. Its size in bytes:")
