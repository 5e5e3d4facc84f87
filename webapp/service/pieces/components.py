"""One part of a piece as the file of a component, or the reason why it cannot be one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import ComponentFile
from webapp.service.pieces import hints, triggers
from webapp.service.pieces.connecting.apps import Apps, Package
from webapp.service.pieces.metadata import Kind, Part
from webapp.service.pieces.props import Props, account_prop, props
from webapp.service.pieces.triggers import Emitter

_WANTED = {
    "agent": "It hands its work to an agent of its own host, which there is none of here.",
    "flows": "It looks at the flows of its own host, and there are none here.",
    "tags": "It puts tags on a flow's run, and there are no flows here.",
    "waitpoints": "It waits in the middle for an answer, which a call here cannot do.",
}
_NOTED = {"pause": "Here it cannot wait longer than a call may take."}
"""What is wanted by some calls alone, for short times are waited out by the piece itself."""


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a piece, ready to be written: its ``name`` in its key, its ``title`` for people."""

    name: str
    title: str
    kind: str
    file: ComponentFile

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of what it asks for, by the names of its props."""
        listed = [prop.model_dump() for prop in self.file.declaration.configurable_props]
        return {prop["name"]: prop["label"] for prop in listed if prop.get("label") and prop["type"] != "alert"}

    def with_hosts(self, hosts: Sequence[str]) -> "Component":
        """The same, which may reach ``hosts``."""
        piece = self.file.piece.model_copy(update={"hosts": tuple(hosts)})
        return Component(self.name, self.title, self.kind, self.file.model_copy(update={"piece": piece}))

    def to_json(self) -> bytes:
        """The content of its file."""
        return self.file.model_dump_json(exclude_defaults=True).encode()


def component(part: Part, kind: Kind, name: str, piece_apps: Apps, package: Package) -> Component | str:
    """The component ``name`` of the apps ``piece_apps``, or why it cannot be one."""
    missing = next((_WANTED[each] for each in part.wants if each in _WANTED), None)
    if missing is not None:
        return missing
    account = account_prop(piece_apps.slug, part) if piece_apps.auth and part.needs_account else None
    own = props(part, account)
    if own.reason:
        return own.reason
    title = texts.line(part.title, 100) or texts.label(part.name)
    about = texts.sentence(part.description) or texts.sentence(title)
    declared: dict[str, Any] = {
        "kind": "action" if kind == "action" else "source",
        "name": title,
        "description": " ".join([about, *(_NOTED[each] for each in part.wants if each in _NOTED), *_unasked(own)]),
        "app": piece_apps.slug if account else None,
        "has_reload": own.reloads,
        "dedupe": None,
        "hooks": (),
        "stash": None,
    }
    piece: dict[str, Any] = {
        "package": package.name,
        "version": package.version,
        "folder": package.folder,
        "kind": kind,
        "name": part.name,
        "account": account["name"] if account else "",
        "auth": piece_apps.auth if account else {},
        "props": own.forms,
    }
    if kind == "trigger":
        names = [prop["name"] for prop in own.listed]
        emitter = triggers.emitter(part, piece["account"], names, hears=bool(piece_apps.hearing))
        return emitter.reason or _trigger(emitter, own, name, declared, piece)
    annotations = hints.annotations(part)
    declared |= {"annotations": annotations, "configurable_props": own.listed}
    declared |= {"stash": "optional"} if hints.writes_files(part) else {}
    piece["read_only"] = annotations["readOnlyHint"]
    return Component(name, title, kind, ComponentFile.model_validate({"piece": piece, "declaration": declared}))


def _unasked(own: Props) -> list[str]:
    """What of it nobody can fill in here, by name."""
    return [f"{', '.join(own.dropped)} cannot be filled in here."] if own.dropped else []


def _trigger(
    emitter: Emitter, own: Props, name: str, declared: Mapping[str, Any], piece: Mapping[str, Any]
) -> Component:
    told: dict[str, Any] = {
        "configurable_props": (*own.listed, *emitter.props),
        "annotations": {},
        "dedupe": emitter.dedupe,
        "hooks": emitter.hooks,
    }
    of_piece = {"strategy": emitter.strategy, "handshake": emitter.handshake, "renew": emitter.renew}
    file = ComponentFile.model_validate({"piece": {**piece, **of_piece}, "declaration": {**declared, **told}})
    return Component(name, declared["name"], "trigger", file)
