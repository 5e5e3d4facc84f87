"""Where calls live while they run: a number of its own for each, and a folder that nobody else enters."""

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from webapp.kit import scratch
from webapp.service.components.confinement.confinement import Confinement


@dataclass(frozen=True, slots=True)
class Place:
    """One call's ``number``, which no other has meanwhile, and its ``folder``."""

    number: int
    folder: Path


class Places:
    """Makes places below ``folder`` and takes them away again."""

    def __init__(self, folder: Path, confinement: Confinement) -> None:
        self._folder, self.confinement = folder, confinement
        self._taken: set[int] = set()
        self._count = itertools.count(1)

    def take(self) -> Place:
        """A place for the next call. Raises ``OSError``."""
        number = next(number for number in itertools.count() if number not in self._taken)
        folder = self._folder / str(next(self._count))
        folder.mkdir(mode=0o700)
        user = self.confinement.user(number)
        if user is not None:
            os.chown(folder, user, user)
        self._taken.add(number)
        return Place(number, folder)

    def leave(self, place: Place) -> None:
        """Remove what stands there, and give the number back."""
        scratch.remove(place.folder)
        self._taken.discard(place.number)
