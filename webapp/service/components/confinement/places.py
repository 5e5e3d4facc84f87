"""Assigns each running call a number of its own and a folder that no other call can enter."""

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from webapp.kit import scratch
from webapp.service.components.confinement.confinement import Confinement


@dataclass(frozen=True, slots=True)
class Place:
    """The ``number`` of a call, unique among running calls, and its ``folder``."""

    number: int
    folder: Path


class Places:
    """Creates places below ``folder`` and removes them."""

    def __init__(self, folder: Path, confinement: Confinement) -> None:
        self._folder, self.confinement = folder, confinement
        self._taken: set[int] = set()
        self._count = itertools.count(1)

    def take(self) -> Place:
        """Create a place for a call. Raises ``OSError``."""
        number = next(number for number in itertools.count() if number not in self._taken)
        folder = self._folder / str(next(self._count))
        folder.mkdir(mode=0o700)
        user = self.confinement.user(number)
        if user is not None:
            os.chown(folder, user, user)
        self._taken.add(number)
        return Place(number, folder)

    def leave(self, place: Place) -> None:
        """Remove the folder and free the number."""
        scratch.remove(place.folder)
        self._taken.discard(place.number)
