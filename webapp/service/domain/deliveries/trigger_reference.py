"""What deliveries know of a deployed trigger. The room of triggers stands above, so its own class is not known here."""

from typing import Protocol

from webapp.service.domain.projects.projects import Scene


class TriggerReference(Protocol):
    """A deployed trigger: its id (``dc_…``, ``hi_…``, ``ti_…``, ``ei_…``) and where it is deployed."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def scene(self) -> Scene:
        """Where it is deployed."""
        ...
