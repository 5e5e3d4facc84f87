"""What importing a document comes to: the app, its actions, and everything that cannot be said, with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.service.catalog.importing.actions import Action
from webapp.service.catalog.importing.operations import Operation
from webapp.service.catalog.importing.schemes import SignIn
from webapp.service.catalog.importing.standing import Options


@dataclass(frozen=True, slots=True)
class Left:
    """An operation that becomes no action, and why."""

    operation: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written. ``app`` is ``app.toml``; ``left`` are the operations that become no action.

    ``options`` are the choices as they were taken. ``operations`` are all that the document has; ``sign_ins`` and
    ``servers`` all that could be chosen, and ``tests`` the operations that could test an account.
    """

    slug: str
    title: str
    version: str
    app: Mapping[str, Any]
    actions: Sequence[Action]
    left: Sequence[Left]
    notes: Sequence[str]
    options: Options
    operations: Sequence[Operation]
    sign_ins: Sequence[SignIn]
    servers: Sequence[tuple[str, str]]
    tests: Sequence[Operation]
