"""The translations in the packages of added integrations, such as the names of their actions.

They are in ``<folder>/*/languages/*.<language>.json``, each a JSON object of texts by their English, and are read when
a language is first used. Files that cannot be read are ignored.
"""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

_PAUSE = re.compile(r"(?<=[.!?…:]) |\n+")


class PackageTranslations:
    """The translations in one folder. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._known: dict[str, dict[str, str]] = {}

    def in_language(self, language: str, text: str) -> str | None:
        """The translation of ``text`` into ``language`` (BCP 47), or None."""
        return self._words(language).get(text)

    def translate(self, ours: Callable[[str], str], language: str, text: str) -> str:
        """``text`` in ``language``, translated by ``ours``, or else by these translations.

        If these translations have the beginning of ``text``, up to the end of a sentence or line, the beginning and the
        rest are translated separately, since sentences of ours are appended to the texts of packages.
        """
        words = self._words(language)
        for pause in reversed(list(_PAUSE.finditer(text))) if words else ():
            beginning = words.get(text[: pause.start()])
            if beginning is not None:
                rest = self.translate(ours, language, text[pause.end() :])
                return f"{beginning}{pause[0]}{rest}".replace("。 ", "。")
        known = ours(text)
        return words.get(text, known) if known == text else known

    def forget(self) -> None:
        """Discard the translations, so that they are read again after integrations were added or removed."""
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
                content = json.loads(file.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
            pairs = content.items() if isinstance(content, dict) else ()
            words |= {english: other for english, other in pairs if isinstance(other, str)}
        return words
