"""The schema, as a list of migrations that only grows. The SQL of each stands in ``schema/``, in a file of its name.

Each table there names the one module that reads and writes it. The SQL is portable: text ids, no autoincrement, times
as integer epoch milliseconds, booleans as 0 or 1, JSON as text. Sealed columns (``…_sealed``) hold AES-256-GCM boxes
of :mod:`webapp.service.domain.base.keyring`.
"""

from importlib.resources import files

from sqlite_utils import Database, Migrations

migrations = Migrations("patchbay")
_SCHEMA = files("webapp.store") / "schema"


@migrations()
def m001_foundation(db: Database) -> None:
    """Projects, keys, clients, external users, tokens, accounts, connects, people."""
    _execute(db, "m001_foundation")


@migrations()
def m002_preferences(db: Database) -> None:
    """What a person chose for the pages."""
    _execute(db, "m002_preferences")


@migrations()
def m004_runs(db: Database) -> None:
    """Dynamic props and the history of runs."""
    _execute(db, "m004_runs")


@migrations()
def m005_component_drafts(db: Database) -> None:
    """What people had filled in for a component."""
    _execute(db, "m005_component_drafts")


@migrations()
def m006_triggers(db: Database) -> None:
    """Deployed triggers: what each is, remembers, has seen, was sent and did."""
    _execute(db, "m006_triggers")


@migrations()
def m007_events(db: Database) -> None:
    """Events, endpoints and the deliveries between them."""
    _execute(db, "m007_events")


@migrations()
def m008_workspace(db: Database) -> None:
    """What projects and people own besides: logos, preset fields, API keys, files, custom rate limits."""
    _execute(db, "m008_workspace")


@migrations()
def m009_ended_tokens(db: Database) -> None:
    """Tokens whose time is over, whatever the clock says later."""
    _execute(db, "m009_ended_tokens")


@migrations()
def m010_trigger_plans(db: Database) -> None:
    """What is being done to a trigger at its provider."""
    _execute(db, "m010_trigger_plans")


@migrations()
def m011_generations(db: Database) -> None:
    """Which process holds a lease, and whether it lives."""
    _execute(db, "m011_generations")


@migrations()
def m012_lists(db: Database) -> None:
    """Indexes by which each list and count finds its rows."""
    _execute(db, "m012_lists")


def _execute(db: Database, name: str) -> None:
    """Run the statements of a file one by one, within the migration's transaction."""
    for statement in (_SCHEMA / f"{name}.sql").read_text("utf-8").split(";\n"):
        if statement.strip():
            db.execute(statement)
