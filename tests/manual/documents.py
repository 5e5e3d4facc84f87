"""The documents as tests read them: their text, the code in it, and the commands that it shows."""

import re
from collections.abc import Iterator
from pathlib import Path

from webapp.manual.pages import NAMES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "templates" / "docs"
FILES = (
    ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", *(FOLDER / f"{name}.md" for name in NAMES),
)  # fmt: skip
NAMED = [file.name for file in FILES]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text_of(name: str) -> str:
    """The manual's page of that name."""
    return (FOLDER / f"{name}.md").read_text("utf-8")


def fences(text: str, language: str | None = None) -> list[str]:
    """The code blocks of a text, or those in one language."""
    return [code for marked, code in _FENCE.findall(text) if language in (None, marked)]


def spans(text: str) -> list[str]:
    """The code within lines."""
    return re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))


def commands(text: str) -> Iterator[list[str]]:
    """The words of every ``patchbay …`` that is shown, without the marks of what may be left out."""
    shown = [line.split(" #")[0] for code in fences(text, "console") for line in code.splitlines() if line[:2] == "$ "]
    for line in (*spans(text), *shown):
        match = re.fullmatch(r"(?:\$ )?(?:\.venv/bin/)?patchbay((?: .*)?)", line.strip())
        if match:
            yield re.sub(r"'[^']*'", "VALUE", match[1].replace("[", "").replace("]", "")).split()
