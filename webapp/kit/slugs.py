"""Names of apps in addresses and files, and the words that they were made of."""


def words(slug: str) -> str:
    """What ``slug`` may stand for where nothing else is known of it: ``google_sheets`` is "Google Sheets"."""
    return slug.replace("-", " ").replace("_", " ").title()
