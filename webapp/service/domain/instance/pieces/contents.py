"""What one version of an integration adds, as owners see it before and after: kept as JSON beside the version."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from webapp.service.domain.instance.pieces.rows import PieceVersion


@dataclass(frozen=True, slots=True)
class Part:
    """An action or trigger: its name for people, its key in the catalog, and the labels of its props by their names."""

    name: str
    key: str
    props: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that cannot be said or run here, and why, in a sentence."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Contents:
    """``app`` is the slug of the app to which its parts belong, and ``apps`` those that it makes; ``auth`` says how
    people connect. ``hosts`` is what it proposes to reach."""

    app: str = ""
    apps: tuple[str, ...] = ()
    auth: str = ""
    hosts: tuple[str, ...] = ()
    actions: tuple[Part, ...] = ()
    triggers: tuple[Part, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Changes:
    """What another version changes: parts that it adds, that are gone, and of which some props are gone or new."""

    added: tuple[Part, ...] = ()
    gone: tuple[Part, ...] = ()
    changed: tuple[tuple[Part, str], ...] = ()

    @property
    def breaks(self) -> bool:
        """Whether somebody who uses the version before may notice."""
        return bool(self.gone or self.changed)

    @property
    def sentence(self) -> str:
        """In a few words, such as "changes 2 actions"."""
        count = len(self.gone) + len(self.changed)
        return f"changes {count} part{'' if count == 1 else 's'}" if count else "nothing breaks"


def of(version: PieceVersion | None) -> Contents:
    """What that version adds; nothing before it was tried, or where what is kept of it cannot be read."""
    try:
        return _read(version.contents) if version else Contents()
    except (TypeError, ValueError, AttributeError):
        return Contents()


def _read(kept: Mapping[str, Any]) -> Contents:
    parts = {name: tuple(Part(**each) for each in kept.get(name, ())) for name in ("actions", "triggers")}
    return Contents(
        app=kept.get("app", ""),
        apps=tuple(kept.get("apps", ())),
        auth=kept.get("auth", ""),
        hosts=tuple(kept.get("hosts", ())),
        left_out=tuple(LeftOut(**each) for each in kept.get("left_out", ())),
        **parts,
    )


def changes(before: Contents, after: Contents) -> Changes:
    """What ``after`` changes of ``before``."""
    old, new = _by_key(before), _by_key(after)
    both = [(old[key], new[key]) for key in old if key in new]
    return Changes(
        tuple(part for key, part in new.items() if key not in old),
        tuple(part for key, part in old.items() if key not in new),
        tuple((part, told) for earlier, part in both if (told := _told(earlier, part))),
    )


def _by_key(contents: Contents) -> dict[str, Part]:
    return {part.key: part for part in (*contents.actions, *contents.triggers)}


def _told(before: Part, after: Part) -> str:
    """What of the props of a part changed that somebody may notice; "" for nothing."""
    gone = [label for name, label in before.props.items() if name not in after.props]
    return f"No longer asks for {_listed(gone)}." if gone else ""


def _listed(labels: Sequence[str]) -> str:
    return f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
