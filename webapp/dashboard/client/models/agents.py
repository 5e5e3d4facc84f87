"""What agents may do, which came in and what waits, as the Connect API tells them (contract "Agents")."""

from typing import Any, Literal

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient, NonEmpty

Level = Literal["off", "ask", "on"]


class Counts(Lenient):
    """How many actions of an app have each level."""

    off: int = 0
    ask: int = 0
    on: int = 0


NO_APP = "-"
"""What pages call it in addresses; no slug is so."""


class AgentApp(Lenient):
    """An app that agents may work with; ``level`` is what was chosen for all of it.

    The actions without an app are one whose slug is "".
    """

    slug: str = Field(alias="app")
    name: str = Field(default_factory=lambda data: data["slug"])
    level: Level | None = None
    counts: Counts = Field(default_factory=Counts)

    @property
    def anchor(self) -> str:
        """What it is called in addresses of pages."""
        return self.slug or NO_APP


class AgentAction(Lenient):
    """An action of an app."""

    key: NonEmpty
    name: NonEmpty = Field(default_factory=lambda data: data["key"])
    level: Level = "off"
    reads: bool = False
    destroys: bool = False


class Agent(Lenient):
    """An agent that came in."""

    id: NonEmpty
    name: str = ""
    kind: str = ""
    used_at: str | None = None
    ended_at: str | None = None


class Approval(Lenient):
    """A call that waits for a yes, or waited."""

    id: NonEmpty
    agent: str = ""
    app: str = ""
    component_key: str = ""
    state: str = ""
    created_at: str | None = None
    expires_at: str | None = None
    decided_at: str | None = None
    values: dict[str, Any] = Field(default={}, alias="configured_props")
    hidden: tuple[str, ...] = Field(default=(), alias="masked_props")
