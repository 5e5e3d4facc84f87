"""The tables of ``catalog.db``. A change here changes :data:`VERSION`, so that the catalog is built anew."""

from sqlite_utils import Database

VERSION = 2
SEARCHED = ["name", "slug", "description", "categories"]


def create(database: Database) -> None:
    """Make every table in an empty database."""
    text, number = str, int
    database.table("apps").create(
        {
            "id": number,
            "slug": text,
            "name": text,
            "description": text,
            "auth_type": text,
            "categories": text,
            "category_names": text,
            "featured_weight": number,
            "custom_fields": text,
            "scope_profiles": text,
            "logo": text,
            "logo_hash": text,
            "actions": number,
            "triggers": number,
            "variables": text,
            "own": number,
            "spec": text,
        },
        pk="id",
    ).create_index(["slug"], unique=True)
    database.table("categories").create({"slug": text, "name": text, "description": text}, pk="slug")
    facts = (
        "kind", "app", "name", "description", "configurable_props", "annotations", "dedupe", "hooks", "stash", "root",
        "path",
    )  # fmt: skip
    database.table("components").create(
        {"key": text, "version": text, **dict.fromkeys(facts, text), "has_reload": number}, pk=("key", "version")
    )
    database.table("words").create({"id": number, **dict.fromkeys(SEARCHED, text)}, pk="id")
    database.table("build").create({"report": text})
