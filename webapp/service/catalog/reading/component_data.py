"""Components whose file says itself what it declares, so that no code is loaded: those of data, and parts of pieces."""

from pathlib import Path
from typing import Any

from webapp.service.catalog.component_files import Component
from webapp.service.components.declared import declaring, source
from webapp.service.components.pieces import form as pieces

_KINDS = {"action": "action", "source": "trigger"}
FORMS = (*sorted(Path(declaring.__file__).parent.glob("*.py")), Path(pieces.__file__))
"""The modules that say what such a file may hold."""


def is_data(component: Component) -> bool:
    """Whether its file says what it declares."""
    return source.is_declared(component.path) or pieces.is_piece(component.path)


def examine(component: Component) -> tuple[dict[str, Any] | None, list[str]]:
    """What it declares, as the catalog keeps it, and every problem as ``line 3: sentence``."""
    if source.is_declared(component.path):
        return declaring.examine(component.file)
    facts, problems = pieces.examine(component.file)
    if facts and component.kind not in (None, _KINDS[facts["kind"]]):
        problems = ["It stands in the folder of another kind."]
    return facts, problems


def files(component: Component) -> tuple[Path, ...]:
    """The files that have a part in it."""
    return source.shared_files(component.file) if source.is_declared(component.path) else (component.file,)
