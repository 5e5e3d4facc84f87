"""What the delivery side needs to know of a deployed trigger."""

from typing import Protocol

from webapp.service.domain.projects.projects import Scene


class TriggerLike(Protocol):
    """A deployed trigger."""

    @property
    def id(self) -> str:
        """Its id (``dc_…``, ``hi_…``, ``ti_…``, ``ei_…``)."""
        ...

    @property
    def scene(self) -> Scene:
        """Where it is deployed."""
        ...
