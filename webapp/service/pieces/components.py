"""Turns one action or trigger of a piece into the file of a component, or says why it cannot be one.

Props keep the piece's names on the wire. An action declares what running it does, from the piece's declaration or else
from its name; a trigger declares its source: a timer, an address of its own, or its app's events.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from webapp.service.components.checker import ANNOTATIONS
from webapp.service.components.pieces import texts
from webapp.service.components.pieces.form import ComponentFile, PropForm, Strategy
from webapp.service.components.pieces.props import mapped
from webapp.service.pieces.apps import Apps, Package
from webapp.service.pieces.metadata import Kind, Part

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS = frozenset(
    {"check", "count", "describe", "download", "export", "fetch", "find", "get", "list", "lookup", "query", "read",
     "retrieve", "search", "show", "view"}
)  # fmt: skip
_TAKES_AWAY = frozenset({"cancel", "clear", "delete", "destroy", "purge", "remove", "revoke", "trash", "wipe"})
_OVERWRITES = frozenset({"edit", "modify", "overwrite", "patch", "replace", "update", "upsert"})
_ANY_REQUEST = "custom_api_call"
_FILES = re.compile(r"\b(files?|download|export|attachments?|images?|pdf|audio|video|document)\b", re.IGNORECASE)
EVERY_S = 15 * 60
_ON_AND_OFF = ("activate", "deactivate")
_UNKNOWN = "It is set off in a way that is not known here."
_BY_HAND = "It is started by hand in a flow, and there are no flows here."
_WITHOUT_ACCOUNT = "Its events come to the address of an OAuth client, and it works without an account."
_UNHEARD = "Its events come to the address of an OAuth client, and nobody connects it by signing in with one."
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_ACCOUNT = "auth"  # stands for the account among the refreshers
_WANTED = {
    "agent": "It hands its work to an agent of its own host, which there is none of here.",
    "flows": "It looks at the flows of its own host, and there are none here.",
    "tags": "It puts tags on a flow's run, and there are no flows here.",
    "waitpoints": "It waits in the middle for an answer, which a call here cannot do.",
}
# Only some calls of such a component pause, and the piece itself waits for short times.
_NOTED = {"pause": "Here it cannot wait longer than a call may take."}


def annotations_of(part: Part) -> dict[str, bool]:
    """The hints of an action. All actions have ``openWorldHint``."""
    read_only = _reads(part)
    takes_away = bool(_words(part.name) & (_TAKES_AWAY | _OVERWRITES))
    destructive = part.kind_of_use == "DESTRUCTIVE" or part.name == _ANY_REQUEST or takes_away
    ai: Mapping[str, object] = part.ai
    idempotent = ai["idempotent"] is True if "idempotent" in ai else read_only
    return dict(zip(ANNOTATIONS, (read_only, destructive and not read_only, idempotent, True), strict=True))


def writes_files(part: Part) -> bool:
    """Whether its results may be wanted as files."""
    asks = any(isinstance(each, Mapping) and each.get("type") == "FILE" for each in part.props.values())
    return asks or bool(_FILES.search(f"{part.title} {part.description}"))


def _reads(part: Part) -> bool:
    if part.kind_of_use:
        return part.kind_of_use in ("READ", "SEARCH")
    first = {word.lower() for word in _WORD.findall(part.title)[:1] + _WORD.findall(part.name)[:2]}
    takes_away = _words(part.name) & (_TAKES_AWAY | _OVERWRITES)
    return part.name != _ANY_REQUEST and bool(first & _READS) and not takes_away


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


@dataclass(frozen=True, slots=True)
class Emitter:
    """The source of a trigger: its infrastructure props, the methods besides ``run``, and which events count.

    ``reason`` says why it has none, or is empty.
    """

    strategy: Strategy = "POLLING"
    props: tuple[dict[str, Any], ...] = ()
    hooks: tuple[str, ...] = ()
    dedupe: Literal["unique"] | None = None
    handshake: dict[str, Any] | None = None
    renew: str | None = None
    reason: str = ""


def emitter_of(part: Part, account: str, names: Collection[str], *, hears: bool = True) -> Emitter:
    """The source of ``part``; ``account`` is its app prop and ``names`` are those of its props.

    ``hears``: some of its apps send events to their OAuth clients.
    """
    db = {"name": _free("db", names), "type": "$.service.db"}
    if part.strategy == "POLLING":
        timer = {
            "name": _free("timer", names),
            "type": "$.interface.timer",
            "default": {"intervalSeconds": EVERY_S},
        }
        return Emitter("POLLING", (timer, db), _ON_AND_OFF, "unique")
    if part.strategy == "WEBHOOK":
        return _webhook_emitter(part, _free("http", names), db)
    if part.strategy == "APP_WEBHOOK" and account and hears:
        events = {"name": _free("events", names), "type": "$.interface.apphook", "appProp": account}
        return Emitter("APP_WEBHOOK", (events, db), _ON_AND_OFF)
    reasons = {"MANUAL": _BY_HAND, "APP_WEBHOOK": _UNHEARD if account else _WITHOUT_ACCOUNT}
    return Emitter(reason=reasons.get(part.strategy, _UNKNOWN))


def _webhook_emitter(part: Part, name: str, db: dict[str, Any]) -> Emitter:
    """The source of a trigger that receives requests at its own address, which may be verified first, and may
    unsubscribe.
    """
    handshake = part.handshake if part.handshake.get("strategy") not in (None, "NONE") else None
    cron = part.renewal.get("cronExpression") if part.renewal.get("strategy") == "CRON" else None
    renew = cron if isinstance(cron, str) and cron.strip() else None
    http = {"name": name, "type": "$.interface.http", **({"customResponse": True} if handshake else {})}
    hooks = (*_ON_AND_OFF, *(["renew"] if renew else []))
    return Emitter("WEBHOOK", (http, db), hooks, None, handshake, renew)


def _free(name: str, names: Collection[str]) -> str:
    while name in names:
        name = f"{name}_interface"
    return name


@dataclass(frozen=True, slots=True)
class Props:
    """The props of a component: ``listed`` as on the wire, and by their names those of the piece.

    ``reloads``: some depend on others. ``reason`` says why the component cannot be called, or is empty. ``dropped`` are
    labels of optional props that cannot be asked for.
    """

    listed: tuple[dict[str, Any], ...]
    forms: Mapping[str, PropForm]
    reloads: bool
    dropped: tuple[str, ...] = ()
    reason: str = ""


def props(part: Part, account: dict[str, Any] | None, reserved: Collection[str] = ()) -> Props:
    """The props of ``part``, after the app prop ``account`` if it has one; names in ``reserved`` are used otherwise."""
    names = wire_names(part.props, {*reserved, *([account["name"]] if account else ())})
    listed = [dict(account)] if account else []
    forms: dict[str, PropForm] = {}
    dropped = list[str]()
    for own, described in part.props.items():
        wire = names[own]
        if not isinstance(described, Mapping):
            dropped.append(texts.label(own))
        elif described.get("type") == "DYNAMIC":
            forms[wire] = PropForm(name=own, kind="dynamic")
        elif (prop := mapped(wire, described)) is not None:
            listed.append(prop.prop)
            if prop.prop["type"] != "alert":
                forms[wire] = PropForm(name=own, kind=prop.kind, members=prop.members)
        elif described.get("type") == "MARKDOWN":  # an empty note
            continue
        elif described.get("required") is True:
            reason = f"It needs {_label(own, described)}, a kind of field that is not known here."
            return Props((), {}, reloads=False, reason=reason)
        else:
            dropped.append(_label(own, described))
    reloads = any(form.kind == "dynamic" for form in forms.values())
    if reloads:
        _mark_reloading(listed, part, names)
    return Props(tuple(listed), forms, reloads, tuple(dropped))


def _label(own: str, described: Mapping[str, Any]) -> str:
    return texts.line(described.get("displayName"), 100) or texts.label(own)


def account_prop(slug: str, part: Part) -> dict[str, Any]:
    """The app prop of a part that needs an account of ``slug``."""
    name = slug if slug not in part.props else f"{slug}_account"
    return {"name": name, "type": "app", "app": slug}


def wire_names(own: Collection[str], reserved: Collection[str]) -> dict[str, str]:
    """A valid wire name for each of the piece's ``own`` names: the same if it is valid."""
    names = {name: name for name in own if NAME.fullmatch(name) and name not in reserved}
    for name in own:
        if name in names:
            continue
        text = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")[:90]
        text = text if text[:1].isalpha() else f"p_{text}".rstrip("_")
        number, candidate = 1, text
        while candidate in names.values() or candidate in reserved:
            number += 1
            candidate = f"{text}_{number}"
        names[name] = candidate
    return {name: names[name] for name in own}


def _mark_reloading(listed: list[dict[str, Any]], part: Part, names: Mapping[str, str]) -> None:
    """Set ``reloadProps`` on the props on which dynamic ones depend."""
    dynamic = [each for each in part.props.values() if isinstance(each, Mapping) and each.get("type") == "DYNAMIC"]
    on = {str(name) for each in dynamic for name in _refreshers(each)}
    alone = any(not _refreshers(each) for each in dynamic)
    wanted = {names[name] for name in on if name in names}
    asked_for = [prop for prop in listed if prop["type"] != "alert"]
    if asked_for and (_ACCOUNT in on or alone or not wanted):
        wanted.add(asked_for[0]["name"])
    for prop in asked_for:
        if prop["name"] in wanted:
            prop["reloadProps"] = True


def _refreshers(described: Mapping[str, Any]) -> list[Any]:
    refreshers = described.get("refreshers")
    return refreshers if isinstance(refreshers, list) else []


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a piece, ready to be written; ``name`` is part of its key, ``title`` is shown to users."""

    name: str
    title: str
    kind: str
    file: ComponentFile

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the props, by name."""
        listed = [prop.model_dump() for prop in self.file.declaration.configurable_props]
        return {prop["name"]: prop["label"] for prop in listed if prop.get("label") and prop["type"] != "alert"}

    def with_hosts(self, hosts: Sequence[str]) -> "Component":
        """A copy that may reach ``hosts``."""
        piece = self.file.piece.model_copy(update={"hosts": tuple(hosts)})
        return Component(self.name, self.title, self.kind, self.file.model_copy(update={"piece": piece}))

    def to_json(self) -> bytes:
        """The content of its file."""
        return self.file.model_dump_json(exclude_defaults=True).encode()


def component(part: Part, kind: Kind, name: str, piece_apps: Apps, package: Package) -> Component | str:
    """Return the component ``name`` of the apps ``piece_apps``, or the reason why it is unsupported."""
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
        emitter = emitter_of(part, piece["account"], names, hears=bool(piece_apps.events_app))
        return emitter.reason or _trigger(emitter, own, name, declared, piece)
    annotations = annotations_of(part)
    declared |= {"annotations": annotations, "configurable_props": own.listed}
    declared |= {"stash": "optional"} if writes_files(part) else {}
    piece["read_only"] = annotations["readOnlyHint"]
    return Component(name, title, kind, ComponentFile.model_validate({"piece": piece, "declaration": declared}))


def _unasked(own: Props) -> list[str]:
    """The props that nobody can fill in, by name."""
    return [f"{', '.join(own.dropped)} cannot be filled in here."] if own.dropped else []


def _trigger(
    emitter: Emitter, own: Props, name: str, declared: Mapping[str, Any], piece: Mapping[str, Any]
) -> Component:
    trigger_fields: dict[str, Any] = {
        "configurable_props": (*own.listed, *emitter.props),
        "annotations": {},
        "dedupe": emitter.dedupe,
        "hooks": emitter.hooks,
    }
    of_piece = {"strategy": emitter.strategy, "handshake": emitter.handshake, "renew": emitter.renew}
    file = ComponentFile.model_validate({"piece": {**piece, **of_piece}, "declaration": {**declared, **trigger_fields}})
    return Component(name, declared["name"], "trigger", file)
