"""Actions that were not run because their tool at an MCP server is another one now, or gone, and those of servers that
providers host, which go on (table ``held_tools``).

The tool is compared at each call (:mod:`webapp.service.components.declared.tools`); what is kept here only lets an
owner see that something waits, and agents ask their people first. Adding the server again, which shows what has
changed, forgets it.
"""

from dataclasses import dataclass

from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import Reply
from webapp.service.components.errors import HeldBackError
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class HeldTool:
    """An action that waits since ``at``, in epoch milliseconds."""

    component_key: str
    app: str
    at: int


_HELD = Table("held_tools", HeldTool, key="component_key")


def note(service: Service, component: ComponentInfo, reply: Reply) -> None:
    """Remember that ``component`` waits, or goes on with a tool that has changed, if its ``reply`` says so."""
    waits = reply.error is not None and reply.error.name == HeldBackError.__name__
    if not (waits or reply.tool_changed):
        return
    if component.app is None or _HELD.get(service.store, component.key):
        return
    with service.store.write() as tx:
        _HELD.upsert(tx, HeldTool(component.key, component.app, service.clock()), keep=("at",))


def is_noted(reader: Reader, key: str) -> bool:
    """Whether the action with that key waits, or goes on with a tool that has changed."""
    return _HELD.get(reader, key) is not None


def waiting(reader: Reader, app: str) -> list[HeldTool]:
    """The actions of ``app`` that wait, the longest first."""
    return _HELD.all(reader, "app = :app ORDER BY at, component_key LIMIT :most", {"app": app, "most": MOST_SHOWN})


def forget(tx: Tx, app: str) -> None:
    """Let nothing of ``app`` wait any more."""
    tx.run("DELETE FROM held_tools WHERE app = :app", {"app": app})
