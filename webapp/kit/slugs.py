"""Slugs: the names of apps in URLs and files."""


def words(slug: str) -> str:
    """A readable name for ``slug`` if its app is unknown: ``google_sheets`` gives "Google Sheets"."""
    return slug.replace("-", " ").replace("_", " ").title()
