"""What stands in the catalog, and in none of its lists: integrations that their owner hides from people.

Whoever uses them goes on: by its own name, each app and component is found. ``unlisted.txt``, beside the apps of
integrations, holds the slugs of apps and the keys of components, one in each line.
"""

from collections.abc import Iterable
from pathlib import Path

FILE = "unlisted.txt"


def read(folder: Path | None) -> list[str]:
    """The names that stand in no list; ``folder`` is that of the apps of integrations."""
    try:
        return (folder / FILE).read_text("utf-8").split() if folder else []
    except (OSError, UnicodeDecodeError):
        return []


def write(folder: Path, names: Iterable[str]) -> bool:
    """Write down which names stand in no list; whether that changed something."""
    wanted = sorted(set(names))
    if read(folder) == wanted:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{FILE}.new"
    draft.write_text("".join(f"{name}\n" for name in wanted), encoding="utf-8")
    draft.replace(folder / FILE)
    return True
