"""Words that came with what an operator added, such as the names of an integration's actions in its own languages.

They stand in ``<folder>/*/languages/*.<language>.json``, each an object of texts by their English, and are read when
somebody first speaks the language. A file that cannot be read has none.
"""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

_PAUSE = re.compile(r"(?<=[.!?…:]) |\n+")


class BroughtWords:
    """Those in one folder. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._known: dict[str, dict[str, str]] = {}

    def in_language(self, language: str, text: str) -> str | None:
        """``text`` in ``language`` (BCP 47); None where it is not known."""
        return self._words(language).get(text)

    def completing(self, ours: Callable[[str], str], language: str, text: str) -> str:
        """``text`` in ``language``: as ``ours`` has it, or else as it is known here.

        A beginning that is known here, up to the end of a sentence or line, stays whole: behind what a package says, we
        say more.
        """
        words = self._words(language)
        for pause in reversed(list(_PAUSE.finditer(text))) if words else ():
            beginning = words.get(text[: pause.start()])
            if beginning is not None:
                rest = self.completing(ours, language, text[pause.end() :])
                return f"{beginning}{pause[0]}{rest}".replace("。 ", "。")
        known = ours(text)
        return words.get(text, known) if known == text else known

    def forget(self) -> None:
        """Read them again: something was added or removed."""
        with self._lock:
            self._known.clear()

    def _words(self, language: str) -> dict[str, str]:
        with self._lock:
            words = self._known.get(language)
            if words is None:
                words = self._known[language] = self._read(language)
        return words

    def _read(self, language: str) -> dict[str, str]:
        words: dict[str, str] = {}
        for file in sorted(self._folder.glob(f"*/languages/*.{language}.json")):
            try:
                told = json.loads(file.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
            pairs = told.items() if isinstance(told, dict) else ()
            words |= {english: other for english, other in pairs if isinstance(other, str)}
        return words
